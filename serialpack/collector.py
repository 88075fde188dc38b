"""Pauses the garbage collector while many values are built: it would look at all of them again.

Values of a block are trees, so nothing is there for it to find; building them is two to four
times as fast without it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_held = 0
_was_on = False


@contextmanager
def gc_paused() -> Iterator[None]:
    """For the time being, in all threads, no cyclic garbage collection."""
    global _held, _was_on
    with _lock:
        if _held == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _held += 1
    try:
        yield
    finally:
        with _lock:
            _held -= 1
            if _held == 0 and _was_on:
                gc.enable()
