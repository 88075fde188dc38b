"""``Source``: whatever is read; and the words for what goes wrong with files (``file_error``)."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import threading
from collections.abc import Callable
from operator import length_hint
from typing import IO, cast

from serialpack.errors import (
    ExistingFileError,
    FileError,
    FolderError,
    ForbiddenFileError,
    InputError,
    MissingFileError,
    SerialpackError,
    SystemFileError,
    changed,
)
from serialpack.far import is_far
from serialpack.files.not_kept import has_holes
from serialpack.files.regular import RegularPath, open_regular
from serialpack.text import printable

Path = str | os.PathLike[str]
File = IO[bytes] | io.BufferedIOBase  # gzip.GzipFile is no IO to a type checker
#: The name in messages for a source that has none.
UNNAMED = "<input>"

#: Python's error -> ours, which is also one of Python's: callers may catch either.
_KINDS: dict[type[OSError], type[SystemFileError]] = {
    FileNotFoundError: MissingFileError,
    FileExistsError: ExistingFileError,
    PermissionError: ForbiddenFileError,
    IsADirectoryError: FolderError,
    OSError: SystemFileError,
}


def file_error(error: OSError | FileError, path: str, doing: str) -> FileError:
    """The FileError for ``error`` at ``path``: which file it is, what could not be done (``doing``:
    "read", "write", ...), and why. This is where such messages get their words and hints."""
    if isinstance(error, FileError):
        return error
    why = (error.strerror or str(error) or type(error).__name__).lower()
    if isinstance(error, FileNotFoundError) and doing == "read" and os.path.islink(path):
        why = f"it is a link to {printable(os.readlink(path))}, where nothing is"
    if isinstance(error, io.UnsupportedOperation):
        why = f"the file was not opened to {doing}"
    kind = next(ours for theirs, ours in _KINDS.items() if isinstance(error, theirs))
    names = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOENT)  # the last: in /dev/fd
    hint = "-o names the output of one file" if doing == "write" and error.errno in names else None
    return kind(f"cannot {doing}: {why}", error.errno, path=path, hint=hint)


class Source:
    """Whatever is read: a path, a URL or a binary file object; once, from its front.

    ``path``: its name for messages; ``stat``: its status, None where it is no regular file.
    """

    #: The name of its format, where it is made of something that says so (a store).
    format: str | None = None

    def __init__(self, source: Path | File, name: str | None = None) -> None:
        if isinstance(source, str | os.PathLike):
            self.path = shown(source)
            self._file = _open_source(self.path)
            self._close = True
        elif not hasattr(source, "read") or isinstance(source, io.TextIOBase):
            kind = "a file of text" if hasattr(source, "read") else type(source).__name__
            raise TypeError(f"source must be a path or a binary file object, not {kind}")
        else:
            self._file = cast("IO[bytes]", source)
            self._close = False
            found = name or getattr(source, "name", None)
            self.path = found if isinstance(found, str) else UNNAMED
        #: Whether it is a file of the system, read by Python's own class.
        self._real = isinstance(self._file, io.BufferedReader) and type(self._file.raw) is io.FileIO
        self._pushed = b""
        self._got = 0
        self._with: list[Callable[[], None]] = []
        #: Whether the end of a regular file was reached: it is not read on where it grows after
        #: that.
        self._ended = False
        #: Whether a library may have opened the file by its name.
        self._opened_by_name = False
        self.stat = self._stat()
        if self.stat is not None:
            _open[id(self)] = self.path

    @property
    def size(self) -> int | None:
        """Bytes of a regular file; None where that is not known."""
        return self.stat.st_size if self.stat is not None else None

    @property
    def about(self) -> int | None:
        """About how many bytes there are to read, as far as that is known so far; for progress
        bars."""
        return self.size

    @property
    def name(self) -> str:
        """The base name."""
        return base_name(self.path)

    @property
    def file(self) -> IO[bytes]:
        return self._file

    @property
    def here(self) -> str | None:
        """The path, where a library can open it on this machine and read the same bytes; else
        None. Who opens it so may find another file there: ``check_unchanged`` looks there, too."""
        found = self._here
        self._opened_by_name = found is not None
        return found

    @property
    def _here(self) -> str | None:
        return self.path if self.owned and not self.is_far and self.stat else None

    @property
    def is_sparse(self) -> bool:
        """Whether it is a file of this machine that has holes."""
        here, found = self._here, self.stat
        return here is not None and found is not None and has_holes(here, found)

    @property
    def is_far(self) -> bool:
        """Whether it is named by a URL, which no library of ours can open by itself."""
        return self._close and is_far(self.path)

    @property
    def owned(self) -> bool:
        """Whether this object has opened the file, by its name, and closes it."""
        return self._close

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes, fewer only at the end."""
        if len(self._pushed) != size:
            self._put_back()
        data, self._pushed = self._pushed[:size], self._pushed[size:]
        if len(data) == size:
            return data
        parts, left = [data] if data else [], size - len(data)
        most = sys.maxsize - 1 if self.stat is None else self.stat.st_size
        try:
            # Pipes, and file objects of others, may give less than asked for.
            # No more than there seems to be: memory is taken for all that is asked for. Where
            # there is more (it grows, it tells no size, it is decompressed), all that is.
            while left and not self._ended:
                seems = most - self._got + 1
                if not (more := self._some(min(left, seems) if seems > 0 else left)):
                    self._ended = self.stat is not None
                    break
                parts.append(more)
                left -= len(more)
                self._got += len(more)
        except OSError as error:
            raise file_error(error, self.path, "read") from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _some(self, size: int) -> bytes:
        """At least one byte, none at the end; waits where the file is one that does not."""
        while (data := self._file.read(size)) is None:
            import select

            select.select([self._file], [], [])
        return data

    def read_into(self, view: memoryview) -> int:
        """Read into ``view``, and return how many bytes; fewer than it has room for only at the
        end."""
        done = min(len(self._pushed), len(view))
        view[:done] = self._pushed[:done]
        self._pushed = self._pushed[done:]
        readinto = getattr(self._file, "readinto", None)
        try:
            while done < len(view):
                count = None if readinto is None else readinto(view[done:])
                if count is None:  # there is no such method, or nothing yet
                    data = self._some(len(view) - done)
                    view[done : done + len(data)] = data
                    count = len(data)
                if not count:
                    break
                done += count
        except OSError as error:
            raise file_error(error, self.path, "read") from error
        return done

    def read_at(self) -> Callable[[memoryview, int], int] | None:
        """A function like ``read_into`` for several threads: it also takes how many bytes behind
        the next one it is to begin, and does not move the position.

        None where that is not possible: the source is no file of the system, or the system cannot
        read at a place.
        """
        if self.stat is None or not self._real or not hasattr(os, "preadv"):
            return None
        fd, start = self._file.fileno(), self._file.tell() - len(self._pushed)

        def read(view: memoryview, at: int) -> int:
            done = 0
            try:
                while count := os.preadv(fd, [view[done:]], start + at + done):
                    done += count
            except OSError as error:
                raise file_error(error, self.path, "read") from error
            return done

        return read

    def pass_over(self, size: int) -> None:
        """Move the position ``size`` bytes on. Only allowed where ``read_at`` gives a function."""
        self._file.seek(self._file.tell() - len(self._pushed) + size)
        self._pushed = b""

    def room(self, size: int) -> memoryview | None:
        """New memory for the next ``size`` bytes, for ``read_into``.

        None where it is not known that so many are there. It is known of a regular file, and of one
        that says by its length how many bytes are left.
        """
        if self.stat is None:
            left = length_hint(self._file, -1)
        else:
            left = self.stat.st_size - self._file.tell()
        if size > left + len(self._pushed):
            return None
        import numpy as np  # its memory is on large pages, and nobody fills it with zeros first

        return memoryview(np.empty(size, "u1"))  # type: ignore[arg-type]

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes, which stay to be read."""
        if len(self._pushed) < size:
            self._pushed = self.read(size)
        return self._pushed[:size]

    def _put_back(self) -> None:
        """Move the file back to before the bytes that were peeked at, where that is possible: to
        read these again is quicker than to join them with what follows."""
        if self._pushed and self._real and self._got <= (self.size or 0):
            self._file.seek(-len(self._pushed), os.SEEK_CUR)
            self._got -= len(self._pushed)
            self._pushed, self._ended = b"", False

    def seekable(self) -> bool:
        """Whether any place of the file can be read: it is no pipe, and was only peeked at so
        far."""
        try:
            return self._file.seekable() and self._file.tell() == len(self._pushed)
        except (AttributeError, ValueError):
            return False

    def again(self) -> Source | None:
        """A new source for the same file, opened once more; None where that is not possible."""
        if self.stat is None or not self._close:
            return None
        again = Source(self.path)
        if again.stat is not None and os.path.samestat(again.stat, self.stat):
            return again
        again.close()
        return None

    def check_unchanged(self) -> None:
        """FileError where the file was written to while it was read, or may have been read as
        another one of its name."""
        now = None if self.stat is None else self._stat(again=True)
        if self.stat is not None and now is not None and not same_file(now, self.stat):
            raise changed(self.path)
        if self._opened_by_name and self.stat is not None:
            try:
                now = os.stat(self.path)
            except OSError as error:
                raise changed(self.path) from error
            if not same_file(now, self.stat):
                raise changed(self.path)

    def check_damage(self, error: SerialpackError) -> None:
        """FileError where the file was written to while it was read, so that ``error`` (damage,
        or that it cannot be read) may come of that. Far files raise an error of their own then.
        """
        unnamed = isinstance(error, FileError) and not error.path
        if (isinstance(error, InputError) or unnamed) and not self.is_far:
            self.check_unchanged()

    def close_with(self, close: Callable[[], None]) -> None:
        """Have ``close`` called, once, when it is closed."""
        self._with.append(close)

    def close(self) -> None:
        _open.pop(id(self), None)
        while self._with:
            self._with.pop()()
        if self._close:
            self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self.stat is None and (self._close or self._with):
            # Another thread may be waiting for this pipe: closing it here would wait with it.
            threading.Thread(target=self.close, daemon=True).start()
        else:
            self.close()

    def _stat(self, *, again: bool = False) -> os.stat_result | None:
        if self.is_far:
            from serialpack.far.reading import FarFile

            return cast("FarFile", self._file).status(again=again)
        try:
            found = os.fstat(self._file.fileno())
        except (AttributeError, OSError, ValueError):
            return None
        return found if stat.S_ISREG(found.st_mode) else None


#: The paths of the files that are open as sources.
_open: dict[int, str] = {}


def open_folders() -> set[str]:
    """The folders of the files that are open as sources: a shared dictionary may lie there."""
    return {os.path.dirname(path) for path in list(_open.values())}


def shown(path: Path) -> str:
    """``path`` as text, as it may be shown: a URL without its password (``far.urls``)."""
    text = os.fspath(path)
    if is_far(text):
        from serialpack.far import urls

        return urls.shown(text)
    return text


def base_name(path: str) -> str:
    """The last part of ``path``, which may be a URL."""
    if is_far(path):
        from serialpack.far import urls

        return urls.base_name(path)
    return os.path.basename(path)


def status(path: Path) -> os.stat_result:
    """The status of a file that must be there, or FileError."""
    if is_far(path):
        from serialpack.far.systems import status_of

        return status_of(path)
    try:
        return os.stat(path)
    except OSError as error:
        raise file_error(error, os.fspath(path), "read") from error


def _open_source(path: str) -> IO[bytes]:
    if is_far(path):
        from serialpack.far.systems import opened

        return cast("IO[bytes]", opened(path))
    try:
        return open(path, "rb", opener=open_regular if type(path) is RegularPath else None)
    except OSError as error:
        if os.path.isdir(path):
            raise FolderError("is a folder", path=path, hint="name the files in it") from None
        if stat.S_ISSOCK(os.stat(path).st_mode if os.path.exists(path) else 0):
            raise FileError("is a socket, which nothing is read from", path=path) from None
        raise file_error(error, path, "read") from error


def exists(path: str) -> FileError:
    """The error where an output is there already."""
    return ExistingFileError("exists already", path=path, hint="-f overwrites it")


def same_file(now: os.stat_result, before: os.stat_result) -> bool:
    """Whether both are of the same file, with the same size and modification time."""
    written = (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns)
    return os.path.samestat(now, before) and not written
