"""The files of an archive, looked at; the small ones of a format gathered in blocks."""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from collections.abc import Iterator, Sequence

from serialpack.api import HEAD
from serialpack.container.entries import EntryRow, nearest_time
from serialpack.container.rows import MOST_ROOM
from serialpack.detection.detect import AsFound, told
from serialpack.errors import FileError, SerialpackError, changed
from serialpack.far import is_far
from serialpack.files.regular import NO_WAIT, RegularPath, beginning_of, check_regular
from serialpack.files.source import File, Path, file_error
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import ByteSerializer

#: Larger files are members of their own: what that takes is less than a hundredth of them, and
#: each is taken apart by itself.
SHARED_SIZE = 64 << 10

#: But not texts up to this part of a block, which have more in common with others than they gain by
#: that: of trees with versions of a document, or large documents among small ones of a kind,
#: archives were 0.42 to 1.01 of what they are without. Tables, and records by line, gain more by
#: themselves.
_TEXT_PART = 4


class ArchiveSource:
    """A file, folder or link that is to go into an archive, as it was when it was looked at."""

    __slots__ = ("entry", "file", "path", "size")

    def __init__(self, path: str, entry: EntryRow, size: int, file: tuple[int, int]) -> None:
        self.path = path
        self.entry = entry
        self.size = size
        #: Which file it is, on which device.
        self.file = file


def look(path: Path, entry: str, *, owner: bool) -> ArchiveSource:
    """What is at ``path``, which becomes ``entry``; FileError where that cannot be told."""
    path = os.fspath(path)
    try:
        found = os.lstat(path)
        target = os.readlink(path) if stat.S_ISLNK(found.st_mode) else None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError):
            raise file_error(error, path, "read") from error
        raise FileError("is no name of a file", path=path) from None
    if is_file := stat.S_ISREG(found.st_mode):
        path = RegularPath(path)
    owners = (found.st_uid, found.st_gid) if owner else None
    # What is neither file, folder nor link is a file in the archive, with what comes out of it.
    kept = is_file or target is not None or stat.S_ISDIR(found.st_mode)
    mode = found.st_mode if kept else stat.S_IFREG | stat.S_IMODE(found.st_mode)
    row = EntryRow(entry, mode, nearest_time(found.st_mtime_ns), target=target, owner=owners)
    size = found.st_size if is_file else sys.maxsize
    return ArchiveSource(path, row, size, (found.st_dev, found.st_ino))


def most_shared(block_size: int) -> int:
    """Bytes up to which a file may share a block of that size with others."""
    return max(SHARED_SIZE, block_size // _TEXT_PART)


def _shares(format: str, size: int, head: bytes) -> bool:
    """Whether a file of up to ``most_shared`` bytes shares blocks with others of its format."""
    declared = FORMATS.declaration(format)
    text = declared.is_text or (format == "bytes" and b"\0" not in head)
    return size <= SHARED_SIZE or (text and not declared.has_lines)


def planned(path: str, serializer: str, format: str | None, table: AsFound, block_size: int) -> str:
    """How ``path`` will be kept, in words; nothing of a file that has a member of its own.

    ``format``, ``table``: as for ``SmallFiles``.
    """
    if os.path.islink(path) or os.path.isdir(path):
        return "as it is"
    bytes_kept = issubclass(SERIALIZERS.cls(serializer), ByteSerializer) and not is_far(path)
    size = os.path.getsize(path) if bytes_kept and os.path.isfile(path) else sys.maxsize
    if SHARED_SIZE < size <= most_shared(block_size):
        head = beginning_of(path, HEAD)
        shares = _shares(told(format, path, head, table), size, head)
    else:
        shares = size <= SHARED_SIZE
    return "in a block of files of its format" if shares else ""


def read_small(found: ArchiveSource) -> bytes:
    """All bytes of a small file; FileError where it is not what it was when it was looked at."""
    try:
        fd = os.open(found.path, os.O_RDONLY | NO_WAIT | getattr(os, "O_BINARY", 0))
        try:
            check_regular(fd, found.path)
            data = os.read(fd, found.size + 1)
            while 0 < len(data) <= found.size and (more := os.read(fd, found.size + 1 - len(data))):
                data += more
            now = os.fstat(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise file_error(error, found.path, "read") from error
    if (len(data), nearest_time(now.st_mtime_ns)) != (found.size, found.entry.mtime):
        raise changed(found.path)
    return data


class SmallFiles:
    """The small files of an archive, by format.

    ``format``, ``table``: what the user said that they are.
    """

    def __init__(self, format: str | None, table: AsFound) -> None:
        self._format = format
        self._table = table
        #: Those of the last format that could not be read, and why: the others go on.
        self.failed: list[tuple[ArchiveSource, SerialpackError]] = []
        #: What was looked at, and is better packed by itself.
        self.alone: list[ArchiveSource] = []
        self._left: dict[str, list[ArchiveSource]] = {}
        #: The entries of the blocks that were given and not asked for yet.
        self._given: deque[list[EntryRow]] = deque()
        #: And of all blocks of this format, with the files that they are of.
        self.blocks: list[list[ArchiveSource]] = []

    def add(self, found: ArchiveSource) -> None:
        """``found`` is a small file; of its format its name tells, until it is read."""
        declared = FORMATS.by_extension(os.path.basename(found.path))
        name = self._format or (declared.name if declared is not None else "bytes")
        self._left.setdefault(name, []).append(found)

    def formats(self) -> Iterator[str]:
        """The formats of which there are files left, as long as there are: some turn out to be
        of another one."""
        while self._left:
            # Bytes last: what others turn out to be stands with them.
            yield min(self._left, key=lambda name: (name == "bytes", name))

    def of(self, format: str, block_size: int) -> Iterator[SourceBlock]:
        """Blocks of the files of ``format``, alike ones side by side; those of another one are
        left for that."""
        self.blocks, self.failed = [], []
        self._given.clear()
        files = self._left.pop(format)
        files.sort(key=lambda found: (os.path.splitext(found.path)[1], found.entry.path))
        pieces: list[bytes] = []
        held: list[ArchiveSource] = []
        size = room = offset = 0
        for found in files:
            try:
                data = read_small(found)
                actual = told(self._format, found.path, data[:HEAD], self._table)
                if actual != format:
                    self._left.setdefault(actual, []).append(found)
                    continue
                if not _shares(format, len(data), data[:HEAD]):
                    self.alone.append(found)
                    continue
            except SerialpackError as error:
                self.failed.append((found, error))
                continue
            found.entry = found.entry._replace(size=len(data))
            takes = found.entry.room
            if held and (size + len(data) > block_size or room + takes > MOST_ROOM):
                yield self._block(pieces, held, offset)
                pieces, held, offset, size, room = [], [], offset + size, 0, 0
            pieces.append(data)
            held.append(found)
            size, room = size + len(data), room + takes
        if held:
            yield self._block(pieces, held, offset)

    def _block(
        self, pieces: Sequence[bytes], held: list[ArchiveSource], offset: int
    ) -> SourceBlock:
        self.blocks.append(held)
        self._given.append([found.entry for found in held])
        return SourceBlock(b"".join(pieces), len(self.blocks) - 1, offset)

    def entries(self) -> list[EntryRow]:
        """Those of the next block, of those that ``of`` gave."""
        return self._given.popleft()


def other_blocks(entries: Sequence[EntryRow]) -> Iterator[list[EntryRow]]:
    """Folders and links, as many together as fit in the rows of a block; at least one block."""
    held: list[EntryRow] = []
    room = 0
    for entry in entries:
        if held and room + entry.room > MOST_ROOM:
            yield held
            held, room = [], 0
        held.append(entry)
        room += entry.room
    yield held


def total(sources: Sequence[Path | File]) -> int | None:
    """Bytes of all ``sources``; None where one of them is no file."""
    size = 0
    for source in sources:
        if not isinstance(source, str | os.PathLike):
            return None
        try:
            found = os.stat(source, follow_symlinks=False)
        except (OSError, ValueError):
            return None
        if stat.S_ISREG(found.st_mode):
            size += found.st_size
        elif not (stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            return None
    return size
