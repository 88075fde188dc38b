"""Whether two values certainly are the same, found at the speed of C code.

pickle writes types, order and bits of plain values and of objects that keep all they have in
attributes; two that are written alike are the same. ``equality`` looks at all others, slowly.
"""

import math
import pickle
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
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
from serialpack.values.alone import of_ipaddress, same_alone
from serialpack.values.arrays import (
    array_facts,
    is_plain_array,
    is_plain_scalar,
    plain_facts,
    same_numbers,
)
from serialpack.values.derived import told_of_derived
from serialpack.values.models import is_model, is_of_core, told_of_models
from serialpack.values.pickled_state import has_only_attributes, is_named_tuple, tells_all

#: Types whose pickled form tells all that a value has.
_TOLD = frozenset({datetime, date, time, timedelta, timezone, Decimal, Fraction, UUID, complex})
#: Types of containers for which that is so, too.
_TOLD_CONTAINERS = frozenset({OrderedDict, defaultdict, deque, range, slice, array})

#: Types whose equal values need not be one object.
_CONTAINERS = frozenset({dict, list, tuple, set, frozenset, bytearray})


def quickly_same(was: Any, became: Any, *, identity: bool) -> bool:
    """Whether two values certainly are the same.

    ``identity``: also in which places they hold one and the same object.
    """
    if same_alone(was, became):
        return True
    if identity:
        # With a memo an object is written once, in however many places it stands.
        with suppress(Exception):  # it differs where equal texts or numbers became one
            _written_alike(was, became, memo=True)
            return True
    try:
        if identity:  # without it, callers have checked the depth
            check_values([was])
        classes = _written_alike(was, became)
        return not identity or all(_is_tree(value, classes) for value in (was, became))
    except Exception:  # an odd one, a cycle, or whatever pickle says to a class
        return False


def plainly_same(
    was: Any, became: Any, *, identity: bool, size: int, pickled: bytes | None = None
) -> bool:
    """As ``quickly_same``, of two small values, of text, numbers, bytes, containers and arrays of
    numbers alone, and of about ``size`` bytes once written; in a tenth of the time.

    With ``identity``, texts and numbers must be one object in the same places, too: so a False need
    not mean that values differ. ``pickled``: what pickle wrote of ``was``, where that has no
    buffers, which would stand as bytes; whatever else it may hold, pickle writes by the name of a
    class.
    """
    # Taken out while it is used: one that has failed is not used again.
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
    # A longer one comes in several pieces, and is not compared here.
    same: bool = len(pieces) == 2 and pieces[0] == pieces[1]
    pieces.clear()
    kept[use] = pickler
    return same


#: The most bytes that are little. With more the memo grows, and to clear a large one each time
#: takes longer than a small value.
_LITTLE = 4 << 10


class _Picklers(local):
    """The picklers of a thread, by whether they have a memo, and by whether values are little: to
    make one takes longer than a small value."""

    def __init__(self) -> None:
        self.by_use: dict[tuple[bool, bool], _PlainPickler] = {}


_kept = _Picklers()


class _PlainPickler(pickle.Pickler):
    """Writes what needs no class, and of NumPy's own arrays and scalars what describes them and
    their bytes; in ``pieces`` of 64 KiB or less."""

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
    """Stands for the function that would make an array again. Nobody calls it: what is written is
    only compared."""


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


#: Arrays of more bytes are compared where they lie. Of smaller ones the bytes are copied, which
#: takes no longer than all else that a small array has.
_TINY = 1 << 10


class _Pickler(pickle.Pickler):
    """Writes values whose class tells pickle all that they have; of NumPy's own arrays and scalars
    what describes them, and their bytes or their place in ``arrays``; _OddClass for any other.

    ``memo``: an object in two places is written once. Without it only classes are, as those that it
    knows from the beginning: to find a class by its name takes longer than all else of an object.
    """

    def __init__(self, write: Callable[[Any], object], *, memo: bool) -> None:
        super().__init__(_File(write), 5, buffer_callback=_no_buffer)
        self.fast = not memo
        self.ways = self.dispatch_table = _Ways(_WAYS)
        self.ways.know = None if memo else self._know
        #: Id of a class -> its number, which is written in its place, and the class; likewise of
        #: members of enums, all of them, and those that the value had so far.
        self._named = _NAMED.copy()
        self._members, self._met = dict[int, tuple[int, Any]](), dict[int, tuple[int, Any]]()

    def write(self, value: Any) -> list[Any]:
        """Write ``value``; the arrays in it that are not written, but compared where they lie."""
        self.memo, self._met = self._named, {}
        self.ways.arrays = arrays = list[Any]()
        self.dump(value)
        return arrays

    def _know(self, named: Any) -> None:
        if isinstance(named, type):
            if len(self._named) < _MOST_NAMED:
                self._named[id(named)] = len(self._named), named
        elif len(self._members) < _MOST_NAMED or id(named) in self._members:
            number = _MOST_NAMED + len(self._members)
            self._met[id(named)] = self._members.setdefault(id(named), (number, named))
        self.memo = {**self._named, **self._met}


#: The most classes, and the most members, that are written once: for each the memo is made anew.
_MOST_NAMED = 100


class _Ways(dict[type, Callable[[Any], Any]]):
    """Class -> what gives pickle the parts of a value, as in ``copyreg.dispatch_table``.

    It is found when pickle asks for it. Classes themselves pickle writes by name, and finds by
    that.
    """

    know: Callable[[Any], None] | None = None
    arrays: list[Any]

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        if issubclass(cls, type):
            raise KeyError(cls)
        way = self[cls] = self._way(cls)
        if self.know is not None and way not in (
            self._array,
            self._member,
            _scalar,
            _itself,
            _path,
        ):
            self.know(cls)
        return way

    def _way(self, cls: Any) -> Callable[[Any], Any]:
        numpy = imported("numpy")
        if numpy is not None and cls is numpy.ndarray:
            return self._array
        if numpy is not None and issubclass(cls, numpy.generic):
            return _scalar
        if issubclass(cls, Enum):  # compared by identity
            return self._member
        if (pandas := imported("pandas")) is not None:
            if cls in (type(pandas.NaT), type(pandas.NA)):
                return _itself
            if cls in (pandas.Timestamp, pandas.Timedelta):
                return _moment
        if issubclass(cls, PurePath):
            return _path
        if is_named_tuple(cls) or is_of_core(cls) or of_ipaddress(cls):
            return _told
        tell = told_of_models(cls) if is_model(cls) else told_of_derived(cls)
        if tell is not None:
            return lambda value: (_numbers, tell(value))
        if is_model(cls) or not has_only_attributes(cls):
            raise _OddClass
        return _told if tells_all(cls) else _state

    def _member(self, member: Any) -> Any:
        if self.know is not None:
            self.know(member)
        return _itself(member)

    def _array(self, array: Any) -> Any:
        if array.dtype.hasobject:
            raise _OddClass
        if array.nbytes <= _TINY:
            return _numbers, (plain_facts(array), array.tobytes())
        self.arrays.append(array)
        return _numbers, (plain_facts(array), len(self.arrays))


#: What the class of a value tells pickle.
_told = methodcaller("__reduce_ex__", 5)


def _state(value: Any) -> Any:
    """What is written of a value: its class and all its attributes, whatever the class tells
    pickle."""
    return _numbers, (type(value), object.__getstate__(value))


def state_of(cls: type) -> Callable[[Any], Any] | None:
    """What gives all that an object of ``cls`` has beside its class, where that is the same if its
    parts are; None where it is not known to."""
    with suppress(_OddClass, KeyError):
        way = _Ways(_WAYS)[cls]
        if way is _state or (way is _told and has_only_attributes(cls) and tells_all(cls)):
            return object.__getstate__
    return None


def _itself(value: Any) -> Any:
    return _numbers, (id(value),)


def _path(path: PurePath) -> Any:
    if getattr(path, "__dict__", None):
        raise _OddClass
    return _numbers, (type(path).__name__, str(path))


def _moment(moment: Any) -> Any:
    """What a time of pandas tells pickle, and the rest that it keeps."""
    _, told = moment.__reduce__()
    return _numbers, (type(moment), told, getattr(moment, "fold", 0), vars(moment))


def _scalar(scalar: Any) -> Any:
    if not is_plain_scalar(scalar):
        raise _OddClass
    return _numbers, (scalar.dtype.char, scalar.tobytes())


#: For some classes the parts of a value, found in a fraction of the time that the class takes.
_WAYS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((*_TOLD, *_TOLD_CONTAINERS), _told),
    complex: lambda v: (_numbers, (complex, v.real, v.imag)),
    timezone: lambda v: (_numbers, (timezone, v.__getinitargs__())),
    UUID: lambda v: (_numbers, (UUID, v.int, v.is_safe.value)),
    OrderedDict: lambda v: (_numbers, (OrderedDict, [*v.items()], vars(v))),
    Counter: lambda v: (_numbers, (Counter, [*v.items()], vars(v))),
    ZoneInfo: _itself,
}
#: What the memo knows from the beginning.
_NAMED = {
    id(each): (number, each)
    for number, each in enumerate((_numbers, Counter, UTC, *_TOLD, *_TOLD_CONTAINERS))
}


def _written_alike(was: Any, became: Any, *, memo: bool = False) -> Iterable[type]:
    """The classes in two values that are written alike, their large arrays being the same; else
    _Differs, or _OddClass where that takes too long.

    Of ``was``, each piece is dropped once it is compared: what was read again mostly has no parts
    in several places, which would be written as often.
    """
    pieces: list[Any] = []
    size, most = 0, math.inf if memo else _MUCH

    def keep(piece: Any) -> None:
        nonlocal size, most
        size += len(piece)
        if size > most:
            _check_written_often(became, most // _OFTEN)
            most *= _OFTEN
        pieces.append(piece)

    def compare(piece: Any) -> None:
        if not pieces or pieces.pop() != piece:
            raise _Differs

    take: Callable[[Any], object] = keep
    pickler = _Pickler(lambda piece: take(piece), memo=memo)
    try:
        arrays = pickler.write(became)
        pieces.reverse()
        take = compare
        others = pickler.write(was)
    finally:
        pickler.ways.know = None  # else it would hold the pickler, which holds it
    if pieces or not all(map(same_numbers, arrays, others)):
        raise _Differs
    return pickler.ways.keys()


#: After so many bytes it is checked whether the same objects are written again and again: with each
#: level of objects that stand in two places of the next there may be twice as many.
_MUCH = 8 << 20
#: So many times more bytes than with each object written once are not written.
_OFTEN = 1 << 6


def _check_written_often(value: Any, most: float) -> None:
    """_OddClass where ``value`` takes no more than ``most`` bytes with each object written once."""
    size = 0

    def count(piece: Any) -> None:
        nonlocal size
        size += len(piece)
        if size > most:
            raise _IsMore

    with suppress(_IsMore):
        _Pickler(count, memo=True).write(value)
        raise _OddClass


class _IsMore(Exception):
    """More bytes need not be counted."""


def _is_tree(value: Any, classes: Iterable[type]) -> bool:
    """Whether each container or object stands in one place of ``value`` only; it has no cycles."""
    types = _CONTAINERS.union(classes).difference(_TOLD)
    found, level = [value], [value]
    while level:
        above, level = level, []
        for values in contents(above):
            if not types.isdisjoint(map(type, values)):
                level += compress(values, map(types.__contains__, map(type, values)))
        found += level
    return len(set(map(id, found))) == len(found)
