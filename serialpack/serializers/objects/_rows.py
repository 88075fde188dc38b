"""Lists of many tuples of one length as the parts of one extension of MessagePack, and back."""

from __future__ import annotations

from itertools import chain
from typing import Any

#: Fewer tuples in a list are written one by one.
_FEW_ROWS = 16


def parts_of_rows(rows: list[tuple[Any, ...]]) -> list[Any] | None:
    """How many items each of ``rows`` has, and all of these; None where they are few, or not alike
    in that."""
    if len(rows) < _FEW_ROWS or len(set(map(len, rows))) > 1 or not rows[0]:
        return None
    return [len(rows[0]), *chain.from_iterable(rows)]


def rows_back(size: int, *items: Any) -> list[tuple[Any, ...]]:
    if type(size) is not int or size < 1 or len(items) % size:
        raise ValueError("rows of no one length")
    return list(zip(*[iter(items)] * size, strict=True))
