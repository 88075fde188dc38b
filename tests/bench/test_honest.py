"""What bench says is so: slow is slow, a size is that of the file, nothing is left out unsaid."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from serialpack.bench.measuring.trials import Timing, spread_of
from serialpack.bench.recommend import Preference, Weighing
from serialpack.bench.results import Results, Row
from serialpack.bench.run import Bench, Question
from serialpack.errors import FileError, UsageError
from tests.bench.found import PLENTY, check_twice
from tests.cli.conftest import warm_command

#: One of the standard library, one fast one, one that is stored as it is.
FEW = ("zstd:3", "lz4:0", "none")

#: One small block is worked on by one thread: each of these measures the same once more.
MANY = list(range(1, 11))


def bench(path: Path | str, **changes: object) -> Results:
    question = Question(str(path), budget=PLENTY, threads=[1])
    return Bench(question._replace(**changes)).run()  # type: ignore[arg-type]


def rows_of(results: Results) -> dict[str, Row]:
    return {row.chain: row for row in results.rows}


def some_records(count: int) -> list[dict[str, object]]:
    return [
        {"id": n, "name": f"name {n * 7919 % 1000}", "share": n / 7, "tags": ["a", "b"][: n % 3]}
        for n in range(count)
    ]


@pytest.mark.usefixtures("planted", "nothing_left")
def test_a_serializer_that_is_twice_as_slow_is_reported_so(tmp_path: Path) -> None:
    """As the same work done twice: it writes the same bytes in twice the time."""
    path = tmp_path / "records.json"
    path.write_text(json.dumps(some_records(200)))
    few = {"serializers": ["json", "slow"], "codecs": ["none"], "threads": MANY}
    results = check_twice(lambda: bench(path, **few))
    rows = rows_of(results)
    json_row, slow = rows["json+none"], rows["slow+none"]
    assert slow.status == json_row.status == "measured"
    assert slow.kept == json_row.kept == "exact"
    assert slow.size is not None
    assert json_row.size is not None
    # The numbers of the two serializers in the header need not be as long.
    assert abs(slow.size - json_row.size) <= 8


@pytest.mark.usefixtures("planted", "nothing_left")
def test_so_it_is_of_python_objects() -> None:
    few = {"serializers": ["json", "slow"], "codecs": ["none"], "threads": MANY}
    results = check_twice(lambda: bench("documents:200", is_sample=True, **few))
    assert results.mode == "object"


def _json(path: Path) -> None:
    path.write_text(json.dumps(some_records(500), indent=1))


def _ndjson(path: Path) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in some_records(3000)))


def _csv(path: Path) -> None:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "name", "price"])
    writer.writerows([n, f"name, {n}", f"{n / 100:.2f}"] for n in range(700))
    path.write_text(out.getvalue())


def _bytes(path: Path) -> None:
    path.write_bytes(np.random.MT19937(1).random_raw(8000).astype("<u4").tobytes() + bytes(5000))


def _npy(path: Path) -> None:
    np.save(path, np.cumsum(np.random.MT19937(2).random_raw(40_000) % 7).astype("<f4"))


FILES: dict[str, Callable[[Path], None]] = {
    "a document.json": _json,
    "lines.ndjson": _ndjson,
    "with header.csv": _csv,
    "-binary": _bytes,
    "array.npy": _npy,
}


#: Serializers that hold them, in ways of their own.
HOLD = {
    "a document.json": ("raw", "json", "msgpack", "pickle"),
    "lines.ndjson": ("raw", "ujson", "cbor", "parquet"),
    "with header.csv": ("raw", "csv", "msgpack", "arrow"),
    "-binary": (),
    "array.npy": (),
}


#: Codecs that are done with such files at once.
QUICK = (*FEW, "zlib:1", "blosc-zstd:1")


@pytest.mark.parametrize("name", FILES)
def test_each_command_writes_a_file_of_the_size_promised(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands as they are printed, in the folder where they were printed."""
    monkeypatch.chdir(tmp_path)
    FILES[name](Path(name))
    found: dict[str, int] = {}
    # The smallest is another than the usual one where values are held in several ways.
    preferences: tuple[Preference | None, ...] = (
        (None, "size") if name == "lines.ndjson" else (None,)
    )
    for prefer in preferences:
        # With time for all of them, on any machine: it ends when they are measured.
        weighing = Weighing(prefer)
        results = bench(
            name, budget=PLENTY, weighing=weighing, serializers=HOLD[name], codecs=QUICK
        )
        assert results.recommendations
        for choice in results.recommendations:
            assert choice.whole
            assert rows_of(results)[choice.chain].size == choice.size
            assert found.setdefault(choice.command, choice.size) == choice.size
        if prefer is None:
            # And every other row that was measured whole, as far as there is time for it.
            measured = [row for row in results.rows if row.status == "measured"]
    for command, size in found.items():
        _run(command)
        packed = Path(f"{name}.spk")
        assert packed.stat().st_size == size, command
        packed.unlink()
    spread_out = measured[:: max(len(measured) // 3, 1)]
    for row in spread_out:
        filters = [word for each in row.filters for word in ("--filter", each)]
        words = ["serialpack", "pack", "-s", row.serializer, *filters, "-c", row.codec]
        _run(shlex.join([*words, "-o", "out.spk", "--", name]))
        assert Path("out.spk").stat().st_size == row.size, row.chain
        Path("out.spk").unlink()


def _run(command: str) -> None:
    program, *words = shlex.split(command)
    assert (program, words[0]) == ("serialpack", "pack")
    done = warm_command().run(words, b"", Path.cwd(), {**os.environ}, timeout=120)
    assert done.returncode == 0, (command, done.stderr)


def test_a_row_of_several_threads_has_the_same_size(tmp_path: Path) -> None:
    path = tmp_path / "lines.ndjson"
    _ndjson(path)
    results = bench(path, serializers=["raw", "msgpack"], codecs=["zstd:3"], threads=[1, 2])
    sizes = {(row.chain, row.threads): row.size for row in results.rows}
    for chain in ("raw+zstd:3", "msgpack+zstd:3"):
        assert sizes[chain, 1] == sizes[chain, 2]
    commands = [choice.command for choice in results.recommendations]
    assert all(" -j " in command for command in commands)


def test_a_budget_of_nothing_measures_nothing_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "document.json"
    _json(path)
    results = bench(path, budget=0)
    assert results.size == path.stat().st_size
    assert not results.recommendations
    assert all(row.size is None for row in results.rows)
    assert any("the budget is 0 s" in note for note in results.notes)
    assert not results.interrupted


def test_a_tiny_budget_samples_and_says_what_it_skipped(tmp_path: Path) -> None:
    path = tmp_path / "large.ndjson"
    lines = "".join(json.dumps(record) + "\n" for record in some_records(1000))
    path.write_text(lines * 200)
    results = bench(path, budget=0.5)
    status = {row.status for row in results.rows}
    assert "skipped" in status
    assert status & {"sampled", "measured"}
    chains = [(row.chain, row.threads) for row in results.rows]
    assert len(chains) == len(set(chains))
    for row in results.rows:
        if row.status == "skipped":
            assert row.why
            assert (row.size, row.pack_seconds, row.kept) == (None, None, None)
        if row.status == "sampled":
            assert row.size
    # Every serializer that was not refused is there, measured or not.
    assert {"raw", "json", "msgpack", "pickle:5"} <= {row.serializer for row in results.rows}


def test_a_sample_tells_about_the_whole(tmp_path: Path) -> None:
    """Of a file that is the same all over, size and ratio are near those of all of it."""
    path = tmp_path / "even.ndjson"
    path.write_text("".join(json.dumps(record) + "\n" for record in some_records(60_000)))
    few = {"serializers": ["raw", "msgpack"], "codecs": ["zlib:6"]}
    sampled = rows_of(bench(path, most_held=2 << 20, **few))
    whole = rows_of(bench(path, **few))
    for chain in ("raw+zlib:6", "msgpack+zlib:6"):
        row = whole[chain]
        assert row.status == "measured"
        assert sampled[chain].status == "sampled"
        assert sampled[chain].size == pytest.approx(row.size, rel=0.1)


@pytest.mark.parametrize("data", [b"", b"x", b"\n"], ids=["empty", "one byte", "one line end"])
def test_next_to_nothing_is_measured(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "small"
    path.write_bytes(data)
    results = bench(path, codecs=FEW)
    assert results.size == len(data)
    rows = rows_of(results)
    assert rows["raw+none"].status == "measured"
    assert rows["raw+none"].kept == "exact"
    assert [choice.kind for choice in results.recommendations]
    json.dumps(results.to_json(), allow_nan=False)


@pytest.mark.parametrize("name", ["empty.json", "empty.ndjson", "empty.csv"])
def test_an_empty_file_in_a_format_of_values(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    results = bench(path, codecs=FEW)
    assert rows_of(results)["raw+none"].status == "measured"
    for row in results.rows:
        assert row.status in ("measured", "refused"), (row.chain, row.why)
    json.dumps(results.to_json(), allow_nan=False)


def test_one_record(tmp_path: Path) -> None:
    path = tmp_path / "one.ndjson"
    path.write_bytes(b'{"a":1}\n')
    results = bench(path, serializers=["raw", "json", "msgpack"], codecs=FEW)
    assert results.records == 1
    assert {row.status for row in results.rows} == {"measured"}


def test_a_broken_document_has_raw_rows_and_the_place_where_it_breaks(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(b'[{"a": 1}, {"a": 2}, {"a": ]')
    results = bench(path, codecs=FEW)
    rows = rows_of(results)
    exact = {"raw", *(f"columns:{effort}" for effort in (3, 6))}
    assert {row.serializer for row in results.rows if row.size is not None} <= exact
    assert rows["raw+zstd:3"].status == "measured"
    refused = [row for row in results.rows if row.status == "refused"]
    assert {"json", "msgpack"} <= {row.serializer for row in refused}
    assert any("byte 27" in row.why for row in refused if row.serializer == "msgpack")


def test_a_pickle_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "object.pickle"
    path.write_bytes(pickle.dumps(Touch(str(tmp_path / "touched"))))
    results = bench(path, codecs=FEW)
    assert {row.serializer for row in results.rows} == {"raw"}
    assert any("can run code" in note for note in results.notes)
    assert not (tmp_path / "touched").exists()


class Touch:
    """What makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return open, (self.path, "w")


def test_a_file_larger_than_what_is_held_is_sampled_and_said_so(tmp_path: Path) -> None:
    path = tmp_path / "lines.ndjson"
    _ndjson(path)
    size = path.stat().st_size
    results = bench(path, serializers=["raw", "json"], codecs=FEW, most_held=80_000)
    assert (results.size, results.sampled < 20_001) == (size, True)
    assert {row.status for row in results.rows} == {"sampled"}
    assert all(not choice.whole for choice in results.recommendations)
    assert any("were measured, spread over it" in note for note in results.notes)


def test_a_document_larger_than_what_is_held_is_sampled_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "document.json"
    path.write_text(json.dumps(some_records(30_000)))
    results = bench(path, serializers=["raw", "json"], codecs=FEW, most_held=1 << 20)
    assert {row.status for row in results.rows} == {"sampled"}
    assert any("from its start" in note for note in results.notes)


def test_one_large_value_that_is_held_in_part_has_raw_rows(tmp_path: Path) -> None:
    """A part of it is no document: that it ends too early is not said of the file."""
    path = tmp_path / "document.json"
    path.write_text(json.dumps({"text": "some text " * 100_000}))
    results = bench(path, serializers=["raw", "json"], codecs=FEW, most_held=400_000)
    assert {row.status for row in results.rows if row.serializer == "raw"} == {"sampled"}
    (refused,) = [row for row in results.rows if row.serializer == "json"]
    assert refused.status == "refused"
    assert "too little of it is held in memory" in refused.why


def test_a_folder_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder"):
        bench(tmp_path)


def test_a_missing_file_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        bench(tmp_path / "missing")


def test_a_container_is_not_measured_again(tmp_path: Path) -> None:
    import serialpack

    path = tmp_path / "small"
    path.write_bytes(b"some bytes")
    serialpack.pack(path, tmp_path / "small.spk")
    with pytest.raises(UsageError, match="is a serialpack file already"):
        bench(tmp_path / "small.spk")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_must_be_kept_in_a_file_by_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", f"printf '[1]' > {shlex.quote(str(path))}"]) as writer:
        with pytest.raises(FileError, match="is not a regular file"):
            bench(path)
        writer.wait(10)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"serializers": ["msgpac"]}, "did you mean msgpack"),
        ({"codecs": ["zsdt"]}, "did you mean zstd"),
        ({"filters": ["shufle:4"]}, "did you mean"),
        ({"codecs": ["zstd:99"]}, "level"),
    ],
)
def test_an_unknown_stage_is_a_usage_error(
    changes: dict[str, list[str]], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "small"
    path.write_bytes(b"some bytes")
    with pytest.raises(UsageError, match=words):
        bench(path, **changes)


def test_the_spread_is_that_of_all_the_work_together() -> None:
    def timing(wall: float, spread: float | None) -> Timing:
        return Timing(wall, wall, {}, {}, 1 if spread is None else 3, spread, None)

    short, long, nothing = timing(0.001, 1.0), timing(1.0, 0.01), timing(0.0, None)
    assert spread_of([short, long, nothing]) == pytest.approx(0.011 / 1.001)
    assert spread_of([short, timing(1.0, None)]) is None
