"""How much work something is, counted and not timed: lines of Python, and bytes gone over."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import serialpack

_HERE = str(Path(serialpack.__file__).parent)


class TooManyLinesError(BaseException):
    """More lines than there may be; nothing that is tested catches it."""


def lines_run(work: Callable[..., Any], *args: Any, most: int = sys.maxsize) -> int:
    """The lines of this package that ``work`` runs of ``args``; a loop's are counted each time.

    TooManyLinesError where they are more than ``most``, also of work that never ends.
    """
    count = 0

    def local(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        if count > most:
            raise TooManyLinesError
        return local

    def entered(frame: FrameType, _event: str, _arg: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(_HERE) else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        work(*args)
    finally:
        sys.settrace(before)
    return count


class Counted(bytearray):
    """Counts the bytes that are searched and copied in all of its kind."""

    seen = 0

    def _span(self, start: int | None, end: int | None) -> tuple[int, int]:
        return slice(start, end).indices(len(self))[:2]

    def find(self, sub: Any, start: Any = None, end: Any = None) -> int:
        found = super().find(sub, start, end)
        first, last = self._span(start, end)
        Counted.seen += (found if found >= 0 else last) - first
        return found

    def rfind(self, sub: Any, start: Any = None, end: Any = None) -> int:
        found = super().rfind(sub, start, end)
        first, last = self._span(start, end)
        Counted.seen += last - max(found, first)
        return found

    def count(self, sub: Any, start: Any = None, end: Any = None) -> int:
        first, last = self._span(start, end)
        Counted.seen += last - first
        return super().count(sub, start, end)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        Counted.seen += len(found) if isinstance(found, bytearray) else 1
        return found


class Unbearable(Exception):
    """It takes many hundred times what it should."""


@contextmanager
def bearable(seconds: int = 60) -> Iterator[None]:
    """Unbearable after so many seconds of the processor's time, for what takes a few hundredths."""

    def stop(_signal: int, _frame: Any) -> None:
        raise Unbearable

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
