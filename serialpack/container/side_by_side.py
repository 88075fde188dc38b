"""The same work on several jobs at once, by threads that need not be there.

Not ``concurrent.futures``, which waits for ever for a thread that was refused the memory for its
first step, nor the workers of the pipeline, which would have to be told: the caller works as well,
and waits for a job only once somebody has begun it. Where no thread starts, it does all of them.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


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
