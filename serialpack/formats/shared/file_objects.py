"""File objects for libraries that read or write files: over bytes that are elsewhere."""

from __future__ import annotations

from io import RawIOBase
from typing import Any

from serialpack.formats.shared.large import ReadAt
from serialpack.sized_file import SizedFile


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
