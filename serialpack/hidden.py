"""Hidden files, which outputs are written to first, and temporary folders: noted, and removed
where a signal breaks in."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

#: How their names begin and end.
_FIRST, _LAST = ".serialpack-", ".tmp"

#: Hidden files being written, and temporary folders. Where a signal breaks in, or a refusal ends
#: the call, the command line removes them.
_hidden: set[str] = set()

#: Where it is written down which these are, for a process that outlives this one.
_ledger: int | None = None


def hidden_name(more: str = "") -> str:
    """A new name for a hidden file; ``more``: text that stands in it."""
    return f"{_FIRST}{os.urandom(4).hex()}{more}{_LAST}"


def is_hidden(name: str) -> bool:
    """Whether a file of this name is a hidden one, of whatever process."""
    return name.startswith(_FIRST) and name.endswith(_LAST)


def remove_hidden() -> None:
    """Remove the hidden files of outputs that were broken off at a moment like any other, and
    temporary folders.

    A signal can come between the making of a file and the first line that would remove it, and
    what read from a folder may be on hold for ever.
    """
    for temp in _hidden.copy():
        _remove(temp)


@contextmanager
def temporary_folder(place: str | None = None) -> Iterator[str]:
    """A new folder, by default where the system has such, which goes when the block is left, and
    at the latest when the process ends. OSError.

    Those that killed processes have left there are removed.
    """
    from shutil import rmtree
    from tempfile import gettempdir

    place = place or gettempdir()
    _clear(place)
    path, held = _new_folder(place)
    try:
        yield path
    finally:
        rmtree(path, ignore_errors=True)
        forget(path)
        if held is not None:
            os.close(held)


@cache
def _clear(place: str) -> None:
    """``remove_dead``, once for each place: it may have many files of others."""
    remove_dead(place)


def _new_folder(place: str) -> tuple[str, int | None]:
    """A new temporary folder, and the descriptor that holds it, where folders can be held."""
    while True:
        path = os.path.join(place, hidden_name())
        hide(path)
        try:
            os.mkdir(path, 0o700)
        except OSError:
            forget(path)
            raise
        try:
            held = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # just removed, as that of a killed run
            forget(path)
            continue
        except OSError:  # as on Windows
            return path, None
        if hold(held):
            return path, held
        os.close(held)
        forget(path)


def hide(temp: str) -> None:
    """Note that the hidden file ``temp`` was made: it is removed where its writer does not get to
    it."""
    _hidden.add(temp)
    if _ledger is not None:
        os.write(_ledger, os.fsencode(os.path.join(os.getcwd(), temp)) + b"\0")


def forget(temp: str) -> None:
    """Note that ``temp`` is gone, or has the name of its output."""
    _hidden.discard(temp)


def remove_dead(folder: str) -> int:
    """Remove the hidden files, and temporary folders, in ``folder`` that a killed run has left, and
    return how many there were.

    A living process holds a lock on its own; where the file system has no locks, nothing is
    removed.
    """
    count = 0
    with suppress(OSError), os.scandir(folder) as scan:
        for entry in scan:
            if is_hidden(entry.name):
                with suppress(OSError, ImportError):
                    count += _removed_if_dead(entry.path)
    return count


def _removed_if_dead(path: str) -> bool:
    import fcntl

    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(path)
    finally:
        os.close(fd)
    return True


def hold(fd: int) -> bool:
    """Lock the hidden file or temporary folder ``fd``, to show that its process is alive. False:
    another process is just removing it, as that of a killed run."""
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # no locks here
        return True
    return os.fstat(fd).st_nlink > 0


def begin_ledger(descriptor: int | None = None) -> int:
    """Note hidden files in a file, the ledger, too: for who is left when this process has ended.

    ``descriptor``: of a ledger that another process began. ``remove_left`` reads it.
    """
    global _ledger
    if descriptor is None:
        import fcntl

        descriptor = _nameless()
        # Several processes write, one behind the other.
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    _ledger = descriptor
    return descriptor


def _nameless() -> int:
    """The descriptor of a file without a name; on Linux in memory, as a system whose disk is only
    read has no place for temporary files."""
    with suppress(AttributeError, OSError):
        return os.memfd_create("serialpack")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def ledger() -> int | None:
    """The descriptor of the ledger, if one was begun."""
    return _ledger


def remove_left(ledger: int) -> None:
    """Remove the hidden files that a ledger names, of processes that have ended."""
    os.lseek(ledger, 0, os.SEEK_SET)
    with open(ledger, "rb", closefd=False) as file:
        for temp in file.read().split(b"\0")[:-1]:
            _remove(temp)


def _remove(temp: str | bytes) -> None:
    try:
        os.unlink(temp)
    except (IsADirectoryError, PermissionError):  # the latter on macOS
        from shutil import rmtree

        rmtree(temp, ignore_errors=True)
    except OSError:
        pass


# For a program that calls the library, and ends while something reads from such a folder.
atexit.register(remove_hidden)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_hidden.clear)  # they are its parent's
