"""Dictionary: each different value once, as an entry, and for each value which entry it is.

v: the number of entries; a column of these; codes
"""

from __future__ import annotations

import numpy as np

from serialpack.columns.bulk.groups import Groups, group
from serialpack.columns.bulk.pieces import slices
from serialpack.columns.encodings.numbers import read_codes, write_codes
from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.texts import Texts

NUMBER = 2

#: With more entries than this codes need two bytes or more, and common values are given low codes.
_BYTE = 256

#: Entries are ranked by how often they occur, in classes of a factor of four that begin here.
_FOURS = 4 ** np.arange(31) // 2


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes anything; pays where values repeat."""
    if not texts.number:
        return None
    return encode_groups(texts, group(texts), to)


def encode_groups(texts: Texts, groups: Groups, to: Context) -> Fit:
    """As ``encode``, for a caller that has the ``groups`` of equal values. Takes any.

    Entries are sorted, so that neighbours are alike, and columns of the same values have the same
    dictionary. Where there are many, those that occur often come first, by classes of a factor of
    four, each of which is sorted: so most codes are low.
    """
    entries = slices(texts.data, texts.starts[groups.examples], texts.lengths[groups.examples])
    values = entries.to_list()
    count = len(values)
    order = sorted(range(count), key=values.__getitem__)
    if count > _BYTE:
        uses = np.bincount(groups.codes, minlength=count)
        ranks = -np.searchsorted(_FOURS, uses, side="right")[order]
        order = np.array(order)[np.argsort(ranks, kind="stable")].tolist()
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    inner = to.column(Texts.from_list([values[index] for index in order]), entries=True)
    codes = write_codes(place[groups.codes], count, to.use)
    return Fit(joined(head(NUMBER, count), (inner, codes)))


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """For each value its entry; see ``Decoder``."""
    entries = source.column(source.varint(number), limit)
    # NumPy indexes the fastest with integers of its own default type.
    codes = read_codes(source, entries.number, number).astype(np.int64)
    lengths = entries.lengths[codes]
    size = int(lengths.sum())
    if size > limit:
        source.spend(source.budget + 1)
    return slices(entries.data, entries.starts[codes], lengths)
