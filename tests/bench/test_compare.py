"""What changed between two runs: what is told, and what is taken for noise."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from serialpack.bench.compare import (
    Change,
    Changes,
    changes_text,
    compare,
    load_results,
    noise,
    save_results,
)
from serialpack.bench.measuring.disk import HOW
from serialpack.bench.results import Results, Row
from serialpack.bench.run import Bench, Question
from serialpack.errors import FileError, InputError
from tests.bench.found import PLENTY, file_results, row, sweep_results, unknown


def results(*rows: Row, **changes: Any) -> Results:
    return file_results()._replace(rows=list(rows), **changes)


def changes(old: Row, new: Row) -> list[tuple[str, object, object, bool | None]]:
    found = compare(results(old), results(new)).changes
    return [(c.what, c.old, c.new, c.better) for c in found]


STEADY = row("raw+zstd:3", spread=0.01, pack_speed=100e6, unpack_speed=200e6, size=1000)


def test_the_same_is_the_same() -> None:
    found = compare(file_results(), file_results())
    assert found.changes == []
    assert found.differs == []
    assert found.same == found.rows > 30


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [(0.01, 0.02, 0.05), (0.01, 0.04, 0.08), (0.2, 0.0, 0.4), (None, 0.01, 0.1), (None, 0.2, 0.4)],
)
def test_noise_is_twice_the_larger_spread_and_at_least_5_percent(
    old: float | None, new: float | None, allowed: float
) -> None:
    one, other = STEADY._replace(spread=old), STEADY._replace(spread=new)
    assert noise(one, other) == noise(other, one) == pytest.approx(allowed)
    faster = other._replace(pack_speed=100e6 * (1 + allowed) * 1.001)
    assert changes(one, faster) == [("pack", 100e6, faster.pack_speed, True)]
    slower = other._replace(unpack_speed=200e6 / (1 + allowed) / 1.001)
    assert changes(one, slower) == [("unpack", 200e6, slower.unpack_speed, False)]
    within = other._replace(
        pack_speed=100e6 * (1 + allowed) / 1.001, unpack_speed=200e6 / (1 + allowed) * 1.001
    )
    assert changes(one, within) == []


def test_a_sampled_speed_is_noisier() -> None:
    sampled = STEADY._replace(status="sampled", spread=0.0)
    assert noise(STEADY, sampled) == pytest.approx(0.1)


def test_any_change_of_a_size_counts() -> None:
    assert changes(STEADY, STEADY._replace(size=1001)) == [("size", 1000, 1001, False)]
    assert changes(STEADY, STEADY._replace(size=999)) == [("size", 1000, 999, True)]


def test_a_sampled_size_is_an_estimate() -> None:
    sampled = STEADY._replace(status="sampled")
    assert changes(STEADY, sampled._replace(size=1040)) == []
    assert changes(STEADY, sampled._replace(size=1060)) == [("size", 1000, 1060, False)]


def test_sizes_of_different_sources_are_compared_by_ratio() -> None:
    old = results(STEADY._replace(ratio=4.0))
    larger = old.size * 2
    same = results(STEADY._replace(ratio=4.1, size=1951), size=larger)
    assert compare(old, same).changes == []
    worse = results(STEADY._replace(ratio=3.0, size=2667), size=larger)
    (change,) = compare(old, worse).changes
    assert (change.what, change.old, change.new, change.better) == ("ratio", 4.0, 3.0, False)


def test_exact_is_better_than_faithful() -> None:
    faithful = STEADY._replace(kept="faithful")
    assert changes(STEADY, faithful) == [("kept", "exact", "faithful", False)]
    assert changes(faithful, STEADY) == [("kept", "faithful", "exact", True)]


def test_rows_appear_vanish_and_change_their_status() -> None:
    failed = unknown("raw+zstd:3", "failed", "crashed (signal 11)")
    assert changes(STEADY, failed) == [("status", "measured", "failed", False)]
    assert changes(failed, STEADY) == [("status", "failed", "measured", True)]
    assert changes(failed, failed) == []
    assert changes(STEADY, row("raw+xz:6")) == [
        ("appeared", None, "measured", None),
        ("vanished", "measured", None, None),
    ]
    # Whole in one run and sampled in the other: the budget, not the row.
    assert changes(STEADY, STEADY._replace(status="sampled")) == []


def test_rows_are_told_apart_by_threads_n_and_block_size() -> None:
    rows = [
        STEADY._replace(threads=threads, n=n, block_size=size, size=1000 + threads)
        for threads in (1, 2)
        for n in (None, 10)
        for size in (1 << 20, 4 << 20)
    ]
    assert compare(results(*rows), results(*reversed(rows))).changes == []
    changed = [r._replace(size=5) if (r.threads, r.n) == (2, 10) else r for r in rows]
    found = compare(results(*rows), results(*changed)).changes
    assert [(c.threads, c.n, c.block_size) for c in found] == [(2, 10, 1 << 20), (2, 10, 4 << 20)]
    sweep = sweep_results()
    assert compare(sweep, sweep).same > 0


def test_what_differs_about_the_runs_is_said_first() -> None:
    old = results(STEADY)
    new = results(
        STEADY,
        source="other.json",
        size=old.size + 1,
        machine=old.machine._replace(cores=4, python="3.14.0"),
        budget=60.0,
        interrupted=True,
        through="cold-files",
    )
    found = compare(old, new)
    assert found.differs == [
        f"source: {old.source}, now other.json",
        f"size of the source: {old.size:,} bytes, now {new.size:,} bytes",
        f"measured: in memory, now {HOW['cold-files']}",
        "cores: 2, now 4",
        "python: 3.11.9, now 3.14.0",
        "budget: 20 s, now 60 s",
        "ended: as planned, now before its end",
    ]
    text = changes_text(found).splitlines()
    assert text[1:8] == [f"differs: {line}" for line in found.differs]


def test_a_little_less_memory_is_the_same_machine() -> None:
    old = results(STEADY)
    machine = old.machine._replace(memory=old.machine.memory - 4096)
    assert compare(old, results(STEADY, machine=machine)).differs == []


def test_the_text_has_what_changed_most_first() -> None:
    old = results(STEADY, STEADY._replace(chain="raw+lz4:0"), STEADY._replace(chain="raw+none"))
    new = results(
        STEADY._replace(pack_speed=50e6, size=1001),
        STEADY._replace(chain="raw+lz4:0", pack_speed=20e6, unpack_speed=400e6),
        STEADY._replace(chain="raw+none"),
        row("csv+none"),
    )
    lines = changes_text(compare(old, new)).splitlines()
    better, worse = lines.index("Better:"), lines.index("Worse:")
    assert [line.split() for line in lines[better + 1 : worse - 1]] == [
        ["raw+lz4:0", "unpack", "200", "MB/s", "400", "MB/s", "×2", "(noise", "5%)"]
    ]
    assert [line.split()[:2] for line in lines[worse + 1 : worse + 4]] == [
        ["raw+lz4:0", "pack"],
        ["raw+zstd:3", "pack"],
        ["raw+zstd:3", "size"],
    ]
    assert "+1" in lines[worse + 3]
    assert "only in the new run (measured): csv+none" in lines
    assert lines[-1].startswith("1 of 3 rows did not change. Noise: ")


def test_names_in_the_text_are_shown_as_they_are() -> None:
    found = compare(results(STEADY, source="a\x1b[31m"), results(STEADY, source="b\n"))
    assert "\x1b" not in changes_text(found)
    assert "\\x1b[31m" in changes_text(found)


def test_changes_are_values_of_json() -> None:
    old = file_results()
    new = old._replace(rows=[r._replace(size=r.size and r.size + 1) for r in old.rows[3:]])
    found: Changes = compare(old, new)
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert list(plain) == list(Changes._fields)
    assert {key for change in plain["changes"] for key in change} == {*Change._fields, "times"}
    assert {change["what"] for change in plain["changes"]} == {"size", "vanished"}


def test_what_was_saved_is_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    for found in (file_results(), sweep_results()):
        save_results(found, path, force=True)
        assert load_results(path) == found
        assert json.loads(path.read_text()) == found.to_json()
    assert stat.S_ISREG(path.stat().st_mode)


def test_real_results_are_loaded_again(tmp_path: Path) -> None:
    source = tmp_path / "lines.ndjson"
    source.write_bytes(b'{"a":null}\n' * 1000)
    question = Question(str(source), serializers=["raw", "toml"], codecs=["none"], budget=PLENTY)
    found = Bench(question).run()
    assert {"measured", "refused"} <= {r.status for r in found.rows}
    save_results(found, tmp_path / "results.json")
    again = load_results(tmp_path / "results.json")
    assert again == found
    assert compare(again, found).changes == []


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("mine")
    with pytest.raises(FileError, match="exists already"):
        save_results(file_results(), path)
    assert path.read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]


def broken(**changes: object) -> bytes:
    """Results of which a field is not what it should be."""
    plain = file_results().to_json()
    rows = changes.pop("row", None)
    if isinstance(rows, dict):
        plain["rows"][0] |= rows
    return json.dumps(plain | changes).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe\xfd", "decode"),
        (b"[" * 100_000, "recursion"),
        (b"null", "no results"),
        (b"[1]", "no results of serialpack bench; "),
        (b"{}", "version"),
        (broken(version=2), "version 2, this reads 1"),
        (broken(rows=3), "no results"),
        (broken(rows=[[]]), "no results"),
        (broken(size="12"), "Expected `int`"),
        (broken(size=True), "Expected `int`"),
        (broken(notes="a"), "Expected `array`"),
        (broken(row={"size": "12"}), "Expected `int | null`"),
        (broken(row={"status": "excellent"}), "excellent"),
        (broken(row={"seconds": {"serialize": "long"}}), "Expected `float`"),
        (broken(row={"unknown": 1}), "unknown"),
    ],
)
def test_what_holds_no_results_is_an_error_that_says_so(
    data: bytes, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as failed:
        load_results(path)
    assert failed.value.path == str(path)
    assert "cannot read these results" in str(failed.value)
    assert words in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file") as failed:
        load_results(tmp_path / "missing.json")
    assert failed.value.path == str(tmp_path / "missing.json")
