"""Numbers of MessagePack as decimal text, and texts as the bytes of MessagePack again.

Only of values that are stored in the fewest bytes: from the text alone these come back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import Bytes, put_together
from serialpack.columns.bulk.pieces import from_rows, merge, select
from serialpack.columns.encodings import floating, integer
from serialpack.columns.parse.nodes import SCALAR, STRING
from serialpack.columns.texts import Broken, Texts
from serialpack.msgpack_bytes import (
    FIX_MAP,
    FIX_STRING,
    FLOAT_64,
    NEGATIVE,
    SIGNED_8,
    STRING_8,
    UNSIGNED_8,
)
from serialpack.msgpack_starts import unsigned

#: How many strings get their lengths at a time.
_STEP = 1 << 16

#: Integers from here on, which have more than 18 digits, are kept as their bytes.
_TOP = 10**18

#: For integers of 1, 2, 4 and 8 bytes: an unsigned one needs so many bytes if it is at least that,
#: a signed one if it is less than that.
_LEAST = (1 << 7, 1 << 8, 1 << 16, 1 << 32)
_MOST = (-(1 << 5), -(1 << 7), -(1 << 15), -(1 << 31))

#: The length of a string stands in the first byte if it is below the first of these; in one byte
#: behind that below the second; in two below the third; else in four.
_LENGTHS = (1 << 5, 1 << 8, 1 << 16)


def whole_numbers(
    padded: Bytes, starts: NDArray[np.int32], firsts: Bytes
) -> tuple[NDArray[np.int64], Texts]:
    """The indices of the values that are integers in the fewest bytes, and their decimal texts.

    ``starts``: where each value starts in ``padded``; ``firsts``: its first byte.
    """
    places = [np.flatnonzero((firsts < FIX_MAP) | (firsts >= NEGATIVE))]
    numbers = [firsts[places[0]].view(np.int8).astype(np.int64)]
    for power, (least, most) in enumerate(zip(_LEAST, _MOST, strict=True)):
        some = np.flatnonzero(firsts == UNSIGNED_8 + power)
        positive = unsigned(padded, starts[some] + 1, 1 << power)
        good = (positive >= least) & (positive < _TOP)
        places.append(some[good])
        numbers.append(positive[good].astype(np.int64))
        some = np.flatnonzero(firsts == SIGNED_8 + power)
        bits = 64 - (8 << power)
        negative = unsigned(padded, starts[some] + 1, 1 << power) << np.uint64(bits)
        signed = negative.view(np.int64) >> bits
        good = (signed < most) & (signed > -_TOP)
        places.append(some[good])
        numbers.append(signed[good])
    return np.concatenate(places), integer.write(np.concatenate(numbers))


def doubles(
    padded: Bytes, starts: NDArray[np.int32], firsts: Bytes
) -> tuple[NDArray[np.int64], Texts]:
    """The indices of the values that are finite doubles, and for each the shortest text that reads
    back as it. Arguments as of ``whole_numbers``."""
    some = np.flatnonzero(firsts == FLOAT_64)
    numbers = unsigned(padded, starts[some] + 1, 8).view(np.float64)
    good = np.isfinite(numbers)
    return some[good], floating.write(numbers[good])


def stored(kind: int, texts: Texts) -> Texts:
    """The bytes in MessagePack of the values of a column of this ``kind``, whose ``texts`` are
    given. Broken where a number's text is no number."""
    if kind == STRING:
        return _with_lengths(texts)
    return _numbers(texts) if kind == SCALAR else texts


def _big_endian(numbers: NDArray[Any]) -> NDArray[np.uint8]:
    """The eight bytes of each integer or double, the highest first, as a row."""
    swapped = numbers.astype(numbers.dtype.newbyteorder(">"))
    return swapped.view(np.uint8).reshape(-1, 8)


def _rows(firsts: NDArray[Any], widths: NDArray[np.int64], numbers: NDArray[np.int64]) -> Texts:
    """For each of ``numbers`` a text: its byte of ``firsts``, and behind it its lowest ``widths``
    bytes (0, 1, 2, 4 or 8), the highest of them first."""
    rows = np.empty((len(numbers), 9), np.uint8)
    rows[:, 0] = firsts
    digits = _big_endian(numbers)
    for width in (1, 2, 4, 8):
        some = np.flatnonzero(widths == width)
        rows[some, 1 : 1 + width] = digits[some, 8 - width :]
    return from_rows(rows, np.zeros_like(widths), 1 + widths)


def _with_lengths(texts: Texts) -> Texts:
    """``texts`` as MessagePack stores strings, each behind its length;
    some at a time, to take little memory."""
    parts = [
        _some_with_lengths(texts, at, min(at + _STEP, texts.number))
        for at in range(0, texts.number, _STEP)
    ]
    if not parts:
        return texts
    if len(parts) == 1:
        return parts[0]
    data = np.concatenate([part.data for part in parts])
    return Texts.from_lengths(data, np.concatenate([part.lengths for part in parts]))


def _some_with_lengths(texts: Texts, first: int, stop: int) -> Texts:
    """``_with_lengths`` of the values ``first`` to ``stop`` - 1."""
    ends = texts.ends_of(first, stop)
    begin = int(texts.ends_of(first - 1, first)[0]) if first else 0
    texts = Texts(texts.data[begin : int(ends[-1])], ends - begin)
    lengths = texts.lengths
    power = np.searchsorted(_LENGTHS, lengths, side="right")
    firsts = np.where(power == 0, FIX_STRING + lengths, STRING_8 - 1 + power)
    heads = _rows(firsts, np.array([0, 1, 2, 4])[power], lengths)
    both = np.empty((2, texts.number, 2), np.int64)
    both[0] = np.stack([heads.starts, texts.starts + len(heads.data)], axis=1)
    both[1] = np.stack([heads.lengths, lengths], axis=1)
    source = np.concatenate([heads.data, texts.data])
    data = put_together(source, both[0].reshape(-1), both[1].reshape(-1))
    return Texts.from_lengths(data, heads.lengths + lengths)


def _numbers(texts: Texts) -> Texts:
    """The bytes of numbers: texts that are canonical integers as such in
    the fewest bytes, all others as doubles."""
    numbers, good = integer.read(texts)
    whole = numbers[good]
    power = np.searchsorted(_LEAST, whole, side="right")
    negative = whole < _MOST[0]
    below = len(_MOST) - np.searchsorted(_MOST[::-1], whole[negative], side="right")
    power[negative] = below
    firsts = np.where(negative, SIGNED_8, UNSIGNED_8) - 1 + power
    firsts = np.where(power == 0, whole, firsts)
    stored_whole = _rows(firsts.astype(np.uint8), np.array([0, 1, 2, 4, 8])[power], whole)
    if good.all():
        return stored_whole
    reals = floating.read(select(texts, ~good))
    if not np.isfinite(reals).all():
        raise Broken("a number that is none")
    rows = np.empty((len(reals), 9), np.uint8)
    rows[:, 0] = FLOAT_64
    rows[:, 1:] = _big_endian(reals)
    real = Texts.from_lengths(rows.reshape(-1), np.full(len(rows), 9, np.int64))
    return merge(stored_whole, real, ~good)
