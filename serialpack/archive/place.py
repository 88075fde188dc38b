"""Where entries go: below one folder, each whole or not at all, and never elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import TypeVar

from serialpack.container.rows import Entry
from serialpack.errors import FileError, RefusedError, SerialpackError
from serialpack.files import Path, Source, check_output, exists, file_error
from serialpack.output import MOST_FILES, Output, OutputGroup, give_owner
from serialpack.paths import make_folder, place_below, status
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.reports import UnpackReport

Done = TypeVar("Done")

#: Called with each entry and what became of it.
Each = Callable[[str, UnpackReport | SerialpackError], object]

#: So many bytes wait at most to be brought to disk together.
_MOST_BYTES = 16 << 20


class Placer:
    """Writes entries below ``folder``, and keeps what became of each.

    Files are brought to disk together, many at a time; ``each`` is called once they are there.
    ``finish`` is to be called at the end: folders get their modes and times then.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        *,
        max_size: int | None,
        force: bool,
        each: Each | None,
    ) -> None:
        self.source = source
        self.reports: list[UnpackReport] = []
        self.failures: list[tuple[str, SerialpackError]] = []
        #: How many entries do not belong to whom the archive says.
        self.unowned = 0
        self.folder = folder
        self._force = force
        self._each = each
        self._out = LimitedWrite(len, max_size)
        self._group = OutputGroup()
        #: What waits to be brought to disk, and where it goes.
        self._waiting: dict[str, tuple[str, UnpackReport]] = {}
        self._bytes = 0
        #: The files written so far: two paths can be one file, where case does not count.
        self._written: set[tuple[int, int]] = set()
        self._folders: dict[str, Entry] = {}

    def write(
        self, entry: Entry, restore: Callable[[LimitedWrite], Done], *, mtime: int | None
    ) -> tuple[str, Done]:
        """The path of the file ``entry``, and what came of ``restore``, which is given where to
        write. ``mtime``: where it is known; ``entry.mode`` 0: that is not."""
        path = place_below(self.folder, entry.path)
        if path in self._waiting or self._is_ours(path):
            raise FileError("another entry has the same path", path=path)
        check_output(path, force=self._force, source=self.source.stat)
        with self._group:
            with Output(
                path,
                force=self._force,
                mtime=mtime,
                mode=entry.mode or None,
                owner=entry.owner,
            ) as output:
                self._out.write = output.write
                done = restore(self._out)
            self.unowned += not output.owned
            self._bytes += os.fstat(output.fd).st_size
            outputs, self._group.outputs = self._group.outputs, []
        self._group.outputs = outputs
        return path, done

    def report(self, entry: str, path: str, report: UnpackReport) -> None:
        """``entry``, which was written to ``path``, is whole, and waits to be brought to disk."""
        self._waiting[path] = entry, report
        if len(self._waiting) >= MOST_FILES or self._bytes >= _MOST_BYTES:
            self.commit()

    def fail(self, entry: str, error: SerialpackError) -> None:
        """``entry`` is not written."""
        self.commit()
        self._fail(entry, error)

    def commit(self) -> None:
        """Bring to disk what waits for it, and tell of it."""
        failed = self._group.commit()
        waiting, self._waiting, self._bytes = self._waiting, {}, 0
        for path, (entry, report) in waiting.items():
            if (error := failed.get(path)) is not None:
                self._fail(entry, error)
                continue
            found = status(path)
            self._written.add((found.st_dev, found.st_ino))
            self._done(entry, report)

    def make(self, entry: Entry, report: UnpackReport) -> None:
        """Make the folder or the link ``entry``."""
        self.commit()
        try:
            path = place_below(self.folder, entry.path)
            if entry.is_folder:
                if os.path.islink(path):
                    raise RefusedError("a symbolic link stands where a folder is to be", path=path)
                make_folder(path)
                self._folders[path] = entry
            else:
                self._link(path, entry)
                if entry.owner is not None:
                    self.unowned += not give_owner(path, entry.owner)
        except SerialpackError as error:
            self._fail(entry.path, error)
            return
        self._done(entry.path, report._replace(target=path))

    def _link(self, path: str, entry: Entry) -> None:
        target = entry.target or ""
        root, parent = (os.path.realpath(p) for p in (self.folder, os.path.dirname(path)))
        parts = target.split("/")
        up = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
        real = os.path.realpath(os.path.join(parent, target))
        within = os.path.join(real, "").startswith(os.path.join(root, ""))
        # Behind a name, ".." leads out of what that is a link to, now or later.
        if os.path.isabs(target) or ".." in parts[up:] or not within:
            raise RefusedError(f"is a link out of the folder, to {target!r}", path=path)
        try:
            if os.path.lexists(path):
                if not self._force or (os.path.isdir(path) and not os.path.islink(path)):
                    raise exists(path)
                os.unlink(path)
            os.symlink(target, path)
            if os.utime in os.supports_follow_symlinks:
                os.utime(path, ns=(entry.mtime, entry.mtime), follow_symlinks=False)
        except (OSError, OverflowError, NotImplementedError) as error:
            if not isinstance(error, OSError):
                raise RefusedError(f"the link cannot be made: {error}", path=path) from None
            raise file_error(error, path, "make the link") from error

    def finish(self) -> None:
        """Bring all to disk; give folders their modes and times, the inner ones first."""
        self.commit()
        for path, entry in sorted(self._folders.items(), reverse=True):
            try:
                if entry.owner is not None:
                    self.unowned += not give_owner(path, entry.owner)
                os.chmod(path, stat.S_IMODE(entry.mode) & 0o777)
                os.utime(path, ns=(entry.mtime, entry.mtime))
            except OSError as error:
                self._fail(entry.path, file_error(error, path, "give its mode and time to"))

    def abandon(self) -> None:
        """Remove what waits to be brought to disk."""
        for output in self._group.outputs:
            output.abandon()
        self._group.outputs = []

    def _done(self, entry: str, report: UnpackReport) -> None:
        self.reports.append(report)
        if self._each is not None:
            self._each(entry, report)

    def _fail(self, entry: str, error: SerialpackError) -> None:
        self.failures.append((entry, error))
        if self._each is not None:
            self._each(entry, error)

    def _is_ours(self, path: str) -> bool:
        try:
            found = os.stat(path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) in self._written
