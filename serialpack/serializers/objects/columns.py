"""Many numbers, tuples or maps as the parts of one extension of MessagePack, by columns; and back.

Numbers stand in an array of NumPy, which is filtered and compressed as one, and made a list of
again in less time than MessagePack's are read one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, tzinfo
from itertools import chain, islice, repeat
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from serialpack.serializers.objects.arrays import is_array
from serialpack.serializers.objects.guessed import (
    FEW_NUMBERS,
    KINDS,
    MOST_DIMENSIONS,
    OF_ROWS,
    have_numbers,
)
from serialpack.values.arrays import is_plain_scalar

#: The extensions of many tuples of one length, of many numbers, of many rows, of a large map, of
#: many objects of one class, of many scalars of NumPy, of few values, of many of one type, of many
#: in parts, and of many arrays.
ROWS, NUMBERS, COLUMNS, MAP, OBJECTS_OF, SCALARS, FEW, ALIKE, SEVERAL, STACK = 48, *range(55, 64)
#: Those whose first part is an array that is made for it.
OF_ARRAYS = frozenset({NUMBERS, SCALARS, FEW, SEVERAL, STACK})

#: In a shorter message nobody looks for many numbers: no filters would be tried for them.
LONG = 128 << 10
#: Fewer tuples in a list are written one by one.
FEW_ROWS = 16
#: More items of lists in lists are not taken together: they may hold themselves.
_MOST_ITEMS = 1 << 27
#: Types of integers, narrow ones first.
_INTEGERS = "|u1", "|i1", "<u2", "<i2", "<u4", "<i4"
#: What an array of numbers may be of.
_READ = frozenset({*_INTEGERS, "<u8", *KINDS.values()})
_START, _LEAST_DURATION = datetime(1970, 1, 1), timedelta(microseconds=1)
_ORDINAL_OF_START = _START.toordinal()
_ZONE_OF, _FOLD_OF = attrgetter("tzinfo"), attrgetter("fold")
#: The first and the last of what Python has of moments and durations, as the array has it.
_HELD = {
    "<M8[D]": tuple(end.toordinal() - _ORDINAL_OF_START for end in (date.min, date.max)),
    "<M8[us]": tuple((end - _START) // _LEAST_DURATION for end in (datetime.min, datetime.max)),
    "<m8[us]": tuple(end // _LEAST_DURATION for end in (timedelta.min, timedelta.max)),
}


class Together(NamedTuple):
    """An extension and its parts, in place of a value. It is to be written when it is met: arrays
    are counted in the order of a message. The first part of ``OF_ARRAYS`` is one of NumPy.
    ``objects``: those that it stands for, if others may refer to them."""

    code: int
    parts: list[Any]
    objects: Sequence[Any] = ()


def rows_together(value: list[Any]) -> Together | None:
    """What stands for a list of many tuples of one length; None for another."""
    if len(value) < FEW_ROWS or set(map(type, value)) != {tuple}:
        return None
    if len(set(map(len, value))) > 1 or not value[0]:
        return None
    return Together(ROWS, [len(value[0]), *chain.from_iterable(value)])


def list_together(value: list[Any]) -> Together | None:
    """What stands for a list of many numbers, or many rows with numbers in them, or many tuples;
    None for another."""
    if not _may_be_many(value):
        return rows_together(value)
    kinds = set(map(type, value))
    if parts := _parts_of_numbers(value, kinds):
        return Together(NUMBERS, parts)
    if parts := _scalars_of(value, kinds):
        return Together(SCALARS, parts)
    if parts := _columns_of(value, kinds) or _lists_of(value, kinds):
        return Together(COLUMNS, parts)
    return rows_together(value)


def map_together(value: dict[Any, Any]) -> Together | None:
    """What stands for a large map with numbers among its keys or its values; None for another."""
    if len(value) < FEW_NUMBERS or not (have_numbers(value) or have_numbers(value.values())):
        return None
    return Together(MAP, [list(value), list(value.values())])


def _may_be_many(value: list[Any]) -> bool:
    """Whether a list is long enough, or may hold long lists."""
    if len(value) >= FEW_NUMBERS or not value or type(value[0]) is not list:
        return len(value) >= FEW_NUMBERS
    return set(map(type, value)) == {list} and sum(map(len, value)) >= FEW_NUMBERS


def _parts_of_numbers(items: list[Any], kinds: set[type]) -> list[Any] | None:
    """The parts of an extension of ``items``, which are of ``kinds``: all, or most, are integers,
    or floats, or days, or what ``_array_of`` takes else, or all are lists of one length of these;
    and many. None else.

    An array, and where needed a time zone or None, and the places of all other items, and these.
    """
    shape = [len(items)]
    while kinds == {list} and len(shape) < MOST_DIMENSIONS:
        lengths = set(map(len, items))
        if len(lengths) > 1 or 0 in lengths or len(items) * max(lengths) > _MOST_ITEMS:
            return None
        shape += lengths
        items = list(chain.from_iterable(items))
        kinds = set(map(type, items))
    if len(items) < FEW_NUMBERS or kinds.isdisjoint(KINDS):
        return None
    if len(kinds) > 1:
        return _mostly(items) if len(shape) == 1 else None
    made = _array_of(items, *kinds)
    if made is None or (len(shape) > 1 and len(made) > 1):
        return None
    return [made[0].reshape(shape), *made[1:]]


def _scalars_of(items: list[Any], kinds: set[type]) -> list[Any] | None:
    """The array of ``items``, which are scalars of NumPy, of one type, and many; else None."""
    if len(items) < FEW_NUMBERS or len(kinds) > 1 or not is_plain_scalar(items[0]):
        return None
    import numpy as np

    found = np.array(items)
    # Of two types that look alike, in an array it is the usual one.
    return [found] if {np.dtype(found.dtype.str).type} == kinds else None


def _mostly(items: list[Any]) -> list[Any] | None:
    kinds = list(map(type, items))
    main = max(KINDS, key=kinds.count)
    if kinds.count(main) < max(FEW_NUMBERS, len(items) // 2):
        return None
    made = _array_of([item for item in items if type(item) is main], main)
    if made is None:
        return None
    places = [place for place, kind in enumerate(kinds) if kind is not main]
    return [*made, *[None] * (2 - len(made)), places, [items[place] for place in places]]


def _array_of(items: list[Any], kind: type) -> list[Any] | None:
    """The array of NumPy that ``items``, which are all of ``kind``, stand in, and the time zone of
    all of them, if they have one. None where none holds them."""
    import numpy as np

    zone = None
    if kind is float:
        return [np.array(items, "<f8")]
    if kind is date:
        items = list(map(date.toordinal, items))
    elif kind is datetime:
        zone = items[0].tzinfo
        if len(set(map(id, map(_ZONE_OF, items)))) > 1 or any(map(_FOLD_OF, items)):
            return None
        start = _START.replace(tzinfo=zone)
        items = [item - start for item in items]
    if kind in (datetime, timedelta):
        items = [item // _LEAST_DURATION for item in items]
    wide = kind is int and min(items) >= 0 and max(items) >= 1 << 63
    try:
        found = np.array(items, "<u8" if wide else "<i8")
    except OverflowError:
        return None
    if kind is int:
        return [narrow(found)]
    if kind is date:
        found -= _ORDINAL_OF_START
    found = found.view(KINDS[kind])
    return [found] if zone is None else [found, zone]


def narrow(found: Any) -> Any:
    """Integers in the type of the fewest bytes that holds them."""
    import numpy as np

    least, most = found.min(), found.max()
    for kind in _INTEGERS:
        held: Any = np.iinfo(np.dtype(kind))
        if held.min <= least and most <= held.max:
            return found.astype(kind)
    return found


def _columns_of(rows: list[Any], kinds: set[type]) -> list[Any] | None:
    """The parts of an extension of ``rows``, by columns: all are tuples or lists of one length, or
    maps of the same names, and many. None for others, and where no number is in the
    first ones."""
    if len(kinds) > 1 or not kinds < OF_ROWS or len(rows) < FEW_NUMBERS:
        return None
    if not 0 < len(rows[0]) <= len(rows) or not have_numbers(rows):
        return None
    if kinds == {dict}:
        return _columns_of_maps(rows)
    if len(set(map(len, rows))) > 1:
        return None
    head = "tuple" if kinds == {tuple} else None
    return [head, *(list(map(itemgetter(key), rows)) for key in range(len(rows[0])))]


def _columns_of_maps(rows: list[dict[Any, Any]]) -> list[Any] | None:
    head = list(rows[0])
    if len(set(map(len, rows))) > 1 or set(map(tuple, rows)) != {tuple(head)}:
        return None
    if set(map(type, chain.from_iterable(rows))) != {str}:  # which may equal other keys
        return None
    return [head, *(list(map(itemgetter(key), rows)) for key in head)]


def states_together(columns: dict[str, list[Any]], count: int) -> Together:
    """What stands for a list of ``count`` lists of one map each, which all have the same names,
    those of their ``columns``."""
    maps: Any
    if 0 < len(columns) <= count:
        maps = Together(COLUMNS, [[*columns], *columns.values()])
    else:
        rows = zip(*columns.values(), strict=True) if columns else repeat((), count)
        maps = [dict(zip(columns, row, strict=True)) for row in rows]
    return Together(COLUMNS, [None, maps])


def _lists_of(rows: list[Any], kinds: set[type]) -> list[Any] | None:
    """As ``_columns_of``, of lists of any lengths, whose items stand by columns together."""
    if kinds != {list}:
        return None
    lengths = list(map(len, rows))
    if not FEW_NUMBERS <= sum(lengths) <= _MOST_ITEMS:
        return None
    items = list_together(list(chain.from_iterable(rows)))
    return None if items is None or items.code == ROWS else ["lists", lengths, items]


def _rows_back(size: int, *items: Any) -> list[tuple[Any, ...]]:
    if type(size) is not int or size < 1 or len(items) % size:
        raise ValueError("rows of no one length")
    return list(zip(*[iter(items)] * size, strict=True))


def array_in(part: Any) -> Any:
    """The array that a part is, which may be in a file; ValueError where it is none."""
    import numpy as np

    if not is_array(part) or isinstance(part, np.generic):
        raise ValueError("numbers without their array")
    return np.asarray(part).view(np.ndarray)


def _numbers_back(found: Any, zone: Any = None, *others: Any) -> list[Any]:
    """The list that the parts of NUMBERS are of; ValueError where they are of none."""
    array = array_in(found)
    if array.dtype.str not in _READ:
        raise ValueError(f"numbers of type {array.dtype}")
    if not array.ndim or not array.size:  # lists without items may be any number of them
        raise ValueError("numbers without an item")
    if array.dtype.kind in "Mm":
        least, most = _HELD[array.dtype.str]
        numbers = array.view("<i8")
        if numbers.min() < least or numbers.max() > most:
            raise ValueError("moments that Python does not have")
    if array.ndim > 1 and (zone is not None or others):
        raise ValueError("several dimensions of more than numbers")
    if zone is not None:
        if not isinstance(zone, tzinfo) or array.dtype.str != "<M8[us]":
            raise ValueError("a time zone of no moments")
        since = array.view("<m8[us]").tolist()
        items: list[Any] = list(map(_START.replace(tzinfo=zone).__add__, since))
    else:
        items = array.tolist()
    return _merged(items, *others) if others else items


def _scalars_back(found: Any) -> list[Any]:
    """The scalars of NumPy that the part of SCALARS has; ValueError for any other."""
    array = array_in(found)
    if array.dtype.kind not in "biufc" or array.ndim != 1:
        raise ValueError(f"scalars of type {array.dtype}")
    return list(array)


def _merged(items: list[Any], places: Any, others: Any) -> list[Any]:
    """``items`` with ``others``, so that these stand at ``places``."""
    if type(places) is not list or type(others) is not list or set(map(type, places)) != {int}:
        raise ValueError("other items than numbers without their places")
    found: list[Any] = []
    taken = 0
    for place, other in zip(places, others, strict=True):
        more = place - len(found)
        if not 0 <= more <= len(items) - taken:
            raise ValueError("an item at no place")
        found += items[taken : taken + more]
        found.append(other)
        taken += more
    return found + items[taken:]


def _columns_back(head: Any, *columns: Any) -> list[Any]:
    """The rows that the parts of COLUMNS are of; ValueError where they are of none."""
    if not columns or any(type(column) is not list for column in columns):
        raise ValueError("rows without columns")
    if type(head) is str and head == "lists":
        return _lists_back(*columns)
    rows = zip(*columns, strict=True)
    if head is None:
        return list(map(list, rows))
    if type(head) is str and head == "tuple":
        return list(rows)
    if type(head) is not list or set(map(type, head)) != {str}:
        raise ValueError("columns without names")
    if len(set(head)) != len(columns):
        raise ValueError("two columns of one name")
    return list(map(dict, map(zip, repeat(head), rows)))


def _lists_back(lengths: list[Any], items: list[Any]) -> list[Any]:
    if not set(map(type, lengths)) <= {int} or (lengths and min(lengths) < 0):
        raise ValueError("lists of no lengths")
    if sum(lengths) != len(items):
        raise ValueError("lists of other lengths")
    rest = iter(items)
    return [list(islice(rest, length)) for length in lengths]


def _map_back(keys: Any, values: Any) -> dict[Any, Any]:
    if type(keys) is not list or type(values) is not list:
        raise ValueError("a map without its keys and values")
    found = dict(zip(keys, values, strict=True))
    if len(found) != len(keys):
        raise ValueError("a map with one key twice")
    return found


#: What makes a value again of the parts of an extension.
BACK_TOGETHER: dict[int, Callable[..., Any]] = {
    ROWS: _rows_back,
    NUMBERS: _numbers_back,
    COLUMNS: _columns_back,
    MAP: _map_back,
    SCALARS: _scalars_back,
}
