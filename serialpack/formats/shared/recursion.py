"""Room for libraries that call themselves for every level of a value, more than once.

Python stops them at 1000 calls within each other, which is less than MAX_DEPTH levels take. Calls
from Python to Python take no room on the stack of the processor, so more of them do no harm; those
of pickle's C code for so many levels fit in 512 KiB of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from serialpack.depth import MAX_DEPTH

_lock = Lock()
_held = 0
_usual = 0


@contextmanager
def frames_for(each: int) -> Iterator[None]:
    """For the time being, in all threads, as many calls more as MAX_DEPTH levels take.

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
