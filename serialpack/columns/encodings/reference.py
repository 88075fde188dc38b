"""Two encodings: a column that repeats an earlier one, and one that follows from it.

The earlier column is the *leader*. Only a whole column refers to one, a part of a column does not;
and the leader is in no bundle. ``related`` finds leaders.

reference: v, the leader's index; places (``exceptions.py``); if there are any, a column of the
exceptions
follows: v, the leader's index; a column of one value for each different value of the leader, in
the order in which these first come; places and exceptions as above
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.groups import Groups, group
from serialpack.columns.bulk.pieces import merge, select, slices
from serialpack.columns.encodings.exceptions import read_places, write_places
from serialpack.columns.stored.coding import Coded, Context, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.wire import WireReader
from serialpack.columns.texts import Broken, Texts

NUMBER = 16
FOLLOWS_NUMBER = 17


def leader_of(description: bytes) -> int | None:
    """The index of the leader of a column with this ``description``; None where it has none."""
    if description[:1] in (bytes([NUMBER]), bytes([FOLLOWS_NUMBER])):
        return WireReader(description, 1).varint(2**32)
    return None


def equal(first: Texts, second: Texts) -> NDArray[np.bool_]:
    """Which values are equal in two columns of as many values."""
    lengths = first.lengths
    same: NDArray[np.bool_] = np.equal(lengths, second.lengths)
    if same.all():
        differ = np.flatnonzero(first.data != second.data)
        same[np.searchsorted(first.ends, differ, side="right")] = False
        return same
    alike = np.flatnonzero(same)
    left = slices(first.data, first.starts[alike], lengths[alike])
    right = slices(second.data, second.starts[alike], lengths[alike])
    same[alike] = equal(left, right)
    return same


class Order(NamedTuple):
    """The different values of a column, with numbers in the order in which they first come."""

    codes: NDArray[np.int64]
    """For each value its number."""
    firsts: NDArray[np.int64]
    """For each number the index of its first value."""


def in_order(groups: Groups) -> Order:
    """``groups``, whose numbers are in no order,
    with numbers in the order of their first values."""
    number, count = len(groups.codes), len(groups.examples)
    firsts = np.empty(count, np.int64)
    firsts[groups.codes[::-1]] = np.arange(number - 1, -1, -1)
    order = np.argsort(firsts)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    return Order(place[groups.codes], firsts[order])


def refer(index: int, texts: Texts, misfits: NDArray[np.bool_], to: Context) -> Coded:
    """``texts``, which but for ``misfits`` are the values of column ``index``."""
    return joined(head(NUMBER, index), (_exceptions(texts, misfits, to),))


def follow(
    index: int, leader: Order, texts: Texts, misfits: NDArray[np.bool_], to: Context
) -> Coded:
    """``texts``, which but for ``misfits`` follow from column ``index``.
    ``leader``: that column's order."""
    firsts = leader.firsts
    values = slices(texts.data, texts.starts[firsts], texts.lengths[firsts])
    parts = (to.column(values), _exceptions(texts, misfits, to))
    return joined(head(FOLLOWS_NUMBER, index), parts)


def _exceptions(texts: Texts, misfits: NDArray[np.bool_], to: Context) -> Coded:
    """The places of ``misfits``, and the values there."""
    odd = select(texts, misfits)
    places = write_places(misfits, to.use)
    return joined(b"", (places, to.column(odd)) if odd.number else (places,))


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values of the leader, but for exceptions; see ``Decoder``."""
    texts = _leader(source, number)
    misfits = read_places(source, number)
    return _with_exceptions(source, select(texts, ~misfits), misfits, limit)


def decode_follows(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values that follow from those of the leader, but for exceptions; see ``Decoder``."""
    order = in_order(group(_leader(source, number)))
    values = source.column(len(order.firsts), limit)
    misfits = read_places(source, number)
    codes = order.codes[~misfits]
    lengths = values.lengths[codes]
    if int(lengths.sum()) > limit:
        raise Broken("a column holds more than was promised")
    texts = slices(values.data, values.starts[codes], lengths)
    return _with_exceptions(source, texts, misfits, limit)


def _with_exceptions(
    source: ColumnSource, texts: Texts, misfits: NDArray[np.bool_], limit: int
) -> Texts:
    """``texts``, and the exceptions, which come next in ``source``, in their places."""
    if not misfits.any():
        return texts
    return merge(texts, source.column(int(np.count_nonzero(misfits)), limit), misfits)


def _leader(source: ColumnSource, number: int) -> Texts:
    """The leader, which must have ``number`` values. Broken."""
    texts = source.earlier(source.varint(2**32))
    if texts is None or source.depth > 1:
        raise Broken("a part of a column refers to a column")
    if texts.number != number:
        raise Broken("a column refers to one of another length")
    source.spend(len(texts.data) + 16 * number)
    return texts
