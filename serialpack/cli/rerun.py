"""What an earlier run has done, also one that was broken off, and what that left."""

from __future__ import annotations

import stat

from serialpack.cli.naming import SUFFIX
from serialpack.container.ends import member_length
from serialpack.container.seek import find_members
from serialpack.container.short import short_length
from serialpack.errors import ExistingFileError, FileError, ForbiddenFileError, SerialpackError
from serialpack.files.source import Source, status

#: Where the end of a container is looked for first: that of one of some hundred blocks is there,
#: and all of a small file's.
_TAIL = 4096


def is_done(path: str, target: str, *, force: bool) -> bool:
    """Whether ``target`` is whole, and no older than ``path``.

    ExistingFileError where it is there and is not, and must not be overwritten.
    """
    try:
        output, source = status(target), status(path)
    except FileError:  # what is missing is not done, or reading it says so
        return False
    if stat.S_ISDIR(output.st_mode):  # which nothing overwrites
        return False
    times: tuple[int | None, int | None] = output.st_mtime_ns, source.st_mtime_ns
    if None in times:
        wrong = "nobody tells whether it is older than its source"
    elif output.st_mtime_ns < source.st_mtime_ns:
        wrong = "is older than its source"
    elif not output.st_size and source.st_size:
        wrong = "is empty"
    elif not target.endswith(SUFFIX) or not (wrong := _fault_at_end(target, output.st_size)):
        return True
    if not force:
        raise ExistingFileError(
            f"exists already, and {wrong}", path=target, hint="-f overwrites it"
        )
    return False


def _fault_at_end(path: str, size: int) -> str:
    """Why the container at ``path`` is not there from its first to its last byte; else nothing."""
    try:
        with Source(path) as source:
            source.file.seek(max(size - _TAIL, 0))
            tail = source.file.read(_TAIL)
            if size in (member_length(tail), short_length(tail)):
                return ""
            if find_members(source.file):  # of several members, or with a longer end
                return ""
    except ForbiddenFileError:
        return "cannot be read"
    except (OSError, SerialpackError):
        pass
    return "is no whole container"
