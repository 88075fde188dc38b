"""Whether a value may be worth being written by columns, by a few of its items."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from serialpack.values.arrays import is_plain_array, is_plain_scalar

#: Fewer numbers are written one by one, and fewer rows with some in them: an array costs some 100
#: bytes.
FEW_NUMBERS = 256
#: By so many of its first items it is guessed whether a value has many numbers in it; and so many
#: lists and the like are looked into for that.
_LOOKED_AT, _LOOKED_INTO = 64, 256
_HOLDING = frozenset({list, dict, tuple, set, frozenset})
#: Types of rows.
OF_ROWS = frozenset({list, dict, tuple})
#: More dimensions are not looked for.
MOST_DIMENSIONS = 8
#: What numbers and moments of Python are in an array; integers are narrower where they may.
KINDS = {int: "<i8", float: "<f8", date: "<M8[D]", datetime: "<M8[us]", timedelta: "<m8[us]"}


def may_have_columns(value: Any, least: int = 0) -> bool:
    """Whether somewhere in ``value``, which may hold itself, there are many numbers, ``least`` or
    more, or as many rows with numbers in them, as far as its first items tell."""
    with suppress(Exception):  # a class of values may have no hash, or say what it likes
        return _may_have_columns(value, max(least, FEW_NUMBERS))
    return False


def _may_have_columns(value: Any, least: int) -> bool:
    waiting = deque([value])
    for _ in range(_LOOKED_INTO):
        if not waiting:
            break
        value = waiting.popleft()
        if type(value) not in _HOLDING:
            continue
        items = [*islice(_items(value), _LOOKED_AT)]
        keys = value if type(value) is dict else ()
        if len(value) >= least and (have_numbers(items) or have_numbers(keys)):
            return True
        if _is_many_numbers(value, least):
            return True
        waiting += [item for item in items if type(item) in _HOLDING]
    return False


def has_long_list(value: Any, least: int) -> bool:
    """Whether somewhere in ``value``, which may hold itself, there is a list, or a map, of
    ``least`` items or more, as far as its first items tell."""
    waiting = deque([value])
    for _ in range(_LOOKED_INTO):
        if not waiting:
            break
        value = waiting.popleft()
        if type(value) not in _HOLDING:
            continue
        if type(value) in (list, dict) and len(value) >= least:
            return True
        items = islice(_items(value), _LOOKED_AT)
        waiting += [item for item in items if type(item) in _HOLDING]
    return False


def _items(value: Any) -> Iterable[Any]:
    return value.values() if type(value) is dict else value


def have_numbers(items: Iterable[Any], levels: int = 2) -> bool:
    """Whether among the first of ``items`` there is a number, an array, or a row with one."""
    for item in islice(items, _LOOKED_AT):
        if _is_number(item):
            return True
        if levels and type(item) in OF_ROWS and have_numbers(_items(item), levels - 1):
            return True
        if is_plain_scalar(item) or is_plain_array(item):
            return True
    return False


def _is_many_numbers(value: Any, least: int) -> bool:
    """Whether ``value`` may be a list of lists of numbers, in several dimensions, and of many."""
    size = 1
    for _ in range(MOST_DIMENSIONS):
        if type(value) is not list or not value:
            break
        size, value = size * len(value), value[0]
    return size >= least and _is_number(value)


def _is_number(value: Any) -> bool:
    """Whether an array may hold ``value``, beside others of its type."""
    return type(value) in KINDS and (type(value) is not int or value.bit_length() <= 64)
