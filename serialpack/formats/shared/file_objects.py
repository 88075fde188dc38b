"""File objects for libraries that read or write files: over bytes that are elsewhere."""

from __future__ import annotations

import os
from io import RawIOBase
from typing import Any

from serialpack.formats.shared.large import ReadAt


class SizedFile(RawIOBase):
    """A file of ``size`` bytes, to be read at any place. A subclass reads at ``_at``."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("a place before the first byte")
        self._at = start + offset
        return self._at


class FileOver(SizedFile):
    """A file of ``size`` bytes, read by ``read``."""

    def __init__(self, read: ReadAt, size: int) -> None:
        super().__init__(size)
        self._read = read

    def readinto(self, target: Any) -> int:
        view = memoryview(target).cast("B")
        stop = min(self._at + len(view), self._size)
        data = self._read(self._at, stop) if self._at < stop else b""
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


class Sink(RawIOBase):
    """Where a library writes a file whose bytes are taken as they come."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._at += len(part)
        return len(part)

    def tell(self) -> int:
        return self._at

    def taken(self) -> bytes:
        """What was written since the last call."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data
