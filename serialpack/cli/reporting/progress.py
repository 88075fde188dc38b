"""The bar on a terminal: drawn by a thread of its own, so that it never stands still."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import NamedTuple

from serialpack.cli.words import screen
from serialpack.text import number_of, printable, shortened, width_of
from serialpack.units import format_size
from serialpack.watch import Watch

#: What gives a frame: the share done (None: nobody knows), the share worked on, and words.
Frame = Callable[[], tuple[float | None, float, Sequence[str]]]

#: Seconds until a bar is drawn, and between two frames of it.
DELAY = 1.0
EVERY = 0.2

#: Cells of a bar.
LEAST, MOST = 10, 30

#: A name is shortened to no fewer cells; where there is room for less, it is left out.
_SHORT = 6

#: What time is left is told from this share on, and after so many seconds of work.
_TOLD_FROM, _TOLD_AFTER = 0.02, 2.0


class BarMarks(NamedTuple):
    """What the cells of a bar are: done, being worked on, the one of these that moves, to come."""

    done: str
    working: str
    moving: str
    left: str


FINE = BarMarks("█", "▒", "▓", " ")
PLAIN = BarMarks("#", "-", "=", " ")


class ProgressBar:
    """A bar, drawn only once the work has taken a second: ``with ProgressBar(...) as bar``.

    Call it with totals in bytes (read, written). ``counts_written``: these are what is told as
    done, else the bytes read. How many there will be in all, the work says (``Watch.total``).
    """

    def __init__(self, name: str, *, counts_written: bool = False) -> None:
        self._line = ProgressLine(name)
        self._counts_written = counts_written
        self._watch = Watch()
        self._looking = self._watch.looking()
        self._read = self._written = 0
        self._most = 0

    def __call__(self, read: int, written: int) -> None:
        self._read, self._written = read, written

    def __enter__(self) -> ProgressBar:
        self._looking.__enter__()
        self._line.start(self._frame)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._looking.__exit__(kind, error, trace)
        self._line.close()

    def _frame(self) -> tuple[float | None, float, Sequence[str]]:
        """The share that is done, the share that is worked on, and what is said of it."""
        done, begun = self._watch.far()
        # Nobody need tell of jobs, and no bar goes back.
        counted = self._written if self._counts_written else self._read
        done = self._most = max(self._most, counted, done)
        total = self._watch.total()
        done = min(done, total or done)
        said = [f"{format_size(done)} of {format_size(total)}" if total else format_size(done)]
        said.append(f"{format_size(int(done / max(self._line.elapsed, 1e-9)))}/s")
        if self._written and not self._counts_written:
            said.append(f"{format_size(self._written)} written")
        if not done:
            said = [f"{format_size(begun)} being worked on"] if begun else []
        if not total:
            return None, 0, said
        return done / total, begun / total, said


class FilesBar:
    """One bar over several files, of so many bytes each; drawn as ``ProgressBar`` is.

    Call it with totals in bytes (read, written) of a file, and ``next`` at its end. What is read
    beyond that is of the files behind it.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._line = ProgressLine("")
        self._sizes = sizes
        self._total = sum(sizes)
        self._files = self._bytes = self._read = 0

    def __call__(self, read: int, written: int) -> None:  # noqa: ARG002
        self._read = read

    def next(self) -> None:
        """A file is done."""
        size = self._sizes[self._files]
        self._bytes += size
        self._files += 1
        self._read = max(self._read - size, 0)

    def __enter__(self) -> FilesBar:
        self._line.start(self._frame)
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def _frame(self) -> tuple[float | None, float, Sequence[str]]:
        files, done = self._files, min(self._bytes + self._read, self._total)
        share = done / self._total if self._total else files / len(self._sizes)
        said = [
            f"{files:,} of {number_of(len(self._sizes), 'file')}",
            f"{format_size(done)} of {format_size(self._total)}",
            f"{format_size(int(done / max(self._line.elapsed, 1e-9)))}/s",
        ]
        return share, 0, said


class ProgressLine:
    """The line on standard error that a bar is drawn on, again and again."""

    def __init__(self, name: str) -> None:
        self._name = printable(name)
        self._since = monotonic()
        self._ended = threading.Event()
        self._shown = 0
        self._number = 0

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return monotonic() - self._since

    def start(self, frame: Frame) -> None:
        """Draw what ``frame`` gives from now on, in a thread; the first after a second."""

        def draw() -> None:
            wait = DELAY
            while not self._ended.wait(wait):
                wait = EVERY
                with suppress(OSError, ValueError), screen.lock:  # the terminal may be gone
                    if not self._ended.is_set():
                        self._draw(*frame())

        threading.Thread(target=draw, daemon=True).start()

    def close(self) -> None:
        """Take the bar away."""
        self._ended.set()
        # A terminal that is stopped holds whoever writes to it: it must not hold the end as well.
        if screen.lock.acquire(timeout=1):
            try:
                self._clear()
                screen.clear = lambda: None
            finally:
                screen.lock.release()

    def _draw(self, share: float | None, working: float, said: Sequence[str]) -> None:
        """Write the bar over the one before it. Arguments as a ``Frame`` gives them."""
        times = [clock(self.elapsed)]
        if share is not None and share >= _TOLD_FROM and self.elapsed >= _TOLD_AFTER:
            left = self.elapsed * (1 - share) / share
            times.append(f"about {clock(left)} left" if share < 1 else "finishing")
        text = line(
            self._name,
            share,
            working,
            [times[0], *said[:1], *times[1:], *said[1:]],
            width=_width() - 1,  # in the last column some terminals begin a new line
            number=self._number,
            marks=_marks(),
        )
        cells = width_of(text)
        sys.stderr.write("\r" + text + " " * (self._shown - cells))
        sys.stderr.flush()
        self._shown = cells
        self._number += 1
        screen.clear = self._clear

    def _clear(self) -> None:
        if self._shown:
            with suppress(OSError, ValueError):
                sys.stderr.write("\r" + " " * self._shown + "\r")
                sys.stderr.flush()
            self._shown = 0


def line(
    name: str,
    share: float | None,
    working: float,
    said: Sequence[str],
    *,
    width: int,
    number: int = 0,
    marks: BarMarks = PLAIN,
) -> str:
    """One frame in ``width`` cells: name, per cent, bar and as much of ``said`` as has room.

    ``said``: the most important first; the first is there even where the name is not. All of it
    stands there in whole words. ``share`` is None where nobody knows the total. ``number``: of the
    frame; what is worked on moves with it.
    """
    percent = "" if share is None else f"{min(int(100 * share), 99 if share < 1 else 100):3d}% "
    rest = f"| {said[0]}" if said else "|"
    room = width - width_of(percent) - len("|") - LEAST - width_of(rest)
    if room < 0:
        pieces = (f"{percent}{said[0] if said else ''}", percent.strip())
        return next((text for text in pieces if width_of(text) <= width), "")
    label = shortened(name, min(room - 1, max(room // 2, 12)))
    if width_of(label) < min(_SHORT, width_of(name)):
        label = ""
    room -= width_of(label) + 1 if label else 0
    for more in said[1:]:
        if width_of(more) + 2 > room:
            break
        rest += f", {more}"
        room -= width_of(more) + 2
    cells = bar(share, working, min(LEAST + room, MOST), number, marks)
    return f"{label}{' ' if label else ''}{percent}|{cells}{rest}"


def bar(share: float | None, working: float, cells: int, number: int, marks: BarMarks) -> str:
    """The cells of a bar. What is worked on has at least one of them, and moves."""
    if share is None:
        # To and fro.
        at = number % (2 * cells - 2)
        at = min(at, 2 * cells - 2 - at)
        return marks.left * at + marks.moving + marks.left * (cells - at - 1)
    done = min(int(share * cells), cells - 1 if share < 1 else cells)
    begun = min(max(round((share + working) * cells), done + 1), cells) - done
    at = number % max(begun, 2)
    shown = (marks.moving if cell == at else marks.working for cell in range(begun))
    return marks.done * done + "".join(shown) + marks.left * (cells - done - begun)


def clock(seconds: float) -> str:
    """``1:05``, ``2:03:09``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _width() -> int:
    """Columns of the terminal; ``COLUMNS`` says otherwise."""
    told = os.environ.get("COLUMNS", "")
    if told.isdigit() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _marks() -> BarMarks:
    try:
        "".join(FINE).encode(sys.stderr.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return PLAIN
    return FINE
