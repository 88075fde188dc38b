"""Finds columns that repeat an earlier column (``id_str`` after ``id``), or follow from one (a name
from an id), and encodes them as references to it.

- leader: the earlier column
- follow: equal values of the leader come with equal values of the column
- probes: the values at up to 64 places spread over a column, which are compared before all are
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import add, eq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.groups import Groups, group
from serialpack.columns.bulk.pieces import slices
from serialpack.columns.encodings import reference
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.texts import Texts

#: Columns of fewer values, or of fewer bytes encoded by themselves, are not looked at.
_VALUES = 8
_BYTES = 32

#: How many probes are taken of a column.
_PROBES = 64

#: A column repeats another if at least this share of its probes are equal; and follows from it only
#: if at least this share of its probes do.
_SAME = 0.8

#: The most leaders that a column is compared with, the latest first.
_LEADERS = 32

#: A column is written as one that follows if at most this share of its values has to be stored.
_WORTH = 0.7

#: A leader has at most so many times the bytes of a column, counting 8 more for each value: it is
#: restored first, within the column's own budget.
_WIDER = 32

#: A column may lead if its values repeat: at most this share of them differ.
_REPEATS = 0.9


class _Related:
    """A column that may follow from earlier ones, and that may lead later ones.

    ``index``: its number in the block. ``numbers``: for each of the ``probes`` a number, the same
    for equal ones; ``again``: how many probes are equal to an earlier one.
    """

    def __init__(self, index: int, texts: Texts, probes: list[bytes]) -> None:
        self.index = index
        self.texts = texts
        self.probes = probes
        numbers: dict[bytes, int] = {}
        self.numbers = [numbers.setdefault(probe, len(numbers)) for probe in probes]
        self.again = len(probes) - len(numbers)
        #: ``numbers``, so far apart that adding those of another column to them makes pairs.
        self.steps = [_PROBES * number for number in self.numbers]

    @cached_property
    def groups(self) -> Groups:
        """The groups of equal values of the column."""
        return group(self.texts)

    @cached_property
    def order(self) -> reference.Order | None:
        """The different values of the column in order;
        None where nearly all differ, so that it does not lead."""
        if len(self.groups.examples) > _REPEATS * self.texts.number:
            return None
        return reference.in_order(self.groups)


class _Followed(NamedTuple):
    """The index of a leader, the order of its values,
    and which values of a column do not follow."""

    leader: int
    order: reference.Order
    misfits: NDArray[np.bool_]

    @property
    def weight(self) -> int:
        """About how many values have to be stored."""
        return len(self.order.firsts) + 2 * int(np.count_nonzero(self.misfits))


def related(columns: Sequence[Texts], coded: Sequence[Coded], to: Context) -> list[Coded]:
    """``coded``, the columns encoded by themselves, but references where these are smaller."""
    out = list(coded)
    by_number: dict[int, list[_Related]] = {}
    for index, (texts, alone) in enumerate(zip(columns, coded, strict=True)):
        if texts.number < _VALUES or alone.size < _BYTES:
            continue
        leaders = by_number.setdefault(texts.number, [])
        column = _Related(index, texts, _probes(texts))
        room = _WIDER * (len(texts.data) + 8 * texts.number)
        near = [each for each in leaders[-_LEADERS:] if len(each.texts.data) <= room]
        found = _relate(column, near, to)
        if found is not None and found.size < alone.size:
            out[index] = found
        leaders.append(column)
    return out


def _relate(column: _Related, leaders: list[_Related], to: Context) -> Coded | None:
    """``column`` by the leader that leaves the fewest values to store; None without one."""
    best: _Followed | None = None
    for leader in reversed(leaders):
        if sum(map(eq, column.probes, leader.probes)) >= _SAME * len(column.probes):
            misfits = ~reference.equal(leader.texts, column.texts)
            return reference.refer(leader.index, column.texts, misfits, to)
        if leader.again and _may_follow(leader, column) and leader.order is not None:
            codes = column.groups.codes
            misfits = codes[leader.order.firsts[leader.order.codes]] != codes
            found = _Followed(leader.index, leader.order, misfits)
            if best is None or found.weight < best.weight:
                best = found
    if best is None or best.weight > _WORTH * column.texts.number:
        return None
    return reference.follow(best.leader, best.order, column.texts, best.misfits, to)


def _probes(texts: Texts) -> list[bytes]:
    """The probes of a column."""
    indices = np.linspace(0, texts.number - 1, min(_PROBES, texts.number)).astype(np.int64)
    return slices(texts.data, texts.starts[indices], texts.lengths[indices]).to_list()


def _may_follow(leader: _Related, column: _Related) -> bool:
    """Whether, where probes of ``leader`` are equal, those of ``column`` mostly are too."""
    pairs = len(set(map(add, leader.steps, column.numbers)))
    different = len(leader.probes) - leader.again
    return pairs - different <= (1 - _SAME) * leader.again
