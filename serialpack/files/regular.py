"""Opens files that were found to be regular files, and refuses whatever has come in their place.

Opening a named pipe waits until somebody writes to it. A user who names a pipe wants that; one who
names a folder, in which a regular file was found, must not be made to wait by a pipe in its place.
"""

from __future__ import annotations

import os
import stat

from serialpack.errors import FileError

#: For ``os.open``: not to wait for whoever writes to a pipe; nothing to a regular file.
NO_WAIT = getattr(os, "O_NONBLOCK", 0)


class RegularPath(str):
    """The path of a regular file that was found there: nothing else is read in its place."""

    __slots__ = ()


def as_found(path: str) -> str:
    """``path``, as a ``RegularPath`` where a regular file is there now."""
    return RegularPath(path) if os.path.isfile(path) else path


def open_regular(path: str, flags: int) -> int:
    """As ``os.open``, which would wait; FileError where another kind of file is there."""
    fd = os.open(path, flags | NO_WAIT)
    try:
        check_regular(fd, path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def beginning_of(path: str, count: int) -> bytes:
    """The first ``count`` bytes of the regular file at ``path``; none where it cannot be read, or
    something else is there: a pipe would be waited for, and is read but once."""
    try:
        if not os.path.isfile(path):
            return b""
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb", buffering=0) as file:
            return file.read(count)
    except (OSError, ValueError, FileError):
        return b""


def check_regular(fd: int, path: str) -> None:
    """FileError where what was opened at ``path`` is not the regular file that was found there.

    A folder has its own words where it is read.
    """
    mode = os.fstat(fd).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "something else"
        raise FileError(
            f"was a file when it was found, and is {kind} now; not read",
            path=path,
            hint="named by itself, it is read as it is",
        )
