"""A file that is sought in, also by processes that have it from the one that opened it."""

from __future__ import annotations

import os
from io import BufferedReader, FileIO
from typing import IO, Any

from serialpack.formats.shared.large import SizedFile


def unshared(file: IO[bytes]) -> IO[bytes]:
    """``file``, or of one of the system's another that reads it, and leaves where it stands.

    Processes that come of a fork have that place in common: each would read where another one has
    sought to.
    """
    raw = getattr(file, "raw", None)
    if type(file) is not BufferedReader or type(raw) is not FileIO or not hasattr(os, "preadv"):
        return file
    return BufferedReader(_Unshared(file, raw.fileno()))


class _Unshared(SizedFile):
    """Reads ``file`` from places of its own, and lets it live as long as it does."""

    def __init__(self, file: IO[bytes], number: int) -> None:
        super().__init__(os.fstat(number).st_size)
        self._file = file
        self._number = number

    def readinto(self, target: Any) -> int:
        if self._file.closed:  # whose number may be another's by now
            raise ValueError("read of closed file")
        got = os.preadv(self._number, [target], self._at)
        self._at += got
        return got
