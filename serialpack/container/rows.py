"""Rows of entries: what a block that entries share says of each of them (``EntryRow``).

They are stored column by column: paths as patterns and numbers (``patterns``), numbers in the way
that takes the fewest bits (``series``), all of it compressed by zstd. This is the second form of
rows, the one that is written; the first is read by ``rows_first``. Layout: man/spk.5, ROWS.
"""

import math
import stat
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import zstandard

from serialpack.container.entries import (
    ROW_ROOM,
    SECOND_FORM,
    EntryRow,
    is_second_form,
    path_bytes,
    path_text,
)
from serialpack.container.patterns import Parsed, parsed, patterns_of
from serialpack.container.rows_first import decode_first, restored_rows
from serialpack.container.series import Reader, series, signed
from serialpack.errors import DamagedError, UsageError

#: The limit on the rows of a block: the most that ``EntryRow.room`` of its entries adds up to.
MOST_ROOM = 512 << 10

#: The most bytes that rows may decompress to. That is more than ``MOST_ROOM``: one digit of a path,
#: which counts as one byte there, may be stored as a number of 8 bytes and a place of 8 bytes.
_MOST_ROWS = 8 << 20

#: The level of zstd. From this one on, zstd begins a new block of its own where bytes of another
#: kind begin; for a thousand files it takes 5 ms.
_LEVEL = 15

_COUNT = struct.Struct("<I")
_HEAD = struct.Struct("<IB")
_UNIT = struct.Struct("<Q")
_OWNERS = 1
_ALL = (1 << 64) - 1


def encode_rows(entries: Sequence[EntryRow]) -> bytes:
    """The encoded rows of ``entries``, of which the caller gives no more than ``MOST_ROOM`` allows;
    UsageError for an entry that no archive can hold."""
    for entry in entries:
        if fault := entry.fault:
            raise UsageError(f"the path of an entry {fault}: {entry.path!r}")
    owned = bool(entries) and all(entry.owner is not None for entry in entries)
    times = [entry.mtime for entry in entries]
    unit = math.gcd(*times) or 1
    columns = [
        _HEAD.pack(len(entries), _OWNERS * owned),
        series([entry.mode for entry in entries]),
        _UNIT.pack(unit),
        series([time // unit & _ALL for time in times]),
        series([entry.size for entry in entries]),
    ]
    if owned:
        owners = [entry.owner or (0, 0) for entry in entries]
        columns += (series([owner[i] for owner in owners]) for i in (0, 1))
    found = patterns_of([path_bytes(entry.path) for entry in entries])
    shared = [_common_length(a, b) for a, b in pairwise((b"", *found.patterns))]
    columns += _COUNT.pack(len(found.patterns)), series(shared)
    columns += (text[same:] + b"\0" for text, same in zip(found.patterns, shared, strict=True))
    columns.append(series(found.of))
    columns += map(series, found.fields)
    columns += (path_bytes(entry.target or "") + b"\0" for entry in entries if entry.is_link)
    return SECOND_FORM + zstandard.ZstdCompressor(level=_LEVEL).compress(b"".join(columns))


def decode_rows(data: bytes, start: int = 0) -> list[EntryRow]:
    """The entries in the encoded rows ``data``, of either form; DamagedError where these are
    malformed. Whether an archive can hold each entry is not checked (``EntryRow.fault``).

    ``start``: the place of the rows in the file, for errors.
    """
    try:
        return _decode(data[1:]) if is_second_form(data) else decode_first(data)
    except (ValueError, zstandard.ZstdError, struct.error) as error:
        raise DamagedError(f"the rows of entries are malformed ({error})", start=start) from None


def _decode(data: bytes) -> list[EntryRow]:
    rows = restored_rows(data, _MOST_ROWS)
    reader = Reader(rows)
    count, flags = _HEAD.unpack(reader.take(_HEAD.size))
    if flags & ~_OWNERS or count * ROW_ROOM > MOST_ROOM:
        raise ValueError("their head")
    modes = _small(reader, count)
    (unit,) = _UNIT.unpack(reader.take(_UNIT.size))
    if not unit:
        raise ValueError("a unit of no time")
    times = [signed(number * unit) for number in reader.series(count)]
    sizes = reader.series(count)
    owners: Sequence[tuple[int, int] | None] = [None] * count
    if flags & _OWNERS:
        owners = list(zip(_small(reader, count), _small(reader, count), strict=True))
    paths = _paths(reader, count)
    targets = iter(reader.texts(sum(map(stat.S_ISLNK, modes))))
    reader.end()
    entries: list[EntryRow] = []
    room = 0
    for mode, mtime, length, owner, path in zip(modes, times, sizes, owners, paths, strict=True):
        target = path_text(next(targets)) if stat.S_ISLNK(mode) else None
        entry = EntryRow(path_text(path), mode, mtime, length, target, owner)
        room += entry.room
        if room > MOST_ROOM:
            raise ValueError("more entries, or longer paths, than a block may have")
        entries.append(entry)
    return entries


def _small(reader: Reader, count: int) -> Sequence[int]:
    """The next series of ``count`` numbers; ValueError where one has more than 32 bits."""
    numbers = reader.series(count)
    if numbers and max(numbers) >> 32:
        raise ValueError("a mode or an owner of more than 32 bits")
    return numbers


def _common_length(a: bytes, b: bytes) -> int:
    """How many bytes ``a`` and ``b`` have in common at their front."""
    differ = int.from_bytes(a[: len(b)], "big") ^ int.from_bytes(b[: len(a)], "big")
    return min(len(a), len(b)) - (differ.bit_length() + 7) // 8


def _paths(reader: Reader, count: int) -> Iterator[bytes]:
    """The paths of ``count`` entries. What is stored is read at once; each path is only made when
    it is asked for."""
    number = reader.count()
    if number > count:
        raise ValueError("more patterns than paths")
    patterns: list[Parsed] = []
    before, length = b"", 0
    shared = reader.series(number)
    for same, rest in zip(shared, reader.texts(number), strict=True):
        if same > len(before):
            raise ValueError("a pattern that shares more than there is")
        before = before[:same] + rest
        length += len(before)
        if length > 2 * MOST_ROOM:  # a byte of a path takes at most two in its pattern
            raise ValueError("patterns that are too long together")
        patterns.append(parsed(before))
    of = reader.series(count)
    if of and max(of) >= number:
        raise ValueError("a pattern behind the last one")
    each = [patterns[n] for n in of]
    fields = [iter(reader.series(having)) for having in _field_lengths(each)]
    return (
        pattern.filled([next(field) for field in fields[: len(pattern.limits)]]) for pattern in each
    )


def _field_lengths(each: Sequence[Parsed]) -> list[int]:
    """How many paths have a first number, how many a second one, and so on. ``each``: the pattern
    of each path."""
    counts = Counter(len(pattern.limits) for pattern in each)
    most = max(counts, default=0)
    having = [*accumulate(counts[n] for n in range(most, 0, -1))][::-1]
    if sum(having) > MOST_ROOM:  # a number is at least one byte of its path
        raise ValueError("too many numbers in paths")
    return having
