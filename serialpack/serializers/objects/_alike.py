"""Values of which there are few, and those of one type of Python, or of several, as the parts of an
extension.

A member of an enum, or an address, takes its extension, the name of its class and a call to make
it; in a list of thousands these are the same for all.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from enum import Enum
from itertools import chain, repeat
from types import NoneType
from typing import Any

from serialpack.serializers.objects.columns import ALIKE, FEW, SEVERAL, Together, array_in, narrow
from serialpack.serializers.objects.guessed import FEW_NUMBERS

#: So many values are few, so many types are several, and so many keys are a few.
_MOST, _MOST_TYPES, _MOST_KEYS = 1 << 16, 8, 32
#: Types of which many are no fewer bytes together.
_ALONE = frozenset({str, bytes, bool, NoneType})


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


def several_together(
    value: list[Any], kinds: set[type], together: Callable[[list[Any]], Together | None]
) -> Together | None:
    """What stands for a list of values of ``kinds``, as some that are there and None: those of each
    type in a list of their own. None for one type or many, and where ``together``, which gives what
    stands for a list, has nothing for any of these lists."""
    if not 1 < len(kinds) <= _MOST_TYPES or kinds <= _ALONE:
        return None
    types = list(map(type, value))
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(types))}
    return _in_parts(value, bytes(map(numbers.__getitem__, types)), together)


def maps_together(
    value: list[dict[Any, Any]], together: Callable[[list[Any]], Together | None]
) -> Together | None:
    """As ``several_together``, of maps of a few sets of names."""
    if set(map(type, chain.from_iterable(value))) != {str}:  # which may equal other keys
        return None
    return in_common_parts(value, list(map(tuple, value)), together)


def in_common_parts(
    value: list[Any], keys: list[Any], together: Callable[[list[Any]], Together | None]
) -> Together | None:
    """As ``several_together``, of values with a key each: those of each common one in a list of
    their own. None where most have others, or all the same."""
    common = Counter(keys).most_common(_MOST_KEYS)
    numbers = {each: n for n, (each, count) in enumerate(common) if count >= FEW_NUMBERS}
    rest = len(numbers)
    which = bytes(map(numbers.get, keys, repeat(rest)))
    if len(common) < 2 or 2 * which.count(rest) > len(which):
        return None
    return _in_parts(value, which, together)


def _in_parts(
    value: list[Any], which: bytes, together: Callable[[list[Any]], Together | None]
) -> Together | None:
    parts: list[Any] = [together(part) or part for part in parted(value, which)]
    return parts_together(which, parts) if Together in map(type, parts) else None


def parted(value: list[Any], which: bytes) -> list[list[Any]]:
    """``value`` in parts; ``which``: of each item the number of its part."""
    parts: list[list[Any]] = [[] for _ in range(max(which) + 1)]
    deque(map(list.append, map(parts.__getitem__, which), value), maxlen=0)
    return parts


def parts_together(which: bytes, parts: list[Any]) -> Together:
    """What stands for a list, of which ``parted`` gave the ``parts``."""
    import numpy as np

    return Together(SEVERAL, [np.frombuffer(bytearray(which), "|u1"), *parts])


def several_back(which: Any, *columns: Any) -> list[Any]:
    """The list that the parts of SEVERAL are of; ValueError where they are of none."""
    import numpy as np

    array = array_in(which)
    if array.dtype.str != "|u1" or array.ndim != 1 or set(map(type, columns)) != {list}:
        raise ValueError("values of several types without these")
    if np.bincount(array, minlength=len(columns)).tolist() != list(map(len, columns)):
        raise ValueError("other values than there are places for them")
    rest = [iter(column) for column in columns]
    return list(map(next, map(rest.__getitem__, array.tolist())))
