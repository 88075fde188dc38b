"""--sweep: which N, what is measured at each, and what a short budget leaves out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.bench.measuring.lab import Failed
from serialpack.bench.measuring.workbench import At, Held, Load
from serialpack.bench.results import Results, Row
from serialpack.bench.run import Bench, Question
from serialpack.bench.samples import SAMPLES
from serialpack.bench.schedules.fixed import FixedSchedule, spread
from serialpack.bench.schedules.sweep import MOST_POINTS, parse_sweep
from serialpack.errors import UsageError
from serialpack.values.kinds import KINDS
from tests.bench.found import PLENTY


def sweep(source: str | Path, points: Sequence[int], **question: Any) -> Results:
    """A real run, in a process of its own, with time for everything."""
    question = {"budget": PLENTY, "threads": [1], **question}
    return Bench(Question(str(source), sweep=points, **question)).run()


def at(results: Results) -> dict[tuple[str, int | None], Row]:
    return {(row.chain, row.n): row for row in results.rows}


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("100:500:100", [100, 200, 300, 400, 500]),
        ("100:450:100", [100, 200, 300, 400]),
        ("1:1:1", [1]),
        ("1K:3K:1K", [1024, 2048, 3072]),
        ("1_000:2_000:500", [1000, 1500, 2000]),
        ("100:100M:x10", [100, 1000, 10**4, 10**5, 10**6, 10**7, 10**8]),
        ("3:50:x2", [3, 6, 12, 24, 48]),
    ],
)
def test_parse(text: str, points: list[int]) -> None:
    assert parse_sweep(text) == points


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "1:2", "1:2:3:4", "1:2:", ":2:1", "a:2:1", "1:2:x", "1:2:xx2"),
        *("0:10:1", "1:10:0", "-1:10:1", "10:1:1", "1:10:x1", "1:10:x0", "1:10:٣", "1:9:0.5"),
        *("1:2:" + "9" * 5000, f"1:{MOST_POINTS + 1}:1"),
    ],
)
def test_no_sweep(text: str) -> None:
    """Said with two that are."""
    with pytest.raises(UsageError, match=re.escape("as in 100:10000:100, or A:B:xFACTOR")):
        parse_sweep(text)


@pytest.mark.parametrize("count", [1, 2, 7, 16, 17, 100, 1000])
def test_points_come_in_a_spread_order(count: int) -> None:
    """All of them, once; and after any number of them none of the gaps is large."""
    points = [*range(100, 100 + count)]
    order = spread(points)
    assert sorted(order) == points
    assert order[0] == points[0]
    half = sorted(order[: max(count // 2, 17)])
    assert half[-1] == points[-1]
    assert max((b - a for a, b in pairwise(half)), default=0) <= 1 + count // 8


def test_sweep_of_objects() -> None:
    """Sizes are those of what dumps gives, the times of serializer and calls are there."""
    found = sweep(
        "target-object",
        [1, 10, 200],
        is_sample=True,
        serializers=["pickle", "json"],
        codecs=["none", "zlib:6"],
    )
    chains = ["pickle:5+none", "pickle:5+zlib:6", "json+none", "json+zlib:6"]
    rows = at(found)
    assert set(rows) == {(chain, n) for chain in chains for n in (1, 10, 200)}
    for (chain, n), row in rows.items():
        assert n is not None
        value = SAMPLES["target-object"].make_value(n)
        assert (row.status, row.kept) == ("measured", "exact")
        assert row.size == len(serialpack.dumps(value, chain))
        assert row.pack_seconds is not None
        assert row.unpack_seconds is not None
        assert row.means is not None
        for step in ("serialize", "deserialize"):
            assert 0 < row.seconds[step] <= row.means[step]
        assert (row.seconds["compress"] > 0) == (row.codec != "none")
        assert 1 <= row.runs <= 50
        assert row.memory is None, "what is so small takes no memory that can be told"
    assert (found.mode, found.source, found.limit) == ("object", "target-object", None)
    assert found.size == len(SAMPLES["target-object"].make_file(200))
    assert found.recommendations == []


def test_memory_of_large_objects() -> None:
    """loads makes the message once more, at least."""
    (row,) = sweep(
        "messages", [3_000_000], is_sample=True, serializers=["msgpack"], codecs=["none"]
    ).rows
    if row.memory is None:
        pytest.skip("this system tells of no peak memory")
    assert 2_900_000 < row.memory < 30_000_000


def test_each_n_has_its_own_front_and_limit() -> None:
    found = sweep(
        "messages", [100, 5000], is_sample=True, serializers=["msgpack", "pickle"], codecs=["none"]
    )
    for n in (100, 5000):
        limit = SAMPLES["messages"].limit(n)
        assert limit is not None
        rows = [row for row in found.rows if row.n == n]
        assert any(row.front for row in rows)
        for row in rows:
            assert row.size is not None
            assert row.over_limit == pytest.approx(row.size / limit.size)


def test_refused_at_every_n() -> None:
    """By a row that says why; the others are there."""
    found = sweep(
        "messages", [100, 1000], is_sample=True, serializers=["json", "msgpack"], codecs=["none"]
    )
    rows = at(found)
    for n in (100, 1000):
        assert rows["json+none", n].status == "refused"
        assert KINDS["bytes"] in rows["json+none", n].why or "bytes" in rows["json+none", n].why
        assert rows["msgpack+none", n].status == "measured"


@pytest.mark.parametrize("name", ["messages", "target-object"])
def test_a_sample_of_sweeps_is_swept_unasked(name: str) -> None:
    """With no budget nothing is measured, and every row says so; an N of its own is no sweep."""
    found = Bench(Question(name, is_sample=True, budget=0)).run()
    sample = SAMPLES[name]
    assert {row.n for row in found.rows} == set(sample.table.sweep)
    assert {(row.status, row.why) for row in found.rows} == {("skipped", "the budget was used up")}
    single = Bench(Question(f"{name}:100", is_sample=True, budget=0)).run()
    assert {row.n for row in single.rows} == {None}


def test_fewer_runs_are_told() -> None:
    found = sweep(
        "messages", [1_000_000], is_sample=True, budget=0.02, serializers=["cbor"], codecs=["none"]
    )
    assert found.rows[0].runs < 50
    assert any(note.startswith("1 of 1 row was run fewer than 50 times") for note in found.notes)


RECORDS = [{"id": n, "text": f"record {n}" * 3} for n in range(50)]


def test_sweep_of_lines(tmp_path: Path) -> None:
    """The first records, no more than there are, which is said."""
    lines = [json.dumps(record).encode() + b"\n" for record in RECORDS]
    file = tmp_path / "a.ndjson"
    file.write_bytes(b"".join(lines))
    found = sweep(
        file, [1, 10, 50, 51, 900], serializers=["raw", "msgpack"], codecs=["none", "zlib:6"]
    )
    rows = at(found)
    chains = ["raw+none", "raw+zlib:6", "msgpack+none", "msgpack+zlib:6"]
    assert set(rows) == {(chain, n) for chain in chains for n in (1, 10, 50)}
    assert "the file has 50 records: no more of them were measured" in found.notes
    for n in (1, 10, 50):
        row = rows["raw+none", n]
        assert row.size is not None
        assert row.overhead is not None
        assert row.size - row.overhead == len(b"".join(lines[:n]))
        assert row.ratio is not None
        assert row.ratio * row.size == pytest.approx(len(b"".join(lines[:n])))
        assert rows["msgpack+zlib:6", n].kept == "exact"
    assert found.size == file.stat().st_size


def test_sweep_of_an_array(tmp_path: Path) -> None:
    """The elements are the records; what is measured is an array again."""
    file = tmp_path / "a.json"
    file.write_text(json.dumps(RECORDS), "utf-8")
    rows = at(sweep(file, [2, 20], serializers=["raw", "json"], codecs=["none"]))
    for n in (2, 20):
        row = rows["raw+none", n]
        assert row.size is not None
        assert row.overhead is not None
        assert row.size - row.overhead == len(json.dumps(RECORDS[:n]))
        assert rows["json+none", n].status == "measured"


def test_default_stages_of_a_file(tmp_path: Path) -> None:
    """Few, so that there is time for each; those that take values out only where there are some."""
    file = tmp_path / "a.ndjson"
    file.write_bytes(b'{"a": 1}\n' * 30)
    chains = {row.chain for row in sweep(file, [10, 20]).rows}
    assert chains == {f"{name}+zstd:3" for name in ("raw", "json", "msgpack", "pickle:5")}
    samples = sweep("field3d", [4, 8], is_sample=True)
    assert {(row.chain, row.n) for row in samples.rows} == {("raw+zstd:3", 4), ("raw+zstd:3", 8)}


def test_more_than_the_file_has(tmp_path: Path) -> None:
    """Where no N is left, all of it is measured."""
    file = tmp_path / "a.ndjson"
    file.write_bytes(b'{"a": 1}\n' * 7)
    found = sweep(file, [100, 200], serializers=["raw"], codecs=["none"])
    assert [row.n for row in found.rows] == [7]


def test_records_that_are_more_than_is_held(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson"
    file.write_bytes(b'{"a": 1}\n' * 1000)
    found = sweep(file, [10, 1000], serializers=["raw"], codecs=["none"], most_held=500)
    rows = at(found)
    assert rows["raw+none", 10].status == "measured"
    assert rows["raw+none", 1000].status == "refused"
    assert rows["raw+none", 1000].why.startswith("1,000 records are more than the 500 B")


def test_no_records_no_sweep(tmp_path: Path) -> None:
    file = tmp_path / "noise"
    file.write_bytes(bytes(range(256)) * 9)
    with pytest.raises(UsageError, match=r"records of this source \(bytes\) cannot be told apart"):
        sweep(file, [1, 2])


def test_no_sweep_through_files(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson"
    file.write_bytes(b"1\n2\n")
    with pytest.raises(UsageError, match="a sweep is measured in memory"):
        sweep(file, [1], through="disk")


class Slow:
    """A laboratory in which whatever is measured with 10 or more does not end."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def ask(self, job: At, _: float) -> Held:
        if isinstance(job.job, Load):
            return Held(job.n, job.n)
        self.asked.append(job.n)
        raise Failed("did not end within 1 s")

    def close(self) -> None:
        pass


def test_a_chain_that_came_to_nothing_is_not_tried_with_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench(
        Question(
            "target-object",
            is_sample=True,
            sweep=[10, 20, 30],
            serializers=["json"],
            codecs=["none"],
        )
    )
    lab = Slow()
    assert isinstance(bench._schedule, FixedSchedule)
    monkeypatch.setattr(bench._schedule, "_lab", lab)
    rows = at(bench.run())
    assert lab.asked == [10]
    assert rows["json+none", 10].status == "failed"
    for n in (20, 30):
        assert rows["json+none", n].status == "skipped"
        assert rows["json+none", n].why == "it came to nothing with n = 10"
