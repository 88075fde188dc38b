"""Small files of one call packed as the last one of their format was.

Of many small files most of the time goes into finding out, for each, how it is packed. One that is
new and plain is packed as another was before it. Whatever else there is (a target that exists, a
file that changes, an error) is for the general way, which begins with the file anew, and has the
words for it. Both ways write the same bytes: ``tests/cli/test_alike.py``.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from serialpack.auto import LEAST
from serialpack.container.reader import SNIFF, is_container
from serialpack.detect import AsFound, told
from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.output import Output
from serialpack.pipeline.pack import ShortPacker, blocks_of, forget_alike, last_alike
from serialpack.pipeline.timing import is_recording
from serialpack.watch import watching

if TYPE_CHECKING:
    from serialpack.cli.batch import FileJob
    from serialpack.pipeline.line import Progress
    from serialpack.reports import PackReport
    from serialpack.stages.stage import Buffer

_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class AlikePacker:
    """Packs one file after another, in the one thread that it is called in.

    ``pack``: the general way, always with the same options. ``format``, ``table``: what of these
    says in which format a file is.
    """

    def __init__(
        self,
        pack: Callable[[FileJob, Progress], PackReport],
        format: str | None,
        table: AsFound,
    ) -> None:
        self._pack = pack
        self._format = None if format is None else FORMATS.source(format).name
        self._table = table
        #: By format: what a file was packed with, and the report of it.
        self._known: dict[str, tuple[ShortPacker, PackReport]] = {}
        #: Folders that targets are in, and that are there.
        self._folders: set[str] = set()
        forget_alike()  # others may have packed with other options

    def __call__(self, job: FileJob, progress: Progress) -> PackReport:
        """Pack a file; all errors of ``api.pack``."""
        # Nothing that is not a file has a size; and none is looked at for more than its format.
        small = 0 < job.size < LEAST and not job.again
        if small and watching() is None and not is_recording():
            report = self._packed_alike(job)
            if report is not None:
                return report
        before = last_alike()
        report = self._pack(job, progress)
        alike = last_alike()
        if alike is not None and alike is not before and report.size < LEAST:
            self._known[report.format] = alike, report
        return report

    def _packed_alike(self, job: FileJob) -> PackReport | None:
        """The report, where a file was packed as another before it; None: nothing was done."""
        if job.target is None or not self._is_new(job.target):
            return None
        since = perf_counter()
        try:
            fd = os.open(job.path, _READ)
        except OSError:
            return None
        try:
            found = os.fstat(fd)
            data = os.read(fd, LEAST)
            if not stat.S_ISREG(found.st_mode) or len(data) != found.st_size:
                return None
            made = self._made(os.path.basename(job.path), found.st_mtime_ns, data, since)
            now = os.fstat(fd)
        except (OSError, SerialpackError):
            return None
        finally:
            os.close(fd)
        if made is None or (now.st_size, now.st_mtime_ns) != (found.st_size, found.st_mtime_ns):
            return None
        packed, report = made
        with Output(job.target, like=found) as output:
            output.write(packed)
        return report._replace(source=job.path, target=job.target)

    def _is_new(self, target: str) -> bool:
        """Whether nothing is at ``target``, whose folder is there."""
        try:
            os.lstat(target)
        except FileNotFoundError:
            folder = os.path.dirname(target) or "."
            if folder not in self._folders and os.path.isdir(folder):
                self._folders.add(folder)
            return folder in self._folders
        except (OSError, ValueError):
            pass
        return False

    def _made(
        self, name: str, mtime: int, data: bytes, since: float
    ) -> tuple[Buffer, PackReport] | None:
        """The container for ``data``, and its report; None where none was packed that is alike.

        ``since``: when the file was begun.
        """
        if not name or name.startswith("<") or is_container(data[:SNIFF]):
            return None
        format = told(self._format, name, data, self._table)
        if (known := self._known.get(format)) is None:
            return None
        alike, model = known
        source = next(blocks_of(io.BytesIO(data).read, alike.packing))
        if not source.last or FORMATS.get(format).outline(source) != alike.style:
            return None
        seconds = {"read": perf_counter() - since}
        written: list[Buffer] = []
        member = alike.pack(source, name, mtime, written.append, seconds)
        if member is None:
            return None
        report = model._replace(
            size=member.size,
            packed=member.length,
            payload=member.payload,
            stored_blocks=member.stored_blocks,
            records=member.records,
            exact=member.exact,
            seconds=seconds,
        )
        return written[0], report
