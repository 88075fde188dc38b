"""Values of MessagePack data as texts, and back; only of those in their smallest form."""

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

#: How many texts get their lengths at a time.
_STEP = 1 << 16

#: Integers of more digits are kept as their bytes.
_TOP = 10**18

#: For integers of 1, 2, 4 and 8 bytes in their smallest form: the least unsigned one, and what
#: signed ones are below.
_LEAST = (1 << 7, 1 << 8, 1 << 16, 1 << 32)
_MOST = (-(1 << 5), -(1 << 7), -(1 << 15), -(1 << 31))

#: Lengths of texts below these stand in the first byte, in one, and in two bytes behind it.
_LENGTHS = (1 << 5, 1 << 8, 1 << 16)


def whole_numbers(
    padded: Bytes, starts: NDArray[np.int32], firsts: Bytes
) -> tuple[NDArray[np.int64], Texts]:
    """The indices of values that are integers in their smallest form, and their decimal texts."""
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
    """The indices of values that are finite doubles, and the shortest texts that read back."""
    some = np.flatnonzero(firsts == FLOAT_64)
    numbers = unsigned(padded, starts[some] + 1, 8).view(np.float64)
    good = np.isfinite(numbers)
    return some[good], floating.write(numbers[good])


def stored(kind: int, texts: Texts) -> Texts:
    """The bytes of values of this kind with these ``texts``; Broken where a number's is none."""
    if kind == STRING:
        return _with_lengths(texts)
    return _numbers(texts) if kind == SCALAR else texts


def _big_endian(numbers: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of integers or doubles, the highest first: a row of 8 for each."""
    swapped = numbers.astype(numbers.dtype.newbyteorder(">"))
    return swapped.view(np.uint8).reshape(-1, 8)


def _rows(firsts: NDArray[Any], widths: NDArray[np.int64], numbers: NDArray[np.int64]) -> Texts:
    """For each number its first byte and behind it its last ``widths`` bytes, the highest first."""
    rows = np.empty((len(numbers), 9), np.uint8)
    rows[:, 0] = firsts
    digits = _big_endian(numbers)
    for width in (1, 2, 4, 8):
        some = np.flatnonzero(widths == width)
        rows[some, 1 : 1 + width] = digits[some, 8 - width :]
    return from_rows(rows, np.zeros_like(widths), 1 + widths)


def _with_lengths(texts: Texts) -> Texts:
    """``texts`` with their lengths before them, as MessagePack stores texts; some at a time, to
    take little memory."""
    parts = [
        _with_their_lengths(texts, at, min(at + _STEP, texts.number))
        for at in range(0, texts.number, _STEP)
    ]
    if not parts:
        return texts
    if len(parts) == 1:
        return parts[0]
    data = np.concatenate([part.data for part in parts])
    return Texts.from_lengths(data, np.concatenate([part.lengths for part in parts]))


def _with_their_lengths(texts: Texts, first: int, stop: int) -> Texts:
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
