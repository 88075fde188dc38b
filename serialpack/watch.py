"""How far the work inside of a block is, for whoever looks on: a bar on a terminal.

Whoever looks on works in ``with watch.looking()``. The pipeline begins and ends jobs on that watch;
who works on a job says ``at(share)`` wherever it knows. Where nobody looks on, ``at`` costs next to
nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import TypeVar

Item = TypeVar("Item")

#: No more than this share of a job is taken to be done because others took no longer.
_FORESEEN = 0.9

#: Is told the share of a job that is done, from 0 to 1.
Tell = Callable[[float], object]


class _Here(threading.local):
    """What this thread has: a watch that looks on, and who is told of the job it works on."""

    watch: Watch | None = None
    tell: Tell | None = None


_here = _Here()


class Job:
    """A job that is worked on: its size in bytes, and the share of it that is done."""

    __slots__ = ("share", "since", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.share = 0.0
        self.since = monotonic()

    def tell(self, share: float) -> None:
        """Note that ``share`` of it is done."""
        self.share = share


class Watch:
    """The jobs that were begun, in all threads, and how far they are.

    ``total``: how many bytes there will be, all jobs together, as far as that is known by now.
    """

    def __init__(self) -> None:
        self._jobs: dict[Job, None] = {}
        #: Bytes a second of the jobs that are done, each for itself: what one step of one does
        #: that tells nothing (a single call of a codec's library) is taken to be as fast.
        self._size, self._seconds = 0, 0.0
        self._ended = 0
        self.total: Callable[[], int | None] = lambda: None

    def begin(self, size: int) -> Job:
        """Note that a job of ``size`` bytes is worked on from now on."""
        job = Job(size)
        self._jobs[job] = None
        return job

    def done(self, job: Job) -> None:
        """Note that all of a job is done, but for writing what came of it."""
        job.share = 1.0
        self._size += job.size
        self._seconds += monotonic() - job.since

    def end(self, job: Job) -> None:
        """Note that what came of a job is written."""
        if self._jobs.pop(job, job) is None:
            self._ended += job.size

    def far(self) -> tuple[int, int]:
        """How many bytes of the jobs are done, and how many are still worked on. Any thread may
        ask."""
        jobs, now = list(self._jobs), monotonic()
        speed = self._size / self._seconds if self._seconds else 0.0
        done = 0.0
        for job in jobs:
            foreseen = min(speed * (now - job.since), _FORESEEN * job.size)
            done += max(job.size * job.share, foreseen)
        return self._ended + int(done), sum(job.size for job in jobs) - int(done)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look on what this thread begins meanwhile."""
        before, _here.watch = _here.watch, self
        try:
            yield
        finally:
            _here.watch = before


def watching() -> Watch | None:
    """The watch that looks on what this thread begins."""
    return _here.watch


def expect(total: Callable[[], int | None]) -> None:
    """Let the watch know how many bytes there will be; asked for only when somebody is shown it."""
    if _here.watch is not None:
        _here.watch.total = total


def telling() -> bool:
    """Whether anybody is told of what this thread works on."""
    return _here.tell is not None


@contextmanager
def told(tell: Tell | None) -> Iterator[None]:
    """Have ``tell`` told how far this thread is; None: whoever is told already."""
    before = _here.tell
    _here.tell = tell or before
    try:
        yield
    finally:
        _here.tell = before


def at(share: float) -> None:
    """Tell that this thread's job, or its part of it, is done to this share."""
    if _here.tell is not None:
        _here.tell(share)


_NOBODY: AbstractContextManager[None] = nullcontext()


def within(start: float, stop: float) -> AbstractContextManager[None]:
    """Have the shares from 0 to 1 that are told within stand for ``start`` to ``stop``."""
    tell = _here.tell
    return _NOBODY if tell is None else _part(tell, start, stop)


@contextmanager
def _part(tell: Tell, start: float, stop: float) -> Iterator[None]:
    with told(lambda share: tell(start + share * (stop - start))):
        yield
    tell(stop)


def told_of(items: Sequence[Item], size: Callable[[Item], int]) -> Generator[Item, None, None]:
    """``items``, with the share of their sizes told as each is done."""
    if _here.tell is None:
        yield from items
        return
    sizes = [size(item) for item in items]
    total, done = sum(sizes) or 1, 0
    for item, more in zip(items, sizes, strict=True):
        yield item
        done += more
        at(done / total)
