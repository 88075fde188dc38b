"""What reads a file before its format does, where others skip what has no value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from serialpack.formats.base import Read
from serialpack.values.kinds import Loss


class Tidier(Protocol):
    """Reads a file without what is no value, or as JSON what people write in its place."""

    @property
    def losses(self) -> list[Loss]:
        """What was left out so far."""

    def pieces(self, read: Read) -> Iterator[bytes]:
        """What ``read`` gives, without that."""
