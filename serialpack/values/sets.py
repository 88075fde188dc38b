"""The order in which the elements of a set are written: the same in each run.

Python's own order of texts, and of what is hashed as they are, is another in each process (the
environment variable PYTHONHASHSEED).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

#: Numbers, which have one order.
_NUMBERS = frozenset({int, float, bool})


def in_order(elements: Collection[Any]) -> list[Any]:
    """``elements``: numbers, texts or bytes as they are sorted; all others, and what is mixed, by
    type and by how they look, as far as they are not nested too deeply for that."""
    if len(elements) < 2:
        return [*elements]
    kinds = {*map(type, elements)}
    if kinds <= _NUMBERS or kinds in ({str}, {bytes}):
        return sorted(elements)
    return sorted(elements, key=_look)


def _look(element: Any) -> tuple[str, str]:
    name = type(element).__name__
    try:
        return name, repr(in_order(element) if isinstance(element, frozenset) else element)
    except RecursionError:
        return name, ""
