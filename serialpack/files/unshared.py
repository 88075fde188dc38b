"""A file that is sought in, also by processes that have it from the one that opened it."""

from __future__ import annotations

import os
from io import BufferedReader, FileIO, RawIOBase
from typing import IO, Any


def unshared(file: IO[bytes]) -> IO[bytes]:
    """``file``, or of one of the system's another that reads it, and leaves where it stands.

    Processes that come of a fork have that place in common: each would read where another one has
    sought to.
    """
    raw = getattr(file, "raw", None)
    if type(file) is not BufferedReader or type(raw) is not FileIO or not hasattr(os, "preadv"):
        return file
    return BufferedReader(_Unshared(file, raw.fileno()))


class _Unshared(RawIOBase):
    """Reads from places of its own; ``file`` lives as long as it does."""

    def __init__(self, file: IO[bytes], number: int) -> None:
        super().__init__()
        self._file = file
        self._number = number
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = (0, self._at, os.fstat(self._number).st_size)[whence]
        if start + offset < 0:
            raise ValueError("a place before the first byte")
        self._at = start + offset
        return self._at

    def readinto(self, target: Any) -> int:
        if self._file.closed:  # whose number may be another's by now
            raise ValueError("read of closed file")
        got = os.preadv(self._number, [target], self._at)
        self._at += got
        return got
