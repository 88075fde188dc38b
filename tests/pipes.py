"""A source that is had once."""

from __future__ import annotations

import io


class Pipe(io.BytesIO):
    """Bytes that come once, in order: they cannot be sought."""

    def seekable(self) -> bool:
        return False
