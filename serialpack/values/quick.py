"""Whether two values certainly are the same, found at the speed of C code.

pickle writes types, order and bits of plain values and of objects that keep all they have in
attributes; two that are written alike are the same. What else there is, somebody slower looks at.
"""

import copyreg
import pickle
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import compress
from pathlib import PurePath
from threading import local
from typing import Any, NamedTuple
from uuid import UUID

from serialpack.depth.values import check_values, contents
from serialpack.values.arrays import array_facts, is_plain_array, is_plain_scalar, same_numbers
from serialpack.values.parts import WITH_CONTENTS, is_hidden

#: Types whose pickled form says all that there is of them.
_TOLD = frozenset({datetime, date, time, timedelta, timezone, Decimal, Fraction, UUID, complex})
_ALL_TOLD: dict[type, bool] = dict.fromkeys(_TOLD, True)

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

    ``fast`` is without the memo: it writes twice what stands in two places.
    """

    def __init__(self, write: Callable[[Any], object]) -> None:
        super().__init__(_File(write), 5, buffer_callback=_no_buffer)
        self.classes = _ALL_TOLD.copy()
        self.arrays: list[Any] = []
        #: Their class, where there are any, or smaller ones.
        self.of_arrays: set[type] = set()

    def reducer_override(self, obj: Any) -> Any:
        if obj is _numbers:
            return NotImplemented
        cls = obj if isinstance(obj, type) else type(obj)
        known = self.classes.get(cls)
        if known:
            return NotImplemented
        if is_plain_array(obj):
            self.of_arrays.add(type(obj))
            if obj.nbytes <= _TINY:
                return _numbers, (array_facts(obj), obj.tobytes())
            self.arrays.append(obj)
            return _numbers, (array_facts(obj), len(self.arrays))
        if is_plain_scalar(obj):
            return _numbers, (obj.dtype.char, obj.tobytes())
        if known is None:
            known = self.classes[cls] = _tells_all(cls)
        if known:
            return NotImplemented
        if isinstance(obj, Enum):  # compared by identity
            return _numbers, (id(obj),)
        if isinstance(obj, PurePath):
            return _numbers, (cls.__name__, str(obj))
        raise _OddClass


def _written_alike(was: Any, became: Any, *, memo: bool = False) -> Iterable[type]:
    """The classes that are in two values which are written alike, arrays among them; else _Differs.

    Of ``became``, a piece is gone once it is compared.
    """
    pieces: list[Any] = []
    classes, arrays = _write(was, pieces.append, memo=memo)
    pieces.reverse()

    def compare(piece: Any) -> None:
        if not pieces or pieces.pop() != piece:
            raise _Differs

    _, others = _write(became, compare, memo=memo)
    if pieces or not all(map(same_numbers, arrays, others)):
        raise _Differs
    return classes


def _write(
    value: Any, write: Callable[[Any], object], *, memo: bool
) -> tuple[Iterable[type], list[Any]]:
    """Give ``value`` to ``write`` as pickle writes it; the classes that are in it, and the arrays
    whose numbers were not written."""
    pickler = _Pickler(write)
    pickler.fast = not memo
    pickler.dump(value)
    return pickler.of_arrays.union(pickler.classes), pickler.arrays


#: Methods by which a class says what pickle writes of it.
_OWN_WORDS = ("__reduce_ex__", "__reduce__", "__getstate__", "__getattribute__")
_MORE_WORDS = ("__getnewargs_ex__", "__getnewargs__", "__getattr__")


def _tells_all(cls: type) -> bool:
    """Whether pickle writes all that its instances have: their attributes, and nothing but them."""
    base = tuple if issubclass(cls, tuple) else object
    if not all(getattr(cls, name) is getattr(base, name) for name in _OWN_WORDS):
        return False
    if cls in copyreg.dispatch_table:
        return False
    if base is tuple:
        return _is_named_tuple(cls)
    return (
        not any(hasattr(cls, name) for name in _MORE_WORDS)
        and not issubclass(cls, WITH_CONTENTS)
        and not is_hidden(cls)
    )


#: The code by which all named tuples tell their items.
_NAMED_WORDS = vars(namedtuple("_Named", ""))["__getnewargs__"].__code__


def _is_named_tuple(cls: type) -> bool:
    """Whether its objects tell their items as named tuples do, and their attributes."""
    told = getattr(cls, "__getnewargs__", None)
    return (
        getattr(told, "__code__", None) is _NAMED_WORDS
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
