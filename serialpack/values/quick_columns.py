"""Whether many values certainly are the same, each with the one at its place: by columns.

What is in the way of comparing all at once, such as sets, which have their elements in any order,
then is in the way of its own column alone.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from types import NoneType
from typing import Any

from serialpack.values.arrays import is_plain_scalar
from serialpack.values.quick_equality import quickly_same, state_of

_SETS = frozenset({set, frozenset})

#: Types of values that are the same where they are equal, whatever else stands beside them.
_EQUAL_IS_SAME = frozenset({str, bytes, int, NoneType})
#: So many tuples in each other are looked into for these; and so many rows for their columns.
_LEVELS = 4


def lists_same(was: Sequence[Any], became: Sequence[Any], *, again: bool = False) -> bool:
    """As ``quickly_same``, of two lists of as many values. They are compared by columns where all
    are tuples of one length, such as the items of a map, or maps of the same names, or objects of
    one class. ``again``: ``quickly_same`` did not find these lists the same."""
    found = _same_by_columns(was, became, _LEVELS)
    if found is not None:
        return found
    return sets_same(was, became) if again else _column_same(was, became, 0)


def sets_same(was: Sequence[Any], became: Sequence[Any]) -> bool:
    """Whether two lists of sets certainly have the same sets, of text, bytes and integers, or
    tuples of these."""
    kinds = {*map(type, was), *map(type, became)}
    if len(kinds) != 1 or not kinds < _SETS:
        return False
    return all(map(_are_sure, map(chain.from_iterable, (was, became)))) and was == became


def _same_by_columns(was: Sequence[Any], became: Sequence[Any], levels: int) -> bool | None:
    """As ``lists_same``; None where one of them has no columns."""
    ours = _columns(was)
    theirs = None if ours is None else _columns(became)
    if ours is None or theirs is None:
        return None
    if ours[0] != theirs[0]:
        return False
    return all(_column_same(*both, levels - 1) for both in zip(ours[1:], theirs[1:], strict=True))


def _columns(values: Sequence[Any]) -> list[Any] | None:
    """What is alike in all of ``values``, and their columns; None where they have none."""
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is tuple and len(set(map(len, values))) == 1:
        return [len(values[0]), *zip(*values, strict=True)]
    if kind is dict and values[0]:
        names = tuple(values[0])
        kinds = set(map(type, chain.from_iterable(values)))  # which may be equal to text
        if kinds == {str} and set(map(tuple, values)) == {names}:
            return [names, *zip(*map(dict.values, values), strict=True)]
    state = state_of(kind)
    return state and [kind, [state(value) for value in values]]


def _column_same(was: Sequence[Any], became: Sequence[Any], levels: int) -> bool:
    """As ``lists_same``. Scalars of one type of NumPy are compared at the speed of arrays; also in
    tuples, which the keys of sparse matrices are."""
    kinds = {*map(type, was), *map(type, became)}
    if len(kinds) == 1 and is_plain_scalar(was[0]):
        import numpy as np

        one, other = (np.array(values, was[0].dtype) for values in (was, became))
        return one.tobytes() == other.tobytes()
    if kinds == {tuple} and all(map(is_plain_scalar, was[0])) and was[0]:
        return lists_same(was, became)
    if sets_same(was, became) or quickly_same(list(was), list(became), identity=False):
        return True
    return levels > 0 and bool(_same_by_columns(was, became, levels))


def _are_sure(values: Iterable[Any], levels: int = _LEVELS) -> bool:
    values = list(values)
    kinds = set(map(type, values)) - _EQUAL_IS_SAME
    if kinds == {tuple} and levels:
        return _are_sure(chain.from_iterable(v for v in values if type(v) is tuple), levels - 1)
    return not kinds
