"""Reads a file without using its position, which is shared by all processes after a fork."""

from __future__ import annotations

import os
from io import BufferedReader, FileIO
from typing import IO, Any

from serialpack.sized_file import SizedFile


def unshared(file: IO[bytes]) -> IO[bytes]:
    """A file that reads ``file`` at positions of its own, where the system can do that; else
    ``file``.

    After a fork, all processes share the position of an open file: each would read at the place to
    which another one has sought.
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
