"""Two encodings: integers as ``str`` writes them; and digits, all of one width, zeros before
included.

integer: numbers
digits: v, their width; numbers
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.digits import DIGITS_MOST, count_digits, digit_rows, parse_digits
from serialpack.columns.bulk.pieces import chunks, from_rows, together
from serialpack.columns.encodings.numbers import read_numbers, write_numbers
from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.texts import Broken, Texts

NUMBER = 3
DIGITS_NUMBER = 4

_MINUS = ord("-")

#: How many values are read or written at a time.
_PART = 1 << 16

#: The least number of too many digits.
_TOP = 10**DIGITS_MOST


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes what ``str(int)`` writes, of up to 18 digits: no plus, no zeros before, no ``-0``."""
    if not texts.number:
        return None
    numbers, good = read(texts)
    if not good.any():
        return None
    whole = bool(good.all())
    inner = write_numbers(numbers if whole else numbers[good], to.use)
    return Fit(joined(head(NUMBER), (inner,)), None if whole else ~good)


def read(texts: Texts) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The integers that ``texts`` spell, and which of the texts are as ``str`` writes an integer of
    up to 18 digits. Where one is not, its integer means nothing."""
    if not texts.number:
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    parts = [_read(part) for part in chunks(texts, _PART)]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _read(texts: Texts) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    starts, lengths = texts.starts, texts.lengths
    some = lengths > 0
    if not len(texts.data):
        return np.zeros(texts.number, np.int64), some
    first = texts.data[np.minimum(starts, len(texts.data) - 1)]
    minus = (first == _MINUS) & some
    digits = lengths - minus
    numbers, good = parse_digits(texts.data, texts.ends, digits)
    good &= (digits > 0) & (count_digits(numbers) == digits) & ~(minus & (numbers == 0))
    return np.where(minus, -numbers, numbers), good


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The integers as texts; see ``Decoder``."""
    del limit
    numbers = read_numbers(source, number)
    check_range(numbers)
    source.spend((DIGITS_MOST + 1) * min(number, _PART))
    return write(numbers)


def write(numbers: NDArray[np.int64]) -> Texts:
    """Integers of up to 18 digits as ``str`` writes them."""
    parts = range(0, len(numbers), _PART)
    return together([_write(numbers[first : first + _PART]) for first in parts])


def _write(numbers: NDArray[np.int64]) -> Texts:
    minus = numbers < 0
    numbers = np.abs(numbers)
    lengths = count_digits(numbers)
    width = int(lengths.max(initial=1)) + int(minus.any())
    rows = digit_rows(numbers, width)
    lengths += minus
    if minus.any():
        negative = np.flatnonzero(minus)
        rows[negative, width - lengths[negative]] = _MINUS
    return from_rows(rows, width - lengths, lengths)


def check_range(numbers: NDArray[np.int64]) -> None:
    """Broken if a number has more than 18 digits: no writer takes such."""
    if len(numbers) and not (int(numbers.min()) > -_TOP and int(numbers.max()) < _TOP):
        raise Broken("a number of too many digits")


def encode_digits(texts: Texts, to: Context) -> Fit | None:
    """Takes values of the commonest length that are all digits."""
    lengths = texts.lengths
    fitting = (lengths > 0) & (lengths <= DIGITS_MOST)
    if not fitting.any():
        return None
    width = int(np.bincount(lengths[fitting]).argmax())
    good = lengths == width
    numbers, digits = parse_digits(texts.data, texts.ends, np.where(good, width, 0))
    good &= digits
    if not good.any():
        return None
    whole = bool(good.all())
    inner = write_numbers(numbers if whole else numbers[good], to.use)
    return Fit(joined(head(DIGITS_NUMBER, width), (inner,)), None if whole else ~good)


def decode_digits(source: ColumnSource, number: int, limit: int) -> Texts:
    """The numbers with zeros before them, in their width; see ``Decoder``."""
    width = source.varint(DIGITS_MOST)
    if width * number > limit:
        raise Broken("values longer than promised")
    numbers = read_numbers(source, number)
    if number and not (int(numbers.min()) >= 0 and int(numbers.max()) < 10**width):
        raise Broken("a number of too many digits")
    rows = digit_rows(numbers, width)
    return Texts.of_width(rows.reshape(-1), width, number)
