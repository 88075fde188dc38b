"""Decimals as scaled integers: ``-12.50`` is -1250 with two digits behind the point.

v: the rule by which digits stand behind the point (below); v: the scale, how many do at most;
numbers: each value as an integer, times 10 to the power of the scale; and for the last rule
numbers: how many digits each value has behind the point
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.digits import (
    DIGITS_MOST,
    POWERS,
    count_digits,
    digit_rows,
    parse_digits,
)
from serialpack.columns.bulk.pieces import from_rows
from serialpack.columns.encodings.integer import check_range
from serialpack.columns.encodings.numbers import read_numbers, write_numbers
from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.texts import Broken, Texts

NUMBER = 5

#: The rules, stored and so the same for ever. Behind the point all values have as many digits as
#: the scale; or zeros at the end are dropped, but not the last digit (``1.0``); or all zeros at the
#: end are dropped, and a point without digits (``1``); or it is stored for each value.
_FIXED, _DROP_TO_ONE, _DROP_ALL, _TOLD = range(4)

_MINUS, _POINT = b"-."

#: At most this share of values may break a rule, and become exceptions.
_ODD = 0.05


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes numbers without exponent, with up to 18 digits in all, written as usual."""
    starts, ends = texts.starts, texts.ends
    good = texts.lengths > 0
    points = np.flatnonzero(texts.data == _POINT)
    if not len(points):
        return None
    if len(points) == len(ends) and (points >= starts).all() and (points < ends).all():
        point = points
    else:
        row = np.searchsorted(ends, points, side="right")
        good &= np.bincount(row, minlength=texts.number) <= 1
        point = ends.copy()
        point[row] = points
    minus = good & (texts.data[np.minimum(starts, len(texts.data) - 1)] == _MINUS)
    whole_digits = point - starts - minus
    fraction_digits = np.maximum(ends - point - 1, 0)
    good &= (whole_digits > 0) & (whole_digits + fraction_digits <= DIGITS_MOST)
    good &= (fraction_digits > 0) | (point == ends)
    whole, digits = parse_digits(texts.data, point, np.where(good, whole_digits, 0))
    good &= digits & (count_digits(whole) == whole_digits)
    fraction, digits = parse_digits(texts.data, ends, np.where(good, fraction_digits, 0))
    good &= digits
    if not good.any():
        return None
    scale = int(fraction_digits[good].max())
    good &= whole_digits + scale <= DIGITS_MOST
    shift = POWERS[np.where(good, scale - fraction_digits, 0)]
    numbers = np.where(good, whole, 0) * POWERS[scale] + fraction * shift
    good &= ~(minus & (numbers == 0))
    numbers = np.where(minus, -numbers, numbers)[good]
    style, odd = _style(numbers, fraction_digits[good], scale)
    if odd is not None:
        good[np.flatnonzero(good)[odd]] = False
        numbers = numbers[~odd]
    if not len(numbers):
        return None
    parts = [write_numbers(numbers, to.use)]
    if style == _TOLD:
        parts.append(write_numbers(fraction_digits[good], to.use))
    coded = joined(head(NUMBER, style, scale), parts)
    return Fit(coded, None if good.all() else ~good)


def _style(
    numbers: NDArray[np.int64], digits: NDArray[np.int64], scale: int
) -> tuple[int, NDArray[np.bool_] | None]:
    """The rule that most of the values keep, of which ``numbers`` are the scaled integers and
    ``digits`` the digits behind the point; and which values break it, or None where none does."""
    if not len(numbers) or (digits == scale).all():
        return _FIXED, None
    least = _kept_digits(numbers, scale)
    best: tuple[int, NDArray[np.bool_] | None] = _TOLD, None
    fewest = _ODD * len(numbers)
    rules = (
        (_FIXED, np.full(len(numbers), scale)),
        (_DROP_TO_ONE, np.maximum(least, 1)),
        (
            _DROP_ALL,
            least,
        ),
    )
    for style, rule in rules:
        odd = digits != rule
        number = int(np.count_nonzero(odd))
        if number < fewest or (not number and not fewest):
            best, fewest = (style, odd if number else None), number
    return best


def _kept_digits(numbers: NDArray[np.int64], scale: int) -> NDArray[np.int64]:
    """For each scaled integer how many of the ``scale`` digits behind the point are left when zeros
    at the end are dropped."""
    kept = np.full(len(numbers), scale, np.int64)
    rows = np.arange(len(numbers))
    rest = numbers
    for place in range(scale - 1, -1, -1):
        quotient = rest // 10
        still = quotient * 10 == rest
        rows, rest = rows[still], quotient[still]
        if not len(rows):
            break
        kept[rows] = place
    return kept


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The numbers as texts, by the rule; see ``Decoder``."""
    del limit
    style = source.varint(_TOLD)
    scale = source.varint(DIGITS_MOST)
    numbers = read_numbers(source, number)
    check_range(numbers)
    digits: NDArray[Any]
    if style == _TOLD:
        digits = read_numbers(source, number)
        if number and not (int(digits.min()) >= 0 and int(digits.max()) <= scale):
            raise Broken("a decimal with more digits than promised")
    elif style == _FIXED:
        digits = np.full(number, scale, np.int64)
    else:
        least = 1 if style == _DROP_TO_ONE else 0
        digits = np.maximum(_kept_digits(numbers, scale), min(least, scale))
    minus = numbers < 0
    numbers = np.abs(numbers)
    whole = numbers // POWERS[scale]
    before = count_digits(whole)
    left = int(before.max(initial=1)) + int(minus.any())
    width = left + 1 + scale
    source.spend(width * number)
    rows = np.empty((number, width), np.uint8)
    rows[:, :left] = digit_rows(whole, left)
    before += minus
    negative = np.flatnonzero(minus)
    rows[negative, left - before[negative]] = _MINUS
    rows[:, left] = _POINT
    if scale:
        rows[:, left + 1 :] = digit_rows(numbers - whole * POWERS[scale], scale)
    return from_rows(rows, left - before, before + digits + (digits > 0))
