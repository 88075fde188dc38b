"""Threads that others wait for, and that may be refused the memory for their first step."""

from __future__ import annotations

import _thread
import queue
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

Item = TypeVar("Item")
Job = TypeVar("Job")
Result = TypeVar("Result")

#: Seconds after which one who waits for a thread looks whether it is still there.
_GLANCE = 1.0


class _Alive:
    """What a thread holds while it runs."""

    __slots__ = ("__weakref__",)


class Helpers:
    """Threads, and waiting for what they do, which ends where one of them never ran.

    As many of ``targets`` have one as the system starts; MemoryError where that is not ``least``.

    Not ``threading.Thread``, whose ``start`` waits for ever for a thread that was refused the
    memory for its first step. Such a one runs none of our code, but lets go of its arguments.
    """

    def __init__(self, targets: Iterable[Callable[[], object]], least: int) -> None:
        self._ended: list[_Alive] = []
        self._alive: list[weakref.ref[_Alive]] = []
        for target in targets:
            alive = _Alive()
            try:
                _thread.start_new_thread(self._run, (target, alive))
            except RuntimeError as error:
                if len(self._alive) < least:
                    raise MemoryError(str(error)) from None
                return
            self._alive.append(weakref.ref(alive))
            del alive

    def _run(self, target: Callable[[], object], alive: _Alive) -> None:
        target()
        self._ended.append(alive)

    def wait_for(self, lock: threading.Lock) -> None:
        """Acquire ``lock``; MemoryError where a thread is gone that may have been to release it."""
        while not lock.acquire(timeout=_GLANCE):
            self._look()

    def awaited(self, items: queue.SimpleQueue[Item]) -> Item:
        """The next of ``items``; MemoryError where a thread is gone that may have been to put it
        there."""
        while True:
            try:
                return items.get(timeout=_GLANCE)
            except queue.Empty:
                self._look()

    def _look(self) -> None:
        if any(alive() is None for alive in self._alive):
            raise MemoryError("a thread of work was refused memory")


class _Task(Generic[Job, Result]):
    """A job, and what came of it once ``done`` can be had."""

    __slots__ = ("done", "error", "job", "result")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.result: list[Result] = []
        self.error: BaseException | None = None
        self.done = _thread.allocate_lock()
        self.done.acquire()


def side_by_side(
    work: Callable[[Job], Result], jobs: Sequence[Job], threads: int
) -> Generator[Result, None, None]:
    """``work(job)`` of each job, in their order; an error comes in its job's place.

    Not ``concurrent.futures``, which waits as ``threading.Thread`` does. The caller works as well,
    and waits for a job only once somebody has begun it: where no thread starts, it does all.

    ``threads``: with the caller's. When it is closed nobody is at work any more, and what was not
    begun is left.
    """
    slots: list[_Task[Job, Result]] = [_Task(job) for job in jobs]
    todo = iter(slots)

    def do(slot: _Task[Job, Result]) -> None:
        try:
            slot.result.append(work(slot.job))
        except BaseException as error:
            slot.error = error
        finally:
            slot.done.release()

    def help_out() -> None:
        for slot in todo:
            do(slot)

    try:
        with suppress(RuntimeError, MemoryError):  # no thread, or no more of them
            for _ in range(min(threads, len(slots)) - 1):
                _thread.start_new_thread(help_out, ())
        for slot in slots:
            while slot.done.locked() and (other := next(todo, None)) is not None:
                do(other)
            with slot.done:
                if slot.error is not None:
                    raise slot.error
            yield slot.result.pop()
    finally:
        left = set(map(id, todo))
        for slot in slots:
            if id(slot) not in left:
                with slot.done:
                    pass
