"""Front coding: of each value only what is left after the start that it shares with the one before.

numbers: how many bytes it has in common with the one before; a column of the rest
"""

from __future__ import annotations

import numpy as np

from serialpack.columns.bulk.pieces import as_rows, slices
from serialpack.columns.encodings import plain
from serialpack.columns.encodings.numbers import read_numbers, write_numbers
from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.texts import Broken, Texts

NUMBER = 12

#: The longest value that is taken: values are compared as rows as wide as the longest of them.
#: These may have ``_WASTE`` times the bytes of the values.
_WIDEST = 128
_WASTE = 8

#: How many bytes of rows are restored at a time.
_PLACES = 1 << 16


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes short values, two at least. It pays where they are sorted."""
    lengths = texts.lengths
    width = int(lengths.max(initial=0))
    if texts.number < 2 or not 0 < width <= _WIDEST:
        return None
    if width * texts.number > _WASTE * (len(texts.data) + texts.number):
        return None
    rows, kept = as_rows(texts, width)
    same = (rows[1:] == rows[:-1]) & kept[1:] & kept[:-1]
    shared = np.zeros(texts.number, np.int64)
    shared[1:] = np.where(same.all(axis=1), width, same.argmin(axis=1))
    rest = slices(texts.data, texts.starts + shared, lengths - shared)
    return Fit(joined(head(NUMBER), (write_numbers(shared, to.use), plain.encode(rest, to).coded)))


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values, each of which begins as the one before it; see ``Decoder``."""
    shared = read_numbers(source, number)
    rest = source.column(number, limit)
    lengths = rest.lengths + shared
    if not number:
        return rest
    width = int(lengths.max())
    if int(shared.min()) < 0 or width > _WIDEST or int(shared[0]):
        raise Broken("a value shares more than there is")
    if (shared[1:] > lengths[:-1]).any():
        raise Broken("a value shares more than there is")
    if int(lengths.sum()) > limit:
        raise Broken("a column holds more than was promised")
    source.spend(2 * width * number)
    starts, before = rest.starts, np.zeros((1, width), np.uint8)
    places = np.arange(width)
    found = []
    step = _PLACES // max(width, 1)
    for first in range(0, number, step):
        part = slice(first, first + step)
        count = len(shared[part])
        # For each byte of a row find the last value so far that stores a byte there; in the column
        # of the rests it stands that far behind the start of that value's rest.
        own = np.where(shared[part, None] <= places, np.arange(1, count + 1)[:, None], 0)
        owner = np.maximum.accumulate(own, axis=0)
        at = (starts[part] - shared[part])[owner - 1] + places
        rows = rest.data.take(at, mode="clip") if len(rest.data) else np.zeros_like(own, np.uint8)
        rows = np.where(owner > 0, rows, before)
        before = rows[-1:]
        found.append(rows[places < lengths[part, None]])
    return Texts.from_lengths(np.concatenate(found), lengths)
