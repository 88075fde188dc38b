"""Works on many short pieces of an array of bytes at once: joins them, and finds equal ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
#: Places in an array, as integers of 32 bits where they are many.
Positions = NDArray[np.signedinteger[Any]]

#: How many pieces are put together at a time, to stay in the processor's cache.
_STEP = 4096

#: Pieces up to this length, or of up to twice the mean length, are copied whole.
_WHOLE = 64

#: How many numbers are counted at a time.
_COUNTED = 1 << 20

#: The mean length from which on slices of a bytes object are faster.
_LONG = 512

#: The most pieces that are copied one by one.
_ONE_BY_ONE = 64

#: How many bytes must follow those that ``tell_apart`` looks at.
PADDING = 8

#: The longest piece that is compared in words of 8 bytes; longer ones are compared one by one.
_LONGEST_IN_WORDS = 128

#: Factors for hashes, odd and with bits that look random: of the golden ratio, and of MurmurHash3.
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD))

_BUCKET_BITS = 16

#: The mask of the first k bytes of a word, for k from 0 to 8.
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)

#: A length that no piece has.
_NO_PIECE = np.uint64((1 << 64) - 1)

#: How many pieces are told apart at a time; but all at once, where more than one in so many of
#: these is new.
_PIECES = 1 << 14
_FEW = 4


def count_each(numbers: NDArray[Any], number: int) -> NDArray[np.int64]:
    """How often each number below ``number`` is in ``numbers``, which has no others.

    Some are counted at a time, for NumPy makes a copy of them in integers of eight bytes.
    """
    found = np.zeros(number, np.int64)
    for begin in range(0, len(numbers), _COUNTED):
        found += np.bincount(numbers[begin : begin + _COUNTED], minlength=number)
    return found


def put_together(
    source: Bytes, starts: Positions, lengths: Positions, ends: NDArray[np.int64] | None = None
) -> Bytes:
    """The pieces of ``source`` that begin at ``starts``, one after another.

    ``ends``: where each ends in the result, if that is known.
    """
    if ends is None:
        ends = np.cumsum(lengths, dtype=np.int64)
    if not len(ends) or not ends[-1]:
        return np.zeros(0, np.uint8)
    size, width = int(ends[-1]), int(lengths.max())
    if width * len(starts) == size:
        return _windows(source, width)[starts.astype(np.int64, copy=False)].view(np.uint8)
    if size > _LONG * len(starts):
        data = source.tobytes()
        spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        return np.frombuffer(b"".join([data[start:end] for start, end in spans]), np.uint8)
    most = max(_WHOLE, 2 * size // len(starts))
    if width > most:
        width = most
        starts, lengths = _cut(starts, lengths, width)
        ends = np.cumsum(lengths, dtype=np.int64)
    return _copied(source, starts, ends, lengths, width)


def _windows(array: Bytes, width: int) -> NDArray[Any]:
    """An array of all pieces of this width, each as one element; they overlap."""
    return np.ndarray((len(array) - width + 1,), f"V{width}", array.data, strides=(1,))


def _cut(starts: Positions, lengths: Positions, width: int) -> tuple[Positions, Positions]:
    """The pieces, with each that is longer than ``width`` cut into several."""
    counts = -(-lengths // width)
    owners = np.repeat(np.arange(len(starts)), counts)
    within = (np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)) * width
    return starts[owners] + within, np.minimum(lengths[owners] - within, width)


def _copied(
    source: Bytes, starts: Positions, ends: Positions, lengths: Positions, width: int
) -> Bytes:
    """``put_together`` of pieces up to ``width``; ``ends``: where they end in the result.

    ``width`` bytes are copied for each: those beyond its end are overwritten by the next ones.
    """
    size = int(ends[-1])
    last = len(source) - width
    late = np.flatnonzero(starts > last) if int(starts.max()) > last else starts[:0]
    if len(late) > _ONE_BY_ONE or last < 0:
        source = np.concatenate([source, np.zeros(width, np.uint8)])
        late = late[:0]
    out = np.empty(size + width, np.uint8)
    sink, pieces = _windows(out, width), _windows(source, width)
    for first in range(0, len(starts), _STEP):
        part = slice(first, first + _STEP)
        here = starts[part].astype(np.int64, copy=False)
        sink[ends[part] - lengths[part]] = pieces[np.minimum(here, last) if len(late) else here]
    for at in late.tolist():
        end, length = int(ends[at]), int(lengths[at])
        out[end - length : end] = source[starts[at] : starts[at] + length]
    return out[:size]


def tell_apart(
    padded: Bytes, starts: Positions, lengths: Positions, kinds: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Find equal pieces: those of the same bytes and kind (a number below 256).

    For each piece the number of its text and kind, counted from 0 in order of first appearance;
    and for each number the index of the first such piece. Pieces end ``PADDING`` bytes or more
    before the end of ``padded``.
    """
    seen = _Seen()
    numbers = np.empty(len(starts), np.int32)
    for begin in range(0, len(starts), _PIECES):
        part = slice(begin, begin + _PIECES)
        pieces = _SpanPieces(padded, starts[part].astype(np.int64), lengths[part], kinds[part])
        if not seen.number(pieces, begin, numbers[part]):
            whole = _SpanPieces(padded, starts.astype(np.int64), lengths, kinds)
            return _tell_apart(whole, _traits(whole, {}))
    return numbers, np.array(seen.firsts, np.int64)


class _SpanPieces(NamedTuple):
    """Some pieces of ``padded``, and their kinds."""

    padded: Bytes
    starts: NDArray[np.int64]
    lengths: Positions
    kinds: NDArray[Any]

    def some(self, which: NDArray[np.int64]) -> _SpanPieces:
        """The pieces of these indices."""
        return _SpanPieces(self.padded, self.starts[which], self.lengths[which], self.kinds[which])

    def text(self, index: int) -> bytes:
        """The bytes of the piece of this index."""
        start = int(self.starts[index])
        return self.padded[start : start + int(self.lengths[index])].tobytes()


class _Seen:
    """The different pieces that were met so far; a table of hashes finds most of them again."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, int], int] = {}
        self._long: dict[bytes, int] = {}
        #: For each bucket a row of ``_traits`` and ``_numbers``; row 0 is that of no piece.
        self._table = np.zeros(1 << _BUCKET_BITS, np.int64)
        self._traits = [np.full(1, _NO_PIECE)]
        self._numbers = np.zeros(1, np.int32)
        self.firsts: list[int] = []

    def number(self, pieces: _SpanPieces, begin: int, numbers: NDArray[np.int32]) -> bool:
        """Set ``numbers`` to those of ``pieces``, the first of which has the index ``begin``; False
        where too many of them are new, and no number is to be used."""
        traits = _traits(pieces, self._long)
        buckets = (_hashes(traits) >> np.uint64(64 - _BUCKET_BITS)).view(np.int64)
        rows = self._table.take(buckets)
        numbers[:] = self._numbers.take(rows)
        other = np.zeros(len(rows), np.bool_)
        # Without ``strict``: short pieces have fewer traits, and their length is one of these.
        for trait, known in zip(traits, self._traits, strict=False):
            other |= known.take(rows) != trait
        new = np.flatnonzero(other)
        if not len(new):
            return True
        some = pieces.some(new)
        found, first = _tell_apart(some, [trait[new] for trait in traits])
        if len(first) * _FEW > _PIECES:
            return False
        table = []
        for at in first.tolist():
            piece = some.text(at), int(some.kinds[at])
            table.append(self._known.setdefault(piece, len(self._known)))
            if table[-1] == len(self.firsts):
                self.firsts.append(begin + int(new[at]))
        numbers[new] = np.array(table, np.int32)[found]
        self._keep([trait[new[first]] for trait in traits], buckets[new[first]], table)
        return True

    def _keep(
        self, traits: list[NDArray[np.uint64]], buckets: NDArray[np.int64], numbers: list[int]
    ) -> None:
        count = len(self._numbers)
        self._table[buckets] = np.arange(count, count + len(numbers))
        self._numbers = np.concatenate([self._numbers, np.array(numbers, np.int32)])
        while len(self._traits) < len(traits):
            self._traits.append(np.zeros(count, np.uint64))
        new = [*traits, *[np.zeros(len(numbers), np.uint64)] * (len(self._traits) - len(traits))]
        self._traits = [np.concatenate(both) for both in zip(self._traits, new, strict=True)]


def _tell_apart(
    pieces: _SpanPieces, traits: list[NDArray[np.uint64]]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    firsts = _first_alike(_hashes(traits))
    if not all((trait[firsts] == trait).all() for trait in traits):
        # Two different pieces have the same hash.
        firsts = _first_alike_slowly(pieces)
    new = np.zeros(len(firsts), np.int32)
    new[firsts] = 1
    first = np.flatnonzero(new)
    return (np.cumsum(new, dtype=np.int32) - 1)[firsts], first


def numbered(codes: Positions) -> tuple[NDArray[np.int32], Positions]:
    """Numbers for ``codes`` from 0 in order of first appearance, and where each is first."""
    first = np.full(int(codes.max()) + 1, -1, np.int64)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int32)[::-1]
    places = np.sort(first[first >= 0])
    number = np.zeros(len(first), np.int32)
    number[codes[places]] = np.arange(len(places), dtype=np.int32)
    return number[codes], places


def _traits(pieces: _SpanPieces, long: dict[bytes, int]) -> list[NDArray[np.uint64]]:
    """Numbers of 64 bits for each piece: two pieces are equal if, and only if, all of these are.

    ``long``: numbers for long pieces, to which new ones are added.
    """
    padded, starts, lengths, kinds = pieces
    # They are its length and kind, its first eight bytes, its last eight, and those between.
    traits = [(lengths.astype(np.int64) << 8 | kinds).view(np.uint64)]
    words: NDArray[np.uint64] = np.ndarray(
        (len(padded) - 7,), np.dtype("<u8"), padded.data, strides=(1,)
    )
    most = int(lengths.max(initial=0))
    if most:
        masks = _MASKS.take(lengths, mode="clip")
        traits.append(words[starts] & masks)
    if most > 8:
        traits.append(words[starts + np.maximum(lengths - 8, 0)] & masks)
    for at in range(8, min(most - 8, _LONGEST_IN_WORDS), 8):
        some = np.flatnonzero(lengths > at + 8)
        trait = np.zeros(len(starts), np.uint64)
        trait[some] = words[starts[some] + at]
        traits.append(trait)
    if most > _LONGEST_IN_WORDS:
        trait = np.zeros(len(starts), np.uint64)
        for index in np.flatnonzero(lengths > _LONGEST_IN_WORDS).tolist():
            trait[index] = long.setdefault(pieces.text(index), len(long))
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


def _first_alike_slowly(pieces: _SpanPieces) -> Positions:
    known: dict[tuple[bytes, int], int] = {}
    return np.array(
        [
            known.setdefault((pieces.text(index), kind), index)
            for index, kind in enumerate(pieces.kinds.tolist())
        ],
        np.int64,
    )


def _first_alike(hashes: NDArray[np.uint64]) -> Positions:
    """For each hash the index of an equal one, the same index for all equal ones."""
    firsts = np.empty(len(hashes), np.int64)
    left = np.arange(len(hashes))
    table = np.empty(1 << _BUCKET_BITS, np.int64)
    shift = 64 - _BUCKET_BITS
    while len(left):
        these = hashes[left]
        buckets = (these >> np.uint64(shift)).astype(np.int64) & ((1 << _BUCKET_BITS) - 1)
        # Of several written to one place the last one stays: in reverse that is the first.
        table[buckets[::-1]] = left[::-1]
        found = table[buckets]
        alike = hashes[found] == these
        firsts[left[alike]] = found[alike]
        left = left[~alike]
        shift = shift - 7 if shift > 7 else 64 - _BUCKET_BITS
    return firsts
