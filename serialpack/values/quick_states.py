"""What tells all of many objects of a class, found at the speed of C code, for a comparison.

pickle asks each object what it is, writes what its class is for each, and a call to make it again;
in a list of thousands these are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import compress
from operator import attrgetter, is_, methodcaller
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any
from uuid import UUID

from serialpack.imported import imported
from serialpack.values.arrays import OF_NUMBERS
from serialpack.values.pickled_state import is_named_tuple
from serialpack.values.quick_equality import state_of

#: Fewer values are compared as they are.
_MANY = 256
#: So many types are several; and so many levels down long lists are looked for.
_SEVERAL, _LEVELS = 8, 3

#: What gives what tells all of each of some values of a class.
_Telling = Callable[[list[Any]], list[Any]]


#: What tells all of a value, beside its class, of these classes alone.
_ALL: dict[type, Callable[[Any], Any]] = {
    date: date.toordinal,
    Decimal: str,
    Fraction: attrgetter("numerator", "denominator"),
    UUID: attrgetter("int", "is_safe"),
    **dict.fromkeys((PosixPath, PurePosixPath, WindowsPath, PureWindowsPath), str),
}


def told_together(value: Any) -> Any:
    """``value``; where long lists of objects stand in it, a value with what tells all of them in
    their place, which is the same as that of another value only where the two are."""
    with suppress(Exception):  # whatever somebody's class of classes says
        return _told(value, _LEVELS)
    return value


def _told(value: Any, levels: int) -> Any:
    kind = type(value)
    if kind is list and len(value) >= _MANY:
        return _told_list(value)
    if kind is dict and len(value) >= _MANY:
        values = list(value.values())
        told = _told_list(values)
        return value if told is values else (told_together, [*value], told)
    if not levels or kind not in (list, tuple, dict):
        return value
    parts = list(value.values()) if kind is dict else value
    found = [_told(part, levels - 1) for part in parts]
    if all(map(is_, found, parts)):
        return value
    return dict(zip(value, found, strict=True)) if kind is dict else kind(found)


def _told_list(values: list[Any]) -> Any:
    numbers = {kind: n for n, kind in enumerate(dict.fromkeys(map(type, values)))}
    if len(numbers) > _SEVERAL:
        return values
    telling = [_telling(kind) for kind in numbers]
    if not any(telling):
        return values
    # By their identities: pickle may not find a class by its name.
    told: list[Any] = [told_together, *map(id, numbers)]
    if len(numbers) == 1:
        return [*told, *(tell(values) for tell in telling if tell)]
    which = bytes(map(numbers.__getitem__, map(type, values)))
    told.append(which)
    for number, tell in enumerate(telling):
        some = list(compress(values, map(number.__eq__, which)))
        told.append(tell(some) if tell else some)
    return told


#: Arrays of more bytes are compared where they lie.
_TINY = 1 << 10
_FACTS = attrgetter("dtype.str", "shape", "flags.writeable")


def _of_arrays(arrays: list[Any]) -> list[Any]:
    """Of small arrays of plain numbers, which lie in C order, as ``values.arrays.plain_facts`` has
    them; of others these themselves."""
    kinds = set(map(attrgetter("dtype.char"), arrays))
    plain = kinds <= OF_NUMBERS and not any(map(attrgetter("dtype.metadata"), arrays))
    small = max(map(attrgetter("nbytes"), arrays)) <= _TINY
    if not (plain and small and all(map(attrgetter("flags.c_contiguous"), arrays))):
        return arrays
    return [list(map(_FACTS, arrays)), b"".join(map(methodcaller("tobytes"), arrays))]


def _telling(cls: type) -> _Telling | None:
    if (numpy := imported("numpy")) is not None and cls is numpy.ndarray:
        return _of_arrays
    if is_named_tuple(cls) and not cls.__dictoffset__:
        return lambda values: list(map(tuple, map(tuple.__iter__, values)))
    get = _ALL.get(cls) or state_of(cls)
    return get and (lambda values: list(map(get, values)))
