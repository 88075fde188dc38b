"""Libraries that are here already: nobody has a value of one that is not."""

from __future__ import annotations

import sys
from typing import Any


def imported(name: str) -> Any:
    """The module, where it is imported; None where it is not, or not yet to its end: another thread
    may be at it, and nothing of its classes is there before."""
    module = sys.modules.get(name)
    if module is None or getattr(module.__spec__, "_initializing", False):
        return None
    return module
