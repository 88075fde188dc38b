"""The steps by which files get to a disk and off it: bringing them to disk (fsync), reading them
back, naming them, and removing sources, and hidden files that a killed run has left.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from serialpack.errors import FileError
from serialpack.far import is_far
from serialpack.files.source import exists, file_error, same_file, status
from serialpack.hidden import forget, hidden_name, hide, remove_dead
from serialpack.libc import of_libc
from serialpack.stages.stage import Buffer
from serialpack.text import named_here, number_of

#: The errors that a file system without hard links raises where one is to be made.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EXDEV}

#: The errors that a file system raises which cannot bring a folder to disk, and pipes.
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF, errno.EPERM}

#: So many bytes at the front of an output may be overwritten later (``WrittenBytes.patch``).
_FRONT = 4096


class WrittenBytes:
    """Remembers what was written to a file, so that it can be compared with what is read back: the
    first ``_FRONT`` bytes as they are, a checksum of the rest."""

    def __init__(self) -> None:
        from xxhash import xxh3_128

        self._front = bytearray()
        self._rest = xxh3_128()

    def copy(self) -> WrittenBytes:
        """A copy, of what was written so far."""
        again = WrittenBytes()
        again._front, again._rest = self._front[:], self._rest.copy()
        return again

    def add(self, data: Buffer) -> None:
        """Note that ``data`` was written at the end."""
        room = _FRONT - len(self._front)
        view = memoryview(data).cast("B")
        self._front += view[:room]
        self._rest.update(view[room:])

    def patch(self, offset: int, data: bytes) -> None:
        """Note that ``data`` was written over what stood at ``offset``, within the first bytes."""
        assert offset + len(data) <= len(self._front)
        self._front[offset : offset + len(data)] = data

    def is_in(self, path: str) -> bool:
        """Whether the file at ``path`` holds just what was written; read from the disk, not from
        the system's cache, where the system allows that."""
        with open(path, "rb", buffering=0) as file:
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return self.is_read(file.read)

    def is_read(self, read: Callable[[int], bytes]) -> bool:
        """Whether ``read`` gives just what was written, from the front to the end."""
        from xxhash import xxh3_128

        front = b""
        while len(front) < len(self._front) and (more := read(_FRONT - len(front))):
            front += more
        rest = xxh3_128()
        while data := read(1 << 20):
            rest.update(data)
        return front == self._front and rest.digest() == self._rest.digest()


def syncfs() -> Callable[[int], bool] | None:
    """The system's function that brings all of a file system to disk: it takes a descriptor of any
    file on it, and returns whether that went well. None where the system has none that reports
    errors (Linux has from 5.8 on)."""
    try:
        if tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) < (5, 8):
            return None
    except (AttributeError, ValueError):
        return None
    call = of_libc("syncfs", "c_int")
    return None if call is None else lambda fd: bool(call(fd) == 0)


#: Where so many bytes or more are written in one go, ``make_room`` is called first.
LARGE = 16 << 20

#: FALLOC_FL_KEEP_SIZE of fallocate(2): the size of the file stays as it is.
_KEEP_SIZE = 1


def make_room(fd: int, start: int, size: int) -> None:
    """Have the file system reserve room for ``size`` bytes that are about to be written at
    ``start``: on ext4, writing them takes two thirds of the time then.

    It does nothing where the system cannot do that, and on file systems without a disk of their
    own: in memory it takes longer, and btrfs would not compress the file.
    """
    try:
        if not os.major(os.fstat(fd).st_dev):
            return
    except (AttributeError, OSError):
        return
    call = of_libc("fallocate64", "c_int", "c_int", "c_int64", "c_int64")
    if call is not None:
        call(fd, _KEEP_SIZE, start, size)


#: SYNC_FILE_RANGE_WRITE of sync_file_range(2): begin to write, and do not wait.
_WRITE = 2


def begin_writing(fd: int) -> None:
    """Have the system begin to write a file to disk, without waiting. Done for several files before
    the first is waited for, it has most of them written together."""
    call = of_libc("sync_file_range", "c_int", "c_int64", "c_int64", "c_uint")
    if call is not None:
        call(fd, 0, 0, _WRITE)


#: How many files are waited for at a time: the system writes once for all that wait. Of 128
#: files of 900 bytes on ext4, one takes 150 us where one waits, 74 with 4, 50 with 16; 62, 45 and
#: 50 where all were begun before, and least with 8: 40, for half of the processor's time.
_AT_A_TIME = 8


def sync_all(syncs: Sequence[Callable[[], object]]) -> list[OSError | None]:
    """Call each of ``syncs``, functions that bring one file to disk, several at a time. Returns for
    each its OSError, or None.
    """
    if len(syncs) < 2:
        return [_fault(sync) for sync in syncs]
    from serialpack.threads import side_by_side

    return list(side_by_side(_fault, syncs, _AT_A_TIME))


def _fault(sync: Callable[[], object]) -> OSError | None:
    try:
        sync()
    except OSError as error:
        return error
    return None


def without_dead(folders: Iterable[str]) -> Iterator[str]:
    """Remove the hidden files of killed runs in each of ``folders``; yields a line to print for
    each folder in which there were some."""
    for folder in dict.fromkeys(each or "." for each in folders):
        if count := remove_dead(folder):
            yield f"{folder}: removed {number_of(count, 'hidden file')} of a killed run"


def name_new(temp: str, path: str) -> None:
    """Rename ``temp`` to ``path``; ExistingFileError where a file is there, even one that was just
    made."""
    if os.name == "nt":
        os.rename(temp, path)  # refuses to overwrite there
        return
    try:
        os.link(temp, path, follow_symlinks=False)
    except FileExistsError:
        raise exists(path) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise exists(path) from None
        os.rename(temp, path)
        return
    os.unlink(temp)


def folded(name: str) -> str:
    """``name`` in a form that is the same for all names which any file system may take for one:
    without differences of case, and of whether an accent is part of its letter (NFC) or behind it
    (NFD)."""
    if name.isascii():
        return name.lower()
    return _decomposed(_decomposed(name).casefold())


def folding_in(folder: str) -> Callable[[str], str]:
    """A function that turns two names into the same text if ``folder`` takes them for one file.

    Whether it ignores case, and forms of accents, is found out by making hidden files in it, or in
    the nearest folder above that exists. Where none can be made, names count as different.
    """
    while not os.path.isdir(folder or ".") and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    case = _are_one(folder, name := hidden_name(), name.upper())
    if _are_one(folder, name := named_here(hidden_name("\xe9")), named_here(_decomposed(name))):
        return folded if case else _decomposed
    return str.casefold if case else str


def _decomposed(name: str) -> str:
    from unicodedata import normalize

    with suppress(UnicodeEncodeError):  # letters where the system's encoding has but their bytes
        name = name.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return normalize("NFD", name)


def _are_one(folder: str, name: str, other: str) -> bool:
    path = os.path.join(folder, name)
    hide(path)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return os.path.lexists(os.path.join(folder, other))
    except (OSError, ValueError):  # it is full, or has no such letters
        return False
    finally:
        with suppress(OSError, ValueError):
            os.unlink(path)
        forget(path)


def sync_folder(folder: str) -> None:
    """Bring the new names in a folder to disk, where one can be opened (not on Windows)."""
    try:
        fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return
    try:
        sync_open(fd)
    finally:
        os.close(fd)


def sync_open(fd: int) -> None:
    """Bring an open file or folder to disk, where its file system can do that; OSError."""
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def bring_to_disk(path: str) -> None:
    """Bring to disk a file that another run has written, and drop it from the system's cache, so
    that it is read from the disk next; FileError.

    It does nothing for a far file, and where the system cannot do that with a file opened to be
    read.
    """
    if is_far(path):
        return
    try:
        fd = os.open(path, os.O_RDONLY)
        try:
            if os.name != "nt":
                os.fsync(fd)
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)
        sync_folder(os.path.dirname(path) or ".")
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise file_error(error, path, "bring to disk") from error


def remove_source(path: str, before: os.stat_result | None) -> None:
    """Remove a source that is safely packed; FileError where it is no longer the file that was
    read. ``before``: its status when it was read."""
    try:
        now = status(path) if is_far(path) else os.lstat(path)
        if before is None or not same_file(now, before):
            raise FileError("is no longer the file that was read; kept", path=path)
        if is_far(path):
            from serialpack.far.upload import remove

            remove(path)
        else:
            # A crash may bring it back, which loses nothing.
            os.unlink(path)
    except OSError as error:
        raise file_error(error, path, "remove") from error
