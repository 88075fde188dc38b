"""Many short pieces of one array of bytes at once: put together, and told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
#: Of 32 bits where they are many.
Positions = NDArray[np.signedinteger[Any]]

#: Pieces put together in one go: their indices stay in the processor's cache.
_STEP = 4096

#: A mean length from which slices of a bytes object are faster than an index for each byte.
_LONG = 64

#: Behind the bytes that ``tell_apart`` looks at there must be so many more.
PADDING = 8

#: A piece longer than this is looked at on its own.
_LONGEST_IN_WORDS = 128

#: Odd, and of bits that look random: those of the golden ratio, and of MurmurHash3.
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD))

_BUCKET_BITS = 16

#: So many pieces are told apart in one go, and all at once where more of them differ than one in
#: so many.
_PIECES = 1 << 16
_FEW = 8


def put_together(source: Bytes, starts: Positions, lengths: Positions) -> Bytes:
    """The pieces of ``source`` that begin at ``starts``, one after another."""
    ends = np.cumsum(lengths)
    if not len(ends) or not ends[-1]:
        return np.zeros(0, np.uint8)
    length = int(lengths[0])
    if (lengths == length).all():
        # Each is copied at once, as one element of an array of all such pieces.
        pieces = np.ndarray((len(source) - length + 1,), f"V{length}", source.data, strides=(1,))
        return pieces[starts].view(np.uint8)
    if ends[-1] > _LONG * len(starts):
        data = source.tobytes()
        spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        return np.frombuffer(b"".join([data[start:end] for start, end in spans]), np.uint8)
    out = np.empty(int(ends[-1]), np.uint8)
    begin = 0
    for first in range(0, len(starts), _STEP):
        part = slice(first, first + _STEP)
        end = int(ends[part][-1])
        indices = np.arange(begin, end)
        indices += np.repeat(starts[part] - (ends[part] - lengths[part]), lengths[part])
        # "clip" only because it is the mode that needs no buffer: no index is out of bounds.
        source.take(indices, out=out[begin:end], mode="clip")
        begin = end
    return out


def tell_apart(
    padded: Bytes, starts: Positions, lengths: Positions, kinds: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Which pieces are alike, in their bytes and their kinds (numbers below 256).

    For each piece the number of its text and kind, counted from 0 in order of first appearance;
    and for each number the index of the first such piece. Pieces end ``PADDING`` bytes or more
    before the end of ``padded``.
    """
    if len(starts) <= _PIECES:
        return _tell_apart(padded, starts, lengths, kinds)
    known: dict[tuple[bytes, int], int] = {}
    numbers = np.empty(len(starts), np.int32)
    firsts: list[int] = []
    for begin in range(0, len(starts), _PIECES):
        part = slice(begin, begin + _PIECES)
        number, first = _tell_apart(padded, starts[part], lengths[part], kinds[part])
        if len(first) * _FEW > _PIECES:
            return _tell_apart(padded, starts, lengths, kinds)
        table = []
        for at in (first + begin).tolist():
            start = int(starts[at])
            text = padded[start : start + int(lengths[at])].tobytes()
            table.append(known.setdefault((text, int(kinds[at])), len(known)))
            if table[-1] == len(firsts):
                firsts.append(at)
        numbers[part] = np.array(table, np.int32)[number]
    return numbers, np.array(firsts, np.int64)


def _tell_apart(
    padded: Bytes, starts: Positions, lengths: Positions, kinds: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    traits = _traits(padded, starts, lengths, kinds)
    firsts = _first_alike(_hashes(traits))
    if not all((trait[firsts] == trait).all() for trait in traits):
        # Two that differ have one hash.
        firsts = _first_alike_slowly(padded, starts, lengths, kinds)
    new = np.zeros(len(firsts), np.int32)
    new[firsts] = 1
    first = np.flatnonzero(new)
    return (np.cumsum(new, dtype=np.int32) - 1)[firsts], first


def numbered(codes: Positions) -> tuple[NDArray[np.int32], Positions]:
    """Numbers for ``codes`` from 0 in order of first appearance, and where each is first."""
    first = np.full(int(codes.max()) + 1, -1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    places = np.sort(first[first >= 0])
    number = np.zeros(len(first), np.int32)
    number[codes[places]] = np.arange(len(places), dtype=np.int32)
    return number[codes], places


def _traits(
    padded: Bytes, starts: Positions, lengths: Positions, kinds: NDArray[Any]
) -> list[NDArray[np.uint64]]:
    """Numbers of each piece that are the same if, and only if, pieces are: eight bytes each."""
    traits = [lengths.astype(np.uint64) << np.uint64(8) | kinds.astype(np.uint64)]
    words: NDArray[np.uint64] = np.ndarray(
        (len(padded) - 7,), np.dtype("<u8"), padded.data, strides=(1,)
    )
    masks = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
    most = int(lengths.max(initial=0))
    for at in range(0, min(most, _LONGEST_IN_WORDS), 8):
        trait = np.zeros(len(starts), np.uint64)
        some = slice(None) if at == 0 else np.flatnonzero(lengths > at)
        trait[some] = words[starts[some] + at] & masks[np.minimum(lengths[some] - at, 8)]
        traits.append(trait)
    if most > _LONGEST_IN_WORDS:
        trait = np.zeros(len(starts), np.uint64)
        known: dict[bytes, int] = {}
        for index in np.flatnonzero(lengths > _LONGEST_IN_WORDS).tolist():
            start = int(starts[index])
            text = padded[start : start + int(lengths[index])].tobytes()
            trait[index] = known.setdefault(text, len(known))
        traits.append(trait)
    return traits


def _hashes(traits: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    hashes = traits[0] * _FACTORS[0]
    for trait in traits[1:]:
        hashes ^= hashes >> np.uint64(29)
        hashes ^= trait
        hashes *= _FACTORS[1]
    hashes ^= hashes >> np.uint64(32)
    hashes *= _FACTORS[0]
    return hashes


def _first_alike_slowly(
    padded: Bytes, starts: Positions, lengths: Positions, kinds: NDArray[Any]
) -> Positions:
    data = padded.tobytes()
    known: dict[tuple[bytes, int], int] = {}
    pieces = zip(starts.tolist(), (starts + lengths).tolist(), kinds.tolist(), strict=True)
    return np.array(
        [
            known.setdefault((data[start:end], kind), index)
            for index, (start, end, kind) in enumerate(pieces)
        ],
        np.int64,
    )


def _first_alike(hashes: NDArray[np.uint64]) -> Positions:
    """For each the index of one equal to it, the same one for all."""
    firsts = np.empty(len(hashes), np.int64)
    left = np.arange(len(hashes))
    table = np.empty(1 << _BUCKET_BITS, np.int64)
    shift = 64 - _BUCKET_BITS
    while len(left):
        these = hashes[left]
        buckets = (these >> np.uint64(shift)).astype(np.int64) & ((1 << _BUCKET_BITS) - 1)
        # Of several that are put into one place the last stays: from behind, the first.
        table[buckets[::-1]] = left[::-1]
        found = table[buckets]
        alike = hashes[found] == these
        firsts[left[alike]] = found[alike]
        left = left[~alike]
        shift = shift - 7 if shift > 7 else 64 - _BUCKET_BITS
    return firsts
