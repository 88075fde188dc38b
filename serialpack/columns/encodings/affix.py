"""Two encodings for columns of which all values are alike: in how they begin or end, or in that
they begin with a capital.

affix: v, bytes: the start; v, bytes: the end; a column of what is between them
capitals: a column of the values with bit 5 of each first byte turned
"""

from __future__ import annotations

import numpy as np

from serialpack.columns.bulk.pieces import join, slices
from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.wire import counted
from serialpack.columns.texts import Broken, Texts

NUMBER = 10
CAPITALS_NUMBER = 11

#: The bit in which a capital letter differs from the small one.
_CASE = 0x20

_CAPITAL = np.zeros(256, np.bool_)
_CAPITAL[ord("A") : ord("Z") + 1] = True


def common(texts: Texts) -> tuple[bytes, bytes]:
    """What all values begin with, and what all of them end with behind that."""
    if not texts.lengths.all():
        return b"", b""
    firsts, lasts = texts.data[texts.starts], texts.data[texts.ends - 1]
    same_start, same_stop = (firsts == firsts[0]).all(), (lasts == lasts[0]).all()
    if not same_start and not same_stop:
        return b"", b""
    values = texts.to_list()
    start = _shared(values)
    if not same_stop:
        return start, b""
    return start, _shared([value[len(start) :][::-1] for value in values])[::-1]


def _shared(values: list[bytes]) -> bytes:
    """What all ``values`` begin with: what the least and the greatest of them both begin with."""
    first, last = min(values), max(values)
    pairs = enumerate(zip(first, last, strict=False))
    size = next((place for place, (a, b) in pairs if a != b), min(len(first), len(last)))
    return first[:size]


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes columns in which all values begin or end alike."""
    if not texts.number:
        return None
    start, stop = common(texts)
    if not start and not stop:
        return None
    lengths = texts.lengths - (len(start) + len(stop))
    inner = slices(texts.data, texts.starts + len(start), lengths)
    coded = to.column(inner, entries=to.entries)
    return Fit(joined(head(NUMBER) + counted(start) + counted(stop), (coded,)))


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values, with their start and end; see ``Decoder``."""
    start, stop = source.counted(), source.counted()
    size = (len(start) + len(stop)) * number
    if size > limit:
        raise Broken("values longer than promised")
    return join([start, source.column(number, limit - size), stop], number)


def encode_capitals(texts: Texts, to: Context) -> Fit | None:
    """Takes columns in which all values begin with a capital letter of ASCII and have no other."""
    lengths = texts.lengths
    if not texts.number or not lengths.all():
        return None
    starts = texts.starts
    capital = _CAPITAL[texts.data]
    good = capital[starts] & (np.add.reduceat(capital.astype(np.int64), starts) == 1)
    if not good.all():
        return None
    data = texts.data.copy()
    data[starts] ^= _CASE
    coded = to.column(Texts(data, texts.ends), entries=to.entries)
    return Fit(joined(head(CAPITALS_NUMBER), (coded,)))


def decode_capitals(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values, with their capitals; see ``Decoder``."""
    texts = source.column(number, limit)
    if not texts.lengths.all():
        raise Broken("no letter where a capital was")
    data = texts.data.copy()
    data[texts.starts] ^= _CASE
    return Texts(data, texts.ends)
