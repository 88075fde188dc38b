"""The process that measures: what goes wrong there is a row, and nothing of it is left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from serialpack.bench.material import LOOK, WHOLE, Material, Subject
from serialpack.bench.measuring import lab as lab_module
from serialpack.bench.measuring import trials
from serialpack.bench.measuring.lab import Failed, Lab
from serialpack.bench.measuring.trials import Care, Figures, repeat
from serialpack.bench.measuring.workbench import Held, Load, Trial
from serialpack.bench.results import Results, Row
from serialpack.bench.run import Bench, Question
from serialpack.errors import FileError, ValueRefusedError
from tests.bench.found import PLENTY

pytestmark = pytest.mark.usefixtures("planted", "nothing_left")

BLOCK = 4 << 20


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A JSON array of 3,000 records, of which one has a note."""
    path = tmp_path / "records.json"
    rows = [
        {"id": n, "name": f"name {n}", "note": "seven" if n == 7 else None} for n in range(3000)
    ]
    path.write_text(json.dumps(rows))
    return path


@pytest.fixture
def lab(records: Path) -> Iterator[Lab]:
    with closing(Lab(Subject(str(records), format="json"))) as lab:
        yield lab


def by_serializer(results: Results) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in results.rows:
        found.setdefault(row.serializer, []).append(row)
    return found


def whole(chain: str, threads: int = 1) -> Trial:
    return Trial(chain, threads, WHOLE, BLOCK)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("aborting", "crashed (signal 6)"),
        ("crashing", "crashed (signal 11)"),
        ("failing", "failed (KeyError: 'no such luck')"),
    ],
)
def test_what_crashes_fails_alone(lab: Lab, name: str, why: str) -> None:
    with pytest.raises(Failed) as failed:
        lab.ask(whole(f"{name}+none"), 60)
    assert str(failed.value) == why
    found: Figures = lab.ask(whole("json+none"), 60)
    assert found.kept == "exact"


def test_a_look_at_one_large_record_is_no_measurement_of_all(tmp_path: Path) -> None:
    """Bytes are sampled as of any file; values, which cannot be, in the blocks of ``pack``."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"all": [f"name {n * n}" for n in range(30_000)], "end": 1}))
    size = path.stat().st_size
    with closing(Lab(Subject(str(path), format="json"))) as lab:
        look: Figures = lab.ask(Trial("raw+xz:6", 2, LOOK, BLOCK), 60)
        assert look.source <= 2 * LOOK < size
        for chain in ("json+xz:6", "raw+xz:6"):
            all_of_it: Figures = lab.ask(whole(chain, threads=2), 60)
            found: Figures = lab.ask(Trial(chain, 2, LOOK, BLOCK), 60)
            assert (found.source < size) or found.size == all_of_it.size


def test_what_hangs_is_ended(lab: Lab) -> None:
    lab.ask(whole("json+none"), 60)
    with pytest.raises(Failed, match=r"did not end within 0\.5 s"):
        lab.ask(whole("hanging+none"), 0.5)
    assert lab.ask(Load(), 60).size


def test_what_hangs_in_a_process_of_the_process_is_ended(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As large sources are worked on: the fixture sees that no process stays behind."""
    monkeypatch.setenv("PLANTED_PROCESSES", "1")
    with closing(Lab(Subject(str(records), format="json"))) as lab:
        trial = Trial("hanging+none", 2, WHOLE, 20_000)
        with pytest.raises(Failed, match="did not end within 3 s"):
            lab.ask(trial, 3)
        assert lab.ask(trial._replace(chain="json+none"), 60).kept == "exact"


def test_what_takes_all_memory_is_stopped(records: Path) -> None:
    with closing(Lab(Subject(str(records), format="json"), memory=512 << 20)) as lab:
        with pytest.raises(Failed, match="ran out of memory"):
            lab.ask(whole("greedy+none"), 60)
        assert lab.ask(whole("json+none"), 60).kept == "exact"


def test_what_loses_a_value_is_refused_with_its_place(lab: Lab) -> None:
    with pytest.raises(ValueRefusedError) as refused:
        lab.ask(whole("lossy+none"), 60)
    assert refused.value.record == 7
    assert refused.value.value_path == "$.note"
    assert "lossy cannot hold" in str(refused.value)


def test_every_failure_is_a_row_beside_the_others(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_module, "available", lambda: 640 << 20)
    bad = ["aborting", "crashing", "greedy", "hanging", "lossy", "failing"]
    good = ["raw", "json", "msgpack"]
    question = Question(
        str(records), serializers=[*bad, *good], codecs=["zstd:3", "lz4:0"], budget=40, threads=[1]
    )
    rows = by_serializer(Bench(question).run())
    why = {name: rows[name][-1].why for name in bad}
    assert why["aborting"] == "crashed (signal 6)"
    assert why["crashing"] == "crashed (signal 11)"
    assert why["greedy"] == "ran out of memory"
    assert why["hanging"].startswith("did not end within")
    assert why["failing"].startswith("failed (KeyError")
    assert "$.note" in why["lossy"]
    assert "record 7" in why["lossy"]
    for name in bad:
        assert {row.status for row in rows[name]} == {"refused" if name == "lossy" else "failed"}
    assert all(row.size is None for name in bad for row in rows[name])
    for name in good:
        assert {row.codec for row in rows[name]} >= {"zstd:3", "lz4:0"}
        assert all(row.status == "measured" for row in rows[name])


def test_a_codec_that_crashes_does_not_take_its_serializer_along(records: Path) -> None:
    """Not even where it is the first that is tried."""
    question = Question(
        str(records),
        serializers=["raw", "json"],
        codecs=["abortingcodec", "zlib:6"],
        budget=PLENTY,
        threads=[1],
    )
    rows = {row.chain: row for row in Bench(question).run().rows}
    for name in ("raw", "json"):
        assert rows[f"{name}+abortingcodec"].why == "crashed (signal 6)"
        assert rows[f"{name}+zlib:6"].status == "measured"


def test_what_fails_on_the_whole_only_is_a_failed_row(tmp_path: Path) -> None:
    path = tmp_path / "large.ndjson"
    path.write_bytes(b"".join(b'{"id":%d,"text":"%x"}\n' % (n, n * n * n) for n in range(80_000)))
    question = Question(
        str(path), serializers=["raw", "latecrash", "json"], codecs=["zstd:3"], budget=PLENTY
    )
    rows = {row.chain: row for row in Bench(question).run().rows}
    assert rows["latecrash+zstd:3"].status == "failed"
    assert rows["latecrash+zstd:3"].why == "crashed (signal 6)"
    assert rows["latecrash+zstd:3"].size is None
    assert rows["json+zstd:3"].status == "measured"


def test_what_does_not_end_on_the_whole_keeps_what_its_sample_told(tmp_path: Path) -> None:
    path = tmp_path / "large.ndjson"
    path.write_bytes(b"".join(b'{"id":%d,"text":"%x"}\n' % (n, n * n * n) for n in range(90_000)))
    question = Question(str(path), serializers=["latehang"], codecs=["none"], budget=4)
    rows = {row.chain: row for row in Bench(question).run().rows}
    row = rows["latehang+none"]
    assert row.status == "sampled"
    assert row.size is not None


def test_a_source_that_has_gone_is_an_error_with_its_name(records: Path) -> None:
    bench = Bench(Question(str(records), budget=PLENTY))
    records.unlink()
    with pytest.raises(FileError, match="cannot read: no such file") as failed:
        bench.run()
    assert failed.value.path == str(records)


def test_a_source_that_takes_too_much_memory_is_an_error_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(200 << 20)
    monkeypatch.setattr(lab_module, "available", lambda: 100 << 20)
    with pytest.raises(FileError, match="reading it ran out of memory") as failed:
        Bench(Question(str(path), budget=PLENTY)).run()
    assert failed.value.path == str(path)


def test_load_tells_how_much_is_held(records: Path) -> None:
    with closing(Lab(Subject(str(records), format="json", most_held=4000))) as lab:
        held: Held = lab.ask(Load(), 60)
    assert held == Held(records.stat().st_size, 1000, broken_off=True, auto="raw+zstd:3")


@pytest.mark.parametrize("kind", ["value", "records"])
def test_of_what_is_held_in_part_most_is_measured_in_one_block(tmp_path: Path, kind: str) -> None:
    """Of a single value, that nothing cuts, the few bytes before its list stood for all of it; and
    records were measured in blocks of a quarter of what was held, in which codecs find less."""
    records = [{"id": n, "name": f"name {n % 7}"} for n in range(9000)]
    path = tmp_path / "held.json"
    path.write_text(json.dumps({"type": "all", "list": records} if kind == "value" else records))
    material = Material(Subject(str(path), format="json", most_held=64 << 10))
    assert material.broken_off
    (block,) = material.blocks(WHOLE, BLOCK, 2, for_values=False)
    assert len(block.data) >= 0.8 * len(material.data)
    assert material.data.startswith(bytes(block.data))


def test_the_steps_are_those_of_the_run_that_is_fastest_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So they add up to its time, though one of them may be more than its mean."""
    runs = [{"serialize": 2.0, "prove": 8.0}, {"serialize": 5.0, "prove": 1.0}]
    clock = iter([0.0, 10.0, 10.0, 16.0])
    monkeypatch.setattr(trials, "perf_counter", lambda: next(clock))
    left = iter(runs)
    care = Care(least=2, seconds=0.0, memory=False)
    _, timing = repeat(lambda _: (None, next(left)), lambda _: 0, care)
    assert (timing.wall, timing.mean) == (6.0, 8.0)
    assert timing.steps == runs[1]
    assert timing.means == {"serialize": 3.5, "prove": 4.5}
