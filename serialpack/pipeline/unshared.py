"""A seekable file that may be read in several processes that came of one by fork."""

from __future__ import annotations

import os
from io import BufferedReader, FileIO
from typing import IO, Any

from serialpack.formats.shared.large import SizedFile


def unshared(file: IO[bytes]) -> IO[bytes]:
    """``file``, or for a file of the system another one that reads it without moving its position.

    After a fork all processes have that position in common: each would read where another one has
    sought to.
    """
    raw = getattr(file, "raw", None)
    if type(file) is not BufferedReader or type(raw) is not FileIO or not hasattr(os, "preadv"):
        return file
    return BufferedReader(_Unshared(file, raw.fileno()))


class _Unshared(SizedFile):
    """Reads ``file`` at positions of its own, and keeps it alive."""

    def __init__(self, file: IO[bytes], number: int) -> None:
        super().__init__(os.fstat(number).st_size)
        self._file = file
        self._number = number

    def readinto(self, target: Any) -> int:
        if self._file.closed:  # its number may be another file's by now
            raise ValueError("read of closed file")
        got = os.preadv(self._number, [target], self._at)
        self._at += got
        return got
