"""A file on a server of files (SFTP): a part of it read, or written under another name."""

from __future__ import annotations

from typing import Any

from serialpack.hidden import hidden_name


def part(file: Any, start: int, stop: int) -> bytes:
    """The bytes ``start`` to ``stop`` of paramiko's ``file``, all asked for at once.

    Each request has 32 KiB. paramiko's ``readv`` sends them in a thread, and takes all for
    answered where the first answer is there before the second request is: then it asks for the
    rest again, and keeps the answers to both. So here no answer is read before all is asked for.
    """

    def ask(pieces: list[tuple[int, int]], most: int | None = None) -> None:
        file._prefetching = True
        file._prefetch_thread(pieces, most)
        with file._prefetch_lock:
            file._prefetch_done = not file._prefetch_extents

    file._start_prefetch = ask
    return b"".join(file.readv([(start, stop - start)]))


class RenamedFile:
    """A file under a hidden name until ``commit`` gives it its own; ``discard`` leaves nothing of
    it.

    fsspec's own way writes below the server's ``/tmp``, which need not be there, nor be of one file
    system with the target. ``new``: nothing may stand at the target.
    """

    def __init__(self, fs: Any, path: str, *, new: bool) -> None:
        self._fs = fs
        self._path = path
        self._new = new
        self._hidden = f"{path.rpartition('/')[0]}/{hidden_name()}"
        self._file = fs.ftp.open(self._hidden, "wx")
        self._size, self._last = 0, b""
        self._file.set_pipelined(True)

    def write(self, data: Any) -> None:
        """Send ``data``, without waiting for what the server says to each 32 KiB of it."""
        if len(data):
            self._file.write(self._last)
            self._file.write(data[:-1])
            self._last = bytes(data[-1:])
            self._size += len(data)

    def tell(self) -> int:
        return self._size

    def close(self) -> None:
        """Wait until the server has all of it; OSError where it has not.

        paramiko looks at its answers where it waits for one, not where it closes the file.
        """
        self._file.set_pipelined(False)
        self._file.write(self._last)
        self._file.close()

    def commit(self) -> None:
        """Give the file its name; FileExistsError where it is to be new, and something has that
        name."""
        if not self._new:
            self._fs.ftp.posix_rename(self._hidden, self._path)
            return
        try:
            self._fs.ftp.rename(self._hidden, self._path)  # over nothing, says the protocol
        except OSError:
            if self._fs.exists(self._path):
                raise FileExistsError from None
            raise

    def discard(self) -> None:
        self._file.close()
        self._fs.ftp.remove(self._hidden)
