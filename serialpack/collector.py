"""Pauses the garbage collector while many values are built: it would look at all of them again.

Values of a block are trees, so nothing is there for it to find; building them is two to four
times as fast without it.
"""

from __future__ import annotations

import gc
from threading import Lock

_lock = Lock()
_held = 0
_was_on = False


class _GcPaused:
    """A class, and no generator: small messages are done in less time than one of those takes."""

    def __enter__(self) -> None:
        global _held, _was_on
        with _lock:
            if _held == 0:
                _was_on = gc.isenabled()
                gc.disable()
            _held += 1

    def __exit__(self, *_: object) -> None:
        global _held
        with _lock:
            _held -= 1
            if _held == 0 and _was_on:
                gc.enable()


_paused = _GcPaused()


class _NotPaused:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


_not_paused = _NotPaused()

#: Fewer bytes hold fewer values than the collector waits for, or not many more.
FEW = 1 << 14


def gc_paused(size: int = FEW) -> _GcPaused | _NotPaused:
    """``with gc_paused():`` for the time being, in all threads, no cyclic garbage collection.

    ``size``: of the bytes that values are built of, where it is known: few are not worth it.
    """
    return _paused if size >= FEW else _not_paused
