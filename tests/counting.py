"""A file that knows how much of it was read."""

from __future__ import annotations

import io


class Counting(io.BytesIO):
    """``total``: the bytes that were read of it; ``reads``: in how many calls."""

    total = reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.total += len(data)
        self.reads += 1
        return data
