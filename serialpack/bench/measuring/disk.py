"""Measures from file to file, in place of memory: ``pack`` and ``unpack`` as they are, with fsync.

*Cold* means that a file is dropped from the page cache before it is read, so that it comes from the
disk (the cache that is in the disk itself stays). All files but the source are made in a folder
that goes again.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from serialpack.api import pack, unpack
from serialpack.bench.material import Subject
from serialpack.bench.measuring.trials import STEPS, Figures, repeat, spread_of
from serialpack.bench.samples import parse_sample
from serialpack.codecs import CODECS
from serialpack.errors import FileError
from serialpack.files.output import Output
from serialpack.filters import FILTERS
from serialpack.hidden import temporary_folder
from serialpack.libc import of_libc
from serialpack.reports import PackReport, UnpackReport
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import parse_chain, spell_stage

if TYPE_CHECKING:
    from serialpack.bench.measuring.workbench import Workbench

#: What rows that are measured whole go through. disk: files. cold-files: files, each dropped from
#: the page cache before it is read. cold-all: files, and before each read the whole page cache is
#: dropped, which only root may do.
Through = Literal["memory", "disk", "cold-files", "cold-all"]

#: How it was done, in the words of the notes.
HOW: dict[Through, str] = {
    "disk": "through files, each brought to disk (fsync) and read from the page cache",
    "cold-files": "through files, each brought to disk (fsync); source and container were dropped"
    " from the page cache before each read",
    "cold-all": "through files, each brought to disk (fsync); the whole page cache was dropped"
    " before each read",
}

#: Writing 3 to it drops the pages of files, and what is known of folders (proc(5)).
_DROP_ALL = Path("/proc/sys/vm/drop_caches")

#: The share of a file that may stay in the cache when it is dropped: pages that other programs use.
_MAY_STAY = 0.05

#: How many bytes of a file are mapped at a time, to ask which of its pages are cached.
_WINDOW = 64 << 20


def check_through(through: Through) -> None:
    """FileError where this system, or this user, cannot measure through ``through``."""
    if through in ("cold-files", "cold-all") and not hasattr(os, "posix_fadvise"):
        raise FileError("--cold: this system has no call that drops a file from its page cache")
    if through == "cold-all" and not os.access(_DROP_ALL, os.W_OK):
        raise FileError(
            "--cold-all: only root can drop the whole page cache, and only on Linux",
            hint="--cold drops the source and the container",
        )


class Files(NamedTuple):
    """The source as a file (``source``), and the folder for all other files.

    ``named``: whether containers store the name and the time of the source.
    """

    through: Through
    source: str
    named: bool
    folder: str

    @contextmanager
    def opened(self) -> Iterator[str | IO[bytes]]:
        """The source, as ``pack`` takes it: its path, or where no name is to be stored a file that
        was opened by its number, and so has none."""
        if self.named:
            yield self.source
        else:
            with open(os.open(self.source, os.O_RDONLY), "rb") as file:  # noqa: PTH123
                yield file

    def cool(self, path: str) -> None:
        """Where ``through`` is cold, have the next read of the file ``path`` come from the disk.
        FileError."""
        if self.through == "cold-all":
            drop_all()
        elif self.through == "cold-files":
            drop(path)


@contextmanager
def source_file(subject: Subject, through: Through, folder: str | None) -> Iterator[Files | None]:
    """The files to measure through; of a built-in sample one is written. None where it is memory.

    ``folder``: where a folder for them is made; None: where the system has temporary files.
    FileError where that cannot be written to, or where files cannot be dropped from the page cache.
    """
    if through == "memory":
        yield None
        return
    check_through(through)
    with _made_in(folder) as made:
        source = subject.path
        if subject.sample:
            source = str(Path(made, "source"))
            sample, n = parse_sample(subject.sample)
            with Output(source) as output:
                for chunk in sample.chunks(n):
                    output.write(chunk)
        if through != "disk":
            _check_cold(source, made)
        yield Files(through, source, subject.name is not None, made)


@contextmanager
def _made_in(folder: str | None) -> Iterator[str]:
    """A new folder in ``folder``, which goes again. FileError."""
    with ExitStack() as stack:
        try:
            path = stack.enter_context(temporary_folder(folder))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise FileError(f"cannot make a folder in it: {why}", path=folder) from error
        yield path


def _check_cold(source: str, folder: str) -> None:
    """FileError where the source, or a file in the folder, stays in the page cache when dropped."""
    probe = Path(folder, "probe")
    with Output(probe) as output:
        output.write(bytes(1 << 20))
    for path in (source, str(probe)):
        drop(path)
        stays, size = cached(path), Path(path).stat().st_size
        if stays is not None and stays > max(size * _MAY_STAY, mmap.PAGESIZE):
            raise FileError(
                "--cold: stays in memory when it is dropped from the page cache",
                hint="its file system keeps files there, or another program is using it",
                path=path if path == source else folder,
            )
    probe.unlink()


def drop(path: str) -> None:
    """Drop a file from the page cache (posix_fadvise(2)). FileError where it cannot be opened."""
    try:
        fd = os.open(path, os.O_RDONLY)
        try:
            # Pages that are not on the disk yet would stay.
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FileError(f"cannot drop it from the page cache: {why}", path=path) from error


def drop_all() -> None:
    """Drop the whole page cache, which only root may do."""
    os.sync()
    _DROP_ALL.write_text("3", "ascii")


def cached(path: str) -> int | None:
    """How many bytes of a file are in the page cache (mincore(2));
    None where the system does not tell."""
    in_core = of_libc("mincore", "c_void_p", "c_size_t", "c_void_p")
    if in_core is None or not _may_ask(path):
        return None
    pages = 0
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for start in range(0, size, _WINDOW):
            length = min(_WINDOW, size - start)
            # A private mapping whose bytes nobody looks at: so it brings no page into the cache.
            with mmap.mmap(file.fileno(), length, access=mmap.ACCESS_COPY, offset=start) as mapped:
                found = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
                first = ctypes.c_char.from_buffer(mapped)
                done = in_core(ctypes.addressof(first), length, found)
                del first
                if done:
                    return None
                pages += sum(page & 1 for page in found)
    return min(pages * mmap.PAGESIZE, size)


def _may_ask(path: str) -> bool:
    """Whether the kernel tells us what is cached:
    of files that we neither own nor may write to it says that all is."""
    return os.geteuid() in (0, os.stat(path).st_uid) or os.access(path, os.W_OK)  # noqa: PTH116


class FileTrial(NamedTuple):
    """Job: measure a chain on the whole source, from file to file. ``effort``: as of ``Trial``."""

    chain: str
    threads: int
    block_size: int
    files: Files
    effort: int | None = None

    def run(self, bench: Workbench) -> Figures:
        """The figures. RefusedError where a value cannot be held; FileError."""
        packed, back = (Path(self.files.folder) / name for name in ("packed", "back"))
        try:
            report, there = repeat(
                lambda _: self._pack(packed, bench.subject.format),
                _nothing,
                before=partial(self._make_ready, self.files.source, packed),
            )
            _, again = repeat(
                lambda _: self._unpack(packed, back),
                _nothing,
                before=partial(self._make_ready, str(packed), back),
            )
        finally:
            packed.unlink(missing_ok=True)
            back.unlink(missing_ok=True)
        steps = {**dict.fromkeys(STEPS, 0.0), **there.steps, **again.steps}
        memory = [most for most in (there.memory, again.memory) if most is not None]
        return Figures(
            source=report.size,
            records=report.records,
            size=report.packed,
            overhead=report.packed - report.payload,
            pack=there.wall,
            unpack=again.wall,
            pack_mean=there.mean,
            unpack_mean=again.mean,
            steps={step: steps[step] for step in STEPS},
            runs=min(there.runs, again.runs),
            spread=spread_of((there, again)),
            memory=max(memory, default=None),
            kept="exact" if report.exact else "faithful",
        )

    def _make_ready(self, source: str, target: Path) -> None:
        """Remove ``target``, which is written next, and take ``source``, which is read next, out of
        the cache where it is to be read cold."""
        target.unlink(missing_ok=True)
        self.files.cool(source)

    def _pack(self, packed: Path, fmt: str | None) -> tuple[PackReport, dict[str, float]]:
        """Pack the source of the format ``fmt``; the report, and the seconds by step."""
        how = self._stages() if self.effort is None else {"effort": self.effort}
        since = perf_counter()
        with self.files.opened() as source:
            report = pack(source, packed, format=fmt, threads=self.threads, **how)
        return report, self._by_step(report.seconds, perf_counter() - since)

    def _stages(self) -> dict[str, Any]:
        """The arguments of ``pack`` by which it packs with the chain."""
        chain = parse_chain(self.chain)
        return {
            "serializer": spell_stage(SERIALIZERS, chain.serializer),
            "filters": [spell_stage(FILTERS, spec) for spec in chain.filters],
            "codec": spell_stage(CODECS, chain.codec),
            "block_size": self.block_size,
        }

    def _unpack(self, packed: Path, back: Path) -> tuple[UnpackReport, dict[str, float]]:
        """Unpack the container; the report, and the seconds by step."""
        since = perf_counter()
        report = unpack(packed, back, trust=True, threads=self.threads)  # it is our own
        return report, self._by_step(report.seconds, perf_counter() - since)

    def _by_step(self, seconds: dict[str, float], wall: float) -> dict[str, float]:
        """The seconds by step of all threads together, as ``repeat`` takes them; what is left of
        ``wall``, the seconds by the clock, was spent on the files.
        """
        steps = {s: seconds[s] for s in STEPS if s in seconds}
        return {**steps, "files": max(wall * self.threads - sum(steps.values()), 0.0)}


def _nothing(_: object) -> int:
    return 0
