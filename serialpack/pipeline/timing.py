"""Where the time goes: seconds per stage, for ``--stats``."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import TypeVar

Item = TypeVar("Item")


class Timer:
    """Seconds spent in each stage, added up."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()

    def lap(self, stage: str) -> None:
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def add_seconds(total: dict[str, float], more: dict[str, float]) -> None:
    """Add ``more`` to ``total``, stage by stage."""
    for stage, seconds in more.items():
        total[stage] = total.get(stage, 0.0) + seconds


def turns(items: Iterator[Item], total: dict[str, float]) -> Iterator[Item]:
    """``items``, with the time until each comes added to ``total["wait"]``, and that until the next
    is asked for to ``total["write"]``."""
    since = perf_counter()
    for item in items:
        waited = perf_counter()
        yield item
        since, before = perf_counter(), since
        add_seconds(total, {"wait": waited - before, "write": since - waited})


def timed(items: Iterator[Item], total: dict[str, float], stage: str) -> Iterator[Item]:
    """``items``, with the time they take to come added to ``total[stage]``."""
    while True:
        since = perf_counter()
        try:
            item = next(items)
        except StopIteration:
            return
        finally:
            add_seconds(total, {stage: perf_counter() - since})
        yield item
