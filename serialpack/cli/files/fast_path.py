"""Small files of one call packed and unpacked as others of their kind were before them.

Of many small files most of the time goes into finding out, for each, how it is packed. One that is
new and plain is done as another was before it. Whatever else there is (a target that exists, a
file that changes, an error) is for the general way, which begins with the file anew, and has the
words for it. Both ways write the same bytes: ``tests/cli/files/test_fast_path.py``.
"""

from __future__ import annotations

import io
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from serialpack.auto.choice import LEAST, Choice, choose, is_alike
from serialpack.container.reader import SNIFF, is_container
from serialpack.detection.detect import AsFound, told
from serialpack.errors import SerialpackError
from serialpack.files.not_kept import has_holes
from serialpack.files.output import Output
from serialpack.files.regular import NO_WAIT
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.line import SMALL
from serialpack.pipeline.packing import Packing, splitter_of
from serialpack.pipeline.settle import settle
from serialpack.pipeline.short import ShortPacker, forget_alike, last_alike, short_packer
from serialpack.pipeline.timing import add_seconds, is_recording
from serialpack.pipeline.unpack import ShortUnpacker
from serialpack.reports import PackReport, UnpackReport
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.stages.stage import Buffer
from serialpack.watch import watching

if TYPE_CHECKING:
    from serialpack.archive.write import PackOptions
    from serialpack.cli.files.batch import FileJob
    from serialpack.pipeline.line import Progress

#: So many of what packs are kept: each holds the memory that its codec works in.
_MOST_OTHERS = 32

_READ = os.O_RDONLY | NO_WAIT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


#: What there is to tell of a file.
Told = TypeVar("Told", PackReport, UnpackReport)


class _Plain(NamedTuple):
    """A file that is small and plain, as it was read; ``seconds``: what that took."""

    data: bytes
    status: os.stat_result
    seconds: float


class _Made(NamedTuple, Generic[Told]):
    """What becomes of a file: what is to be written, and the report of it."""

    data: Buffer
    like: os.stat_result
    report: Told


class _Alike(ABC, Generic[Told]):
    """What is done with files that are small and plain, in one thread."""

    def __init__(self, *, force: bool) -> None:
        #: For what another run makes meanwhile: what is there before is for the general way.
        self._force = force
        #: Folders that targets are in, and that are there.
        self._folders: set[str] = set()
        #: What was begun, by source.
        self._begun: dict[str, _Made[Told]] = {}

    def begin(self, jobs: Iterable[FileJob]) -> None:
        """Do of ``jobs``, which will be called for next, all but the writing, as far as that can be
        done.

        All are read before anything is made of the first: in turns it takes a third longer, as
        each step drives the others out of the processor's cache.
        """
        self._begun = {}
        with suppress(OSError, MemoryError):  # which one by one may not be met
            read = [(job, plain) for job in jobs if (plain := self._plain(job)) is not None]
            made = [(job, self._tried(job, plain)) for job, plain in read]
            self._begun = {job.path: each for job, each in made if each is not None}

    def _done(self, job: FileJob) -> Told | None:
        """The report of a file that is done here; None: nothing was done."""
        if (made := self._begun.pop(job.path, None)) is None:
            plain = self._plain(job)
            made = None if plain is None else self._tried(job, plain)
        if made is None:
            return None
        if job.target is not None:
            since = perf_counter()
            with Output(job.target, force=self._force, like=made.like) as output:
                output.write(made.data)
            add_seconds(made.report.seconds, {"write": perf_counter() - since})
            if output.not_kept is not None:
                return made.report._replace(not_kept=output.not_kept)
        return made.report

    def _tried(self, job: FileJob, plain: _Plain) -> _Made[Told] | None:
        """What becomes of a file; None where that, or the error, is for the general way."""
        try:
            return self._made(job, plain)
        except SerialpackError:
            return None

    @abstractmethod
    def _made(self, job: FileJob, plain: _Plain) -> _Made[Told] | None:
        """What becomes of a file; None where that is for the general way. SerialpackError."""

    @abstractmethod
    def _plain(self, job: FileJob) -> _Plain | None:
        """The source of ``job``; None where that is for the general way."""

    def _read(self, job: FileJob, most: int) -> _Plain | None:
        """The source of ``job``, where it has up to ``most`` bytes; None where it, its target or
        whoever looks on is for the general way."""
        since = perf_counter()
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
            if not stat.S_ISREG(found.st_mode):
                return None
            data = os.read(fd, most + 1)
            now = os.fstat(fd)
        except OSError:
            return None
        finally:
            os.close(fd)
        same = (now.st_size, now.st_mtime_ns) == (found.st_size, found.st_mtime_ns)
        if not (same and len(data) == found.st_size <= most):
            return None
        return _Plain(data, found, perf_counter() - since)

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


class AlikePacker(_Alike[PackReport]):
    """Packs one file after another, in the one thread that it is called in.

    ``pack``: the general way, always with the options ``how``.
    """

    def __init__(
        self,
        pack: Callable[[FileJob, Progress], PackReport],
        how: PackOptions,
        *,
        force: bool = False,
    ) -> None:
        super().__init__(force=force)
        self._pack = pack
        self._asked = choose(
            how.get("serializer", "auto"),
            tuple(how.get("filters", ())),
            how.get("codec", "auto"),
            effort=how.get("effort", DEFAULT_EFFORT),
            block_size=how.get("block_size"),
        )
        format = how.get("format")
        self._format = None if format is None else FORMATS.source(format).name
        self._table = AsFound(
            how.get("delimiter"), how.get("encoding"), how.get("no_header", False)
        )
        #: By format: what a file was packed with, and the report of it.
        self._known: dict[str, tuple[ShortPacker, PackReport]] = {}
        #: By format and ``_kind``: what packs files that get other stages than that one.
        self._others: dict[tuple[Any, ...], ShortPacker] = {}
        #: By format: the choice for all files of it, where it is one.
        self._chosen: dict[str, Choice] = {}
        forget_alike()  # others may have packed with other options

    def __call__(self, job: FileJob, progress: Progress) -> PackReport:
        """Pack a file; all errors of ``api.pack``."""
        report = self._done(job)
        if report is not None:
            return report
        before = last_alike()
        report = self._pack(job, progress)
        alike = last_alike()
        if alike is not None and alike is not before and report.size < LEAST:
            self._known[report.format] = alike, report
        return report

    def begin(self, jobs: Iterable[FileJob]) -> None:
        if self._known:
            super().begin(jobs)

    def _plain(self, job: FileJob) -> _Plain | None:
        # None is looked at for more than its format.
        return None if job.target is None else self._read(job, LEAST - 1)

    def _made(self, job: FileJob, plain: _Plain) -> _Made[PackReport] | None:
        since = perf_counter()
        data = plain.data
        name = os.path.basename(job.path)
        if not name or name.startswith("<") or is_container(data[:SNIFF]):
            return None
        format = told(self._format, name, data, self._table)
        if (known := self._known.get(format)) is None:
            return None
        alike, model = known
        if (choice := self._chosen.get(format)) is None:
            choice = settle(self._asked, format, lambda most: data[:most])
            if is_alike(self._asked, format):
                self._chosen[format] = choice
        split = alike.split
        if choice.split is not None:
            split = splitter_of(alike.packing._replace(split=choice.split))
        source = next(split(io.BytesIO(data).read))
        if not source.last or FORMATS.get(format).outline(source) != alike.style:
            return None
        if _kind(choice) != _kind(alike.packing):
            alike = self._other(format, alike, choice, source)
        seconds = {"read": plain.seconds + perf_counter() - since}
        made = alike.member(source, name, plain.status.st_mtime_ns, seconds)
        if made is None:
            return None
        packed, block, _ = made
        report = PackReport(
            source=job.path,
            target=job.target,
            chain=str(alike.packing.chain),
            why=choice.why,
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
            sparse=has_holes(job.path, plain.status),
        )
        return _Made(packed, plain.status, report)

    def _other(
        self, format: str, alike: ShortPacker, choice: Choice, source: SourceBlock
    ) -> ShortPacker:
        """What packs ``source`` as ``choice`` says, and all else as ``alike`` does."""
        kind = format, *_kind(choice)
        if kind not in self._others:
            if len(self._others) >= _MOST_OTHERS:
                self._others.clear()
            packing = alike.packing._replace(
                chain=choice.chain, block_size=choice.block_size, min_saving=choice.min_saving
            )
            self._others[kind] = short_packer(packing, alike.style, source)
        return self._others[kind]


def _kind(how: Choice | Packing) -> tuple[Any, ...]:
    """What a choice leaves of a small source to be other than of another of its format."""
    return how.chain, how.block_size, how.min_saving


class AlikeUnpacker(_Alike[UnpackReport]):
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
        report = self._done(job)
        return self._unpack(job, progress) if report is None else report

    def _plain(self, job: FileJob) -> _Plain | None:
        return self._read(job, SMALL)

    def _made(self, job: FileJob, plain: _Plain) -> _Made[UnpackReport] | None:
        if (made := self._short(plain.data)) is None:
            return None
        report = UnpackReport(
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
            read=len(plain.data),
            seconds=made.seconds,
        )
        return _Made(made.data, plain.status, report)
