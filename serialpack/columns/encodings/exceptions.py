"""Exceptions: the values that another encoding cannot hold, beside those that it holds.

places; a column of the values that fit; if there are exceptions, a column of these

places: 0, codes: for each value 1 if it is an exception; or
        1, v, numbers: how many exceptions, and of each how many values stand before it, behind
        the one before
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.pieces import merge, select
from serialpack.columns.encodings.numbers import (
    read_codes,
    read_numbers,
    write_codes,
    write_numbers,
)
from serialpack.columns.stored.coding import Coded, Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.wire import varint
from serialpack.columns.texts import Broken, Texts
from serialpack.stages.effort import ColumnEffort

NUMBER = 6

#: The forms of places, as in the layout above; stored, and so the same for ever.
_BITMAP, _GAPS = range(2)

#: Where fewer than one in so many values is an exception, gaps are stored and not bits.
_RARE = 16


def write_places(misfits: NDArray[np.bool_], use: ColumnEffort) -> Coded:
    """The places of the exceptions, which ``misfits`` marks, as they are stored."""
    places = np.flatnonzero(misfits)
    if len(places) * _RARE < len(misfits):
        gaps = np.diff(places, prepend=-1) - 1
        coded = write_numbers(gaps, use)
        return joined(bytes([_GAPS]) + varint(len(places)), (coded,))
    coded = write_codes(misfits.astype(np.uint8), 2, use)
    return joined(bytes([_BITMAP]), (coded,))


def read_places(source: ColumnSource, number: int) -> NDArray[np.bool_]:
    """The mask of exceptions among ``number`` values, which ``write_places`` wrote. Broken."""
    mode = source.varint(_GAPS)
    if mode == _BITMAP:
        return read_codes(source, 2, number).astype(np.bool_)
    count = source.varint(number)
    gaps = read_numbers(source, count)
    if count and not (int(gaps.min()) >= 0 and int(gaps.max()) < number):
        raise Broken("an exception stands nowhere")
    places = np.cumsum(gaps + 1) - 1
    if count and int(places[-1]) >= number:
        raise Broken("an exception stands nowhere")
    misfits = np.zeros(number, np.bool_)
    misfits[places] = True
    return misfits


def encode(texts: Texts, fit: Fit, to: Context) -> Coded:
    """``texts``, of which ``fit`` holds all but the misfits."""
    if fit.misfits is None:
        return fit.coded
    odd = to.column(select(texts, fit.misfits))
    return joined(head(NUMBER), (write_places(fit.misfits, to.use), fit.coded, odd))


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values that fit and the exceptions, in their order; see ``Decoder``."""
    misfits = read_places(source, number)
    count = int(np.count_nonzero(misfits))
    fitting = source.column(number - count, limit)
    return merge(fitting, source.column(count, limit), misfits) if count else fitting
