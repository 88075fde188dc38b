"""Keeps the bytes that a container restored to, or that were compressed, for a second reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING

from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.pipeline.fields import Projected

#: Bytes that are kept in memory, in a temporary file, and read from there at a time.
_IN_MEMORY, _MOST, _PIECE = 4 << 20, 256 << 20, 1 << 20


class RestoredOnce:
    """Restoring takes much of a conversion's time: a source that is looked at first is restored
    once, and kept in a temporary file as long as there is room for it."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._keeps = True
        self._projected: Projected | None = None
        #: How many bytes are kept; None where not all of them are.
        self.size: int | None = None

    def keep_nothing(self) -> None:
        """Keep nothing of what is being read, and of all that will be."""
        self._keeps = False

    def projected(self, new: Projected) -> tuple[Projected, Iterator[Buffer]]:
        """What is read of some fields, and its pieces: ``new``, or that which was read before,
        which knows what was found."""
        if self._file is None or self._projected is None:
            self._projected = new
        return self._projected, self.pieces(partial(iter, self._projected))

    def pieces(self, restore: Callable[[], Iterator[Buffer]]) -> Iterator[Buffer]:
        """What ``restore`` gives; what was kept, once that was read to its end. Errors as of it."""
        if self._file is not None:
            yield from _read(self._file)
            return
        from serialpack.spool import Spool

        # It outlives this, where all of it is there.
        copy: IO[bytes] | None = Spool(_IN_MEMORY)
        size = 0
        try:
            for piece in restore():
                size += len(piece)
                if copy is not None and not (self._keeps and _kept(copy, piece, size)):
                    copy.close()
                    copy = None
                yield piece
            if copy is not None:
                self._file, self.size, copy = copy, size, None
        finally:
            if copy is not None:
                copy.close()

    def close(self) -> None:
        """Keep nothing any more."""
        if self._file is not None:
            self._file.close()


def _kept(copy: IO[bytes], piece: Buffer, size: int) -> bool:
    """Whether there was room for ``piece``, by which the copy has ``size`` bytes."""
    with suppress(OSError):
        return size <= _MOST and copy.write(piece) == len(piece)
    return False


def _read(copy: IO[bytes]) -> Iterator[bytes]:
    """What was kept, in pieces; several may read it at a time."""
    at = 0
    while True:
        copy.seek(at)
        piece = copy.read(_PIECE)
        if not piece:
            return
        yield piece
        at += len(piece)
