"""Fixed shapes: values of one length that have the same kind of byte at each place.

Such as ``2023-10-25T00:44:28``, ``+1 (474) 208-4650``, UUIDs, hashes, addresses of network cards.
Bytes that are always the same stand in the description, each run of digits becomes an array of
numbers, hexadecimal digits take half a byte each, and any other run becomes a column of texts.

    v, bytes: for each place its kind (below); v, bytes: those that are always there, in order
    if there are runs of digits (of 18 at most; longer ones are cut):
      0, numbers for each; or
      1, for each v and v: the least number and how many there can be; numbers: all as one, the
      last run the lowest
    a column for each run of texts
    if there are hexadecimal digits:
      v for each: bits of those that occur there, 0 for any
      codes for each place whose bits are told: which of these
      if there are others: 0 or 1, and a stream of two digits a byte (the first one high, a zero
      behind an odd one): 0 value by value, 1 pair by pair
"""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.digits import DIGITS_MOST, POWERS, digit_rows
from serialpack.columns.encodings.numbers import (
    deltas_pay,
    read_codes,
    read_numbers,
    write_codes,
    write_numbers,
)
from serialpack.columns.stored.coding import Coded, Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.streams import PLAIN, PLANES, U8, ZSTD, bytes_stream
from serialpack.columns.stored.wire import counted, varint
from serialpack.columns.texts import Broken, Texts

NUMBER = 8

#: The kinds of places, stored and so the same for ever: the same byte in all values, a decimal
#: digit, a hexadecimal digit with small or with capital letters, any byte.
_SAME, _DIGIT, _LOWER, _UPPER, _ANY = range(5)

#: Longer values have no shape.
LONGEST = 256

#: Whether each run of digits is an array of its own, or all together are one number, as pays for
#: times that go on by small steps.
_APART, _AS_ONE = range(2)

#: That one number stays below this, so that it fits an int64.
_TOP = 1 << 62

#: Where at most so many different hexadecimal digits occur at a place, it is stored by itself, as
#: codes.
_FEW = 8

#: Values with more runs of texts have no shape.
_TEXTS = 6

#: At most this share of values may have another kind of byte at a place, and become exceptions.
_ODD = 1 / 64

#: What a byte may be, as bits, since a digit may be of all three kinds; ``_FLAGS`` has them for
#: each byte, ``_FLAG_OF`` for each kind of places.
_IS_DIGIT, _IS_LOWER, _IS_UPPER = 1, 2, 4
_FLAGS = np.zeros(256, np.uint8)
_FLAGS[list(b"0123456789")] = _IS_DIGIT | _IS_LOWER | _IS_UPPER
_FLAGS[list(b"abcdef")] = _IS_LOWER
_FLAGS[list(b"ABCDEF")] = _IS_UPPER
_FLAG_OF = {_DIGIT: _IS_DIGIT, _LOWER: _IS_LOWER, _UPPER: _IS_UPPER}

#: Tables for ``bytes.translate``, which is faster than indexing: from hexadecimal digits to
#: numbers, and back.
_NIBBLE = bytes(int(chr(byte), 16) if _FLAGS[byte] else 0 for byte in range(256))
_HEX = {_LOWER: b"0123456789abcdef".ljust(256), _UPPER: b"0123456789ABCDEF".ljust(256)}


class FixedField(NamedTuple):
    """A run of places of one kind."""

    kind: int
    start: int
    stop: int


def _fields(kinds: bytes) -> list[FixedField]:
    """The runs of places of one kind; runs of digits are cut so that each fits an int64."""
    fields = []
    start = 0
    for kind, run in groupby(kinds):
        stop = start + len(list(run))
        step = DIGITS_MOST if kind == _DIGIT else stop - start
        fields += [FixedField(kind, at, min(at + step, stop)) for at in range(start, stop, step)]
        start = stop
    return fields


def _kinds(columns: NDArray[np.uint8]) -> tuple[list[int], NDArray[np.bool_]]:
    """The kind of each place, and which values are odd: have another kind of byte at some place.

    ``columns``: a row for each place, with the bytes of all values at it.
    """
    flags = np.frombuffer(columns.tobytes().translate(_FLAGS.tobytes()), np.uint8)
    flags = flags.reshape(columns.shape)
    differ = columns != columns[:, :1]
    numbers = np.count_nonzero(differ, axis=1).tolist()
    every = np.bitwise_and.reduce(flags, axis=1).tolist()
    odd = np.zeros(columns.shape[1], np.bool_)
    most = int(_ODD * columns.shape[1])
    kinds = []
    for place, number in enumerate(numbers):
        if number == 0:
            kinds.append(_SAME)
            continue
        kind = next((kind for kind, flag in _FLAG_OF.items() if every[place] & flag), _ANY)
        if number <= most:
            odd |= differ[place]
            kind = _SAME
        elif kind == _ANY and most:
            for candidate, flag in _FLAG_OF.items():
                wrong = (flags[place] & flag) == 0
                if int(np.count_nonzero(wrong)) <= most:
                    odd |= wrong
                    kind = candidate
                    break
        kinds.append(kind)
    return _settled(kinds, columns[:, 0].tobytes()), odd


def _settled(kinds: list[int], value: bytes) -> list[int]:
    """``kinds`` (changed in place) after a look at each word of the shape: the places between two
    bytes that are always the same and are neither digits nor letters. ``value``: one of the values.

    A word has hexadecimal digits of one kind, and then its decimal digits count as such; or it has
    none. It has none where there are small and capital ones, other letters, or more places for
    decimal digits only: its letters happen to be a to f then.
    """
    start = 0
    while start < len(kinds):
        stop = start
        while stop < len(kinds) and (kinds[stop] != _SAME or value[stop : stop + 1].isalnum()):
            stop += 1
        run = kinds[start:stop]
        lower, upper, digits = run.count(_LOWER), run.count(_UPPER), run.count(_DIGIT)
        if (lower and upper) or _ANY in run or lower + upper < digits:
            change = {_LOWER: _ANY, _UPPER: _ANY}
        else:
            change = {_DIGIT: _LOWER} if lower else {_DIGIT: _UPPER} if upper else {}
        kinds[start:stop] = [change.get(kind, kind) for kind in run]
        start = max(stop, start + 1)
    return kinds


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes values of the commonest length, up to 256 bytes, but for odd ones."""
    lengths = texts.lengths
    if not texts.number:
        return None
    width = int(np.bincount(np.minimum(lengths, LONGEST + 1)).argmax())
    if not 0 < width <= LONGEST:
        return None
    good = lengths == width
    if good.all():
        rows = texts.data.reshape(-1, width)
    else:
        rows = texts.data[texts.starts[good][:, None] + np.arange(width)]
    columns = np.ascontiguousarray(rows.T)
    kinds, odd = _kinds(columns)
    if odd.any():
        columns = columns[:, ~odd]
        good[np.flatnonzero(good)[odd]] = False
        if not good.any():
            return None
    if sum(field.kind == _ANY for field in _fields(bytes(kinds))) > _TEXTS:
        return None
    coded = _encode(columns, kinds, to)
    return Fit(coded, None if good.all() else ~good)


def letterless(texts: Texts) -> bool:
    """Whether values, all of one length, have only digits, decimal or hexadecimal, beside bytes
    that are always the same."""
    columns = np.ascontiguousarray(texts.data.reshape(texts.number, -1).T)
    return _ANY not in _kinds(columns)[0]


def _encode(columns: NDArray[np.uint8], kinds: list[int], to: Context) -> Coded:
    """The values, whose bytes at each place are a row of ``columns``, in a shape of these kinds."""
    same = bytes(
        int(column[0]) for column, kind in zip(columns, kinds, strict=True) if kind == _SAME
    )
    digits: list[NDArray[np.int64]] = []
    texts: list[Coded] = []
    for kind, start, stop in _fields(bytes(kinds)):
        if kind == _DIGIT:
            number = columns[start].astype(np.int64) - 48
            for place in range(start + 1, stop):
                number = number * 10 + (columns[place] - np.uint8(48))
            digits.append(number)
        elif kind == _ANY:
            block = np.ascontiguousarray(columns[start:stop].T).reshape(-1)
            lengths = np.full(columns.shape[1], stop - start, np.int64)
            texts.append(to.column(Texts.from_lengths(block, lengths), run=True))
    halves = [place for place, kind in enumerate(kinds) if kind in (_LOWER, _UPPER)]
    parts = [_encode_digits(digits, to), *texts]
    if halves:
        nibbles = np.frombuffer(columns[halves].tobytes().translate(_NIBBLE), np.uint8)
        parts.append(_encode_halves(nibbles.reshape(len(halves), -1), to))
    return joined(head(NUMBER) + counted(bytes(kinds)) + counted(same), parts)


def _encode_digits(fields: list[NDArray[np.int64]], to: Context) -> Coded:
    """Each field (the numbers of a run of digits) by itself; or all as the digits of one number, in
    which the base of each is the range of its values."""
    if not fields:
        return Coded(b"")
    if len(fields) > 1:
        least = [int(field.min()) for field in fields]
        bases = [int(field.max()) - low + 1 for field, low in zip(fields, least, strict=True)]
        product = 1
        for base in bases:
            product *= base
        if product < _TOP:
            total = np.zeros(len(fields[0]), np.int64)
            for field, low, base in zip(fields, least, bases, strict=True):
                total = total * base + (field - low)
            if deltas_pay(total):
                described = b"".join(
                    varint(low) + varint(base) for low, base in zip(least, bases, strict=True)
                )
                return joined(bytes([_AS_ONE]) + described, (write_numbers(total, to.use),))
    return joined(bytes([_APART]), [write_numbers(field, to.use) for field in fields])


def _encode_halves(halves: NDArray[np.uint8], to: Context) -> Coded:
    """Hexadecimal digits, as numbers, a row of ``halves`` for each place: places where few
    different ones occur as codes, the others two a byte."""
    description = b""
    parts: list[Coded] = []
    full = []
    for column in halves:
        there = np.flatnonzero(np.bincount(column, minlength=16))
        few = len(there) <= _FEW
        description += varint(int((1 << there).sum()) if few else 0)
        if few:
            codes = np.searchsorted(there, column)
            parts.append(write_codes(codes, len(there), to.use))
        else:
            full.append(column)
    if not full:
        return joined(description, parts)
    if len(full) % 2:
        full.append(np.zeros_like(full[0]))
    pairs = np.stack([full[at] << 4 | full[at + 1] for at in range(0, len(full), 2)])
    layout = PLAIN
    stream = bytes_stream(np.ascontiguousarray(pairs.T).tobytes(), to.use.numbers, U8)
    planes = bytes_stream(pairs.tobytes(), to.use.numbers, U8)
    if stream.coder == ZSTD or planes.coder == ZSTD:
        # zstd has found repeats, as in the lines of a log: it is worth the level for texts.
        stream = bytes_stream(np.ascontiguousarray(pairs.T).tobytes(), to.use.text, U8)
        if planes.size <= stream.size:
            layout, stream = PLANES, planes
    return joined(description, [*parts, Coded(bytes([layout]), (stream,))])


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values, put together place by place; see ``Decoder``."""
    kinds = source.counted()
    same = source.counted()
    width = len(kinds)
    if not 0 < width <= LONGEST or max(kinds) > _ANY or len(same) != kinds.count(_SAME):
        raise Broken("a shape of unknown kinds")
    if width * number > limit:
        raise Broken("values longer than promised")
    source.spend(width * number)
    rows = np.empty((number, width), np.uint8)
    left = iter(same)
    fields = _fields(kinds)
    digits = [field for field in fields if field.kind == _DIGIT]
    for field, values in zip(digits, _decode_digits(source, len(digits), number), strict=True):
        size = field.stop - field.start
        if number and not (int(values.min()) >= 0 and int(values.max()) < int(POWERS[size])):
            raise Broken("a number of too many digits")
        rows[:, field.start : field.stop] = digit_rows(values, size)
    for kind, start, stop in fields:
        if kind == _ANY:
            texts = source.column(number, limit)
            if (texts.lengths != stop - start).any():
                raise Broken("a part of a shape of another length")
            rows[:, start:stop] = texts.data.reshape(number, stop - start)
    for place, kind in enumerate(kinds):
        if kind == _SAME:
            rows[:, place] = next(left)
    places = [place for place, kind in enumerate(kinds) if kind in _HEX]
    if places:
        for place, half in zip(places, _decode_halves(source, len(places), number), strict=True):
            digits_of = half.tobytes().translate(_HEX[kinds[place]])
            rows[:, place] = np.frombuffer(digits_of, np.uint8)
    return Texts.of_width(rows.reshape(-1), width, number)


def _decode_digits(source: ColumnSource, count: int, number: int) -> list[NDArray[np.int64]]:
    """The numbers of each of ``count`` runs of digits."""
    if not count:
        return []
    if source.varint(_AS_ONE) == _APART:
        return [read_numbers(source, number) for _ in range(count)]
    ranges = [(source.varint(_TOP), source.varint(_TOP)) for _ in range(count)]
    total = read_numbers(source, number)
    fields = []
    for least, base in reversed(ranges):
        if not base:
            raise Broken("a field of no digits")
        total, part = np.divmod(total, base)
        fields.append(part + least)
        source.spend(8 * number)
    return fields[::-1]


def _decode_halves(source: ColumnSource, count: int, number: int) -> list[NDArray[Any]]:
    """The hexadecimal digits at each of ``count`` places, as numbers."""
    sets = [source.varint(0xFFFF) for _ in range(count)]
    halves: list[NDArray[Any]] = []
    for there in sets:
        if there:
            table = np.array([half for half in range(16) if there >> half & 1], np.uint8)
            halves.append(table[read_codes(source, len(table), number)])
    full = sets.count(0)
    found = iter(halves)
    if not full:
        return halves
    pairs = -(-full // 2)
    layout = source.varint(PLANES)
    raw = source.raw(pairs * number)
    if len(raw) != pairs * number:
        raise Broken("a stream has another size than promised")
    array = np.frombuffer(raw, np.uint8)
    rows = array.reshape(number, pairs).T if layout == PLAIN else array.reshape(pairs, number)
    split = [half for row in rows for half in (row >> 4, row & 15)]
    rest = iter(split)
    return [next(found) if there else next(rest) for there in sets]
