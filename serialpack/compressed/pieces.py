"""An iterator over pieces of bytes, with the ``read`` of a file."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.errors import InputError
from serialpack.stages.stage import Buffer


class Pieces:
    """Bytes that come in pieces, read as a file is. Once getting a piece has raised an InputError,
    each further read raises the same error."""

    def __init__(self, pieces: Iterator[Buffer]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")
        #: How many bytes the pieces had that were taken from the iterator so far.
        self.given = 0
        self._failed: InputError | None = None

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes, fewer only at the end."""
        found = []
        while size:
            if not self._left:
                self._left = memoryview(self._next())
                self.given += len(self._left)
                if not self._left:
                    break
            found.append(self._left[:size])
            self._left = self._left[size:]
            size -= len(found[-1])
        return b"".join(found)

    def front(self, size: int) -> tuple[bytes, InputError | None]:
        """The next ``size`` bytes, which stay to be read, and None; at the end fewer. Where getting
        a piece fails, the bytes before that, and the error."""
        found = [bytes(self._left)]
        left = size - len(self._left)
        failed = None
        try:
            while left > 0 and (piece := self._next()):
                found.append(bytes(piece))
                left -= len(piece)
                self.given += len(piece)
        except InputError as error:
            failed = error
        data = b"".join(found)
        self._left = memoryview(data)
        return data[:size], failed

    def _next(self) -> Buffer:
        """The next piece; empty at the end."""
        if self._failed is not None:
            raise self._failed
        try:
            return next((piece for piece in self._pieces if len(piece)), b"")
        except InputError as error:
            self._failed = error
            raise
