"""The files of an archive, looked at; the small ones of a format gathered in blocks."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from serialpack.api import HEAD
from serialpack.archive.beside import copies_beside
from serialpack.container.entries import EntryRow, nearest_time
from serialpack.container.rows import MOST_ROOM
from serialpack.detection.detect import AsFound, told
from serialpack.errors import FileError, SerialpackError, changed
from serialpack.files.regular import NO_WAIT, RegularPath, check_regular
from serialpack.files.source import File, Path, file_error
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.stages.stage import MAX_BLOCK

#: Larger files are members of their own: what that takes is less than a hundredth of them, and
#: each is taken apart by itself.
SHARED_SIZE = 64 << 10

#: But not documents of up to this part of a block, even where they are JSON, which columns take
#: apart: they have more in common with others than they gain by that. Of trees with versions of a
#: document, or large documents among small ones of a kind, archives were 0.42 to 1.01 of what they
#: are without. Larger ones gain more by themselves (of two trees with JSON of 1 to 4 MiB, archives
#: would be 1.13 and 1.19), and so do tables, records by line, and numbers.
_LARGE_PART = 4


#: A name that so many files have comes again and again, in trees that stand side by side (of
#: languages, of packages). Where half of all bytes are of such, blocks under zstd:12 were 0.76 to
#: 0.98 of those by path in four trees of fourteen, and 0.999 to 1.003 in the others; from eight
#: times on, translations into five languages gained nothing.
_AGAIN = 4


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
    """Bytes up to which a file may share blocks with others, where its own were of that size."""
    return max(SHARED_SIZE, block_size)


def shares_blocks(
    format: str, size: int, head: bytes, whole: Callable[[], bytes], block_size: int
) -> bool:
    """Whether a file of up to ``most_shared(block_size)`` bytes shares blocks with others of its
    kind."""
    if size <= SHARED_SIZE:
        return True
    declared = FORMATS.declaration(format)
    if declared.columns:
        return declared.is_text and not declared.has_lines and size <= block_size // _LARGE_PART
    if not _is_binary(format, head):
        return not declared.has_lines
    from serialpack.auto.raw_numbers import likely_layouts
    from serialpack.formats.arrays.layout import numbers_in

    return not likely_layouts(numbers_in(head), whole)


def _is_binary(format: str, head: bytes) -> bool:
    """Whether it is no text, and has no records for columns."""
    declared = FORMATS.declaration(format)
    return b"\0" in head if format == "bytes" else not (declared.is_text or declared.columns)


def _likeness(files: Sequence[ArchiveSource]) -> Callable[[ArchiveSource], tuple[str, str, str]]:
    """By what ``files`` are sorted, so that alike ones come side by side.

    Those of one extension by their paths; by their names before, where most of their bytes are of
    names that come again and again.
    """
    times = Counter(os.path.basename(found.entry.path) for found in files)
    again: Counter[str] = Counter()
    for found in files:
        name = os.path.basename(found.entry.path)
        again[extension_of(name)] += found.size if times[name] >= _AGAIN else -found.size

    def key(found: ArchiveSource) -> tuple[str, str, str]:
        name = os.path.basename(found.entry.path)
        extension = extension_of(name)
        return extension, name if again[extension] > 0 else "", found.entry.path

    return key


def extension_of(name: str) -> str:
    """The extension of a name or path, with its dot; nothing where it has none."""
    return os.path.splitext(name)[1]


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


class SharedKind(NamedTuple):
    """What the files are that share blocks: their ``format``, and whether they are large and no
    text: these are looked at one by one for numbers, small ones together. ``group``: of files of
    any size that are nearly copies, which group of these; 0 of others."""

    format: str
    large: bool = False
    group: int = 0


class SmallFiles:
    """The small files of an archive, by kind.

    ``format``, ``table``: what the user said that they are. ``block_size``: what blocks of a file
    with a member of its own have, in bytes.
    """

    def __init__(self, format: str | None, table: AsFound, block_size: int) -> None:
        self._format = format
        self._table = table
        self._block_size = block_size
        #: Those of the last kind that could not be read, and why: the others go on.
        self.failed: list[tuple[ArchiveSource, SerialpackError]] = []
        #: What was looked at, and is better packed by itself.
        self.alone: list[ArchiveSource] = []
        self._left: dict[SharedKind, list[ArchiveSource]] = {}
        #: The entries of the blocks that were given and not asked for yet.
        self._given: deque[list[EntryRow]] = deque()
        #: And of all blocks of this kind, with the files that they are of.
        self.blocks: list[list[ArchiveSource]] = []

    def add(self, found: ArchiveSource) -> None:
        """``found`` is a small file; of its format its name tells, until it is read."""
        declared = FORMATS.by_extension(os.path.basename(found.path))
        name = self._format or (declared.name if declared is not None else "bytes")
        maybe_binary = name == "bytes" or _is_binary(name, b"")
        self._leave(found, SharedKind(name, large=maybe_binary and found.size > SHARED_SIZE))

    def add_copies(self, groups: Sequence[Sequence[ArchiveSource]]) -> None:
        """Each of ``groups`` is of files that are nearly copies of one another."""
        for number, group in enumerate(groups, 1):
            for found in group:
                self._leave(found, SharedKind("bytes", group=number))

    def _leave(self, found: ArchiveSource, kind: SharedKind) -> None:
        self._left.setdefault(kind, []).append(found)

    def kinds(self) -> Iterator[SharedKind]:
        """The kinds of which there are files left, as long as there are: some turn out to be of
        another one."""
        while self._left:
            # Bytes last, and of them the small ones: what others turn out to be stands with them.
            yield min(self._left, key=lambda kind: (kind.format == "bytes", not kind.large, kind))

    def of(self, kind: SharedKind, block_size: int) -> Iterator[SourceBlock]:
        """Blocks of the files of ``kind``, alike ones side by side; those of another one are left
        for that."""
        self.blocks, self.failed = [], []
        self._given.clear()
        files = self._left.pop(kind)
        files.sort(key=_likeness(files))
        together: dict[ArchiveSource, int] = {}
        if kind.large and not kind.group:
            groups = copies_beside(files, read_small)
            files = [found for group in groups for found in group]
            sizes = ((group[0], sum(found.size for found in group)) for group in groups)
            together = {first: size for first, size in sizes if size <= block_size}
        if kind.group:
            block_size = MAX_BLOCK
        pieces: list[bytes] = []
        held: list[ArchiveSource] = []
        size = room = offset = 0
        for found in files:
            try:
                data = read_small(found)
                head = data[:HEAD]
                name = told(self._format, found.path, head, self._table)
                large = len(data) > SHARED_SIZE and _is_binary(name, head)
                actual = SharedKind(name, large, kind.group)
                if actual != kind:
                    self._leave(found, actual)
                    continue
                if not kind.group and not shares_blocks(
                    name, len(data), head, partial(bytes, data), self._block_size
                ):
                    self.alone.append(found)
                    continue
            except SerialpackError as error:
                self.failed.append((found, error))
                continue
            found.entry = found.entry._replace(size=len(data))
            takes = found.entry.room
            fits = size + together.get(found, len(data)) <= block_size
            if held and (not fits or room + takes > MOST_ROOM):
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
