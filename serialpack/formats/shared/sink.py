"""Files that a library writes, taken as they come."""

from __future__ import annotations

from io import RawIOBase
from typing import Any


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
