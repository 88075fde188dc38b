"""Rows of entries: what an archive says of the files in a block. Layout: ``man/spk.5``, ENTRIES.

They stand column by column, so that like stands with like: paths share their beginnings, times
are told by the time before, and the high bytes of numbers are the same for all.
"""

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import zstandard

from serialpack.container.entries import fault_of
from serialpack.container.names import encode_name
from serialpack.errors import DamagedError, UsageError

#: The most bytes of the rows of one block, before compression.
MOST_ROWS = 512 << 10

#: Bytes of a row beside its path and the target of a link.
_ROW = 4 + 8 + 8 + 8 + 2 + 4 + 4

_LEVEL = 9
_HEAD = struct.Struct("<IB")
_OWNERS = 1
_ALL = (1 << 64) - 1
_MOST_SHARED = 0xFFFF


class EntryRow(NamedTuple):
    """A file, a folder or a symbolic link of an archive.

    ``mode``: type and permissions, as ``st_mode``; ``mtime`` in ns since 1970; ``check``: XXH3-64
    of its ``size`` bytes; ``target``: where a link leads; ``owner``: numbers of user and group.
    """

    path: str
    mode: int
    mtime: int
    size: int = 0
    check: int = 0
    target: str | None = None
    owner: tuple[int, int] | None = None

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def room(self) -> int:
        """The most bytes that it takes of ``MOST_ROWS``."""
        return _ROW + len(_bytes(self.path)) + len(_bytes(self.target or "")) + 2


def encode_rows(entries: Sequence[EntryRow]) -> bytes:
    """``entries``, whose ``room`` together is at most ``MOST_ROWS``; UsageError for one that
    cannot be in an archive."""
    for entry in entries:
        if fault := fault_of(entry.path) or _fault(entry):
            raise UsageError(f"the path of an entry {fault}: {entry.path!r}")
    owned = bool(entries) and all(entry.owner is not None for entry in entries)
    paths = [_bytes(entry.path) for entry in entries]
    shared = [_alike(a, b) for a, b in pairwise([b"", *paths])]
    times = [entry.mtime for entry in entries]
    columns = [
        _HEAD.pack(len(entries), _OWNERS * owned),
        _planes([entry.mode for entry in entries], 4),
        _planes([_zigzag(b - a) for a, b in pairwise([0, *times])], 8),
        _planes([entry.size for entry in entries], 8),
        _planes([entry.check for entry in entries], 8),
    ]
    if owned:
        owners = [entry.owner or (0, 0) for entry in entries]
        columns += (_planes([owner[i] for owner in owners], 4) for i in (0, 1))
    columns.append(_planes(shared, 2))
    for entry, path, same in zip(entries, paths, shared, strict=True):
        columns.append(path[same:] + b"\0")
        if entry.is_link:
            columns.append(_bytes(entry.target or "") + b"\0")
    return zstandard.ZstdCompressor(level=_LEVEL).compress(b"".join(columns))


def decode_rows(data: bytes, start: int = 0) -> list[EntryRow]:
    """The entries that ``data`` says; DamagedError where it breaks a rule. ``start``: where in
    the file that is said."""
    try:
        return _decode(data)
    except (ValueError, zstandard.ZstdError, struct.error) as error:
        raise DamagedError(f"the rows of entries are malformed ({error})", start=start) from None


def _decode(data: bytes) -> list[EntryRow]:
    size = zstandard.get_frame_parameters(data).content_size
    if not 0 < size <= MOST_ROWS:
        raise ValueError(f"they have {size} bytes")
    rows = zstandard.ZstdDecompressor().decompress(
        data, max_output_size=MOST_ROWS, allow_extra_data=False
    )
    count, flags = _HEAD.unpack_from(rows)
    if flags & ~_OWNERS or len(rows) < _HEAD.size + count * (_ROW - 8):
        raise ValueError("their head")
    at = _HEAD.size

    def column(width: int) -> Sequence[int]:
        nonlocal at
        planes, at = rows[at : at + width * count], at + width * count
        return _numbers(planes, width, count)

    modes = column(4)
    deltas = column(8)
    times = [_signed(time) for time in accumulate(_unzigzag(delta) for delta in deltas)]
    sizes, checks = column(8), column(8)
    owners: Sequence[tuple[int, int] | None] = [None] * count
    if flags & _OWNERS:
        owners = list(zip(column(4), column(4), strict=True))
    shared = column(2)
    if not rows.endswith(b"\0") and count:
        raise ValueError("their last path")
    texts = iter(rows[at:].split(b"\0"))
    entries, before = [], b""
    for row in zip(modes, times, sizes, checks, owners, shared, strict=True):
        mode, mtime, length, check, owner, same = row
        if same > len(before):
            raise ValueError("a path that shares more than there is")
        before = before[:same] + next(texts, b"")
        target = _text(next(texts, b"")) if stat.S_ISLNK(mode) else None
        entry = EntryRow(_text(before), mode, mtime, length, check, target, owner)
        if fault := fault_of(entry.path) or _fault(entry):
            raise ValueError(f"the path of an entry {fault}: {entry.path[:100]!r}")
        entries.append(entry)
    if list(texts) != [b""]:
        raise ValueError("they do not end with the last path")
    return entries


def _fault(entry: EntryRow) -> str | None:
    """What is wrong with an entry whose path is right, in words; None where nothing is."""
    if not (entry.is_file or entry.is_folder or entry.is_link):
        return "is of nothing that an archive holds"
    if not entry.is_file and entry.size:
        return "is no file, and has bytes"
    if entry.is_link and not (entry.target and "\0" not in entry.target):
        return "is of a link that leads nowhere"
    return None


def _bytes(text: str) -> bytes:
    name = encode_name(text)
    return name if isinstance(name, bytes) else name.encode()


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return os.fsdecode(data)


def _alike(a: bytes, b: bytes) -> int:
    """How many bytes they begin with alike."""
    most = min(len(a), len(b), _MOST_SHARED)
    return next((n for n in range(most) if a[n] != b[n]), most)


def _zigzag(delta: int) -> int:
    """A difference of times, modulo 2**64, so that those near 0 are small."""
    signed = _signed(delta)
    return (signed << 1 ^ signed >> 63) & _ALL


def _unzigzag(number: int) -> int:
    return number >> 1 ^ -(number & 1)


def _signed(number: int) -> int:
    return (number + (1 << 63) & _ALL) - (1 << 63)


_CODES = {2: "H", 4: "I", 8: "Q"}


def _planes(numbers: Sequence[int], width: int) -> bytes:
    """The lowest byte of each number, then the next of each, up to ``width``."""
    flat = struct.pack(f"<{len(numbers)}{_CODES[width]}", *numbers)
    return b"".join(flat[i::width] for i in range(width))


def _numbers(planes: bytes, width: int, count: int) -> Sequence[int]:
    flat = bytearray(width * count)
    for i in range(width):
        flat[i::width] = planes[i * count : (i + 1) * count]
    return struct.unpack(f"<{count}{_CODES[width]}", flat)


def cut(entries: Sequence[EntryRow]) -> Iterator[tuple[EntryRow, int, int]]:
    """Each entry with where its bytes begin and end in the block."""
    ends = accumulate((entry.size for entry in entries), initial=0)
    for entry, (begin, end) in zip(entries, pairwise(ends), strict=True):
        yield entry, begin, end
