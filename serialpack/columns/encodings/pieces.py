"""Steps that the encodings share, over all values of a column at once.

Values are looked at through *windows*: eight bytes at any place of the data, as one integer (the
first byte the lowest), so that a short value is a number or two and not a loop over its bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.spans import put_together
from serialpack.columns.texts import Broken, Texts

_U64 = np.dtype("<u8")
_ALL = (1 << 64) - 1

#: ``_FIRST[k]``: the first k bytes of a window. ``_LAST[k]``: its last k.
_FIRST = np.array([(1 << 8 * k) - 1 for k in range(9)], _U64)
_LAST = np.array([(_ALL << 8 * (8 - k)) & _ALL for k in range(9)], _U64)

#: Odd multipliers that spread a window over 64 bits (from SplitMix64 and PCG).
_SPREAD = 0x9E3779B97F4A7C15
_STEP = 0xD1342543DE82EF95

#: More digits than this may not fit an int64.
DIGITS_MOST = 18
POWERS = 10 ** np.arange(DIGITS_MOST + 1, dtype=np.int64)


def _windows(data: NDArray[np.uint8], before: int, after: int) -> NDArray[Any]:
    """An array that at p has the eight bytes from ``before`` bytes before place p of ``data`` on.

    Zeros stand around ``data``. ``p`` may go from 0 to the size of ``data`` + ``after``.
    """
    room = np.zeros(before + len(data) + after + 8, np.uint8)
    room[before : before + len(data)] = data
    return np.ndarray((len(data) + after + 1,), _U64, room, strides=(1,))


class Spans(NamedTuple):
    """Values at any places of ``data``."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def some(self, which: NDArray[Any]) -> Spans:
        """The spans of these indices, or of this mask."""
        return Spans(self.data, self.starts[which], self.lengths[which])

    def texts(self) -> Texts:
        """As a column."""
        return slices(self.data, self.starts, self.lengths)


def spans(texts: Texts) -> Spans:
    """The values of a column."""
    return Spans(texts.data, texts.starts, texts.lengths)


def _words(values: Spans) -> list[NDArray[Any]]:
    """The first windows of all values, the second ones ..., zeros behind each value."""
    data, starts, lengths = values
    least, most = int(lengths.min(initial=0)), int(lengths.max(initial=0))
    windows = _windows(data, 0, 8 * (most // 8 + 1))
    columns = []
    for place in range(0, max(most, 1), 8):
        column = windows[starts + place] if place else windows[starts]
        if place + 8 > least:
            column &= _FIRST.take(lengths - place if place else lengths, mode="clip")
        columns.append(column)
    return columns


class Groups(NamedTuple):
    """Which values are equal."""

    codes: NDArray[np.int64]
    """For each value the number of its group, by no particular order."""
    examples: NDArray[np.int64]
    """For each group the index of one of its values."""


#: Values up to this length are grouped as integers; the others as Python's bytes, where those
#: are few (one in ``_FEW``), or are longer than the second length.
_SHORT, _MIDDLE = 16, 48
_FEW = 32

#: Bits of a table for few keys; a look at so many, each one of at least so many, tells if they are.
_TABLE_BITS = 12
_LOOK = 256
_OFTEN = 32


def group(values: Texts | Spans) -> Groups:
    """Groups of equal values."""
    if isinstance(values, Texts):
        values = spans(values)
    lengths = values.lengths
    most = int(lengths.max(initial=0))
    if most > _SHORT:
        longer = lengths > _SHORT
        if np.count_nonzero(longer) * _FEW > len(lengths):
            longer = lengths > _MIDDLE
        if longer.any():
            return _group_parts(values, longer)
    return _group_short(values) or _group_any(values)


def _group_parts(values: Spans, longer: NDArray[np.bool_]) -> Groups:
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
    """Groups by integers made of the bytes; None if different values made the same integer."""
    words, lengths = _words(values), values.lengths
    keys = lengths.astype(_U64) * _U64.type(_STEP)
    factor = _SPREAD
    for word in words:
        keys += word * _U64.type(factor)
        keys ^= keys >> _U64.type(29)
        factor = factor * _STEP & _ALL | 1
    like = _example(keys)
    if (lengths[like] != lengths).any() or any((word[like] != word).any() for word in words):
        return None
    return _groups(like)


def _group_any(values: Spans) -> Groups:
    places: dict[bytes, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values.texts().to_list()]
    array = np.array(codes, np.int64)
    examples = np.empty(len(places), np.int64)
    examples[array[::-1]] = np.arange(len(array) - 1, -1, -1)
    return Groups(array, examples)


def _example(keys: NDArray[Any]) -> NDArray[np.int64]:
    """For each key the index of an equal one, the same for all equal ones; by tables of hashes."""
    number = len(keys)
    todo = np.arange(number)
    bits = _TABLE_BITS if _are_few(keys) else max(number.bit_length() + 1, 4)
    factor = _SPREAD
    example = todo.copy()
    while len(todo):
        slots = ((keys * _U64.type(factor)) >> _U64.type(64 - bits)).view(np.int64)
        table = np.empty(1 << bits, np.int64)
        table[slots] = np.arange(len(todo))
        there = table[slots]
        other = np.flatnonzero(keys[there] != keys)
        example[todo] = todo[there]
        todo, keys = todo[other], keys[other]
        bits = max(bits, len(todo).bit_length() + 1)
        factor = factor * _STEP & _ALL | 1
    return example


def _groups(example: NDArray[np.int64]) -> Groups:
    """Groups of the values that have the same index in ``example``."""
    used = np.zeros(len(example), np.bool_)
    used[example] = True
    examples = np.flatnonzero(used)
    place = np.empty(len(example), np.int64)
    place[examples] = np.arange(len(examples))
    return Groups(place[example], examples)


def _are_few(keys: NDArray[Any]) -> bool:
    """Whether the keys are many and mostly repeat each other, by a look at some."""
    step = len(keys) // _LOOK
    return step >= _OFTEN and len(set(keys[::step].tolist())) < _LOOK // 2


def group_numbers(numbers: NDArray[np.integer[Any]]) -> Groups:
    """Groups of equal integers of up to 64 bits."""
    return _groups(_example(numbers.astype(np.int64).view(np.uint64)))


def estimated(drawn: int, seen: int, number: int) -> float:
    """About how many of ``number`` values differ, if of ``drawn`` ones ``seen`` did.

    If all were equally likely: the D of which s draws show D (1 - exp(-s/D)).
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


def slices(data: NDArray[np.uint8], starts: NDArray[Any], lengths: NDArray[Any]) -> Texts:
    """The values at these places of ``data``."""
    ends = np.cumsum(lengths, dtype=np.int64)
    size = int(ends[-1]) if len(ends) else 0
    if size == len(data) and size and starts[0] == 0 and (starts[1:] == ends[:-1]).all():
        return Texts(data, ends)
    return Texts(put_together(data, starts, lengths, ends), ends)


def select(texts: Texts, mask: NDArray[np.bool_]) -> Texts:
    """The values where ``mask`` is true."""
    if mask.all():
        return texts
    lengths = texts.lengths
    return Texts.from_lengths(texts.data[np.repeat(mask, lengths)], lengths[mask])


def sample(texts: Texts, number: int, most: int) -> Texts:
    """Up to about ``number`` values and ``most`` bytes: runs of neighbours from all over them."""
    if texts.number <= number and len(texts.data) <= most:
        return texts
    size = max(len(texts.data) / max(texts.number, 1), 1.0)
    number = min(number, max(int(most / size), 1))
    runs = min(16, number)
    each = max(number // runs, 1)
    firsts = np.arange(runs) * (texts.number - each) // max(runs - 1, 1)
    indices = (firsts[:, None] + np.arange(each)).reshape(-1)
    return slices(texts.data, texts.starts[indices], texts.lengths[indices])


def chunks(texts: Texts, number: int) -> Iterator[Texts]:
    """``texts`` in parts of ``number`` values, to be worked on in little memory."""
    place = 0
    for first in range(0, texts.number, number):
        ends = texts.ends[first : first + number]
        yield Texts(texts.data[place : int(ends[-1])], ends - place)
        place = int(ends[-1])


def together(parts: list[Texts]) -> Texts:
    """The values of all ``parts``."""
    if len(parts) == 1:
        return parts[0]
    return Texts.from_lengths(
        np.concatenate([np.zeros(0, np.uint8), *(part.data for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)]),
    )


def separated(texts: Texts, separator: int) -> NDArray[np.uint8]:
    """All values, ``separator`` behind each of them."""
    number = texts.number
    out = np.empty(len(texts.data) + number, np.uint8)
    kept = np.ones(len(out), np.bool_)
    marks = texts.ends + np.arange(number)
    kept[marks] = False
    out[marks] = separator
    out[kept] = texts.data
    return out


def split(data: NDArray[np.uint8], separator: int, number: int) -> Texts:
    """Undoes ``separated``."""
    kept = data != separator
    marks = np.flatnonzero(~kept)
    if len(marks) != number or len(data) != (int(marks[-1]) + 1 if number else 0):
        raise Broken("joined values are not as many as promised")
    return Texts(data[kept], marks - np.arange(number))


def squeeze(
    rows: NDArray[np.uint8], firsts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Texts:
    """The value in each row: ``lengths`` bytes from ``firsts`` on."""
    starts = firsts + rows.shape[1] * np.arange(len(rows))
    return slices(np.ascontiguousarray(rows).reshape(-1), starts, lengths)


def padded(texts: Texts, width: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The values as rows of ``width`` bytes, and which of these bytes are a value's."""
    lengths = texts.lengths
    kept = np.arange(width) < lengths[:, None]
    rows = np.zeros((texts.number, width), np.uint8)
    rows[kept] = texts.data
    return rows, kept


def same_length(texts: Texts) -> int | None:
    """The length of all values, if they have one."""
    number = texts.number
    if not number:
        return None
    width = int(texts.ends[0])
    if int(texts.ends[-1]) != width * number or (texts.lengths != width).any():
        return None
    return width


def join(parts: list[Texts | bytes], number: int) -> Texts:
    """A column of ``number`` values, each of all ``parts``; bytes are the same in all values."""
    lengths = np.zeros(number, np.int64)
    for part in parts:
        lengths += len(part) if isinstance(part, bytes) else part.lengths
    ends = np.cumsum(lengths)
    size = int(ends[-1]) if number else 0
    out = np.empty(size, np.uint8)
    places = ends - lengths
    for part in parts:
        if isinstance(part, bytes):
            for byte in part:
                out[places] = byte
                places += 1
            continue
        width = same_length(part)
        if width is not None and width <= 8:
            rows = part.data.reshape(number, width)
            for place in range(width):
                out[places] = rows[:, place]
                places += 1
            continue
        own = part.lengths
        target = np.arange(len(part.data), dtype=np.int64)
        target += np.repeat(places - part.starts, own)
        out[target] = part.data
        places += own
    return Texts(out, ends)


def merge(first: Texts, second: Texts, is_second: NDArray[np.bool_]) -> Texts:
    """The values of ``second`` where ``is_second``, elsewhere those of ``first``, each in order."""
    if not second.number:
        return first
    lengths = np.empty(len(is_second), np.int64)
    starts = np.empty(len(is_second), np.int64)
    for texts, which, base in ((first, ~is_second, 0), (second, is_second, len(first.data))):
        lengths[which] = texts.lengths
        starts[which] = texts.starts + base
    return slices(np.concatenate([first.data, second.data]), starts, lengths)


def parse_digits(
    data: NDArray[np.uint8], ends: NDArray[Any], lengths: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The numbers written in the ``lengths`` digits before ``ends``, and which are such digits.

    Up to ``DIGITS_MOST`` digits; no digits are zero. Eight digits become a number in three steps,
    each joining neighbours (Lemire, "Quickly parsing eight digits").
    """
    most = min(int(lengths.max(initial=0)), DIGITS_MOST)
    good = lengths <= DIGITS_MOST
    total = np.zeros(len(ends), np.int64)
    windows = _windows(data, 24, 16)
    zeros = _U64.type(0x3030303030303030)
    for place in range((most - 1) // 8 * 8, -1, -8):
        inside = _LAST.take(lengths - place, mode="clip")
        digits = (windows[ends + (16 - place)] & inside) | (zeros & ~inside)
        bad = (digits + _U64.type(0x4646464646464646)) | (digits - zeros)
        good &= (bad & _U64.type(0x8080808080808080)) == 0
        digits = digits - zeros
        digits = digits * _U64.type(10) + (digits >> _U64.type(8))
        low = digits & _U64.type(0x000000FF000000FF)
        high = (digits >> _U64.type(16)) & _U64.type(0x000000FF000000FF)
        low = low * _U64.type(100 + (1000000 << 32))
        eight = (low + high * _U64.type(1 + (10000 << 32))) >> _U64.type(32)
        total = total * 100_000_000 + eight.astype(np.int64)
    return total, good


def count_digits(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many digits numbers from 0 on have; zero has one."""
    return np.maximum(np.searchsorted(POWERS, numbers, side="right"), 1)


#: The four digits of 0 to 9999, as texts.
_FOUR = np.stack([48 + np.arange(10000) // 10**k % 10 for k in (3, 2, 1, 0)], axis=1)
_QUADS = np.ascontiguousarray(_FOUR.astype(np.uint8)).view(np.uint32)[:, 0].copy()


def digit_rows(numbers: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """The last ``width`` digits of numbers from 0 on, one number a row."""
    quads = -(-width // 4)
    rows = np.empty((len(numbers), quads), np.uint32)
    rest: NDArray[Any] = numbers.astype(np.uint32) if width <= 9 else numbers.astype(np.uint64)
    base = rest.dtype.type(10000)
    for place in range(quads - 1, -1, -1):
        next_rest = rest // base
        rows[:, place] = _QUADS.take((rest - next_rest * base).astype(np.int64))
        rest = next_rest
    return rows.view(np.uint8)[:, 4 * quads - width :]
