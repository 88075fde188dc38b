"""``SizedFile``: a file object of known size that is read at any place."""

from __future__ import annotations

import os
from io import RawIOBase


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

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("a place before the front")
        self._at = start + offset
        return self._at
