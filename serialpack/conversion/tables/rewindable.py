"""Sources that can be read from their front again, since a table takes two passes: files as they
are, pipes by a copy in memory or a temporary file, made before the first pass or as it goes."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path as PathlibPath
from time import monotonic
from typing import IO, TYPE_CHECKING, cast

from serialpack.api import opened_source
from serialpack.conversion.sources.restored import RestoredOnce
from serialpack.errors import SerialpackError, changed
from serialpack.files.source import Path, Source, file_error, same_file

if TYPE_CHECKING:
    from serialpack.spool import Spool

#: So long a source is read on, in seconds, once something in it is refused.
LONGEST = 2.0

#: As far as this a pipe is read again for what else would be refused.
_MOST = 256 << 20


class Rereadable:
    """A source that can be read from its front again. ``kept``: it is a copy on the disk.

    ``restored``: what it was restored to, where it is a container that is sure to be read again.
    """

    def __init__(
        self, source: Path | IO[bytes], start: int = 0, *, kept: bool = False, name: str = ""
    ) -> None:
        self._source = source
        self._start = start
        self._name = name
        self.kept = kept
        self.restored: RestoredOnce | None = None
        #: The status of the file when it was opened first.
        self._first: os.stat_result | None = None

    @contextmanager
    def opened(self, *, trust: bool) -> Iterator[Source]:
        """The source, opened at its front, as by ``opened_source``; TooFar as of ``again``,
        FileError where it is no longer the file that was opened first."""
        with opened_source(self.again(), trust=trust) as opened:
            now = opened.stat
            self._first = first = self._first or now
            if first is not None and now is not None and not same_file(now, first):
                raise changed(opened.path)
            yield opened

    def again(self) -> Path | IO[bytes] | Source:
        """The source, at its front; TooFar where that is gone."""
        if isinstance(self._source, str | os.PathLike):
            return self._source
        self._source.seek(self._start)
        if not self._name:
            return self._source
        from serialpack.spool import Spool  # whose copy, or record, has a name

        made = _Copied if isinstance(self._source, Spool) else Source
        return made(self._source, self._name)


class _Copied(Source):
    """A copy, of which it is known how large it is."""

    @property
    def size(self) -> int | None:
        return cast("Spool", self.file).size


class TooFar(SerialpackError):
    """So much of a pipe was read that its front is gone, or it gives no more in time."""


@contextmanager
def twice(source: Path | IO[bytes] | Rereadable, *, sure: bool, may: bool) -> Iterator[Rereadable]:
    """``source`` so that it can be read more than once; FileError.

    ``sure``: that it will be. ``may``: that it may be, in a pipe as far as ``_MOST`` bytes.
    """
    if isinstance(source, Rereadable):
        yield source
        return
    with _rereadable(source, sure=sure, may=may) as again:
        if not sure:
            yield again
            return
        with closing(RestoredOnce()) as again.restored:
            yield again


@contextmanager
def _rereadable(source: Path | IO[bytes], *, sure: bool, may: bool) -> Iterator[Rereadable]:
    if isinstance(source, str | os.PathLike):
        if not is_pipe(source) or not (sure or may):
            yield Rereadable(source)
            return
        with Source(source) as opened, _of_pipe(opened.file, opened.path, sure=sure) as found:
            yield found
        return
    if _seekable(source):
        yield Rereadable(source, source.tell())
        return
    name = getattr(source, "name", None)
    named = name if isinstance(name, str) else "<input>"
    with _of_pipe(source, named, sure=sure) as found:
        yield found


def _of_pipe(file: IO[bytes], name: str, *, sure: bool) -> AbstractContextManager[Rereadable]:
    return _kept(file, name) if sure else _recorded(file, name)


def is_pipe(path: Path) -> bool:
    try:
        return not stat.S_ISREG(PathlibPath(path).stat().st_mode)
    except OSError:  # which is said where it is opened
        return False


def _seekable(file: IO[bytes]) -> bool:
    try:
        return file.seekable()
    except (AttributeError, OSError, ValueError):
        return False


@contextmanager
def _kept(file: IO[bytes], name: str) -> Iterator[Rereadable]:
    import shutil

    from serialpack.spool import Spool

    with Spool(of=name) as copy:
        try:
            shutil.copyfileobj(file, copy, 1 << 20)
        except OSError as error:
            raise file_error(error, name, "read") from error
        yield Rereadable(copy, 0, kept=copy.is_on_disk, name=name)


@contextmanager
def _recorded(file: IO[bytes], name: str) -> Iterator[Rereadable]:
    from serialpack.spool import Spool

    with Spool() as copy:
        yield Rereadable(cast("IO[bytes]", _Recording(file, copy)), name=name)


class _Recording:
    """A pipe of which is kept what was read of it, up to ``_MOST`` bytes."""

    def __init__(self, file: IO[bytes], copy: IO[bytes]) -> None:
        self._file = file
        self._copy = copy
        self._size = 0
        #: Where the next byte is, in what is kept; None: behind it.
        self._at: int | None = None
        self._gone = False
        #: Until when it is read on, the second time: somebody may write into it for ever.
        self._until: float | None = None

    def fileno(self) -> int:
        return self._file.fileno()

    def seek(self, _start: int) -> None:
        """Go to the front."""
        if self._gone:
            raise TooFar("its front is not kept")
        self._at = 0 if self._size else None
        self._until = monotonic() + LONGEST if self._size else None

    def read(self, size: int) -> bytes | None:
        if self._at is not None:
            self._copy.seek(self._at)
            kept = self._copy.read(size)
            self._at += len(kept)
            if self._at == self._size:
                self._at = None
            return kept
        data = self._file.read(size) if self._until is None else self._in_time(size)
        if data and not self._gone:
            self._keep(data)
        return data

    def _in_time(self, size: int) -> bytes | None:
        """Some bytes, as they are there; TooFar where none comes in time."""
        assert self._until is not None
        try:
            ready, _, _ = select.select([self._file], [], [], max(0, self._until - monotonic()))
        except (OSError, ValueError, TypeError):  # a file object that is no file of the system's
            return self._file.read(size)
        if not ready:
            raise TooFar("no more of it came in time")
        some = getattr(self._file, "read1", self._file.read)
        data: bytes | None = some(size)
        return data

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        try:
            if self._size > _MOST:
                raise OSError
            self._copy.seek(0, os.SEEK_END)
            self._copy.write(data)
        except OSError:  # no space for it, perhaps: it is of use only where something is refused
            self._gone = True
            self._copy.seek(0)
            self._copy.truncate()
