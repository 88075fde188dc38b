"""What is special to SFTP: how paramiko reads a part of a file, and how a file appears whole."""

from __future__ import annotations

from typing import Any

from serialpack.hidden import hidden_name


def part(file: Any, start: int, stop: int) -> bytes:
    """The bytes ``start`` to ``stop`` of ``file``, an open file of paramiko.

    A request asks for 32 KiB, and all requests are sent before the first answer is read. paramiko's
    own ``readv`` sends them in a thread: if the first answer comes before the second request was
    sent, it believes that all was answered, asks for the rest again, and keeps both answers in
    memory.
    """

    def ask(pieces: list[tuple[int, int]], most: int | None = None) -> None:
        file._prefetching = True
        file._prefetch_thread(pieces, most)
        with file._prefetch_lock:
            file._prefetch_done = not file._prefetch_extents

    file._start_prefetch = ask
    return b"".join(file.readv([(start, stop - start)]))


class RenamedFile:
    """A new file with a hidden name, to which ``commit`` gives its own name; ``discard`` removes
    it.

    fsspec itself would write to the server's ``/tmp``, which may not exist, or be on another file
    system than the target. ``new``: no file may be there with the name.
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
        """Send ``data`` without waiting for the server's answers."""
        if len(data):
            self._file.write(self._last)
            self._file.write(data[:-1])
            self._last = bytes(data[-1:])
            self._size += len(data)

    def tell(self) -> int:
        return self._size

    def close(self) -> None:
        """Wait until the server has all bytes; OSError where it could not write them.

        paramiko looks at the answers when it has to wait for one, and not when it closes the file:
        so the last byte is sent by a call that waits.
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
