"""Whether two values certainly are the same, found at the speed of C code.

pickle writes types, order and bits of plain values and of objects that keep all they have in
attributes; two that are written alike are the same. What else there is, somebody slower looks at.
"""

import copyreg
import pickle
from array import array
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import compress
from operator import methodcaller
from pathlib import PurePath
from threading import local
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from serialpack.depth.values import check_values, contents
from serialpack.imported import imported
from serialpack.values.arrays import array_facts, is_plain_array, is_plain_scalar, same_numbers
from serialpack.values.parts import WITH_CONTENTS, is_hidden

#: Types whose pickled form says all that there is of them.
_TOLD = frozenset({datetime, date, time, timedelta, timezone, Decimal, Fraction, UUID, complex})
#: The same of what holds others.
_TOLD_CONTAINERS = frozenset({OrderedDict, defaultdict, deque, range, slice, array})

#: Types of which two that are equal need not be one.
_CONTAINERS = frozenset({dict, list, tuple, set, frozenset, bytearray})


def quickly_same(was: Any, became: Any, *, identity: bool) -> bool:
    """Whether two values certainly are the same.

    ``identity``: also in which places they hold one and the same object.
    """
    if identity:
        # Written once each, what stands in many places takes no more memory than it has.
        with suppress(Exception):  # texts and numbers may be one where they were two
            _written_alike(was, became, memo=True)
            return True
    try:
        if identity:  # others are given trees that were looked at
            check_values([was])
        classes = _written_alike(was, became)
        return not identity or all(_is_tree(value, classes) for value in (was, became))
    except Exception:  # an odd one, a cycle, or whatever pickle says to a class
        return False


def lists_same(was: Sequence[Any], became: Sequence[Any]) -> bool:
    """As ``quickly_same``, of as many values in two lists, which are compared by column where all
    are tuples of one length, such as the items of a map."""
    kinds = {*map(type, was), *map(type, became)}
    if kinds != {tuple} or len({*map(len, was), *map(len, became)}) > 1:
        return _columns_same(was, became)
    columns = (zip(*values, strict=True) for values in (was, became))
    return all(map(_columns_same, *columns))


def _columns_same(was: Sequence[Any], became: Sequence[Any]) -> bool:
    """The same, of scalars of one type of NumPy at the speed of arrays; also in pairs, which keys
    of sparse matrices are."""
    kinds = {*map(type, was), *map(type, became)}
    if len(kinds) == 1 and is_plain_scalar(was[0]):
        import numpy as np

        one, other = (np.array(values, was[0].dtype) for values in (was, became))
        return one.tobytes() == other.tobytes()
    if kinds == {tuple} and all(map(is_plain_scalar, was[0])) and was[0]:
        return lists_same(was, became)
    return quickly_same(list(was), list(became), identity=False)


def plainly_same(
    was: Any, became: Any, *, identity: bool, size: int, pickled: bytes | None = None
) -> bool:
    """As ``quickly_same``, of two small values that are no more than text, numbers, bytes, arrays
    of numbers and containers, and about ``size`` bytes where they are written; in a tenth of the
    time.

    With ``identity`` also of texts and numbers: what is False may be the same all the same.
    ``pickled``: what pickle wrote of ``was``, where that has no buffers, which become bytes; all
    else that is no more than that it writes by the name of a class.
    """
    # Taken out meanwhile: one that has failed is not used again.
    kept, use = _kept.by_use, (identity, size > _LITTLE)
    pickler = kept.pop(use, None) or _PlainPickler(memo=identity)
    pieces = pickler.pieces
    try:
        if pickled is None:
            pickler.dump(was)
            if identity:
                pickler.clear_memo()
        else:
            pieces.append(pickled)
        pickler.dump(became)
        if identity:
            pickler.clear_memo()
    except Exception:  # as above
        return False
    # What is longer is given in more pieces.
    same: bool = len(pieces) == 2 and pieces[0] == pieces[1]
    pieces.clear()
    kept[use] = pickler
    return same


#: Up to so many bytes are little. What is more lets a memo grow, and to clear that each time takes
#: longer than a small value.
_LITTLE = 4 << 10


class _Picklers(local):
    """Those of a thread, without and with a memo, for little and for more: making one takes longer
    than a small value."""

    def __init__(self) -> None:
        self.by_use: dict[tuple[bool, bool], _PlainPickler] = {}


_kept = _Picklers()


class _PlainPickler(pickle.Pickler):
    """Writes what needs no class, and arrays and scalars of NumPy's own as what describes them and
    their bytes; up to 64 KiB, into ``pieces``."""

    def __init__(self, *, memo: bool) -> None:
        self.pieces: list[Any] = []
        super().__init__(_File(self.pieces.append), 5, buffer_callback=_no_buffer)
        self.fast = not memo

    def reducer_override(self, obj: Any) -> Any:
        if obj is _numbers:
            return NotImplemented
        if is_plain_array(obj):
            return _numbers, (array_facts(obj), obj.tobytes())
        if is_plain_scalar(obj):
            return _numbers, (obj.dtype.char, obj.tobytes())
        raise _OddClass


def _numbers(facts: object, data: bytes) -> None:
    """Stands for what would make an array again: nobody reads what is written to be compared."""


class _OddClass(Exception):
    """A value of a class that may keep more than it tells pickle."""


def _no_buffer(_: object) -> bool:
    """Nobody asks about the class of a PickleBuffer, which is written as the bytes it is over."""
    raise _OddClass


class _Differs(Exception):
    """The second of two values is not written as the first was."""


class _File(NamedTuple):
    """What a pickler writes to: it gives its bytes to ``write`` in pieces of 64 KiB or more."""

    write: Callable[[Any], object]


#: Arrays of more bytes are compared where they lie; a copy of fewer takes no more than all that
#: there is of a small one beside its numbers.
_TINY = 1 << 10


class _Pickler(pickle.Pickler):
    """Writes what tells all it has, and arrays and scalars of NumPy's own as what describes them
    and their bytes, or the number of one in ``arrays``; _OddClass for anything else.

    ``memo``: else it writes twice what stands in two places. Classes are written once, as those
    that the memo has from the beginning: to find each by its name again takes longer than all that
    an object of it has.
    """

    def __init__(self, write: Callable[[Any], object], *, memo: bool) -> None:
        super().__init__(_File(write), 5, buffer_callback=_no_buffer)
        self.fast = not memo
        self.ways = self.dispatch_table = _Ways(_WAYS)
        self.ways.know = None if memo else self._know
        #: By id, each with its number, which stands for it.
        self._named: dict[int, tuple[int, Any]] = _NAMED.copy()

    def write(self, value: Any) -> list[Any]:
        """Write ``value``; the arrays whose numbers were not written."""
        self.memo = self._named
        self.ways.arrays = arrays = list[Any]()
        self.dump(value)
        return arrays

    def _know(self, cls: type) -> None:
        if len(self._named) < _MOST_NAMED:
            self._named[id(cls)] = len(self._named), cls
            self.memo = self._named


#: So many classes are written once: for each more of them the memo is made anew.
_MOST_NAMED = 100


class _Ways(dict[type, Callable[[Any], Any]]):
    """By class, what is written of a value, as ``copyreg.dispatch_table`` has it; found where
    pickle asks for it. Classes themselves it writes by name, and finds them again by that."""

    know: Callable[[type], None] | None = None
    arrays: list[Any]

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        if issubclass(cls, type):
            raise KeyError(cls)
        way = self[cls] = self._way(cls)
        if self.know is not None and way in (_told, _state):
            self.know(cls)
        return way

    def _way(self, cls: type) -> Callable[[Any], Any]:
        numpy = imported("numpy")
        if numpy is not None and cls is numpy.ndarray:
            return self._array
        if numpy is not None and issubclass(cls, numpy.generic):
            return _scalar
        if issubclass(cls, Enum):  # compared by identity
            return _itself
        if issubclass(cls, PurePath):
            return _path
        if _is_named_tuple(cls):
            return _told
        if not _has_only_attributes(cls):
            raise _OddClass
        return _told if _tells_all(cls) else _state

    def _array(self, array: Any) -> Any:
        if not is_plain_array(array):
            raise _OddClass
        if array.nbytes <= _TINY:
            return _numbers, (array_facts(array), array.tobytes())
        self.arrays.append(array)
        return _numbers, (array_facts(array), len(self.arrays))


#: What the class of a value tells pickle of it.
_told = methodcaller("__reduce_ex__", 5)


def _state(value: Any) -> Any:
    """All its attributes, whatever its class tells."""
    return _numbers, (type(value), object.__getstate__(value))


def _itself(value: Any) -> Any:
    return _numbers, (id(value),)


def _path(path: PurePath) -> Any:
    if getattr(path, "__dict__", None):
        raise _OddClass
    return _numbers, (type(path).__name__, str(path))


def _scalar(scalar: Any) -> Any:
    if not is_plain_scalar(scalar):
        raise _OddClass
    return _numbers, (scalar.dtype.char, scalar.tobytes())


#: For some classes, in a fraction of the time that they take to tell pickle.
_WAYS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((*_TOLD, *_TOLD_CONTAINERS), _told),
    complex: lambda v: (_numbers, (complex, v.real, v.imag)),
    timezone: lambda v: (_numbers, (timezone, v.__getinitargs__())),
    UUID: lambda v: (_numbers, (UUID, v.int, v.is_safe.value)),
    OrderedDict: lambda v: (_numbers, (OrderedDict, [*v.items()], vars(v))),
    Counter: lambda v: (_numbers, (Counter, [*v.items()], vars(v))),
    ZoneInfo: _itself,
}
#: What the memo has from the beginning.
_NAMED = {
    id(each): (number, each)
    for number, each in enumerate((_numbers, Counter, UTC, *_TOLD, *_TOLD_CONTAINERS))
}


def _written_alike(was: Any, became: Any, *, memo: bool = False) -> Iterable[type]:
    """The classes that are in two values which are written alike, arrays among them; else _Differs.

    Of ``became``, a piece is gone once it is compared.
    """
    pieces: list[Any] = []

    def compare(piece: Any) -> None:
        if not pieces or pieces.pop() != piece:
            raise _Differs

    take: Callable[[Any], object] = pieces.append
    pickler = _Pickler(lambda piece: take(piece), memo=memo)
    try:
        arrays = pickler.write(was)
        pieces.reverse()
        take = compare
        others = pickler.write(became)
    finally:
        pickler.ways.know = None  # which the pickler is in
    if pieces or not all(map(same_numbers, arrays, others)):
        raise _Differs
    return pickler.ways.keys()


#: Methods by which a class says what pickle writes of it.
_OWN_WORDS = ("__reduce_ex__", "__reduce__", "__getstate__")
_MORE_WORDS = ("__getnewargs_ex__", "__getnewargs__")


def _has_only_attributes(cls: type) -> bool:
    """Whether all that its instances have are attributes, which are there where they are asked
    for."""
    return (
        getattr(cls, "__getattribute__") is object.__getattribute__  # noqa: B009  (mypy)
        and not hasattr(cls, "__getattr__")
        and not issubclass(cls, WITH_CONTENTS)
        and not is_hidden(cls)
    )


def _tells_all(cls: type) -> bool:
    """Whether pickle writes all attributes of its instances."""
    return (
        all(getattr(cls, name) is getattr(object, name) for name in _OWN_WORDS)
        and not any(hasattr(cls, name) for name in _MORE_WORDS)
        and cls not in copyreg.dispatch_table
    )


#: What named tuples have as other tuples do.
_NAMED_PLAIN = (*_OWN_WORDS, "__getattribute__")

#: The code by which all named tuples tell their items.
_NAMED_WORDS = vars(namedtuple("_Named", ""))["__getnewargs__"].__code__


def _is_named_tuple(cls: type) -> bool:
    """Whether its objects tell their items as named tuples do, and their attributes."""
    told = getattr(cls, "__getnewargs__", None)
    return (
        issubclass(cls, tuple)
        and getattr(told, "__code__", None) is _NAMED_WORDS
        and all(getattr(cls, name) is getattr(tuple, name) for name in _NAMED_PLAIN)
        and cls not in copyreg.dispatch_table
        and not hasattr(cls, "__getnewargs_ex__")
        and not hasattr(cls, "__getattr__")
        and not is_hidden(cls)
    )


def _is_tree(value: Any, classes: Iterable[type]) -> bool:
    """Whether no container or object stands in two places of ``value``, which has no cycles."""
    types = _CONTAINERS.union(classes).difference(_TOLD)
    found, level = [value], [value]
    while level:
        above, level = level, []
        for values in contents(above):
            if not types.isdisjoint(map(type, values)):
                level += compress(values, map(types.__contains__, map(type, values)))
        found += level
    return len(set(map(id, found))) == len(found)
