"""Letters: values over a small alphabet, each byte by its place in it (of DNA in two bits).

v, bytes: the alphabet; numbers: the lengths; codes, one a byte
"""

from __future__ import annotations

import numpy as np

from serialpack.columns.encodings.numbers import (
    read_codes,
    read_numbers,
    write_codes,
    write_numbers,
)
from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.wire import counted
from serialpack.columns.texts import Broken, Texts

NUMBER = 9

#: A larger alphabet is better left to the codec.
MOST = 64


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes texts that together have at most 64 different bytes."""
    alphabet = np.flatnonzero(np.bincount(texts.data, minlength=256))
    if not 0 < len(alphabet) <= MOST:
        return None
    table = np.zeros(256, np.uint8)
    table[alphabet] = np.arange(len(alphabet))
    lengths = write_numbers(texts.lengths, to.use)
    codes = write_codes(table[texts.data], len(alphabet), to.use)
    return Fit(joined(head(NUMBER) + counted(bytes(alphabet.tolist())), (lengths, codes)))


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values, byte by byte; see ``Decoder``."""
    alphabet = np.frombuffer(source.counted(), np.uint8)
    lengths = read_numbers(source, number)
    if number and (int(lengths.min()) < 0 or int(lengths.max()) > limit):
        raise Broken("a value of an impossible length")
    size = int(lengths.sum())
    if not 0 <= size <= limit:
        raise Broken("values longer than promised")
    codes = read_codes(source, len(alphabet), size)
    return Texts.from_lengths(alphabet[codes] if size else np.zeros(0, np.uint8), lengths)
