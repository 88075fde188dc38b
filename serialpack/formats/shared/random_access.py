"""Sources that a format reads at any place, not from front to end: Parquet, SQLite, HDF5, zip."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, overload

from serialpack.errors import FileError, SystemFileError
from serialpack.formats.base import Read
from serialpack.hidden import temporary_folder
from serialpack.stages.stage import Buffer

#: Bytes that are read at once where one of them is asked for.
_WINDOW = 16 << 10


class FileRead:
    """Reads the bytes of a source from the front; who wants it as a file opens it.

    ``path``: of the file, where the source is one as it is. ``opened``: gives the source as a file
    that is read at any place; nothing is read from the front then. ``kept``: it had to be copied to
    a temporary file. ``table``: the one that is wanted of a database, where the user names one;
    once it is opened, the one that it is, and ``beside`` its keys, indexes and the like.
    ``columns``: those that are wanted of a table that can be read without the others; None: all.
    """

    def __init__(
        self,
        read: Read,
        path: str | None = None,
        table: str | None = None,
        opened: Callable[[], IO[bytes]] | None = None,
    ) -> None:
        self._read = read
        self.opened = opened
        self.path = path
        self.table = table
        self.beside: Sequence[str] = ()
        self.kept = False
        self.columns: Collection[str] | None = None

    def __call__(self, size: int) -> bytes:
        return self._read(size)

    @contextmanager
    def file(self) -> Iterator[Path]:
        """The file, or a copy of what there is to read; FileError."""
        if self.path is not None:
            yield Path(self.path)
            return
        self.kept = True
        with temporary_folder() as folder:
            copy = Path(folder) / "copy"
            with copy.open("wb") as out:
                for data in iter(partial(self._read, 1 << 20), b""):
                    put(out, data)
            yield copy


@contextmanager
def sought(read: Read) -> Iterator[Path | IO[bytes]]:
    """A file to be read at any place, of what ``read`` gives: the source itself where it is one,
    else its path, or that of a copy."""
    source = as_file(read)
    if source.opened is not None:
        with source.opened() as file:
            yield file
        return
    with source.file() as path:
        yield path


def as_file(read: Read) -> FileRead:
    """``read`` as a FileRead."""
    return read if isinstance(read, FileRead) else FileRead(read)


def put(out: IO[bytes], data: Buffer, of: str | None = None) -> None:
    """Write ``data`` into a temporary file, a copy of what is named ``of``; FileError."""
    try:
        out.write(data)
        out.flush()
    except OSError as error:
        raise no_room(error, of) from None


def no_room(error: OSError, of: str | None = None) -> FileError:
    """The error where a temporary copy cannot be written, of what is named ``of``."""
    if isinstance(error, FileError):
        return error
    why = (error.strerror or str(error)).lower()
    return SystemFileError(
        f"its temporary copy cannot be written: {why}",
        error.errno,
        hint="TMPDIR names a folder with more room",
        path=of,
    )


class FileBytes:
    """The bytes of an open file as a sequence, of which little is in memory.

    OSError where they cannot be read.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._at, self._near = 0, b""

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> bytes: ...
    def __getitem__(self, at: int | slice) -> int | bytes:
        if isinstance(at, int):
            near = at - self._at
            return self._near[near] if 0 <= near < len(self._near) else self._bytes(at, at + 1)[0]
        start, end, _ = at.indices(self._size)
        return self._bytes(start, end)

    def _bytes(self, start: int, end: int) -> bytes:
        if not self._at <= start <= end <= self._at + len(self._near):
            self._file.seek(start)
            self._at, self._near = start, self._file.read(max(end - start, _WINDOW))
        return self._near[start - self._at : end - self._at]
