"""Libraries that are imported already: nobody has a value of one that is not."""

from __future__ import annotations

import sys
from typing import Any

#: Those that were found so, by name: to ask a module about itself takes longer than all else here.
_known: dict[str, Any] = {}


def imported(name: str) -> Any:
    """The module ``name``, where it is imported to its end; else None. While another thread imports
    it, there is nothing of its classes yet."""
    module = sys.modules.get(name)
    if module is None or module is _known.get(name):
        return module
    if getattr(module.__spec__, "_initializing", False):
        return None
    _known[name] = module
    return module
