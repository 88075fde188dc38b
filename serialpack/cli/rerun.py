"""What an earlier run has done, also one that was broken off, and what that left."""

from __future__ import annotations

import os
import stat

from serialpack.cli.naming import SUFFIX
from serialpack.container.seek import find_members
from serialpack.container.short import short_size
from serialpack.errors import (
    ExistingFileError,
    FileError,
    ForbiddenFileError,
    SerialpackError,
    UnsupportedError,
)
from serialpack.files.source import Source, status

#: Up to so many bytes a container is read whole: one of a small file is one short member.
_SMALL = 4096


def is_done(path: str, target: str, *, force: bool) -> bool:
    """Whether ``target`` is whole, no older than ``path``, and of a file of as many bytes.

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
    elif not target.endswith(SUFFIX) or not (wrong := _fault(target, output.st_size, source)):
        return True
    if not force:
        raise ExistingFileError(
            f"exists already, and {wrong}", path=target, hint="-f overwrites it"
        )
    return False


def _fault(path: str, size: int, source: os.stat_result) -> str:
    """Why the container at ``path`` is not there from its first to its last byte, or is not that
    of ``source``, as far as it says; else nothing."""
    try:
        with Source(path) as found:
            packed = short_size(found.file.read(_SMALL)) if size <= _SMALL else None
            if packed is None:  # of several blocks or members, or not at hand
                members = find_members(found.file)
                packed = sum(row.size for each in members for row in each.index.rows)
                if not members:
                    return "is no whole container"
    except ForbiddenFileError:
        return "cannot be read"
    except UnsupportedError as error:
        return error.message
    except (OSError, SerialpackError):
        return "is no whole container"
    return "" if packed == source.st_size else "is of a source of another size"
