"""Decimal digits as integers, and integers as decimal digits, many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.windows import ALL_BITS, U64, windows_of

#: ``_LAST[k]`` keeps the last k bytes of a window.
_LAST = np.array([(ALL_BITS << 8 * (8 - k)) & ALL_BITS for k in range(9)], U64)

#: An int64 holds any number of so many digits.
DIGITS_MOST = 18
POWERS = 10 ** np.arange(DIGITS_MOST + 1, dtype=np.int64)

#: The digits of 0 to 9999: as rows of four texts, and each four as one integer.
_FOUR = np.stack([48 + np.arange(10000) // 10**k % 10 for k in (3, 2, 1, 0)], axis=1)
_QUADS = np.ascontiguousarray(_FOUR.astype(np.uint8)).view(np.uint32)[:, 0].copy()


def parse_digits(
    data: NDArray[np.uint8], ends: NDArray[Any], lengths: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The number that the ``lengths`` bytes of ``data`` before each of ``ends`` spell; and whether
    these bytes are at most ``DIGITS_MOST`` digits and nothing else. Where not, the number means
    nothing; no bytes at all are 0.

    Eight digits become a number in three steps, each of which joins neighbours (Lemire, "Quickly
    parsing eight digits").
    """
    most = min(int(lengths.max(initial=0)), DIGITS_MOST)
    good = lengths <= DIGITS_MOST
    total = np.zeros(len(ends), np.int64)
    windows = windows_of(data, 24, 16)
    zeros = U64.type(0x3030303030303030)
    for place in range((most - 1) // 8 * 8, -1, -8):
        inside = _LAST.take(lengths - place, mode="clip")
        digits = (windows[ends + (16 - place)] & inside) | (zeros & ~inside)
        bad = (digits + U64.type(0x4646464646464646)) | (digits - zeros)
        good &= (bad & U64.type(0x8080808080808080)) == 0
        digits = digits - zeros
        digits = digits * U64.type(10) + (digits >> U64.type(8))
        low = digits & U64.type(0x000000FF000000FF)
        high = (digits >> U64.type(16)) & U64.type(0x000000FF000000FF)
        low = low * U64.type(100 + (1000000 << 32))
        eight = (low + high * U64.type(1 + (10000 << 32))) >> U64.type(32)
        total = total * 100_000_000 + eight.astype(np.int64)
    return total, good


def count_digits(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many decimal digits each number has, none of them negative; 0 has one."""
    return np.maximum(np.searchsorted(POWERS, numbers, side="right"), 1)


def digit_rows(numbers: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """The last ``width`` digits of each number, none of them negative, as a row of bytes: with
    zeros before a number of fewer digits."""
    quads = -(-width // 4)
    rows = np.empty((len(numbers), quads), np.uint32)
    rest: NDArray[Any] = numbers.astype(np.uint32) if width <= 9 else numbers.astype(np.uint64)
    base = rest.dtype.type(10000)
    for place in range(quads - 1, -1, -1):
        next_rest = rest // base
        rows[:, place] = _QUADS.take((rest - next_rest * base).astype(np.int64))
        rest = next_rest
    return rows.view(np.uint8)[:, 4 * quads - width :]
