"""Dictionary: each different value once, and for each place in the column which of them it is.

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

#: With more entries than this, codes have two bytes and more, and common values get low codes.
_BYTE = 256

#: Values that occur from half a power of four times to twice that have one rank.
_FOURS = 4 ** np.arange(31) // 2


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes anything; pays where values repeat."""
    if not texts.number:
        return None
    return encode_groups(texts, group(texts), to)


def encode_groups(texts: Texts, groups: Groups, to: Context) -> Fit:
    """As ``encode``, where the ``groups`` of equal values are known.

    Entries are sorted, so that neighbours are alike and columns of the same values have the same
    dictionary. Where there are many, common ones come first, by classes of a factor of four, and
    each class is sorted: so low codes are common.
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
    """The entries, by code."""
    entries = source.column(source.varint(number), limit)
    # NumPy indexes the fastest with integers of its own default type.
    codes = read_codes(source, entries.number, number).astype(np.int64)
    lengths = entries.lengths[codes]
    size = int(lengths.sum())
    if size > limit:
        source.spend(source.budget + 1)
    return slices(entries.data, entries.starts[codes], lengths)
