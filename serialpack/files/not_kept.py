"""Tells which modes and times outputs do not keep.

Some file systems change both without an error (FAT and NTFS have no modes, and times only to 2 s or
100 ns); so they are read back. Extended attributes are not kept on any.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator

from serialpack.files.regular import NO_WAIT
from serialpack.reports import NotKept
from serialpack.text import number_of, printable

#: The errors that a file system raises which has no modes or times, or lets only its owner change
#: them.
_NONE_HERE = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}

#: Labels that the system gives each file by itself.
_LABELS = {"security.selinux", "security.ima", "security.evm", "security.SMACK64"}

_SPANS = (("days", 86_400 * 10**9), ("h", 3600 * 10**9), ("s", 10**9), ("ms", 10**6), ("us", 1000))


def given(give: Callable[..., object], *args: object, **how: object) -> None:
    """Call ``give``, which sets a mode or a time. Where the file system has none, nothing is
    raised: ``not_kept`` finds that out."""
    try:
        give(*args, **how)
    except NotImplementedError:
        pass
    except OSError as error:
        if error.errno not in _NONE_HERE:
            raise


def not_kept(found: os.stat_result, mode: int | None, mtime: int | None) -> NotKept | None:
    """In what the status ``found`` differs from the ``mode`` and the ``mtime`` (ns) that the file
    was given; None where in nothing."""
    # Of a system without modes of files nothing was given.
    asked = mode if mode is not None and hasattr(os, "fchmod") else found.st_mode
    has, other = found.st_mode & 0o777, (found.st_mode ^ asked) & 0o777
    special = bool(asked & ~found.st_mode & 0o7000)
    off = 0 if mtime is None else abs(found.st_mtime_ns - mtime)
    if not (other or off or special):
        return None
    return NotKept((has, asked & 0o777) if other else None, off, special)


def has_holes(path: str, found: os.stat_result) -> bool:
    """Whether the file at ``path``, whose status is ``found``, is sparse: long runs of zeros take
    no room on the disk. False where nobody can tell."""
    blocks = getattr(found, "st_blocks", None)
    if blocks is None or blocks * 512 >= found.st_size:
        return False
    try:
        fd = os.open(path, os.O_RDONLY | NO_WAIT)
    except (OSError, ValueError):
        return False
    try:  # what the file system has compressed takes less room, too, and has none
        return os.lseek(fd, 0, os.SEEK_HOLE) < found.st_size
    except OSError:
        return False
    finally:
        os.close(fd)


def has_attributes(path: str) -> bool:
    """Whether a file, folder or link has extended attributes or an ACL. OSError."""
    return hasattr(os, "listxattr") and not _LABELS.issuperset(
        os.listxattr(path, follow_symlinks=False)
    )


def may_change(found: os.stat_result) -> bool:
    """Whether this user may change mode and time of the file with the status ``found``."""
    return not hasattr(os, "geteuid") or os.geteuid() in (0, found.st_uid)


class NotKeptSum:
    """Adds up what several outputs do not keep, and puts it in words. ``one``, ``many``: what
    outputs are called ("file", "files"); ``why``: how the sentence begins."""

    def __init__(self, one: str, many: str, why: str = "the file system does not keep") -> None:
        self._names = one, many
        self._why = why
        #: The paths with another mode, or time.
        self._modes: list[str] = []
        self._times: list[str] = []
        #: Those without a bit that they were to have beside their permissions.
        self._special: list[str] = []
        self._mode = (0, 0)
        self._most = 0
        #: The sources that are gone, and with them attributes.
        self._gone: list[str] = []
        #: Sources with holes.
        self._sparse: list[str] = []

    def add(self, path: str, found: NotKept | None) -> None:
        """Add what the output at ``path`` does not keep."""
        if found is None:
            return
        if found.mode is not None:
            self._mode = self._mode if self._modes else found.mode
            self._modes.append(path)
        if found.time:
            self._most = max(self._most, found.time)
            self._times.append(path)
        if found.special:
            self._special.append(path)

    def add_gone(self, path: str) -> None:
        """Count a source that had attributes, and is removed."""
        self._gone.append(path)

    def add_sparse(self, path: str) -> None:
        """Count a source that has holes."""
        self._sparse.append(path)

    @property
    def lines(self) -> Iterator[str]:
        """The lines to print; none where everything was kept."""
        if self._gone:
            of = self._of(self._gone, "removed source", "removed sources")
            yield f"extended attributes or an ACL of {of} are not kept"
        if self._sparse:
            of = self._of(self._sparse, "sparse source", "sparse sources")
            yield f"holes of {of} come back filled with zeros"
        has, given = self._mode
        to = "up to " if len(self._times) > 1 else ""
        mode = self._modes and f"the mode ({has:03o}, not {given:03o})"
        time = self._times and f"the time ({to}{_span(self._most)} off)"
        if mode and time and self._modes == self._times:
            said = [f"{mode} and {time} of {self._of(self._times)}"]
        else:
            both = (mode, self._modes), (time, self._times)
            said = [f"{what} of {self._of(paths)}" for what, paths in both if what]
        if said:
            yield f"{self._why} {' and '.join(said)}"
        if self._special:
            to = self._of(self._special)
            yield f"set-user-ID, set-group-ID and sticky bits are not given to {to}"

    def _of(self, paths: list[str], *names: str) -> str:
        if len(paths) == 1:
            return printable(paths[0])
        return f"{number_of(len(paths), *(names or self._names))} (first {printable(paths[0])})"


def _span(time: int) -> str:
    """So many nanoseconds, for a person."""
    for unit, size in _SPANS:
        if time >= size:
            count = time / size
            return f"{count:.3g} {unit}" if count < 100 else f"{count:,.0f} {unit}"
    return f"{time} ns"
