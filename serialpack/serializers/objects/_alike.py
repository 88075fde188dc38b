"""Values of which there are few, and values of one type of Python, as the parts of one extension.

A member of an enum, or an address, takes its extension, the name of its class and a call to make
it; in a list of thousands these are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import repeat
from types import NoneType
from typing import Any

from serialpack.serializers.objects.columns import ALIKE, FEW, Together, array_in, narrow

#: So many values are few.
_MOST = 1 << 16


def few_together(value: list[Any], kinds: set[type]) -> Together | None:
    """What stands for a list of members of enums, of which there are ``kinds``, and None; None for
    another, and where nearly all differ."""
    if kinds == {NoneType} or not all(k is NoneType or issubclass(k, Enum) for k in kinds):
        return None
    import numpy as np

    ids = list(map(id, value))
    members = dict(zip(ids, value, strict=True))
    if len(members) > min(_MOST, len(value) // 2):
        return None
    numbers = dict(zip(members, range(len(members)), strict=True))
    array = narrow(np.array(list(map(numbers.__getitem__, ids)), "<i8"))
    return Together(FEW, [array, list(members.values())])


def few_back(numbers: Any, values: Any) -> list[Any]:
    """The list that the parts of FEW are of; ValueError where they are of none."""
    array = array_in(numbers)
    if array.dtype.kind != "u" or array.ndim != 1 or type(values) is not list:
        raise ValueError("few values without their numbers")
    return list(map(values.__getitem__, array.tolist()))


def alike_together(code: int, rows: list[list[Any]]) -> Together | None:
    """What stands for a list of values whose parts, under the extension ``code``, are ``rows``;
    None where some have more parts than others."""
    if len(set(map(len, rows))) > 1:
        return None
    *columns, last = map(list, zip(*rows, strict=True))
    return Together(ALIKE, [code, *map(_text_of_all, columns), last])


def _text_of_all(column: list[Any]) -> Any:
    """The text that all items of a column are; the column where they are not."""
    one = type(column[0]) is str and len(set(column)) == 1
    return column[0] if one else column


def alike_back(make: Callable[..., Any], columns: list[Any]) -> list[Any]:
    """The list of what ``make`` makes of each row of ``columns``, of which others than the last may
    be one text; ValueError where they are of none."""
    if type(columns[-1]) is not list or not {list, str}.issuperset(map(type, columns)):
        raise ValueError("values without their parts")
    (count,) = {len(column) for column in columns if type(column) is list}
    rows = (column if type(column) is list else repeat(column, count) for column in columns)
    return list(map(make, *rows))
