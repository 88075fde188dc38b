"""Finds equal pieces of a text, and gives them numbers in order of first appearance.

The parsers use it for gaps and keys: a text has many, and few different ones. ``groups`` does the
like for values of a column, which mostly differ, and where the order of numbers does not matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import Bytes, Positions

#: How many numbers ``count_each`` counts at a time.
_COUNTED = 1 << 20

#: So many bytes must stand behind the last piece that ``tell_apart`` is given.
PADDING = 8

#: The longest piece that is compared in words of 8 bytes; longer ones are looked up in a
#: dictionary.
_LONGEST_IN_WORDS = 128

#: Factors for hashes: odd, with bits that look random (of the golden ratio; of MurmurHash3).
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD))
#: Tables of hashes have 2 to the power of this many places.
_BUCKET_BITS = 16

#: ``_MASKS[k]`` keeps the first k bytes of a word, for k from 0 to 8.
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)

#: Stands for a length and kind that no piece has.
_NO_PIECE = np.uint64((1 << 64) - 1)

#: How many pieces are numbered at a time. Where more than one of ``_FEW`` of these are new, it is
#: given up, and all pieces are numbered at once.
_PIECES = 1 << 14
_FEW = 4


def count_each(numbers: NDArray[Any], number: int) -> NDArray[np.int64]:
    """How often each number from 0 to ``number`` - 1 occurs in ``numbers``, which has no others.

    As ``np.bincount``, but in little memory: that copies what it counts as integers of 8 bytes.
    """
    found = np.zeros(number, np.int64)
    for begin in range(0, len(numbers), _COUNTED):
        found += np.bincount(numbers[begin : begin + _COUNTED], minlength=number)
    return found


def numbered(codes: Positions) -> tuple[NDArray[np.int32], Positions]:
    """``codes`` (from 0 on) renumbered from 0 in order of first appearance: the new number of each;
    and for each new number the index of the first element that has it."""
    first = np.full(int(codes.max()) + 1, -1, np.int64)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int32)[::-1]
    places = np.sort(first[first >= 0])
    number = np.zeros(len(first), np.int32)
    number[codes[places]] = np.arange(len(places), dtype=np.int32)
    return number[codes], places


def tell_apart(
    padded: Bytes, starts: Positions, lengths: Positions, kinds: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number pieces of ``padded``, equal ones alike: those with the same bytes and the same kind (a
    number below 256).

    Gives for each piece its number, from 0 in order of first appearance; and for each number the
    index of the first piece that has it. ``padded`` has at least ``PADDING`` bytes behind the last
    piece.
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
    """Some pieces of ``padded``, each with its kind."""

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
    """The different pieces that were met so far, by a table of their hashes. Where two of them have
    the same place in the table, the one met last keeps it; the other is found by ``_known``."""

    def __init__(self) -> None:
        #: The number of each piece, by its bytes and kind.
        self._known: dict[tuple[bytes, int], int] = {}
        self._long: dict[bytes, int] = {}
        #: For each place of the table a row of ``_traits`` and ``_numbers``; row 0 is no piece's.
        self._table = np.zeros(1 << _BUCKET_BITS, np.int64)
        self._traits = [np.full(1, _NO_PIECE)]
        self._numbers = np.zeros(1, np.int32)
        #: For each number the index of its first piece.
        self.firsts: list[int] = []

    def number(self, pieces: _SpanPieces, begin: int, numbers: NDArray[np.int32]) -> bool:
        """Put the numbers of ``pieces`` into ``numbers``; ``begin``: the index of the first of them
        among all pieces. False where too many of them are new; ``numbers`` is not valid then."""
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
        """Enter pieces into the table."""
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
    """As ``tell_apart``, all at once. ``traits``: those of ``pieces``."""
    firsts = _first_alike(_hashes(traits))
    if not all((trait[firsts] == trait).all() for trait in traits):
        # Two different pieces have the same hash.
        firsts = _first_alike_slowly(pieces)
    new = np.zeros(len(firsts), np.int32)
    new[firsts] = 1
    first = np.flatnonzero(new)
    return (np.cumsum(new, dtype=np.int32) - 1)[firsts], first


def _traits(pieces: _SpanPieces, long: dict[bytes, int]) -> list[NDArray[np.uint64]]:
    """The traits of each piece: some integers of 64 bits, which for two pieces are all the same if,
    and only if, the pieces are equal. An array for each trait.

    They are length and kind together, the first eight bytes, the last eight, and the words between;
    for pieces beyond ``_LONGEST_IN_WORDS`` the number that the piece has in ``long``, which is
    added there.
    """
    padded, starts, lengths, kinds = pieces
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
    """A hash of 64 bits for each piece, of all its traits."""
    hashes = traits[0] * _FACTORS[0]
    for trait in traits[1:]:
        hashes ^= hashes >> np.uint64(29)
        hashes ^= trait
        hashes *= _FACTORS[1]
    hashes ^= hashes >> np.uint64(32)
    hashes *= _FACTORS[0]
    return hashes


def _first_alike(hashes: NDArray[np.uint64]) -> Positions:
    """For each hash the index of the first equal one."""
    firsts = np.empty(len(hashes), np.int64)
    # Rounds, each with other bits of the hashes as places: a hash that finds another one at its
    # place goes on to the next round.
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


def _first_alike_slowly(pieces: _SpanPieces) -> Positions:
    """For each piece the index of the first equal one, by comparing the bytes."""
    known: dict[tuple[bytes, int], int] = {}
    return np.array(
        [
            known.setdefault((pieces.text(index), kind), index)
            for index, kind in enumerate(pieces.kinds.tolist())
        ],
        np.int64,
    )
