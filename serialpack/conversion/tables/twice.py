"""A source that is read twice: a pipe is kept in a temporary file first."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as PathlibPath
from typing import IO, NamedTuple

from serialpack.files import Path, Source, file_error

#: Bytes of a pipe that are kept in memory.
_IN_MEMORY = 16 << 20


class Rereadable(NamedTuple):
    """A source that can be read from its front again. ``kept``: it is a copy of a pipe."""

    source: Path | IO[bytes]
    start: int = 0
    kept: bool = False
    name: str = ""

    def again(self) -> Path | IO[bytes] | Source:
        """The source, at its front."""
        if isinstance(self.source, str | os.PathLike):
            return self.source
        self.source.seek(self.start)
        return Source(self.source, self.name) if self.name else self.source


@contextmanager
def twice(source: Path | IO[bytes]) -> Iterator[Rereadable]:
    """``source`` so that it can be read more than once; FileError."""
    if isinstance(source, str | os.PathLike):
        if not is_pipe(source):
            yield Rereadable(source)
            return
        with Source(source) as opened, _kept(opened.file, opened.path) as found:
            yield found
        return
    if _seekable(source):
        yield Rereadable(source, source.tell())
        return
    name = getattr(source, "name", None)
    with _kept(source, name if isinstance(name, str) else "<input>") as found:
        yield found


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
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copy:
        try:
            shutil.copyfileobj(file, copy, 1 << 20)
        except OSError as error:
            raise file_error(error, name, "read") from error
        yield Rereadable(copy, 0, kept=True, name=name)
