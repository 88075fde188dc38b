"""Where the time goes: the seconds of each stage (``--stats``), and what each thread did when
(``--profile``)."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from time import perf_counter
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")


class TimeSpan(NamedTuple):
    """What a thread did from ``start`` to ``end`` (seconds of ``perf_counter``): its ``stages``, in
    this order, each with its seconds.

    If the stages take less than the whole span, the rest went into sending work to a process and
    back. In the stage ``wait`` the thread did nothing.
    """

    thread: int
    start: float
    end: float
    stages: dict[str, float]


#: The spans recorded so far; None where nobody asked for them.
_spans: list[TimeSpan] | None = None


@contextmanager
def recorded() -> Iterator[list[TimeSpan]]:
    """Record what all threads do while this is open: a span for each block that a thread reads,
    works on or writes. The yielded list gets the spans. Only one recording at a time.
    """
    global _spans
    spans: list[TimeSpan] = []
    _spans = spans
    try:
        yield spans
    finally:
        _spans = None


def is_recording() -> bool:
    """Whether spans are recorded."""
    return _spans is not None


def record(start: float, end: float, stages: dict[str, float]) -> None:
    """Record that this thread did ``stages`` from ``start`` to ``end``: see ``TimeSpan``."""
    if _spans is not None:
        _spans.append(TimeSpan(get_ident(), start, end, stages))


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
    """Yield ``items``. The time that each takes to come is added to ``total["wait"]``; the time
    that the caller takes before it asks for the next one, to ``total["write"]``."""
    since = perf_counter()
    for item in items:
        waited = perf_counter()
        yield item
        since, before = perf_counter(), since
        times = {"wait": waited - before, "write": since - waited}
        add_seconds(total, times)
        record(before, since, times)


def timed(items: Iterator[Item], total: dict[str, float], stage: str) -> Iterator[Item]:
    """Yield ``items``. The time that each takes to come is added to ``total[stage]``."""
    while True:
        since = perf_counter()
        try:
            item = next(items)
        except StopIteration:
            return
        finally:
            now = perf_counter()
            add_seconds(total, {stage: now - since})
            record(since, now, {stage: now - since})
        yield item
