"""Which of many parts is refused alone: halves are tried together, since there may be many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def first_refused(parts: Sequence[Any], refused: Callable[[Any], object]) -> int:
    """The number of the first of ``parts`` that is ``refused`` alone, -1 where none is.

    ``refused``: says whether some of them, together, are not held; what is held together is held
    alone, too.
    """
    if not parts or not refused(parts):
        return -1
    if len(parts) == 1:
        return 0
    half = len(parts) // 2
    if (at := first_refused(parts[:half], refused)) >= 0:
        return at
    at = first_refused(parts[half:], refused)
    return at if at < 0 else half + at
