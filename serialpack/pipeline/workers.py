"""Blocks through worker threads: read ahead, worked on in parallel, given back in order.

Three kinds of thread, all daemons, so that a read that hangs never keeps the process from
ending: one that takes jobs from an iterator, ``threads`` that work, and the caller's, which
writes the results and is the one that a signal interrupts.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from itertools import chain
from time import perf_counter
from typing import Any, Generic, TypeVar

from serialpack import watch
from serialpack.pipeline.timing import record
from serialpack.threads import Helpers

Job = TypeVar("Job")
Result = TypeVar("Result")


#: Up to so many bytes a single block is worked on in the caller's thread: even level 22 is done
#: with them in some tenths of a second.
INLINE = 256 << 10

#: The same where nothing is compressed: no single step takes longer for these.
INLINE_PLAIN = 8 << 20


#: Of several files, larger ones are worked on one by one, each by all threads; of so many of the
#: others, or bytes of them, several at a time.
LARGE = 4 << 20
MANY_FILES, MUCH = 1000, 16 << 20


#: Makes a worker, which does one job after another: a class and the plan that its instances are
#: told, as a ``partial``. It can be pickled, as can what its workers get and give.
MakeWorker = Callable[[], Callable[[Any], Any]]


class _Slot(Generic[Job, Result]):
    """A job on its way, and what came of it."""

    __slots__ = ("done", "error", "job", "result", "seen")

    def __init__(self, job: Job | None) -> None:
        self.job = job
        self.seen: watch.Job | None = None
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()


def in_order(
    jobs: Iterator[Job],
    make_worker: Callable[[], Callable[[Job], Result]],
    threads: int,
    *,
    inline: Callable[[Job], bool] = lambda _: True,
    size: Callable[[Job], int] | None = None,
    weight: Callable[[Job], int] = lambda _: 0,
    most: int = 0,
) -> Generator[tuple[Job, Result], None, None]:
    """Each job with its result, in the order of ``jobs``; an error comes in its job's place.

    At most ``threads`` + 2 jobs are held at once, and no more of them than have ``most`` bytes by
    their ``weight``, but one; the next one waits beside them. ``make_worker`` is called once in
    each thread. A single job is worked on right here where it is ``inline``: small, so that threads
    would only cost time. A large one is not, because a signal must wait for what its thread is
    doing.
    ``size``: a job's bytes, as whoever looks on counts them.
    """
    looks_on = watch.watching() if size is not None else None

    def done(worker: Callable[[Job], Result], slot: _Slot[Job, Result]) -> Result:
        since = perf_counter()
        result = watched(worker, slot)
        if (stages := getattr(result, "seconds", None)) is not None:
            record(since, perf_counter(), stages)
        return result

    def watched(worker: Callable[[Job], Result], slot: _Slot[Job, Result]) -> Result:
        assert slot.job is not None
        if looks_on is None or size is None:
            return worker(slot.job)
        slot.seen = looks_on.begin(size(slot.job))
        with watch.told(slot.seen.tell):
            result = worker(slot.job)
        looks_on.done(slot.seen)
        return result

    def ended(slot: _Slot[Job, Result]) -> None:
        if looks_on is not None and slot.seen is not None:
            looks_on.end(slot.seen)

    first = next(jobs, None)
    if first is None:
        return
    second: Job | None = None
    failed: Exception | None = None
    try:
        second = next(jobs, None)
    except Exception as error:  # which comes behind the first one's result
        failed = error
    if second is None and inline(first):
        alone: _Slot[Job, Result] = _Slot(first)
        alone.result = done(make_worker(), alone)
        yield first, alone.result
        ended(alone)
        if failed is not None:
            raise failed
        return

    todo: queue.SimpleQueue[_Slot[Job, Result] | None] = queue.SimpleQueue()
    ordered: queue.SimpleQueue[_Slot[Job, Result]] = queue.SimpleQueue()
    # Made beforehand: an end for want of memory must not look like the end of the jobs.
    last: _Slot[Job, Result] = _Slot(None)
    last.error = failed
    # Not a semaphore: a signal between two steps of Python would leave its lock locked for ever.
    # What is in it is the weight of what was there before.
    room: queue.SimpleQueue[int] = queue.SimpleQueue()
    for _ in range(threads + 2):
        room.put(0)
    # Where memory was refused to one, others may meet what it left half done, as an import.
    refused: list[MemoryError] = []
    stopped = threading.Event()

    def feed() -> None:
        held = 0
        try:
            for job in chain((first,) if second is None else (first, second), jobs):
                held += weight(job) - room.get()
                free = 0
                while held > most and held > weight(job) and not stopped.is_set():
                    held -= room.get()
                    free += 1
                for _ in range(free):
                    room.put(0)
                if stopped.is_set():
                    break
                slot: _Slot[Job, Result] = _Slot(job)
                ordered.put(slot)
                todo.put(slot)
        except BaseException as error:
            last.error = error
        finally:
            ordered.put(last)
            for _ in range(threads):
                todo.put(None)

    def work() -> None:
        worker: Callable[[Job], Result] | None = None
        while (slot := todo.get()) is not None:
            try:
                if not stopped.is_set():
                    worker = worker or make_worker()
                    slot.result = done(worker, slot)
            except BaseException as error:
                slot.error = error
                if isinstance(error, MemoryError):
                    refused.append(error)
            finally:
                slot.done.release()
        close = getattr(worker, "close", None)
        if close is not None:
            close()

    helpers = Helpers([feed, *[work] * threads])
    try:
        while (slot := helpers.awaited(ordered)) is not last:
            helpers.wait_for(slot.done)
            if slot.error is not None:
                raise refused[0] if refused else slot.error
            assert slot.job is not None
            assert slot.result is not None
            yield slot.job, slot.result
            ended(slot)
            done_with = weight(slot.job)
            del slot
            room.put(done_with)
        if last.error is not None:
            raise last.error
    finally:
        stopped.set()
        room.put(0)


def usable_cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1
