"""Small files of one call packed and unpacked as others of their kind were before them.

Of many small files most of the time goes into finding out, for each, how it is packed. One that is
new and plain is done as another was before it. Whatever else there is (a target that exists, a
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

from serialpack.auto.choice import LEAST
from serialpack.container.reader import SNIFF, is_container
from serialpack.detect import AsFound, told
from serialpack.errors import SerialpackError
from serialpack.files.output import Output
from serialpack.formats import FORMATS
from serialpack.pipeline.line import SMALL
from serialpack.pipeline.pack import ShortPacker, forget_alike, last_alike
from serialpack.pipeline.timing import is_recording
from serialpack.pipeline.unpack import ShortUnpacker, UnpackedShort
from serialpack.reports import PackReport, UnpackReport
from serialpack.watch import watching

if TYPE_CHECKING:
    from serialpack.cli.batch import FileJob
    from serialpack.pipeline.line import Progress

_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class _Alike:
    """What is done with files that are small and plain, in one thread."""

    def __init__(self, *, force: bool) -> None:
        #: For what another run makes meanwhile: what is there before is for the general way.
        self._force = force
        #: Folders that targets are in, and that are there.
        self._folders: set[str] = set()

    def _plain(self, job: FileJob, most: int) -> tuple[bytes, os.stat_result] | None:
        """The bytes and the status of the source of ``job``, where it has up to ``most`` bytes;
        None where it, its target or whoever looks on is for the general way."""
        # Nothing that is not a file has a size.
        if not 0 < job.size <= most or job.again or watching() is not None or is_recording():
            return None
        if job.target is not None and not self._is_new(job.target):
            return None
        try:
            fd = os.open(job.path, _READ)
        except OSError:
            return None
        try:
            found = os.fstat(fd)
            data = os.read(fd, most + 1)
            now = os.fstat(fd)
        except OSError:
            return None
        finally:
            os.close(fd)
        same = (now.st_size, now.st_mtime_ns) == (found.st_size, found.st_mtime_ns)
        if not (same and stat.S_ISREG(found.st_mode) and len(data) == found.st_size <= most):
            return None
        return data, found

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


class AlikePacker(_Alike):
    """Packs one file after another, in the one thread that it is called in.

    ``pack``: the general way, always with the same options. ``format``, ``table``: what of these
    says in which format a file is.
    """

    def __init__(
        self,
        pack: Callable[[FileJob, Progress], PackReport],
        format: str | None,
        table: AsFound,
        *,
        force: bool = False,
    ) -> None:
        super().__init__(force=force)
        self._pack = pack
        self._format = None if format is None else FORMATS.source(format).name
        self._table = table
        #: By format: what a file was packed with, and the report of it.
        self._known: dict[str, tuple[ShortPacker, PackReport]] = {}
        forget_alike()  # others may have packed with other options

    def __call__(self, job: FileJob, progress: Progress) -> PackReport:
        """Pack a file; all errors of ``api.pack``."""
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
        since = perf_counter()
        # None is looked at for more than its format.
        if job.target is None or (plain := self._plain(job, LEAST - 1)) is None:
            return None
        data, status = plain
        try:
            made = self._made(job, data, status.st_mtime_ns, since)
        except SerialpackError:
            return None
        if made is None:
            return None
        packed, report = made
        with Output(job.target, force=self._force, like=status) as output:
            output.write(packed)
        return report

    def _made(
        self, job: FileJob, data: bytes, mtime: int, since: float
    ) -> tuple[bytes, PackReport] | None:
        """The container for ``data``, and its report; None where none was packed that is alike.

        ``since``: when the file was begun.
        """
        name = os.path.basename(job.path)
        if not name or name.startswith("<") or is_container(data[:SNIFF]):
            return None
        format = told(self._format, name, data, self._table)
        if (known := self._known.get(format)) is None:
            return None
        alike, model = known
        source = next(alike.split(io.BytesIO(data).read))
        if not source.last or FORMATS.get(format).outline(source) != alike.style:
            return None
        seconds = {"read": perf_counter() - since}
        made = alike.member(source, name, mtime, seconds)
        if made is None:
            return None
        packed, block, _ = made
        report = PackReport(
            source=job.path,
            target=job.target,
            chain=model.chain,
            why=model.why,
            format=format,
            size=block.size,
            packed=len(packed),
            payload=block.payload,
            blocks=1,
            stored_blocks=int(block.stored),
            records=block.records,
            exact=block.exact,
            proved=model.proved,
            seconds=seconds,
        )
        return packed, report


class AlikeUnpacker(_Alike):
    """Unpacks one file after another, in the one thread that it is called in.

    ``unpack``: the general way, which gives None for an archive. ``trust``: see ``api.unpack``.
    """

    def __init__(
        self,
        unpack: Callable[[FileJob, Progress], UnpackReport | None],
        *,
        trust: bool,
        force: bool,
    ) -> None:
        super().__init__(force=force)
        self._unpack = unpack
        self._short = ShortUnpacker(trust=trust)

    def __call__(self, job: FileJob, progress: Progress) -> UnpackReport | None:
        """Unpack a file; all errors of ``api.unpack``."""
        plain = self._plain(job, SMALL)
        made = None if plain is None else self._made(plain[0])
        if plain is None or made is None:
            return self._unpack(job, progress)
        data, status = plain
        if job.target is not None:
            since = perf_counter()
            with Output(job.target, force=self._force, like=status) as output:
                output.write(made.data)
            made.seconds["write"] = perf_counter() - since
        return UnpackReport(
            source=job.path,
            target=job.target,
            format=made.format,
            size=len(made.data),
            blocks=1,
            blocks_read=1,
            records=made.block.records,
            exact=made.block.exact,
            part=False,
            proved=made.proved,
            read=len(data),
            seconds=made.seconds,
        )

    def _made(self, data: bytes) -> UnpackedShort | None:
        try:
            return self._short(data)
        except SerialpackError:
            return None
