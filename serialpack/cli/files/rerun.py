"""What an earlier run has done, also one that was broken off, and what that left."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from serialpack.container.seek import find_members
from serialpack.container.short import source_of_short
from serialpack.errors import (
    ExistingFileError,
    FileError,
    ForbiddenFileError,
    SerialpackError,
    UnsupportedError,
)
from serialpack.far import is_far
from serialpack.files.source import Source, status

#: Up to so many bytes a container is read whole: one of a small file is one short member.
_SMALL = 4096

#: What file systems and servers cut times to, in nanoseconds.
_KEPT_TO = (1, 100, 10**3, 10**6, 10**7, 10**9, 2 * 10**9)


def is_done(path: str, target: str, *, packed: bool, force: bool) -> bool:
    """Whether ``target`` is whole, and of ``path`` as that is now, as far as size and time tell.

    A container (``packed``) says of which size and time its source was. Any other output has that
    time itself; one on a server, that of its upload, which must be no earlier.
    ExistingFileError where it is there and is not, and must not be overwritten.
    """
    try:
        output, source = status(target), status(path)
    except FileError:  # what is missing is not done, or reading it says so
        return False
    if stat.S_ISDIR(output.st_mode):  # which nothing overwrites
        return False
    if not (wrong := _fault(target, output, source, packed=packed)):
        return True
    if not force:
        raise ExistingFileError(
            f"exists already, and {wrong}", path=target, hint="-f overwrites it"
        )
    return False


def is_packed(
    entries: Mapping[str, str], target: str, *, owner: bool, keep: bool, force: bool
) -> bool:
    """Whether ``target`` is an archive of ``entries`` as they are now: path in it -> source.

    ExistingFileError where it is there and is not, and must not be overwritten: what an earlier
    run did not ``keep`` is nowhere else, and may be in it, too.
    """
    try:
        if not stat.S_ISREG(status(target).st_mode):
            return False
    except FileError:
        return False
    from serialpack.archive.compare import fault_of_archive

    wrong, hint = fault_of_archive(target, entries, owner=owner, more=not keep), "-f overwrites it"
    if wrong and not keep:
        wrong, hint = f"{wrong}; it may hold what an earlier run removed", "-o names another"
    if wrong and not (force and keep):
        raise ExistingFileError(f"exists already, and {wrong}", path=target, hint=hint)
    return not wrong


def _fault(path: str, output: os.stat_result, source: os.stat_result, *, packed: bool) -> str:
    """Why what is at ``path`` is not what became of ``source``, as far as that shows; else
    nothing."""
    when: int | None = output.st_mtime_ns
    now: int | None = source.st_mtime_ns
    exact, newer, other_size = not is_far(path), "is newer than its source", False
    if packed:
        found = _recorded(path, output.st_size)
        if isinstance(found, str):
            return found
        size, recorded = found
        other_size = source.st_size not in (size, -1)  # which a server did not tell
        exact, newer = recorded is not None, "is of a newer source"
        when = when if recorded is None else recorded
    elif not (exact or output.st_size) and source.st_size:
        return "is empty"
    if when is None or now is None:
        return "nobody tells whether it is older than its source"
    same = any(when - when % step == now or now - now % step == when for step in _KEPT_TO)
    if when < now and not same:
        return "is older than its source"
    if other_size:
        return "is of a source of another size"
    return newer if exact and not same else ""


def _recorded(path: str, size: int) -> tuple[int, int | None] | str:
    """Bytes and time of the source of the container at ``path``, as far as it says; in words what
    is wrong with it where it is not there from its first to its last byte."""
    if not size:
        return "is empty"
    try:
        with Source(path) as found:
            said = source_of_short(found.file.read(_SMALL)) if size <= _SMALL else None
            if said is None:  # of several blocks or members, or not at hand
                members = find_members(found.file)
                if not members:
                    return "is no whole container"
                rows = (row for each in members for row in each.index.rows)
                said = sum(row.size for row in rows), members[0].header.mtime
    except ForbiddenFileError:
        return "cannot be read"
    except UnsupportedError as error:
        return error.message
    except (OSError, SerialpackError):
        return "is no whole container"
    return said
