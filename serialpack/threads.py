"""Threads that others wait for, and that may be refused the memory for their first step."""

from __future__ import annotations

import _thread
import queue
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")

#: Seconds after which one who waits for a thread looks whether it is still there.
_GLANCE = 1.0


class _Alive:
    """What a thread holds while it runs."""

    __slots__ = ("__weakref__",)


class Helpers:
    """Threads that run, and whether all of them do or came to their own end.

    Not ``threading.Thread``, whose ``start`` waits for ever for a thread that was refused the
    memory for its first step. Such a one runs none of our code, but lets go of its arguments.
    """

    def __init__(self, targets: Iterable[Callable[[], object]]) -> None:
        self._ended: list[_Alive] = []
        self._alive: list[weakref.ref[_Alive]] = []
        for target in targets:
            alive = _Alive()
            self._alive.append(weakref.ref(alive))
            _thread.start_new_thread(self._run, (target, alive))
            del alive

    def _run(self, target: Callable[[], object], alive: _Alive) -> None:
        target()
        self._ended.append(alive)

    def wait_for(self, lock: threading.Lock) -> None:
        """Have ``lock``. MemoryError: who was to release it may be no more."""
        while not lock.acquire(timeout=_GLANCE):
            self._look()

    def awaited(self, items: queue.SimpleQueue[Item]) -> Item:
        """The next of ``items``. MemoryError: who was to put one there may be no more."""
        while True:
            try:
                return items.get(timeout=_GLANCE)
            except queue.Empty:
                self._look()

    def _look(self) -> None:
        if any(alive() is None for alive in self._alive):
            raise MemoryError("a thread of work was refused memory")
