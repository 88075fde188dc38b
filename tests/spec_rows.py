"""ENTRIES and ROWS of man/spk.5, for the second decoder of it (``tests.spec_decoder``).

Capitals name sections of the page.
"""

from struct import unpack
from typing import Any

import zstandard
from xxhash import xxh3_64_intdigest

from tests.spec_rules import SpecError, must


def check_path(path: bytes, control: bool) -> None:
    """ARCHIVE: which paths there are; `control`: also those with control characters."""
    must({b"", b".", b".."}.isdisjoint(path.split(b"/")), "parts of a path")
    must(not {*range(32 * (not control) or 1), 127 * (not control)} & {*path}, "control characters")


def restore(data: bytes, most: int) -> bytes:
    """ENTRIES: the one zstd frame that rows are."""
    stream = zstandard.ZstdDecompressor().decompressobj()
    try:
        must(1 <= zstandard.get_frame_parameters(data).content_size <= most, "the rows' size")
        rows = stream.decompress(data)
    except zstandard.ZstdError as error:
        raise SpecError("damaged: the frame of entries") from error
    must(stream.eof and not stream.unused_data and len(rows) > 4, "one frame of entries")
    return rows


def read_entries(data: Any, size: int, content: bytes | None) -> list[Any]:
    """ENTRIES: what `data`, the value of key e, says of a block of `size` bytes."""
    must(isinstance(data, bytes), "the value of key e")
    second = data[:1] == b"\2"
    modes, times, sizes, checks, owners, paths, targets = (
        read_rows(restore(data[1:], 8388608)) if second else read_first(restore(data, 524288))
    )
    entries, begin = list[Any](), 0
    for i, (mode, length, path) in enumerate(zip(modes, sizes, paths, strict=True)):
        check_path(path, second)
        kind = mode & 0xF000
        must(kind == 0x8000 or (kind in (0x4000, 0xA000) and length == 0), "type and bytes")
        must(kind != 0xA000 or targets[:1] not in ([], [b""]), "the target of a link")
        target = targets.pop(0) if kind == 0xA000 else None
        piece, begin = (content or b"")[begin : begin + length], begin + length
        if checks and content is not None and kind == 0x8000:
            must(xxh3_64_intdigest(piece) == checks[i], "a check")
        entries.append((path, mode, times[i], length, [own[i] for own in owners], target))
    room = 32 * len(paths) + sum(len(e[0]) + len(e[5] or b"") for e in entries)
    must(not second or room <= 524288, "the room of entries")
    must(not targets and begin == size, "as many targets and bytes as entries")
    return entries


def read_first(rows: bytes) -> tuple[Any, ...]:
    """ENTRIES, the first form: modes, times, sizes, checks, owners, paths and targets."""
    (n, flags), at, columns = unpack("<IB", rows[:5]), 5, list[list[int]]()
    must(flags < 2 and 5 + (30 + 8 * flags) * n <= len(rows), "the head of entries")
    for width in (4, 8, 8, 8, *([4, 4] if flags else []), 2):
        planes, at = rows[at : at + width * n], at + width * n
        columns.append([int.from_bytes(planes[i::n], "little") for i in range(n)])
    modes, deltas, sizes, checks, *owners, shared = columns
    *texts, end = rows[at:].split(b"\0")
    paths, targets = list[bytes](), list[bytes]()
    for mode, same in zip(modes, shared, strict=True):
        must(same <= len([b"", *paths][-1]) and bool(texts), "a path")
        paths.append([b"", *paths][-1][:same] + texts.pop(0))
        targets += [texts.pop(0)] if mode & 0xF000 == 0xA000 and texts else []
    must(not texts and not end, "as many paths as entries")
    return modes, steps(deltas), sizes, checks, owners, paths, targets


def steps(stored: list[int]) -> list[int]:
    """ENTRIES, times; ROWS, steps: the numbers, signed."""
    found, now = list[int](), 0
    for each in stored:
        now = (now + (each >> 1 ^ -(each & 1)) + 2**63) % 2**64 - 2**63
        found.append(now)
    return found


def read_rows(rows: bytes) -> tuple[Any, ...]:
    """ROWS: what `read_first` gives, without checks."""
    at = 0

    def take(length: int) -> bytes:
        nonlocal at
        at += length
        must(at <= len(rows), "a piece of rows")
        return rows[at - length : at]

    def texts(count: int) -> list[bytes]:
        found = rows[at:].split(b"\0", count)[:count]
        must(rows[at:].count(b"\0") >= count, "a text of rows")
        take(sum(map(len, found)) + count)
        return found

    def planes(count: int) -> list[int]:
        width = take(1)[0]
        must(width <= 8, "the width of planes")
        data = take(width * count)
        return [int.from_bytes(data[i::count], "little") for i in range(count)]

    def series(count: int) -> list[int]:
        way = take(1)[0]
        must(way < 4, "the way of a series")
        if way < 2:
            return [each % 2**64 for each in steps(planes(count))] if way else planes(count)
        different = unpack("<I", take(4))[0]
        must(different <= count, "how many numbers are different")
        values = [each % 2**64 for each in steps(planes(different))]
        places = planes(count) if way == 2 else [each % 2**64 for each in steps(planes(count))]
        must(max(places, default=-1) < different, "a place in a series")
        return [values[place] for place in places]

    n, flags = unpack("<IB", take(5))
    must(flags < 2 and 32 * n <= 524288, "the head of rows")
    modes, unit = series(n), unpack("<Q", take(8))[0]
    must(max(modes, default=0) < 2**32, "modes of 32 bits")
    must(unit > 0, "a unit of time")
    times = [(each * unit + 2**63) % 2**64 - 2**63 for each in series(n)]
    sizes, owners = series(n), [series(n) for _ in range(2 * flags)]
    must(all(max(own, default=0) < 2**32 for own in owners), "owners of 32 bits")
    m = unpack("<I", take(4))[0]
    must(m <= n, "patterns")
    shared, patterns = series(m), list[bytes]()
    for same, rest in zip(shared, texts(m), strict=True):
        before = [b"", *patterns][-1]
        must(same <= len(before), "what a pattern shares")
        patterns.append(before[:same] + rest)
    must(sum(map(len, patterns)) <= 1048576, "the length of patterns")
    which = series(n)
    must(max(which, default=-1) < m, "the number of a pattern")
    parsed = [read_pattern(pattern) for pattern in patterns]
    having = [len(parsed[number][1]) for number in which]
    must(sum(having) <= 524288, "the room of entries")  # each number is a byte of a path
    numbers = [series(sum(h > k for h in having)) for k in range(max(having, default=0))]
    paths = list[bytes]()
    for number, count in zip(which, having, strict=True):
        pieces, kinds = parsed[number]
        path = pieces[0]
        for column, (base, digits, form), piece in zip(numbers, kinds, pieces[1:], strict=False):
            value = column.pop(0)
            must(value < base**digits, "a number with too many digits")
            path += form % (digits, value) + piece if form != b"%d" else form % value + piece
        paths.append(path)
        must(count == len(kinds), "numbers")
    targets = texts(sum(mode & 0xF000 == 0xA000 for mode in modes))
    must(at == len(rows), "the end of rows")
    return modes, times, sizes, [], owners, paths, targets


def read_pattern(pattern: bytes) -> tuple[list[bytes], list[tuple[int, int, bytes]]]:
    """ROWS: the texts of a pattern, and between them base, digits and form of its numbers."""
    forms = {2: (10, 19, b"%0*d"), 3: (16, 16, b"%0*x"), 4: (16, 16, b"%0*X")}
    pieces, numbers, at = [bytearray()], list[tuple[int, int, bytes]](), 0
    while at < len(pattern):
        byte, at = pattern[at], at + 1
        if byte not in range(1, 6):
            pieces[-1].append(byte)
            continue
        if byte == 1:
            numbers.append((2, 64, b"%d"))
            pieces.append(bytearray())
            continue
        must(at < len(pattern), "a pattern that breaks off")
        behind, at = pattern[at], at + 1
        if byte == 5:
            pieces[-1].append(behind)
            continue
        base, most, form = forms[byte]
        must(1 <= behind <= most, "the digits of a number")
        numbers.append((base, behind, form))
        pieces.append(bytearray())
    return [bytes(piece) for piece in pieces], numbers
