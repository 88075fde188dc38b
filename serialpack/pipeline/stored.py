"""Reads the serialized bytes of a container from any place; only the blocks are read that it
takes."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import IO, Any, cast
from weakref import finalize

from serialpack.container.block import IN_PLACE
from serialpack.container.seek import BlockParts, find_members, read_block
from serialpack.errors import FileError, SerialpackError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.python.buffers import cuts
from serialpack.formats.shared.file_objects import FileOver
from serialpack.pipeline.blocks import BlockUnpacker
from serialpack.pipeline.pread import unshared
from serialpack.pipeline.unpack import member_plan, several_files
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, chain_of_numbers
from serialpack.stages.stage import Buffer


class StoredBytes:
    """The serialized bytes of a container of one member, in a seekable file.

    ``bytes_read``: how many bytes of blocks were read from the file so far. Any thread may read;
    the others wait meanwhile. UsageError for several members.
    """

    def __init__(self, source: Source, *, trust: bool = False, closes: bool = True) -> None:
        """``closes``: close ``source`` when this object is gone, where it was opened by its
        name."""
        members = find_members(source.file)
        if len(members) != 1:
            raise UsageError("holds several files one after another", hint="unpack it")
        (self._member,) = members
        self._source = source
        self._file = unshared(source.file)
        self.plan = member_plan(self._member.header, trust=trust)
        self._unpacker = BlockUnpacker(self.plan, serialized=True)
        self._offsets = self._member.offsets
        rows = self._member.index.rows
        sizes = [row.size if row.serialized is None else row.serialized for row in rows]
        #: The parts of a block in place, each of which is read alone; None of other blocks.
        self._parts: BlockParts | None = None
        if any(row.flags & IN_PLACE for row in rows):
            self._parts = BlockParts(self._file, self._member, 0, self._offsets[0])
            sizes = [part.restored for part in self._parts.block.parts]
        self._starts = [*accumulate(sizes, initial=0)]
        self._kept: tuple[int, Buffer] = (-1, b"")
        self._lock, self._process = Lock(), os.getpid()
        if closes and source.owned:  # a mapped array may need the file as long as this lives
            finalize(self, source.close)
        self.bytes_read = 0
        #: The name by which the file can be opened again, also from another current folder.
        self._name = None
        if source.owned:
            self._name = source.path if source.is_far else str(Path(source.path).absolute())
        serializer = SERIALIZERS.cls(self.plan.chain.serializer.name)
        #: Whether these bytes are the source's.
        self.is_source = keeps(serializer, FORMATS.get(self.plan.format))
        #: The most bytes of a block.
        self.block_size = max([1, *sizes])

    def __len__(self) -> int:
        return self._starts[-1]

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as the name of its file, which is opened again when it is unpickled;
        TypeError where the file was not opened by a name."""
        if self._name is None:
            raise TypeError("what lies in an open file has no name by which to open it again")
        return _opened_again, (self._name, self._member.index.digest)

    @property
    def mapped_at(self) -> int | None:
        """The place in the file at which the bytes begin; None where they are compressed, or the
        file cannot be mapped to memory."""
        # ``fileno`` does not tell: a file that decompresses another gives the number of that one.
        plain = isinstance(getattr(self._source.file, "raw", self._source.file), FileIO)
        if self._parts is None or not plain:
            return None
        return self._offsets[1] - len(self)

    def map(
        self, start: int, dtype: Any, shape: tuple[int, ...], mode: str, order: Any = "C"
    ) -> Any:
        """The array that begins at byte ``start``, mapped; nothing of it is read or verified."""
        import numpy as np

        place = (self.mapped_at or 0) + start
        return np.memmap(cast(Any, self._source.file), dtype, cast(Any, mode), place, shape, order)

    def read(self, start: int, stop: int) -> Buffer:
        """The bytes from ``start`` up to but not including ``stop``; DamagedError."""
        with self._locked():
            pieces = list(self._pieces(start, stop))
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def block_from(self, start: int) -> Buffer:
        """The bytes from ``start`` up to where the block that they are in ends; DamagedError."""
        return self.read(start, self._starts[self._number_at(start) + 1])

    def chain_at(self, start: int) -> Chain:
        """The chain of the block that byte ``start`` is in."""
        number = self._number_at(start)
        block = BlockParts(self._file, self._member, number, self._offsets[number]).block
        own = block.parts[0].chain
        return self.plan.chain if own is None else chain_of_numbers(own, self.plan.writer)

    def fill(self, start: int, target: memoryview) -> None:
        """Fill ``target`` with the bytes from ``start`` on, without one more copy; DamagedError."""
        with self._locked():
            for piece in self._pieces(start, start + len(target)):
                target[: len(piece)] = piece
                target = target[len(piece) :]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one thread read at a time; errors get the name of the file."""
        if self._process != os.getpid():  # after a fork, which may have copied a lock that is held
            self._lock, self._process = Lock(), os.getpid()
        with self._lock:
            try:
                yield
            except SerialpackError as error:
                error.path = error.path or self._source.path
                raise

    def _pieces(self, start: int, stop: int) -> Iterator[Buffer]:
        for number, begin, end in cuts(self._starts, start, stop):
            yield memoryview(self._block(number))[begin:end]

    def _number_at(self, start: int) -> int:
        return bisect_right(self._starts, start) - 1

    def _block(self, number: int) -> Buffer:
        """The serialized bytes of a block; the one that was read last is kept."""
        if self._kept[0] != number and self._parts is not None:
            self._kept = number, self._parts.read(number)
            self.bytes_read += len(self._kept[1])
        elif self._kept[0] != number:
            start, end = self._offsets[number : number + 2]
            stored = read_block(self._file, self._member, number, start, end)
            self._kept = number, self._unpacker(stored).data
            self.bytes_read += end - start
        return self._kept[1]


def _opened_again(path: str, digest: bytes) -> StoredBytes:
    """The bytes of the container at ``path``; FileError where it is another one by now."""
    found = StoredBytes(Source(path))
    if found._member.index.digest != digest:
        raise FileError("is not the file that was pickled", path=path, hint="load it again")
    return found


def opened_bytes(source: Source) -> IO[bytes]:
    """What a container of one member unpacks to, as a file that can be read and sought. It may be
    called several times for one ``source``. RefusedError for several members."""
    if len(find_members(source.file)) > 1:
        raise several_files()
    stored = StoredBytes(source, closes=False)
    return BufferedReader(FileOver(stored.read, len(stored)))
