"""Several files worked on ahead of what is told of them, in groups that are brought to disk once.

A group is done by one thread, or process, from its first file to the names of its outputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

from serialpack import hidden
from serialpack.errors import ExistingFileError, SerialpackError
from serialpack.files.output import OutputGroup, most_files
from serialpack.files.paths import as_of_one, make_folder
from serialpack.pipeline.processes import (
    ProcessWorker,
    WorkerEnded,
    start_processes,
    stop_with_parent,
)
from serialpack.pipeline.workers import MakeWorker, in_order
from serialpack.reports import ConvertReport, PackReport, UnpackReport
from serialpack.unstarted import WorkerNotStartedError

#: So many bytes of sources are in a group at most, but for one that is larger by itself.
_MOST_BYTES = 16 << 20

#: So many files are in a group at most that is done elsewhere, where it is a task.
_MOST_ELSEWHERE = 128

#: So many groups for each process there are at least, that none waits long for the others.
_TURNS = 4

#: How long a process may take to end what it does, in seconds.
_PATIENCE = 30

FileReport = ConvertReport | PackReport | UnpackReport


class FileJob(NamedTuple):
    """A file, where what it becomes goes (None: nowhere), and in which format.

    ``size``: its bytes, about. ``folder``: what is to be made for the target. ``again``: the
    target is there, and stays; it must be what the file becomes.
    """

    path: str
    target: str | None
    to: str = ""
    size: int = 0
    folder: str | None = None
    again: bool = False


@runtime_checkable
class Begins(Protocol):
    """What does jobs, and has more of a group done in less time than one by one."""

    def begin(self, jobs: Iterable[FileJob]) -> None:
        """To be called before it is called for each of ``jobs``."""


class Commit(NamedTuple):
    """How a group is brought to disk: see ``OutputGroup``."""

    each: bool
    read_back: bool


#: What came of a job; None of what this is not for, as an archive.
Outcome = FileReport | SerialpackError | None


#: Makes what does a job, and tells its second argument how far it is: bytes read, and written.
MakeJobWork = Callable[[], Callable[[FileJob, Callable[[int, int], object]], Outcome]]


class Elsewhere(Protocol):
    """Workers that are no processes of this machine's own, such as those of a cluster."""

    @property
    def workers(self) -> int:
        """How many groups are done at a time."""

    def in_order(
        self, groups: Sequence[Sequence[FileJob]], make: MakeJobWork, commit: Commit
    ) -> Iterator[tuple[Sequence[FileJob], list[Outcome]]]:
        """Each group with what came of its jobs, as a ``GroupWorker`` says it, in their order."""


class GroupWorker:
    """Does all jobs of a group, then brings their outputs to disk.

    ``make`` gives what does one of them, and calls its second argument, ``alive``, now and then.
    That may raise, and is called before outputs get their names, too.
    """

    def __init__(
        self, make: MakeJobWork, commit: Commit, alive: Callable[..., object] = lambda *_: None
    ) -> None:
        self._work = make()
        self._commit = commit
        self._alive = alive
        self._folders: set[str] = set()

    def __call__(self, jobs: Sequence[FileJob]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        made_in: list[str] = []
        with OutputGroup(each=self._commit.each, read_back=self._commit.read_back) as group:
            if isinstance(self._work, Begins):
                for job in jobs:
                    with suppress(SerialpackError, OSError):  # said below
                        made_in += self._folder_of(job)
                self._work.begin(jobs)
            for job in jobs:
                whole = len(group.outputs)
                try:
                    made_in += self._folder_of(job)
                    group.only_same = job.again
                    outcomes.append(self._work(job, self._alive))
                except Exception as error:
                    from serialpack.cli.files.each_file import ours

                    group.drop(whole)
                    outcomes.append(ours(error))
            self._alive()
            failed = group.commit(made_in)
        return [
            outcome
            if isinstance(outcome, SerialpackError)
            else failed.get(job.target or "", outcome)
            for job, outcome in zip(jobs, outcomes, strict=True)
        ]

    def _folder_of(self, job: FileJob) -> list[str]:
        """Make what is to be made for the target; the folders that something was made in."""
        if job.folder is None or job.folder in self._folders:
            return []
        made_in = make_folder(job.folder)
        self._folders.add(job.folder)
        return made_in


def in_process(make: MakeJobWork, commit: Commit) -> GroupWorker:
    """A worker for a process of its own, which ends with its parent."""
    return GroupWorker(make, commit, stop_with_parent)


class _Process:
    """A process, and another one where that ends: only the file that ends it fails.

    WorkerNotStartedError where there cannot be one.
    """

    def __init__(self, make: MakeWorker) -> None:
        self._make = make
        self.worker: ProcessWorker | None = ProcessWorker(make)
        #: Whether no other is to be started: the command is stopped.
        self.stopped = False
        #: How the last one ended.
        self._ended: WorkerEnded | None = None

    def __call__(self, jobs: Sequence[FileJob]) -> list[Outcome]:
        if self.worker is None and self.stopped and self._ended is not None:
            raise self._ended
        self.worker = self.worker or ProcessWorker(self._make)
        try:
            outcomes: list[Outcome] = self.worker(jobs)
        except WorkerEnded as ended:
            self._ended = ended
            self.close()
            for folder in {os.path.dirname(job.target) for job in jobs if job.target is not None}:
                hidden.remove_dead(folder or ".")
            if self.stopped:
                raise
            if len(jobs) == 1:
                return [ended]
            return [self._alone(job, ended) for job in jobs]
        return outcomes

    def _alone(self, job: FileJob, ended: WorkerEnded) -> Outcome:
        """A job once more, of a group that a process did not bring to its end."""
        (outcome,) = self((job,))
        return ended if isinstance(outcome, ExistingFileError) else outcome

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()


def start_ahead(processes: int) -> None:
    """Have processes for a ``Batch`` that is about to come."""
    _begin_ledger()
    start_processes(processes, __name__, "serialpack.cli.files.fast_path")


def _begin_ledger() -> None:
    if hidden.ledger() is None:
        hidden.begin_ledger()


class Batch:
    """Jobs that are done ahead of what is told of them, in order.

    ``make`` gives what does one job; with ``processes`` several of these do groups of them, as many
    as the system starts, or they are done ``elsewhere``. Jobs whose source is larger than ``alone``
    bytes are left to the caller.
    """

    def __init__(
        self,
        jobs: Sequence[FileJob],
        make: MakeJobWork,
        commit: Commit,
        *,
        processes: int,
        alone: int | None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        small = [job for job in jobs if alone is None or job.size <= alone]
        self._jobs = {job.path: job for job in small}
        self._outcomes: dict[str, Outcome] = {}
        self._processes: list[_Process] = []
        #: What keeps all further jobs from being done: there is no process for them, say.
        self._broken: Exception | None = None
        if small and processes and elsewhere is None:
            self._start(partial(in_process, make, commit), processes)
        workers = max(len(self._processes), 1) if elsewhere is None else elsewhere.workers
        groups = _groups(small, workers, most_files() if elsewhere is None else _MOST_ELSEWHERE)
        self._done: Iterator[tuple[Sequence[FileJob], list[Outcome]]]
        if elsewhere is not None:
            self._done = elsewhere.in_order(list(groups), make, commit)
        elif self._processes:
            self._done = in_order(groups, iter(self._processes).__next__, workers)
        else:
            worker = GroupWorker(make, commit)
            self._done = ((group, worker(group)) for group in groups)

    def __contains__(self, path: str) -> bool:
        return path in self._jobs

    def report(self, path: str) -> FileReport:
        """What came of a job, or the error that it had; to be asked for in their order."""
        outcome = self._outcome(path)
        if isinstance(outcome, SerialpackError):
            if (folder := self._jobs[path].folder) is not None and outcome.path == folder:
                as_of_one(outcome, folder)
            raise outcome
        assert outcome is not None
        return outcome

    def plain_report(self, path: str) -> PackReport | UnpackReport | None:
        """What came of a job that went well, as ``report`` gives it; None where there may be more
        to tell: of an error, a conversion, and what is left to the caller."""
        if path not in self._jobs or self._broken is not None:
            return None
        try:
            outcome = self._outcome(path)
        except (SerialpackError, OSError, MemoryError):  # said by whoever asks again
            return None
        return outcome if isinstance(outcome, PackReport | UnpackReport) else None

    def passes(self, path: str) -> bool:
        """Whether a job is left to the caller, now that it was looked at."""
        passed = path in self._jobs and self._outcome(path) is None
        if passed:
            del self._jobs[path]
        return passed

    def forget(self, path: str) -> None:
        """All is told of a job."""
        self._outcomes.pop(path, None)

    @property
    def has_more(self) -> bool:
        """Whether others of the group are done, and not told of yet."""
        return bool(self._outcomes)

    def _outcome(self, path: str) -> Outcome:
        while path not in self._outcomes:
            if self._broken is not None:
                raise self._broken
            try:
                jobs, outcomes = next(self._done)
            except (SerialpackError, OSError, MemoryError) as error:
                self._broken = error
                raise
            self._outcomes.update(zip((job.path for job in jobs), outcomes, strict=True))
        return self._outcomes[path]

    def stop(self) -> None:
        """Let all processes end what they cannot leave half done, and remove what they leave."""
        for process in self._processes:
            process.stopped = True
        for process in self._processes:
            if (worker := process.worker) is not None:
                worker.stop(_PATIENCE)
        if self._processes and (ledger := hidden.ledger()) is not None:
            hidden.remove_left(ledger)

    def _start(self, make: MakeWorker, most: int) -> None:
        """Start as many processes as the system permits, up to ``most``."""
        _begin_ledger()
        with suppress(WorkerNotStartedError):
            while len(self._processes) < most:
                self._processes.append(_Process(make))


def _groups(jobs: Sequence[FileJob], workers: int, most: int) -> Iterator[Sequence[FileJob]]:
    """``jobs`` in order, so many together, up to ``most``, as are brought to disk at once."""
    most = min(most, -(-len(jobs) // (workers * _TURNS)))
    group: list[FileJob] = []
    size = 0
    for job in jobs:
        if group and (len(group) >= most or size + job.size > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(job)
        size += job.size
    if group:
        yield group
