"""``--scheduler``: groups of files, or blocks of one, as tasks on a dask.distributed cluster.

A task does for a group what a local worker process does (``batch.GroupWorker``): it reads and
writes storage itself, and only what is told of each file travels. A task that a killed worker had
is done once more; what it finds in its place already must be what it would have written.

A file that is more than a worker's share is cut here, block by block: a task reads a block, packs,
restores or converts it, and gives back what is to be written. So that is what a run without writes.
"""

from __future__ import annotations

import importlib
import logging
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple, TypeVar

from serialpack.cli.files import cluster_here
from serialpack.cli.files.batch import Commit, FileJob, GroupWorker, MakeJobWork, Outcome
from serialpack.cli.naming import from_root
from serialpack.cli.words import note
from serialpack.container.block import StoredBlock
from serialpack.container.frames import checksum
from serialpack.errors import (
    ExistingFileError,
    FileError,
    MissingLibraryError,
    SerialpackError,
    changed,
)
from serialpack.far import is_far
from serialpack.files.source import Source
from serialpack.formats.base import SourceBlock
from serialpack.hidden import remove_dead
from serialpack.pipeline.processes import out_of_band
from serialpack.pipeline.workers import MakeWorker, usable_cores
from serialpack.stages.stage import Buffer
from serialpack.text import number_of

#: A block of a source that is packed or converted, or of a container that is unpacked.
BlockT = TypeVar("BlockT", SourceBlock, StoredBlock)

#: How long a scheduler may take to answer, in seconds.
_ANSWER = 7

#: Smaller files are never cut, and of a file that is cut so many bytes are here at most.
_CUT_FROM, _MOST_HELD = 64 << 20, 1 << 30

#: What should have one version everywhere.
_COMPARED = ("serialpack", "python", "distributed")

#: How often a task looks whether it is still wanted, in seconds.
_LOOK = 0.2


class Cluster:
    """The workers of a scheduler, or of one that is started here.

    ``address``: as dask knows it (``tcp://host:8786``), or ``local``; ``workers``: how many of
    these, by default one a core. ``say`` gets a line of what is worth knowing.

    FileError where no scheduler answers; MissingLibraryError.
    """

    def __init__(
        self, address: str, workers: int | None = None, say: Callable[[str], object] = note
    ) -> None:
        self._distributed = distributed = _distributed()
        for name in ("distributed", "distributed.client", "distributed.worker"):
            # What it says of killed workers and broken connections is said here, in one line.
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._address = address
        self._folders: set[str] = set()
        #: Is called with the bytes of files that are done and not told of yet.
        self.tell: Callable[[int, int], object] | None = None
        with ExitStack() as here:
            local = None
            if address == cluster_here.LOCAL:
                running = cluster_here.running(distributed, workers or usable_cores())
                local = here.enter_context(running)
            self._connect(local or address, say)
            self._here = here.pop_all()

    def _connect(self, scheduler: Any, say: Callable[[str], object]) -> None:
        """Connect to the scheduler, an address or a cluster; FileError."""
        try:
            self.client: Any = self._distributed.Client(scheduler, timeout=_ANSWER)
        # MemoryError: dask took the words of another server, of HTTP on the port of its dashboard,
        # for a number of bytes to make room for.
        except (OSError, ValueError, MemoryError) as error:
            raise _no_scheduler(self._address, error) from None
        #: How many workers had ended before: no times, as the scheduler has a clock of its own.
        self._lost_before = self._lost_workers()
        self._look_at_versions(say)

    def _look_at_versions(self, say: Callable[[str], object]) -> None:
        """Say where a worker has another version than this, of what matters."""
        found = self.client.get_versions(packages=["serialpack"])
        here = found["client"]["packages"]
        others: Counter[str] = Counter()
        for worker in found["workers"].values():
            there = worker["packages"]
            if here["serialpack"] and not there["serialpack"]:
                raise FileError(
                    "a worker has no serialpack",
                    path=self._address,
                    hint=f"pip install serialpack=={here['serialpack']} where it runs",
                )
            for name in _COMPARED:
                if _short(name, there[name]) != _short(name, here[name]):
                    others[f"{name} {there[name]}, here it is {here[name]}"] += 1
        for words, count in others.items():
            some = number_of(count, "worker has", "workers have")
            say(f"{self._address}: {some} {words}; what they write may differ")
        if not found["workers"]:
            say(f"{self._address}: no worker yet; waiting for one")

    @property
    def workers(self) -> int:
        """How many tasks are done at a time."""
        threads: dict[str, int] = self.client.nthreads()
        return max(sum(threads.values()), 1)

    def in_order(
        self, groups: Sequence[Sequence[FileJob]], make: MakeJobWork, commit: Commit
    ) -> Iterator[tuple[Sequence[FileJob], list[Outcome]]]:
        """Each group with what came of its jobs, in the order of ``groups``."""
        done_there = partial(_done_there, make, commit)
        pending = self._distributed.as_completed(with_results=True, raise_errors=False)
        doing: dict[Any, Sequence[FileJob]] = {}
        outcomes: dict[str, Outcome] = {}

        def submit(groups: Sequence[Sequence[FileJob]]) -> None:
            jobs = [[_job_from_root(job) for job in group] for group in groups]
            futures = self.client.map(done_there, jobs, pure=False, key="serialpack")
            for future, group in zip(futures, groups, strict=True):
                doing[future.key] = group
                pending.add(future)

        self._folders = {
            os.path.dirname(from_root(job.target))
            for group in groups
            for job in group
            if job.target is not None and not is_far(job.target)
        }
        submit(groups)
        ahead = 0
        for group in groups:
            while not all(job.path in outcomes for job in group):
                future, result = next(pending)
                jobs = doing.pop(future.key)
                # Not by the future's status: its worker may have ended after it gave the result.
                if isinstance(result, list):
                    found = [_as_given(*each) for each in zip(jobs, result, strict=True)]
                else:
                    error = result[1] if isinstance(result, tuple) else result
                    found = [self._failed(error)] * len(jobs)
                of_killed = self._of_killed(found)
                for job, outcome, killed in zip(jobs, found, of_killed, strict=True):
                    if killed and not job.again:
                        submit([[job._replace(again=True)]])
                    else:
                        outcomes[job.path] = outcome
                        ahead += job.size
                if self.tell is not None:
                    self.tell(ahead, 0)
            ahead -= sum(job.size for job in group)
            yield group, [outcomes.pop(job.path) for job in group]

    def share(self, jobs: Sequence[FileJob]) -> int:
        """From so many bytes on a file is cut, that no worker is left with it at the end."""
        return max(_CUT_FROM, sum(job.size for job in jobs) // self.workers)

    def blocks(
        self, path: str, blocks: Iterator[BlockT], make: MakeWorker
    ) -> Iterator[tuple[BlockT, Any]]:
        """Each of the ``blocks`` of the file at ``path``, which workers read themselves, with what
        a worker of ``make`` makes of it there, in order."""
        waiting: deque[tuple[BlockT, Any]] = deque()
        most, held, offset = 2 * self.workers, 0, 0
        path = from_root(path)
        for block in blocks:
            bare, pieces = _apart(block)
            if isinstance(block, StoredBlock):
                offset = block.end - sum(map(len, pieces))
            parts = []
            for piece in pieces:
                parts.append(FilePart(path, offset, len(piece), checksum(piece)))
                offset += len(piece)
            task = self.client.submit(_block_there, make, bare, parts, pure=False)
            waiting.append((block, task))
            held += sum(map(len, pieces))
            while len(waiting) > most or held > _MOST_HELD:
                held -= sum(map(len, _apart(waiting[0][0])[1]))
                yield self._made(*waiting.popleft())
        while waiting:
            yield self._made(*waiting.popleft())

    def _made(self, block: BlockT, task: Any) -> tuple[BlockT, Any]:
        """A block with what was made of it, which comes from the worker itself, if it can."""
        try:
            return block, self.client.gather(task, direct=True)
        except (self._distributed.KilledWorker, CancelledError) as error:
            raise self._failed(error) from None

    def _failed(self, error: BaseException) -> SerialpackError:
        """What came of a task that has no result; what nobody foresaw is raised."""
        if isinstance(error, CancelledError):
            raise FileError(
                f"the scheduler {self._address} is gone",
                hint="--skip-existing goes on with what is left",
            )
        if isinstance(error, self._distributed.KilledWorker):
            return WorkersEnded()
        raise error

    def _of_killed(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """Of each of a group, whether it is not for its own sake: a worker was killed with it, or
        with others of the group."""
        existing = [isinstance(each, ExistingFileError) for each in outcomes]
        if any(existing) and self._lost_workers() > self._lost_before:
            return existing  # a worker that ended meanwhile may have done them, and not said so
        return [isinstance(each, WorkersEnded) and len(outcomes) > 1 for each in outcomes]

    def _lost_workers(self) -> int:
        """How many workers have ended, as far as the scheduler remembers."""
        events = self.client.get_events("all")
        return sum(event.get("action") == "remove-worker" for _, event in events)

    def close(self) -> None:
        """Leave the cluster: tasks that were not begun are not done, the others end at their next
        block and leave nothing. One that was started here ends."""
        self.client.close()
        self._here.close()
        for folder in self._folders:
            remove_dead(folder)


class FilePart(NamedTuple):
    """A part of a file: ``size`` bytes from ``offset`` on, with their XXH3-64 in ``check``."""

    path: str
    offset: int
    size: int
    check: int

    def read(self) -> bytes:
        """Its bytes; FileError where they are not those of before."""
        with Source(self.path) as source:
            source.file.seek(self.offset)
            data = source.read(self.size)
        if checksum(data) != self.check:
            raise changed(self.path)
        return data


def _apart(block: BlockT) -> tuple[BlockT, Sequence[Buffer]]:
    """A block without its bytes, and these, which stand one after another in the file."""
    if isinstance(block, StoredBlock):
        return block._replace(payload=()), block.payload
    return block._replace(data=b""), (block.data,)


def _block_there(make: MakeWorker, bare: BlockT, parts: Sequence[FilePart]) -> Any:
    """What a task does for a block, in a worker."""
    pieces = tuple(part.read() for part in parts)
    if isinstance(bare, StoredBlock):
        return out_of_band(make()(bare._replace(payload=pieces)))
    return out_of_band(make()(bare._replace(data=pieces[0])))


class WorkersEnded(SerialpackError):
    """One worker after another ended while it had a file."""

    def __init__(self) -> None:
        super().__init__(
            "the workers that had it ended, one after another",
            hint="if they were killed, memory may have run out",
        )


class Unwanted(BaseException):
    """The task is not wanted any more. Not an Exception: nothing but the worker catches it."""


def _done_there(make: MakeJobWork, commit: Commit, jobs: Sequence[FileJob]) -> list[Outcome]:
    """What a task does, in a worker."""
    return GroupWorker(make, commit, _stop_unwanted())(jobs)


def _stop_unwanted() -> Callable[..., None]:
    """What ends the task that this thread does, once nobody wants it: distributed itself lets a
    task that was begun go on to its end."""
    worker = _distributed().get_worker()
    key = worker.get_current_task()
    looked = time.monotonic()

    def look(*_: object) -> None:
        nonlocal looked
        if time.monotonic() - looked > _LOOK:
            looked = time.monotonic()
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                raise Unwanted

    return look


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            f"--scheduler: {error.name} is not installed", hint="pip install 'serialpack[dask]'"
        ) from None


def _job_from_root(job: FileJob) -> FileJob:
    """``job`` with names that do not depend on the folder that one is in."""
    return job._replace(
        path=from_root(job.path),
        target=None if job.target is None else from_root(job.target),
        folder=None if job.folder is None else from_root(job.folder),
    )


def _as_given(job: FileJob, outcome: Outcome) -> Outcome:
    """``outcome``, in which files are called as in ``job`` again."""
    if isinstance(outcome, SerialpackError) and outcome.path is not None:
        given = (job.path, job.target, job.folder)
        names = {from_root(name): name for name in given if name is not None}
        outcome.path = names.get(outcome.path, outcome.path)
    return outcome


def _short(name: str, version: str | None) -> str | None:
    """What of a version matters: of Python the first two numbers, whose format of pickles it is."""
    return version if name != "python" else ".".join(str(version).split(".")[:2])


def _no_scheduler(address: str, error: Exception) -> FileError:
    """The error for an address that nobody answers at."""
    silent = isinstance(error, TimeoutError) or "timed out" in str(error).lower()
    if isinstance(error, MemoryError):
        why = "what answers is none of dask"
    elif silent:
        why = f"nobody answers within {_ANSWER} seconds"
    else:
        why = str(error).splitlines()[0]
    return FileError(
        f"no scheduler: {why}",
        path=address,
        hint="dask scheduler starts one; --scheduler local needs none",
    )
