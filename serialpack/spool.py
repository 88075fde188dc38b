"""Temporary copies: in memory while they are small, then in a file without a name."""

from __future__ import annotations

import io
from tempfile import SpooledTemporaryFile
from typing import Any

from serialpack.formats.shared.random_access import no_room

#: Bytes that are kept in memory; more of them are in a temporary file.
_IN_MEMORY = 16 << 20


class Spool(SpooledTemporaryFile[bytes]):
    """A temporary copy. ``most``: bytes in memory; ``of``: the name of what is copied, for errors.

    It is no file of the system's to others, as it has no mode and no time of its own; and to ask
    for its descriptor would bring it to the disk.
    """

    def __init__(self, most: int = _IN_MEMORY, of: str | None = None) -> None:
        super().__init__(most)
        self._most, self._of = most, of

    def fileno(self) -> int:
        raise io.UnsupportedOperation("a temporary copy")

    def write(self, data: Any) -> int:
        """All of ``data``; FileError where there is no room for it: then there is no copy."""
        try:
            written = super().write(data)
            self.flush()
        except OSError as error:
            raise no_room(error, self._of) from None
        return written

    @property
    def size(self) -> int:
        """Its bytes. It is read on from where it was."""
        at = self.tell()
        size = self.seek(0, io.SEEK_END)
        self.seek(at)
        return size

    @property
    def is_on_disk(self) -> bool:
        """Whether it is too large for memory."""
        return self.size > self._most
