"""Finds which values of a column are equal, and estimates how many differ.

Short values are compared as integers: by hashes of their windows, and where two different values
have the same hash, by Python's own dictionary.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.pieces import slices
from serialpack.columns.bulk.windows import ALL_BITS, U64, windows_of
from serialpack.columns.texts import Texts

#: ``_FIRST[k]`` keeps the first k bytes of a window.
_FIRST = np.array([(1 << 8 * k) - 1 for k in range(9)], U64)

#: Odd factors that spread a window over 64 bits (from SplitMix64 and PCG).
_SPREAD = 0x9E3779B97F4A7C15
_STEP = 0xD1342543DE82EF95

#: Values of up to ``_SHORT`` bytes are grouped as integers. Longer ones are grouped as Python's
#: bytes if at most one value in ``_FEW`` is longer; else only those beyond ``_MIDDLE`` bytes are.
_SHORT, _MIDDLE = 16, 48
_FEW = 32

#: The table of hashes has 2 to the power of ``_TABLE_BITS`` places where few keys differ. Whether
#: they are few is told from ``_LOOK`` of them, if there are at least ``_OFTEN`` times as many.
_TABLE_BITS = 12
_LOOK = 256
_OFTEN = 32


class Spans(NamedTuple):
    """Values that stand at any places of ``data``, in any order, and may overlap."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def some(self, which: NDArray[Any]) -> Spans:
        """The values of these indices, or where this mask is true."""
        return Spans(self.data, self.starts[which], self.lengths[which])

    def texts(self) -> Texts:
        """The values as a column, one after another."""
        return slices(self.data, self.starts, self.lengths)


class Groups(NamedTuple):
    """Which values of a column are equal: these are a group, which has a number from 0 on."""

    codes: NDArray[np.int64]
    """For each value the number of its group. Numbers are in no particular order."""
    examples: NDArray[np.int64]
    """For each group the index of one of its values."""


def group(values: Texts | Spans) -> Groups:
    """The groups of equal values."""
    if isinstance(values, Texts):
        values = Spans(values.data, values.starts, values.lengths)
    lengths = values.lengths
    most = int(lengths.max(initial=0))
    if most > _SHORT:
        longer = lengths > _SHORT
        if np.count_nonzero(longer) * _FEW > len(lengths):
            longer = lengths > _MIDDLE
        if longer.any():
            return _group_parts(values, longer)
    return _group_short(values) or _group_any(values)


def group_numbers(numbers: NDArray[np.integer[Any]]) -> Groups:
    """The groups of equal integers of up to 64 bits."""
    return _groups(_example(numbers.astype(np.int64).view(np.uint64)))


def estimate_distinct(drawn: int, seen: int, number: int) -> float:
    """About how many different values ``number`` values have, if ``drawn`` of them have ``seen``.

    All are taken as equally likely: of D different values s draws show D (1 - exp(-s/D)), which is
    solved for D by halving.
    """
    if drawn >= number:
        return float(seen)
    if seen >= drawn:
        return float(number)
    low, high = float(seen), float(seen) * drawn
    while high - low > low / 64:
        middle = (low + high) / 2
        if middle * -math.expm1(-drawn / middle) < seen:
            low = middle
        else:
            high = middle
    return min(low, float(number))


def _group_parts(values: Spans, longer: NDArray[np.bool_]) -> Groups:
    """The groups of the values that are ``longer``,
    which are compared as bytes, and of the rest."""
    indices = np.flatnonzero(~longer), np.flatnonzero(longer)
    if not len(indices[0]):
        return _group_any(values)
    found = group(values.some(indices[0])), _group_any(values.some(indices[1]))
    codes = np.empty(len(longer), np.int64)
    codes[indices[0]] = found[0].codes
    codes[indices[1]] = found[1].codes + len(found[0].examples)
    examples = [at[part.examples] for at, part in zip(indices, found, strict=True)]
    return Groups(codes, np.concatenate(examples))


def _group_short(values: Spans) -> Groups | None:
    """The groups, by a hash of the words and the length of each value;
    None if two different values have the same hash."""
    words, lengths = _words(values), values.lengths
    keys = lengths.astype(U64) * U64.type(_STEP)
    factor = _SPREAD
    for word in words:
        keys += word * U64.type(factor)
        keys ^= keys >> U64.type(29)
        factor = factor * _STEP & ALL_BITS | 1
    like = _example(keys)
    if (lengths[like] != lengths).any() or any((word[like] != word).any() for word in words):
        return None
    return _groups(like)


def _words(values: Spans) -> list[NDArray[Any]]:
    """The first eight bytes of each value as an array, the second eight ..., zeros behind each
    value; as many arrays as the longest value needs, and at least one."""
    data, starts, lengths = values
    least, most = int(lengths.min(initial=0)), int(lengths.max(initial=0))
    windows = windows_of(data, 0, 8 * (most // 8 + 1))
    columns = []
    for place in range(0, max(most, 1), 8):
        column = windows[starts + place] if place else windows[starts]
        if place + 8 > least:
            column &= _FIRST.take(lengths - place if place else lengths, mode="clip")
        columns.append(column)
    return columns


def _group_any(values: Spans) -> Groups:
    """The groups, by comparing Python's bytes."""
    places: dict[bytes, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values.texts().to_list()]
    array = np.array(codes, np.int64)
    examples = np.empty(len(places), np.int64)
    examples[array[::-1]] = np.arange(len(array) - 1, -1, -1)
    return Groups(array, examples)


def _example(keys: NDArray[Any]) -> NDArray[np.int64]:
    """For each key the index of an equal one, the same for all equal ones. By a table of hashes;
    keys that find another key at their place there are put into the next table."""
    number = len(keys)
    todo = np.arange(number)
    bits = _TABLE_BITS if _are_few(keys) else max(number.bit_length() + 1, 4)
    factor = _SPREAD
    example = todo.copy()
    while len(todo):
        slots = ((keys * U64.type(factor)) >> U64.type(64 - bits)).view(np.int64)
        table = np.empty(1 << bits, np.int64)
        table[slots] = np.arange(len(todo))
        there = table[slots]
        other = np.flatnonzero(keys[there] != keys)
        example[todo] = todo[there]
        todo, keys = todo[other], keys[other]
        bits = max(bits, len(todo).bit_length() + 1)
        factor = factor * _STEP & ALL_BITS | 1
    return example


def _are_few(keys: NDArray[Any]) -> bool:
    """Whether there are many keys and few different ones, told from some of them."""
    step = len(keys) // _LOOK
    return step >= _OFTEN and len(set(keys[::step].tolist())) < _LOOK // 2


def _groups(example: NDArray[np.int64]) -> Groups:
    """Groups of the values that have the same index in ``example``."""
    used = np.zeros(len(example), np.bool_)
    used[example] = True
    examples = np.flatnonzero(used)
    place = np.empty(len(example), np.int64)
    place[examples] = np.arange(len(examples))
    return Groups(place[example], examples)
