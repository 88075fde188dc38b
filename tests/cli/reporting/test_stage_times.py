"""Who did what when: what is recorded, and what ``--stats`` and ``--profile`` make of it."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import NamedTuple

import serialpack
from serialpack.cli.reporting.profile import write_profile
from serialpack.cli.reporting.stage_times import FileTimes, lanes_of, lines_of, waiting_of
from serialpack.pipeline import timing
from serialpack.pipeline.timing import TimeSpan, recorded
from serialpack.pipeline.workers import in_order


def times_of(*spans: TimeSpan) -> FileTimes:
    seconds: dict[str, float] = {}
    for span in spans:
        timing.add_seconds(seconds, span.stages)
    return FileTimes("<a>", seconds, {"read": 3_000_000}, list(spans), 2.5)


#: One reads, two work, one writes; 2 seconds.
CREW = times_of(
    TimeSpan(1, 10.0, 10.5, {"read": 0.5}),
    TimeSpan(2, 10.5, 11.5, {"serialize": 0.75, "compress": 0.25}),
    TimeSpan(3, 10.5, 11.0, {"serialize": 0.5}),
    TimeSpan(4, 10.0, 12.0, {"wait": 1.5, "write": 0.5}),
)


def test_waiting_is_what_is_not_done() -> None:
    assert waiting_of(CREW) == {"read": 1.5, "work": 1.0 + 1.5, "write": 1.5}
    alone = times_of(
        TimeSpan(1, 0, 1, {"read": 1.0}), TimeSpan(1, 1, 4, {"wait": 2.0, "write": 1.0})
    )
    assert waiting_of(alone) == {"read": 0, "write": 0}
    assert waiting_of(alone._replace(spans=[])) == {"write": 2.0}


def test_stats_are_a_table() -> None:
    assert [line.split() for line in lines_of(CREW)] == [
        ["stage", "seconds", "waiting", "bytes", "MB/s"],
        ["read", "0.500", "1.500", "2.9", "MiB", "6"],
        ["serialize", "1.250"],
        ["compress", "0.250"],
        ["write", "0.500", "1.500"],
        ["2", "workers", "1.500", "2.500"],
        ["total", "2.500", "5.500"],
        ["wall", "2.500", "2.9", "MiB", "1"],
    ]


class Made(NamedTuple):
    seconds: dict[str, float]


def test_each_block_is_recorded_where_it_is_done() -> None:
    both = threading.Barrier(2)

    def work(_: int) -> Made:
        both.wait(60)
        return Made({"serialize": 0.0})

    with recorded() as spans:
        assert len(list(in_order(iter(range(6)), lambda: work, 2))) == 6
    assert [span.stages for span in spans] == [{"serialize": 0.0}] * 6
    assert len({span.thread for span in spans}) == 2
    assert all(span.start <= span.end for span in spans)


def test_a_packing_is_recorded_whole_and_only_when_asked() -> None:
    data = b'{"a": 1}\n' * 5000
    with recorded() as spans:
        report = serialpack.pack(io.BytesIO(data), io.BytesIO(), block_size=4096, threads=2)
    assert [lane.role for lane in lanes_of(spans)].count("read") == 1
    for stage in ("read", "serialize", "compress", "write"):
        told = sum(span.stages.get(stage, 0.0) for span in spans)
        assert abs(told - report.seconds[stage]) < 1e-6
    count = len(spans)
    serialpack.pack(io.BytesIO(data), io.BytesIO())
    assert len(spans) == count
    assert not timing.is_recording()


def test_a_page_of_many_blocks_stays_small(tmp_path: Path) -> None:
    spans = [TimeSpan(1, n / 1000, (n + 1) / 1000, {"read": 0.001}) for n in range(50_000)]
    path = tmp_path / "p.html"
    write_profile(str(path), [times_of(*spans)], force=False, taken=set())
    assert path.stat().st_size < 500_000
    assert "&lt;a&gt;" in path.read_text()
