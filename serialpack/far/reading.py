"""A far file to read from: from any place, or only from its front."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import IO

from serialpack.far.trouble import as_ours

#: The least bytes of a piece that is fetched: to ask once more takes longer.
_LEAST = 64 << 10

#: So many pieces one behind the other are a scan. Of a block, its header and parts are fewer.
_SURE = 3

#: The most bytes of a piece that is read ahead; one more is under way meanwhile.
_MOST = 8 << 20

#: The most pieces that are kept: of a container its front, its end, and where one reads.
_PIECES = 4

Fetch = Callable[[int, int], bytes]
Status = Callable[[], os.stat_result]


class FarFile(io.RawIOBase):
    """A far file: what can be asked of it beside its bytes."""

    def status(self, *, again: bool = False) -> os.stat_result | None:
        """The file's status when it was opened, or now; None where its size is not known."""
        raise NotImplementedError

    def readinto(self, into: memoryview, /) -> int:  # type: ignore[override]
        data = self.read(len(into))
        into[: len(data)] = data
        return len(data)


class RangedFile(FarFile):
    """A file of which parts can be had: ``fetch(start, stop)`` gets one, and may take long.

    At first no more is fetched than is asked for. Whoever reads on where a piece ended gets twice
    as much each time, as the page cache of Linux has it (mm/readahead.c); once that is ``_MOST``,
    the next piece is fetched while one is worked on. So hardly more is fetched for nothing than is
    read, and a scan does not wait.
    """

    def __init__(
        self, fetch: Fetch, found: os.stat_result, again: Status, close: Callable[[], object]
    ) -> None:
        super().__init__()
        self._fetch = fetch
        self._found = found
        self._status = again
        self._shut = close
        self._size = found.st_size
        self._at = 0
        #: The pieces that are kept, each with where it begins; the one used longest ago is the
        #: first.
        self._pieces: list[tuple[int, bytes]] = []
        #: Of the last piece that was fetched: its bytes, where it ended, and how many came before
        #: it, each where the one before ended.
        self._last, self._end, self._run = 0, -1, 0
        self._ahead: tuple[int, Future[bytes]] | None = None
        self._one = threading.Lock()
        # Everything looks at the front first; and this tells whether the server gives parts.
        self._miss(0, 0)

    def status(self, *, again: bool = False) -> os.stat_result:
        return self._status() if again else self._found

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError("a place before the front")
        self._at = base + offset
        return self._at

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
        """A piece with the byte ``at`` in it, and where it begins. ``stop``: where what is needed
        now ends."""
        for number in range(len(self._pieces) - 1, -1, -1):
            start, data = self._pieces[number]
            if start <= at < start + len(data):
                self._pieces.append(self._pieces.pop(number))
                return start, data
        return self._miss(at, stop)

    def _miss(self, at: int, stop: int) -> tuple[int, bytes]:
        """The piece from ``at`` on, fetched, and ``at``. ``stop``: as for ``_piece``."""
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
        with self._one:  # the piece that is under way uses the same connection
            return self._fetch(start, stop)

    def _begun(self, start: int, stop: int) -> Future[bytes]:
        """The piece from ``start`` to ``stop``, which a thread fetches meanwhile."""
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
    """A file that is read once, from its front to its end, as a pipe is."""

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
