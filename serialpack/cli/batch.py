"""Several files converted at a time, each in one of a few processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from serialpack.cli.naming import STDIO, check_removal
from serialpack.cli.outputs import Targets
from serialpack.cli.run import Input, check_name
from serialpack.conversion.files import convert
from serialpack.conversion.options import ConvertOptions
from serialpack.errors import SerialpackError
from serialpack.pipeline.processes import ProcessWorker, stop_with_parent
from serialpack.pipeline.workers import MakeWorker, in_order, usable_cores
from serialpack.reports import ConvertReport

#: From so many bytes, or files, on processes pay for their start (some 0.2 s for two).
_FROM_BYTES = 2 << 20
_FROM_FILES = 64


class FileJob(NamedTuple):
    """A file to convert, and where to."""

    path: str
    target: str
    to: str


def file_converter(
    how: ConvertOptions,
) -> Callable[[FileJob], ConvertReport | SerialpackError]:
    """What converts one file after another, in a process of its own."""
    alone: ConvertOptions = {**how, "threads": 1}

    def work(job: FileJob) -> ConvertReport | SerialpackError:
        try:
            return convert(job.path, job.target, to=job.to, progress=stop_with_parent, **alone)
        except SerialpackError as error:
            return error

    return work


class _Process:
    """A process, and another one where that ends: only the file that it had fails."""

    def __init__(self, make: MakeWorker) -> None:
        self._make = make
        self._worker: ProcessWorker | None = None

    def __call__(self, job: FileJob) -> ConvertReport | SerialpackError:
        self._worker = self._worker or ProcessWorker(self._make)
        try:
            result: ConvertReport | SerialpackError = self._worker(job)
        except SerialpackError as ended:
            self.close()
            return ended
        return result

    def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


class Batch:
    """Conversions that run ahead of what is told of them.

    What each input is, and what its output is called, is looked at before any is read.
    """

    def __init__(
        self,
        paths: Sequence[str],
        target_of: Callable[[str, str], str],
        to: Callable[[str], str],
        make: MakeWorker,
        threads: int,
        *,
        keep: bool,
    ) -> None:
        self._given: dict[str, list[tuple[Input, FileJob] | SerialpackError]] = {}
        jobs = []
        for path in paths:
            given = self._given.setdefault(path, [])
            try:
                check_name(path)
                check_removal(path, keep=keep)
                job = FileJob(path, target_of(path, to(path)), to(path))
                given.append((Input.of(path), job))
            except SerialpackError as error:
                given.append(error)
            else:
                jobs.append(job)
        self._results = in_order(iter(jobs), lambda: _Process(make), threads)

    def next(self, path: str) -> tuple[Input, FileJob]:
        """An input and what becomes of it; or the error that it has without being read."""
        given = self._given[path].pop(0)
        if isinstance(given, SerialpackError):
            raise given
        return given

    def report(self, job: FileJob) -> ConvertReport:
        """What came of a job; those before it that nobody asked for are passed over."""
        result = next(result for done, result in self._results if done is job)
        if isinstance(result, SerialpackError):
            raise result
        return result


def batch_of(
    paths: Sequence[str],
    targets: Targets,
    target_of: Callable[[str, str], str],
    to: Callable[[str], str],
    how: ConvertOptions,
    *,
    keep: bool,
) -> Batch | None:
    """A batch of ``paths``; None where they are not enough work for processes.

    ``to`` says in which format each is written, ``target_of`` where.
    """
    threads = how["threads"] or usable_cores()
    few = len(paths) < _FROM_FILES and sum(map(_size, paths)) < _FROM_BYTES
    if threads < 2 or STDIO in paths or few:
        return None
    targets.make_folder()
    return Batch(paths, target_of, to, partial(file_converter, how), threads, keep=keep)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0
