"""Room for libraries that call themselves for every level of a value, more than once.

Python stops them at 1000 calls within each other, which is less than MAX_DEPTH levels take. Calls
from Python to Python take no room on the stack of the processor, so more of them do no harm; those
of pickle's C code for so many levels fit in 512 KiB of it. What takes more for a level goes on with
a stack of its own (``with_room``), whatever that of the thread is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, Thread, stack_size
from typing import TypeVar

from serialpack.depth import MAX_DEPTH, TooDeep

T = TypeVar("T")

#: So many levels at which C code calls Python and that calls C again fit in 256 KiB: each takes 3
#: KiB of the stack.
_SOME = 40
#: Bytes of a stack that holds MAX_DEPTH of such levels, twice over.
_LARGE = 4 << 20

_lock = Lock()
_held = 0
_usual = 0


@contextmanager
def frames_for(each: int) -> Iterator[None]:
    """For the time being allow, in all threads, so many calls more as MAX_DEPTH levels take.

    ``each``: how many calls one level takes.
    """
    global _held, _usual
    with _lock:
        if _held == 0:
            _usual = sys.getrecursionlimit()
        _held += 1
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _usual + each * (MAX_DEPTH + 10)))
    try:
        yield
    finally:
        with _lock:
            _held -= 1
            if _held == 0:
                sys.setrecursionlimit(_usual)


class NeedsRoom(Exception):
    """There are more levels than ``with_room`` allowed."""


def with_room(each: int, work: Callable[[int], T]) -> T:
    """What ``work(levels)`` returns or raises; ``levels``: the most that it may go down.

    It raises ``NeedsRoom`` where these are not enough, and is called once more, in a thread with
    more stack. ``each`` is that of ``frames_for``. TooDeep where there is no thread to be had.
    """
    with frames_for(each):
        try:
            return work(_SOME)
        except NeedsRoom:
            pass
        try:
            return in_a_thread(partial(work, MAX_DEPTH), _LARGE)
        except NeedsRoom:
            raise TooDeep from None


def in_a_thread(work: Callable[[], T], stack: int | None = None) -> T:
    """What ``work`` returns or raises, called in a thread, whose stack holds nobody else's calls.

    ``stack``: its bytes; None: as usual. TooDeep where there is no thread to be had.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run)
    try:
        if stack is None:
            thread.start()
        else:
            with _lock:
                before = stack_size(stack)
                try:
                    thread.start()
                finally:
                    stack_size(before)
    except RuntimeError:
        raise TooDeep from None
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
