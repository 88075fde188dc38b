"""Jobs (mostly blocks) are read ahead, worked on by several threads, and given back in order.

One thread takes jobs from an iterator, ``threads`` threads work on them, and the caller's thread
gets the results; it is the one that a signal interrupts. The others are daemons, so that a read
that hangs does not keep the process from ending.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, Generic, TypeVar

from serialpack import watch
from serialpack.container.block import StoredBlock
from serialpack.pipeline.timing import record
from serialpack.threads import Helpers

Job = TypeVar("Job")
Result = TypeVar("Result")


#: Blocks that have no more bytes than this together are worked on in the caller's thread: even
#: level 22 of zstd takes only some tenths of a second for them.
INLINE = 256 << 10

#: The same where nothing is compressed, which takes no longer for so many bytes; of a single block.
INLINE_PLAIN = 8 << 20


def few(sizes: Sequence[int], most: int) -> bool:
    """Whether blocks of these ``sizes`` are worked on in the caller's thread. ``most``: bytes of a
    single one; two of so many are done sooner side by side."""
    return sum(sizes) <= (most if len(sizes) == 1 else INLINE)


def few_stored(blocks: Sequence[StoredBlock]) -> bool:
    """As ``few``, of blocks that are restored."""
    return few([each.block.serialized for each in blocks], INLINE_PLAIN)


#: For many files: one with more bytes than LARGE is worked on by all threads, and no other at that
#: time. The others are worked on several at a time, if there are MANY_FILES of them or MUCH bytes.
LARGE = 4 << 20
MANY_FILES, MUCH = 1000, 16 << 20


#: Makes a worker, a function that is called with one job after another: a ``partial`` of a class
#: and the plan for its instances. It can be pickled, and so can jobs and results.
MakeWorker = Callable[[], Callable[[Any], Any]]


class _Slot(Generic[Job, Result]):
    """A job that is being worked on, and its result or error; ``done`` is released when it has
    one."""

    __slots__ = ("done", "error", "job", "result", "seen")

    def __init__(self, job: Job | None) -> None:
        self.job = job
        self.seen: watch.Job | None = None
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()


class _Doing(Generic[Job, Result]):
    """Calls workers with jobs, records the time, and tells a progress bar. ``size``: see
    ``in_order``."""

    def __init__(self, size: Callable[[Job], int] | None) -> None:
        self._size = size
        self._watch = watch.watching() if size is not None else None

    def result(self, worker: Callable[[Job], Result], slot: _Slot[Job, Result]) -> Result:
        """What ``worker`` makes of the job."""
        since = perf_counter()
        result = self._told(worker, slot)
        if (stages := getattr(result, "seconds", None)) is not None:
            record(since, perf_counter(), stages)
        return result

    def _told(self, worker: Callable[[Job], Result], slot: _Slot[Job, Result]) -> Result:
        """What ``worker`` makes of the job, whose progress is told to the bar, where there is
        one."""
        assert slot.job is not None
        if self._watch is None or self._size is None:
            return worker(slot.job)
        slot.seen = self._watch.begin(self._size(slot.job))
        with watch.told(slot.seen.tell):
            result = worker(slot.job)
        self._watch.done(slot.seen)
        return result

    def ended(self, slot: _Slot[Job, Result]) -> None:
        """Note that the caller has done with the result of ``slot``."""
        if self._watch is not None and slot.seen is not None:
            self._watch.end(slot.seen)


class _Room:
    """Limits how many ``jobs`` are held at a time, and how much they weigh together (``most``).

    A semaphore would not do: a signal between two steps of its Python code would leave it locked.
    """

    def __init__(self, jobs: int, most: int) -> None:
        self._most = most
        #: The weight of all jobs on their way; only the one thread that waits uses it.
        self._held = 0
        #: The free places: for each the weight of the job that had it, to be taken off ``_held``.
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for _ in range(jobs):
            self._free.put(0)

    def wait(self, weight: int, stopped: threading.Event) -> None:
        """Wait for a place for a job of this weight, and take it. Once ``stopped`` is set, any
        ``free`` ends the wait."""
        self._held += weight - self._free.get()
        more = 0
        while self._held > self._most and self._held > weight and not stopped.is_set():
            self._held -= self._free.get()
            more += 1
        for _ in range(more):
            self._free.put(0)

    def free(self, weight: int) -> None:
        """Give back the place of a job of this weight."""
        self._free.put(weight)


def in_order(
    jobs: Iterator[Job],
    make_worker: Callable[[], Callable[[Job], Result]],
    threads: int,
    *,
    inline: Callable[[Sequence[Job]], bool] = lambda jobs: len(jobs) == 1,
    size: Callable[[Job], int] | None = None,
    weight: Callable[[Job], int] = lambda _: 0,
    most: int = 0,
) -> Generator[tuple[Job, Result], None, None]:
    """Yield each job with its result, in the order of ``jobs``; an error is raised in the place of
    its job.

    - ``make_worker`` is called once in each of ``threads`` threads
    - at most ``threads`` + 2 jobs are held at a time; their ``weight`` together is at most
      ``most``, unless one alone weighs more. One more job has been read, and waits
    - ``inline(jobs)``: whether these, where they are all that there are, are worked on in the
      caller's thread. That is quicker for small ones; during large ones, signals would have to wait
    - ``size(job)``: its bytes, for a progress bar; None where it is not to count these jobs
    """
    doing = _Doing[Job, Result](size)
    held: list[Job] = []
    failed: Exception | None = None
    all_held = False
    try:
        while not held or (len(held) < threads + 2 and inline(held)):
            if (job := next(jobs, None)) is None:
                all_held = True
                break
            held.append(job)
    except Exception as error:  # it is raised behind the results of the jobs before it
        failed, all_held = error, True
    job = None  # no name here may keep a large one until the last one is done
    if not all_held:
        jobs = chain(iter(held), jobs)
        del held
        yield from _ByThreads(doing, make_worker, _Room(threads + 2, most), weight).results(
            jobs, threads
        )
        return
    if held:
        worker = make_worker()
    while held:
        alone: _Slot[Job, Result] = _Slot(held.pop(0))
        assert alone.job is not None
        alone.result = doing.result(worker, alone)
        yield alone.job, alone.result
        doing.ended(alone)
    if failed is not None:
        raise failed


class _ByThreads(Generic[Job, Result]):
    """Does the work of ``in_order`` by threads: one feeds those that work, the caller takes what
    they made."""

    def __init__(
        self,
        doing: _Doing[Job, Result],
        make_worker: Callable[[], Callable[[Job], Result]],
        room: _Room,
        weight: Callable[[Job], int],
    ) -> None:
        self._doing, self._make_worker = doing, make_worker
        self._room, self._weight = room, weight
        self._todo: queue.SimpleQueue[_Slot[Job, Result] | None] = queue.SimpleQueue()
        self._ordered: queue.SimpleQueue[_Slot[Job, Result]] = queue.SimpleQueue()
        # Made beforehand: where there is no memory to make it, that must not look like the end of
        # jobs.
        self._last: _Slot[Job, Result] = _Slot(None)
        # Where memory was refused to one, others may meet what it left half done, as an import.
        self._refused: list[MemoryError] = []
        self._stopped = threading.Event()

    def results(
        self, jobs: Iterator[Job], threads: int
    ) -> Generator[tuple[Job, Result], None, None]:
        """Each job with its result, in order."""
        try:
            # One feeds, and one that works is enough.
            helpers = Helpers([partial(self._feed, jobs, threads), *[self._work] * threads], 2)
            while (slot := helpers.awaited(self._ordered)) is not self._last:
                helpers.wait_for(slot.done)
                if slot.error is not None:
                    raise self._refused[0] if self._refused else slot.error
                assert slot.job is not None
                assert slot.result is not None
                yield slot.job, slot.result
                self._doing.ended(slot)
                done_with = self._weight(slot.job)
                del slot
                self._room.free(done_with)
            if self._last.error is not None:
                raise self._last.error
        finally:
            self._stopped.set()
            self._room.free(0)

    def _feed(self, jobs: Iterator[Job], threads: int) -> None:
        """Put jobs where those who work, and the caller, find them."""
        try:
            for job in jobs:
                self._room.wait(self._weight(job), self._stopped)
                if self._stopped.is_set():
                    break
                slot: _Slot[Job, Result] = _Slot(job)
                self._ordered.put(slot)
                self._todo.put(slot)
        except BaseException as error:
            self._last.error = error
        finally:
            self._ordered.put(self._last)
            for _ in range(threads):
                self._todo.put(None)

    def _work(self) -> None:
        """Do what there is to do, until there is no more."""
        worker: Callable[[Job], Result] | None = None
        while (slot := self._todo.get()) is not None:
            try:
                if not self._stopped.is_set():
                    worker = worker or self._make_worker()
                    slot.result = self._doing.result(worker, slot)
            except BaseException as error:
                slot.error = error
                if isinstance(error, MemoryError):
                    self._refused.append(error)
            finally:
                # What it made is its taker's: this thread may stand still here, or wait.
                done = slot.done
                del slot
                done.release()
        close = getattr(worker, "close", None)
        if close is not None:
            close()


def usable_cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1
