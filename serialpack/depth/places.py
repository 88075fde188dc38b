"""How much larger a value is once it is written in every place where it stands.

Most formats have no references. A list that is the same in many places they write as often, and
with each level of lists that stand in two places of the next there may be twice as many.
"""

from __future__ import annotations

from collections.abc import Iterator
from gc import get_referents
from itertools import chain
from typing import Any

from serialpack.depth._limit import MAX_DEPTH, HeldOften
from serialpack.depth.values import (
    CONTAINERS,
    below_all,
    check_values,
    may_hold,
    more_than_few,
    parts_of,
    without_named,
)

#: Values of so many levels, of so many places in all and of so much text are not looked at closely.
_FEW_LEVELS, _LEVELS, _PLACES, _TEXT = 16, 64, 1 << 21, 1 << 26
#: How many values are given to the collector at once; of every so many one is looked at for text.
_TOGETHER, _SAMPLED = 200, 49
#: So few places more than there are values do not matter.
_AGAIN = 16

#: The bytes of memory that a place takes, and so many more what holds others there.
_EACH, _HOLDER = 8, 64
#: What takes so many bytes of memory once it is in every place, and so many times as many as there
#: are, is far larger so.
_MUCH, _TIMES = 1 << 29, 8
_TEXTS = frozenset({str, bytes, bytearray})
_CONTAINERS = tuple(CONTAINERS)
#: What is written in the room of a place, more or less.
_SMALL = frozenset({int, float, bool, type(None)})
#: Classes of which an object in two places is written as two have one of these, or are containers.
_OF_FIELDS = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__")


def check_places(records: list[Any]) -> None:
    """TooDeep as ``check_values``, and HeldOften for ``records`` that would be written so often
    that this takes far more time and memory than they have."""
    few = more_than_few(records)
    if not few:
        return
    # By a class the collector reaches thousands of values, so that few levels do not end.
    classes = any(issubclass(kind, type) for kind in set(map(type, few[:_SAMPLED])))
    if not classes and _Look(named=True).ends(few, _FEW_LEVELS):
        return
    look = _Look(named=False)
    if look.ends(records, _LEVELS):
        return
    if look.has_text or not _in_one_place(records):
        _check_whole(records)
    check_values(records)


class _Look:
    """A quick look at what is in values, each in every place where it stands, for ``_PLACES`` of
    these. ``named``: see ``without_named``."""

    def __init__(self, *, named: bool) -> None:
        self._named = named
        self._left, self._text = _PLACES, _TEXT // _SAMPLED

    @property
    def has_text(self) -> bool:
        """Whether it found much text, or bytes."""
        return self._text < 0

    def ends(self, values: Any, levels: int) -> bool:
        """Whether all that is in ``values`` ends within ``levels``, and is not too much."""
        for level in range(levels, 0, -1):
            if len(values) > 2 * _TOGETHER:
                pieces = range(0, len(values), _TOGETHER)
                return all(self.ends(values[at : at + _TOGETHER], level) for at in pieces)
            self._left -= len(values)
            if len(values) > _SAMPLED:
                sample = values[::_SAMPLED]
                self._text -= sum(len(each) for each in sample if type(each) in _TEXTS)
            if self._left < 0 or self._text < 0:
                return False
            one = values[0] if len(values) == 1 else None
            values = one if type(one) in (list, tuple) else get_referents(*values)
            if not self._named:
                values = without_named(values)
            if not values:
                return True
        return False


def _in_one_place(records: list[Any]) -> bool:
    """Whether nearly all that holds values stands in one place of ``records``."""
    met: set[int] = set()
    again, level = 0, records
    for _ in range(MAX_DEPTH + 1):  # what has more is refused for that
        below = below_all(level)
        found = {id(each): each for each in below if id(each) not in met}
        again += len(below) - len(found)
        if again > _AGAIN:
            return False
        if not found:
            break
        met.update(found)
        level = [*found.values()]
    return True


class _Open:
    """A value that is being gone over: its parts that are left, and its size so far, of which its
    ``own``."""

    __slots__ = ("own", "parts", "size", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.size = _EACH
        self.parts: Iterator[Any] = iter(())
        kind = type(value)
        if kind in _TEXTS:
            self.size += len(value)
        elif kind in CONTAINERS or may_hold(kind):
            self.size += _HOLDER
            if kind is dict:
                self.parts = chain(value, value.values())
            else:
                self.parts = iter(value if kind in CONTAINERS else parts_of(value))
        self.own = self.size


def _check_whole(records: list[Any]) -> None:
    #: By id, what each value takes where it is met again; and what there is.
    sizes: dict[int, int] = {}
    own = whole = 0
    open_ones = [_Open(records)]
    while open_ones:
        innermost = open_ones[-1]
        for part in innermost.parts:
            known = _EACH if type(part) in _SMALL else sizes.get(id(part))
            if known is None:
                sizes[id(part)] = _EACH  # should it hold itself
                open_ones.append(_Open(part))
                break
            innermost.size += known
            own += _EACH
        else:
            open_ones.pop()
            value, whole = innermost.value, innermost.size
            own += innermost.own
            sizes[id(value)] = whole if _is_written_again(type(value)) else _EACH
            if open_ones:
                open_ones[-1].size += whole
    if whole > max(_MUCH, _TIMES * own):
        raise HeldOften(whole, whole // own)


def _is_written_again(kind: type) -> bool:
    """Whether what is of this class is written in each place where it stands; arrays and objects
    that have attributes alone are written once."""
    if kind in _TEXTS or issubclass(kind, _CONTAINERS):
        return True
    return any(hasattr(kind, name) for name in _OF_FIELDS)
