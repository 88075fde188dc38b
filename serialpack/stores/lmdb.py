"""LMDB: a B+ tree in a file that is mapped into memory; one writer, and readers that never wait."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from serialpack.errors import FileError, RefusedError, TruncatedError
from serialpack.files.source import file_error
from serialpack.stages.stage import is_installed
from serialpack.stores.base import (
    Change,
    DuplicateKey,
    KeyValueStore,
    Mode,
    check_first_bytes,
    foreign,
    locked,
)

#: How many bytes a store may grow to. They take neither memory nor disk, only addresses, of which
#: 64-bit systems have enough. But Windows makes the file as large; and a process may be allowed
#: fewer addresses (``ulimit -v``), for which there is the second number.
_ROOM = 1 << 40 if sys.platform != "win32" and sys.maxsize > 1 << 40 else 1 << 28
_LESS_ROOM = 1 << 30

#: Reads all that there is in the store that is named, in a process that may die of it.
_READ_ALL = """
import os, sys, lmdb
path = os.fsencode(sys.argv[1])
with lmdb.open(path, subdir=os.path.isdir(path), readonly=True, lock=False) as store:
    with store.begin() as reading:
        for _ in reading.cursor():
            pass
"""

#: How many bytes a lock file has: 126 readers, LMDB's default, and what is said of all.
_LOCK_SIZE = 8192

#: How a system says that there is no room for a file.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

#: What to do about what the system said.
_HINTS = {
    errno.EIO: "is there room on the disk?",
    errno.ENOMEM: "it takes 1 GiB of addresses to write, which ulimit -v limits;"
    " sqlite-kv:// takes few",
}

#: The magic number, in the byte order of the machine, and its place: behind the head of the first
#: page.
_MAGIC_AT = 16
_MAGIC = {0xBEEFC0DE.to_bytes(4, "little"), 0xBEEFC0DE.to_bytes(4, "big")}


class LmdbStore(KeyValueStore):
    """The one, unnamed database of an LMDB file. Items come in the order of their keys."""

    title = "LMDB"
    about = "the fastest to read, by several processes at a time"
    beside = ("-lock",)
    most_key = 511

    @classmethod
    def missing(cls) -> str | None:
        return None if is_installed("lmdb") else "pip install 'serialpack[lmdb]'"

    def __init__(self, path: str, mode: Mode, timeout: float, ending: str = "") -> None:  # noqa: ARG002
        self._timeout = timeout
        self._waiting: threading.Thread | None = None
        self._closed = False
        # A new store is written in one transaction: several would leave unused pages in the file.
        self._building: Any = None
        if mode != "n":
            # The file is looked at first, because LMDB makes a lock file beside whatever it opens.
            name = os.path.join(path, "data.mdb") if os.path.isdir(path) else path
            check_first_bytes(name, _MAGIC, _MAGIC_AT, self.title)
        with _translated():
            self._environment = _opened(path, mode)
            if mode != "n":
                _check_end(self._environment, path, name)
            if mode == "n":
                self._building = self._environment.begin(write=True)

    def __len__(self) -> int:
        with self._reading() as reading:
            return int(reading.stat()["entries"])

    def get(self, key: bytes) -> bytes | None:
        with self._reading() as reading:
            found: bytes | None = reading.get(key)
            return found

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        with self._reading() as reading:
            yield from reading.cursor()

    def keys(self) -> Iterator[bytes]:
        with self._reading() as reading:
            yield from reading.cursor().iternext(keys=True, values=False)

    def write(
        self, changes: Sequence[Change], *, new: bool = False, where: Change | None = None
    ) -> None:
        if self._building is not None:
            with _translated():
                self._change(self._building, changes, new=new)
            return
        self._wait()
        with _translated(), self._environment.begin(write=True) as writing:  # aborts on an error
            self._check(where)
            self._change(writing, changes, new=new)

    def _change(self, writing: Any, changes: Sequence[Change], *, new: bool) -> None:
        """Make the changes within the transaction ``writing``. DuplicateKey where ``new`` keys are
        there."""
        # A cursor's method, with arguments by position, takes two thirds of the time of a
        # transaction's with names.
        put, one_value, overwrite = writing.cursor().put, True, not new
        for at, (key, value) in enumerate(changes):
            if value is None:
                writing.delete(key)
            elif not put(key, value, one_value, overwrite):
                raise DuplicateKey(at)

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        with _translated():
            if self._building is not None:
                yield self._building
                return
            with self._environment.begin() as reading:
                yield reading

    def _wait(self) -> None:
        """Wait until no other process is writing; FileError where that takes longer than the
        timeout.

        LMDB itself would wait for ever. So a thread waits, and is left behind when time is up.
        """
        self._waiting = threading.Thread(target=self._wait_for_it, daemon=True)
        self._waiting.start()
        self._waiting.join(self._timeout)
        if self._waiting.is_alive():
            raise locked()

    def _wait_for_it(self) -> None:
        self._environment.begin(write=True).abort()
        if self._closed:
            self._environment.close()

    def close(self) -> None:
        self._closed = True
        if self._waiting is not None and self._waiting.is_alive():
            return  # the thread that still waits closes it
        with _translated():
            try:
                if self._building is not None:
                    self._building.commit()
                    self._environment.sync(True)
            finally:
                self._environment.close()


def _opened(path: str, mode: Mode) -> Any:
    """The open environment of LMDB; lmdb's errors."""
    import lmdb

    in_folder = os.path.isdir(path)
    how = {
        "subdir": in_folder,
        "readonly": mode == "r",
        "create": mode == "n",
        "sync": mode != "n",
        "lock": mode != "n",
    }
    try:
        if mode != "n":
            _make_lock_file(os.path.join(path, "lock.mdb") if in_folder else f"{path}-lock")
    except OSError as error:
        if error.errno in _FULL:
            if mode != "r":
                raise file_error(error, path, "write") from None
            how["lock"] = False  # nobody has it open, as there is no lock file
    try:
        return lmdb.open(path, map_size=_ROOM, **how)
    except (lmdb.MemoryError, MemoryError):
        # Who reads takes as many as the file has; the number is the least that there may be.
        return lmdb.open(path, map_size=1 << 20 if mode == "r" else _LESS_ROOM, **how)
    except lmdb.Error as error:
        # Of what the system said LMDB has a class for EACCES, and for EROFS only its words.
        forbidden = isinstance(error, lmdb.ReadonlyError) or _says(error, errno.EROFS)
        if mode != "r" or not forbidden:
            raise
        # The lock file, in which readers enter themselves, cannot be made beside the store.
        return lmdb.open(path, map_size=_ROOM, **{**how, "lock": False})


def _check_end(environment: Any, path: str, name: str) -> None:
    """InputError where the file ``name`` ends before its pages do: the system kills who reads
    there. Pages that nobody uses may be missing at its end, so another process reads it first."""
    size = os.path.getsize(name)
    if size >= (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]:
        return
    import subprocess

    with suppress(OSError):
        command = [sys.executable, "-P", "-c", _READ_ALL, path]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            environment.close()
            raise TruncatedError(f"truncated: ends at byte {size:,}", hint="get the file again")


def _make_lock_file(path: str) -> None:
    """Make the lock file, if there is none, with room on the disk; OSError where there is none.

    LMDB writes to it by mapped memory, where a full disk raises no error, but kills the process.
    """
    with suppress(FileExistsError):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, _LOCK_SIZE)
        except OSError:
            os.unlink(path)
            raise
        finally:
            os.close(fd)


def _says(error: Exception, number: int) -> bool:
    """Whether LMDB tells an error of the system: it has its words, but not its ``number``."""
    return os.strerror(number) in str(error)


@contextmanager
def _translated() -> Iterator[None]:
    """Make LMDB's errors ours."""
    import lmdb

    try:
        yield
    except (
        lmdb.InvalidError,
        lmdb.VersionMismatchError,
        lmdb.CorruptedError,
        lmdb.PageNotFoundError,
        lmdb.IncompatibleError,
    ):
        raise foreign(LmdbStore.title) from None
    except lmdb.MapFullError:
        raise RefusedError("LMDB has no more room in the addresses that it was given") from None
    except lmdb.Error as error:
        hint = next((said for number, said in _HINTS.items() if _says(error, number)), None)
        raise FileError(f"LMDB: {error}", hint=hint) from None
