"""Seconds, waiting and bytes of each stage of each file; ``--stats`` says them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple

from serialpack.cli.words import note
from serialpack.pipeline.timing import TimeSpan, add_seconds, recorded
from serialpack.text import aligned, number_of
from serialpack.units import format_size


class FileTimes(NamedTuple):
    """Where the time went with one file.

    ``seconds`` of each stage, added up over threads, ``sizes`` in bytes where known; ``spans``: who
    did what when, and the seconds that passed (``wall``). A file that was done ahead, beside
    others, has neither.
    """

    name: str
    seconds: dict[str, float]
    sizes: dict[str, int]
    spans: list[TimeSpan]
    wall: float | None


class StageTimes:
    """Where the time goes, file by file; ``prints``: it is said at once, too."""

    def __init__(self, *, prints: bool) -> None:
        self.files: list[FileTimes] = []
        self._prints = prints
        self._since = perf_counter()
        self._measured: tuple[list[TimeSpan], float | None] = [], None

    @contextmanager
    def measured(self) -> Iterator[None]:
        """A file is worked on, which ``add`` is told of next."""
        since = perf_counter()
        with recorded() as spans:
            yield
        self._measured = spans, perf_counter() - since

    def add(self, name: str, seconds: dict[str, float], sizes: dict[str, int]) -> None:
        """A file is done."""
        times = FileTimes(name, seconds, sizes, *self._measured)
        self._measured = [], None
        self.files.append(times)
        if self._prints:
            for line in lines_of(times):
                note(line)

    def sum_up(self) -> None:
        """All files are done: say what of several is the sum, over all who worked on them."""
        if not self._prints or len(self.files) < 2:
            return
        seconds: dict[str, float] = {}
        sizes: Counter[str] = Counter()
        for each in self.files:
            add_seconds(seconds, each.seconds)
            sizes.update(each.sizes)
        wall = perf_counter() - self._since
        note(f"all {number_of(len(self.files), 'file')}:")
        for line in lines_of(FileTimes("", seconds, sizes, [], wall)):
            note(line)


class Lane(NamedTuple):
    """What a thread did. ``role``: ``read``, ``work`` or ``write``."""

    role: str
    spans: list[TimeSpan]

    @property
    def busy(self) -> float:
        """Seconds that it did not wait."""
        return sum(span.end - span.start - span.stages.get("wait", 0.0) for span in self.spans)


def lanes_of(spans: list[TimeSpan]) -> list[Lane]:
    """The threads in the order of a block's way. Reading is one lane, whoever does it, and so is
    writing; where one thread does all, each part of it is a lane."""
    found: dict[tuple[str, int], list[TimeSpan]] = {}
    for span in spans:
        role = "read" if "read" in span.stages else "write" if "write" in span.stages else "work"
        found.setdefault((role, span.thread if role == "work" else 0), []).append(span)
    order = ("read", "work", "write")
    ordered = sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[1][0].start))
    return [Lane(role, spans) for (role, _), spans in ordered]


def waiting_of(times: FileTimes) -> dict[str, float]:
    """Seconds that those waited who read, work (all of them together) and write."""
    if not times.spans:
        return {"write": times.seconds.get("wait", 0.0)}
    start = min(span.start for span in times.spans)
    wall = max(span.end for span in times.spans) - start
    threads = {span.thread for span in times.spans}
    lanes = lanes_of(times.spans)
    waited = dict.fromkeys((lane.role for lane in lanes), 0.0)
    for lane in lanes:
        waited[lane.role] += wall - lane.busy
    if len(threads) == 1:  # one thread does all: nobody waits for another
        return dict.fromkeys(waited, 0.0)
    return waited


def lines_of(times: FileTimes) -> list[str]:
    """The lines for ``--stats``."""
    waited = waiting_of(times)
    stages = {stage: spent for stage, spent in times.seconds.items() if stage != "wait"}
    rows = [
        _row(stage, spent, waited.get(stage), times.sizes.get(stage))
        for stage, spent in stages.items()
    ]
    workers = sum(lane.role == "work" for lane in lanes_of(times.spans))
    if workers:
        work = sum(spent for stage, spent in stages.items() if stage not in ("read", "write"))
        rows.append(_row(number_of(workers, "worker"), work, waited["work"]))
    rows.append(_row("total", sum(stages.values()), sum(waited.values())))
    if times.wall is not None:
        rows.append(_row("wall", times.wall, None, times.sizes.get("read")))
    heads = ["stage", "seconds", "waiting", "bytes", "MB/s"]
    return [f"  {line}" for line in aligned([heads, *rows], (1, 2, 3, 4))]


def _row(name: str, spent: float, waited: float | None, size: int | None = None) -> list[str]:
    return [
        name,
        f"{spent:.3f}",
        "" if waited is None else f"{waited:.3f}",
        format_size(size) if size else "",
        f"{size / spent / 1e6:,.0f}" if size and spent > 1e-6 else "",
    ]
