"""Writes a far file, which appears whole when ``commit`` is called, or not at all."""

from __future__ import annotations

import io
from traceback import clear_frames
from typing import Any

from serialpack.errors import SerialpackError
from serialpack.far.sftp import RenamedFile
from serialpack.far.systems import system_of
from serialpack.far.trouble import as_ours, log, tried

#: How many bytes are sent at a time. S3 takes parts of 5 MiB or more, and at most 10,000 of them.
_PART = 16 << 20

#: After so many parts, they get larger: so that 10,000 parts hold 1.7 TB, and not 160 GB.
_EVEN = 2000


class Upload:
    """Sends bytes to ``url`` part by part (object stores call that a multipart upload).

    If all bytes fit into one part, they are kept until ``commit``, and sent by one request.
    ``new``: no file may be at ``url``; S3 and Google Storage check that when the upload is
    completed.
    """

    def __init__(self, url: str, *, new: bool) -> None:
        self._url = url
        self._new = new
        # Each upload has a file system of its own, and opens a transaction in it that is never
        # ended: a file opened in a transaction gets its name by its own ``commit``, whatever the
        # protocol is. By SFTP that would take a new connection for each file, so ``RenamedFile``
        # does the same there.
        self._renamed = url.startswith(("sftp:", "ssh:"))
        self._fs, self._path = system_of(url, skip_instance_cache=not self._renamed)
        self._buffer = io.BytesIO()
        self._file: Any = None

    def write(self, data: bytes | memoryview) -> None:
        """Send ``data``, or keep it until a part is full; FileError."""
        if self._file is None and self._buffer.tell() + len(data) <= _PART:
            self._buffer.write(data)
            return
        try:
            if self._file is None:
                self._open()
            self._file.write(data)
            sent = self._file.tell() // _EVEN >> 20 << 20  # whole MiB, as Google Storage asks
            if sent > _PART and not getattr(self._fs, "fixed_upload_size", False):
                self._file.blocksize = sent
        except Exception as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> SerialpackError:
        """Our error for ``error``. The frames of its traceback are cleared: early CPythons 3.12
        crash when the garbage collector finds the view of a buffer in those of gcsfs
        (python/cpython#111049)."""
        clear_frames(error.__traceback__)
        return as_ours(error, self._url, "write")

    def _open(self) -> None:
        if self._renamed:
            self._file = RenamedFile(self._fs, self._path, new=self._new)
        else:
            self._fs.start_transaction()
            mode = "xb" if self._new else "wb"
            self._file = self._fs.open(self._path, mode, block_size=_PART)
        self._file.write(self._buffer.getbuffer())
        self._buffer = io.BytesIO()

    def commit(self) -> None:
        """Send the rest, and give the file its name; FileError."""
        try:
            if self._file is None and getattr(self._fs, "async_impl", False):
                # An object store, where one request writes all or nothing.
                how = {"mode": "create"} if self._new else {}
                data = self._buffer.getvalue()
                tried(lambda: self._fs.pipe_file(self._path, data, **how), self._url, "write")
                return
            if self._file is None:
                self._open()
            self._file.close()
            self._file.commit()
            self._file = None
        except Exception as error:
            raise self._failed(error) from error
        finally:
            self._fs.invalidate_cache(self._path)

    def abort(self) -> None:
        """Give the upload up, and remove what was sent, as far as the server lets us."""
        file, self._file = self._file, None
        self._buffer = io.BytesIO()
        if file is None:
            return
        from fsspec.spec import AbstractBufferedFile

        try:
            file.discard()
            if isinstance(file, AbstractBufferedFile):
                file.closed = True  # else it would send the rest when it is collected
        except FileNotFoundError:
            pass  # the server has removed it itself
        except Exception as error:
            log.warning("%s", as_ours(error, self._url, "take back what was sent").said)


def remove(url: str) -> None:
    """Remove the file at ``url``; FileError."""
    fs, path = system_of(url)
    tried(lambda: fs.rm_file(path), url, "remove")
