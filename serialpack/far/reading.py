"""Open far files: read from any place (``RangedFile``), or only from the front
(``StreamedFile``)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from io import RawIOBase
from typing import IO

from serialpack.far.trouble import as_ours
from serialpack.sized_file import SizedFile

#: The least bytes that are fetched by a request: another request takes longer than so many bytes.
_LEAST = 64 << 10

#: After so many pieces that follow each other, the file is taken to be read through. To read the
#: header and the parts of a block takes fewer.
_SURE = 3

#: The most bytes of a piece that is read ahead.
_MOST = 8 << 20

#: The most pieces that are kept. A container needs its front, its end, and the place that is read.
_PIECES = 4

Fetch = Callable[[int, int], bytes]
Status = Callable[[], os.stat_result]


class FarFile(RawIOBase):
    """An open far file, which also has a status."""

    def status(self, *, again: bool = False) -> os.stat_result | None:
        """The file's status when it was opened, or with ``again`` its status now; None where the
        server does not say its size."""
        raise NotImplementedError

    def readinto(self, into: memoryview, /) -> int:  # type: ignore[override]
        data = self.read(len(into))
        into[: len(data)] = data
        return len(data)


class RangedFile(FarFile, SizedFile):
    """A far file whose server gives parts of it: ``fetch(start, stop)`` gets one, by a request.

    At first no more is fetched than is asked for (but ``_LEAST`` bytes). When it turns out that the
    file is read through, twice as much is fetched each time, as by the page cache of Linux
    (mm/readahead.c); and from ``_MOST`` on, the next piece is fetched while the caller works on the
    last one. So not much is fetched in vain, and a reader of the whole file does not wait.
    ``found``: the status when it was opened; ``again``: gets the status now; ``close``: is called
    once, when it is closed.
    """

    def __init__(
        self, fetch: Fetch, found: os.stat_result, again: Status, close: Callable[[], object]
    ) -> None:
        super().__init__(found.st_size)
        self._fetch = fetch
        self._found = found
        self._status = again
        self._shut = close
        #: The pieces that are kept, each with its place; first the one whose last use is longest
        #: ago.
        self._pieces: list[tuple[int, bytes]] = []
        #: Of the piece that was fetched last: how many bytes it has, where it ends, and how many
        #: pieces before it follow each other without a gap.
        self._last, self._end, self._run = 0, -1, 0
        self._ahead: tuple[int, Future[bytes]] | None = None
        self._one = threading.Lock()
        # The front is always read first; and this shows at once whether the server gives parts.
        self._miss(0, 0)

    def status(self, *, again: bool = False) -> os.stat_result:
        return self._status() if again else self._found

    def read(self, size: int = -1, /) -> bytes:
        """``size`` bytes, fewer only at the end."""
        if self.closed:
            raise ValueError("the file is closed")
        stop = self._size if size < 0 else min(self._at + size, self._size)
        parts: list[bytes] = []
        while self._at < stop:
            start, data = self._piece(self._at, stop)
            part = data[self._at - start : stop - start]
            parts.append(part)
            self._at += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        if not self.closed:
            self._pieces.clear()
            self._ahead = None
            self._shut()
        super().close()

    def _piece(self, at: int, stop: int) -> tuple[int, bytes]:
        """The place of a piece that has the byte ``at``, and the piece; fetched where none is kept.
        ``stop``: the end of what is needed now."""
        for number in range(len(self._pieces) - 1, -1, -1):
            start, data = self._pieces[number]
            if start <= at < start + len(data):
                self._pieces.append(self._pieces.pop(number))
                return start, data
        return self._miss(at, stop)

    def _miss(self, at: int, stop: int) -> tuple[int, bytes]:
        """As ``_piece``, for a byte that no kept piece has: ``at``, and a new piece that begins
        there."""
        self._run = self._run + 1 if at == self._end else 0
        size = min(2 * self._last, _MOST) if self._run >= _SURE else _LEAST
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == at:
            data = ahead[1].result()
        else:
            data = self._fetched(at, min(max(stop, at + size), self._size))
        self._last, self._end = len(data), at + len(data)
        self._pieces.append((at, data))
        while len(self._pieces) > _PIECES or (
            len(self._pieces) > 1 and sum(len(piece) for _, piece in self._pieces) > 2 * _MOST
        ):
            self._pieces.pop(0)
        if size == _MOST and self._end < self._size:
            self._ahead = self._end, self._begun(self._end, min(self._end + _MOST, self._size))
        return at, data

    def _fetched(self, start: int, stop: int) -> bytes:
        if start >= stop:
            return b""
        with self._one:  # a piece that is fetched ahead uses the same connection
            return self._fetch(start, stop)

    def _begun(self, start: int, stop: int) -> Future[bytes]:
        """Begin to fetch the piece from ``start`` to ``stop`` in a thread."""
        future: Future[bytes] = Future()

        def work() -> None:
            try:
                future.set_result(self._fetched(start, stop))
            except BaseException as error:
                future.set_exception(error)

        # A daemon: the end of the program does not wait for it.
        threading.Thread(target=work, daemon=True).start()
        return future


class StreamedFile(FarFile):
    """A far file whose server gives no parts of it: it is read once, from its front, as a pipe
    is."""

    def __init__(self, stream: IO[bytes], url: str, found: os.stat_result, again: Status) -> None:
        super().__init__()
        self._stream = stream
        self._url = url
        self._found = found
        self._status = again

    def status(self, *, again: bool = False) -> os.stat_result | None:
        found = self._status() if again else self._found
        return found if found.st_size >= 0 else None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def read(self, size: int = -1, /) -> bytes:
        """Some bytes, at most ``size``; none at the end."""
        try:
            return self._stream.read(size)
        except Exception as error:  # not tried again: it would go on behind the missing bytes
            raise as_ours(error, self._url, "read") from error

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
