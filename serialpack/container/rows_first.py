"""Rows of entries in the first form (man/spk.5, ENTRIES). They are read, but no longer written."""

import stat
import struct
from collections.abc import Sequence
from itertools import accumulate

import zstandard

from serialpack.container.entries import EntryRow, has_control, path_text
from serialpack.container.series import signed
from serialpack.leb128 import unzigzag

#: The most bytes that the rows of a block may decompress to.
_MOST_ROWS = 512 << 10

#: How many bytes a row has beside its path, the target of a link and its owners.
_ROW = 4 + 8 + 8 + 8 + 2

_HEAD = struct.Struct("<IB")
_OWNERS = 1

_CODES = {2: "H", 4: "I", 8: "Q"}


def restored_rows(data: bytes, most: int) -> bytes:
    """The content of the zstd frame ``data``; ValueError, ZstdError where it is not sound, or has
    more than ``most`` bytes."""
    size = zstandard.get_frame_parameters(data).content_size
    if not 0 < size <= most:
        raise ValueError(f"they have {size} bytes")
    return zstandard.ZstdDecompressor().decompress(
        data, max_output_size=most, allow_extra_data=False
    )


def decode_first(data: bytes) -> list[EntryRow]:
    """The entries in rows of the first form; ValueError, ZstdError, struct.error where they are
    malformed."""
    rows = restored_rows(data, _MOST_ROWS)
    count, flags = _HEAD.unpack_from(rows)
    if flags & ~_OWNERS or len(rows) < _HEAD.size + count * _ROW:
        raise ValueError("their head")
    at = _HEAD.size

    def column(width: int) -> Sequence[int]:
        nonlocal at
        planes, at = rows[at : at + width * count], at + width * count
        return _numbers(planes, width, count)

    modes = column(4)
    deltas = column(8)
    times = [signed(time) for time in accumulate(unzigzag(delta) for delta in deltas)]
    sizes, checks = column(8), column(8)
    owners: Sequence[tuple[int, int] | None] = [None] * count
    if flags & _OWNERS:
        owners = list(zip(column(4), column(4), strict=True))
    shared = column(2)
    texts = iter(rows[at:].split(b"\0"))
    entries, before = [], b""
    for row in zip(modes, times, sizes, checks, owners, shared, strict=True):
        mode, mtime, length, check, owner, same = row
        if same > len(before):
            raise ValueError("a path that shares more than there is")
        before = before[:same] + next(texts, b"")
        target = path_text(next(texts, b"")) if stat.S_ISLNK(mode) else None
        entry = EntryRow(path_text(before), mode, mtime, length, target, owner, check)
        if has_control(entry.path):
            raise ValueError(f"the path of an entry holds control characters: {entry.path[:100]!r}")
        entries.append(entry)
    if list(texts) != [b""]:
        raise ValueError("they do not end with the last path")
    return entries


def _numbers(planes: bytes, width: int, count: int) -> Sequence[int]:
    """``count`` numbers of ``width`` bytes; ``planes``: their first bytes, their second bytes,
    ..."""
    flat = bytearray(width * count)
    for i in range(width):
        flat[i::width] = planes[i * count : (i + 1) * count]
    return struct.unpack(f"<{count}{_CODES[width]}", flat)
