"""Several files: those that are measured stand for all, and one answer is given."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import serialpack
from serialpack.bench.results import Results, Row, from_json
from serialpack.bench.run import Bench, Question
from serialpack.bench.several import LEAST_FILES, sample_files
from serialpack.errors import FileError, UsageError
from tests.bench.found import PLENTY

#: What is measured behind each serializer.
CODECS = ["zstd:1", "none"]


def several(paths: list[Path], budget: float = PLENTY, **changes: object) -> Results:
    chosen = sample_files(map(str, paths), budget, called="in", words=["-r", "in"])
    question = Question("in", several=chosen, budget=PLENTY, threads=[1], codecs=CODECS)
    return Bench(question._replace(**changes)).run()  # type: ignore[arg-type]


def rows_of(results: Results) -> dict[str, Row]:
    return {row.chain: row for row in results.rows if row.size is not None}


def packed(paths: list[Path], chain: str, to: Path) -> int:
    """Bytes of the containers that ``pack`` writes of the files."""
    serializer, codec = chain.split("+")
    total = 0
    for path in paths:
        target = to / f"{path.name}.spk"
        serialpack.pack(path, target, serializer=serializer, codec=codec, force=True)
        total += target.stat().st_size
    return total


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """JSON of three sizes, CSV, bytes, and a file that is empty."""
    made, draw = tmp_path / "in", random.Random(3)
    made.mkdir()
    for number in range(60):
        rows = [{"id": n, "x": draw.randrange(99)} for n in range((4, 20, 90)[number % 3])]
        (made / f"{number:02}.json").write_text(json.dumps(rows, indent=1))
    for number in range(6):
        lines = (f"{n},{draw.random()}\n" for n in range(30))
        (made / f"{number}.csv").write_text("a,b\n" + "".join(lines))
    (made / "empty.json").touch()
    return made


def test_few_files_are_measured_whole_and_added_up(folder: Path, tmp_path: Path) -> None:
    """Each row is what the containers of all take; the answer names the folder."""
    paths = sorted(folder.glob("0[0-3].json"))
    results = several([*paths, folder / "empty.json"], serializers=["raw", "columns", "orjson"])
    rows = rows_of(results)
    assert {"raw+zstd:1", "raw+none", "orjson+zstd:1"} <= rows.keys()
    for chain, row in rows.items():
        assert row.status == "measured"
        if not row.auto:
            assert row.size == packed(paths, chain, tmp_path), chain
    assert results.size == sum(path.stat().st_size for path in paths)
    assert results.records == sum(len(json.loads(path.read_text())) for path in paths)
    assert all(found.command.endswith(" -r in") for found in results.recommendations)
    assert all(found.whole for found in results.recommendations)
    assert results.files is not None
    assert results.files.total == 5
    assert results.files.measured == [str(path) for path in paths]
    assert any(note.startswith("4 of 5 files, ") and "1 empty" in note for note in results.notes)


def test_some_files_stand_for_all(folder: Path, tmp_path: Path) -> None:
    """By ending and size: the sizes of all are told from eight of 66 within a tenth."""
    paths = sorted(folder.glob("*.*"))
    results = several(paths, budget=1, serializers=["raw"])
    assert results.files is not None
    measured = [Path(path) for path in results.files.measured]
    assert 2 <= len(measured) <= LEAST_FILES
    assert {path.suffix for path in measured} == {".csv", ".json"}
    whole = [path for path in paths if path.stat().st_size]
    assert results.size == sum(path.stat().st_size for path in whole) == results.files.size
    assert results.sampled == sum(path.stat().st_size for path in measured)
    for chain in ("raw+zstd:1", "raw+none"):
        row = rows_of(results)[chain]
        assert row.status == "sampled"
        assert row.size == pytest.approx(packed(whole, chain, tmp_path), rel=0.1)
    assert not any(found.whole for found in results.recommendations)
    assert any(f"{len(measured)} of 67 files, " in note for note in results.notes)


def test_a_large_file_is_measured_for_certain(tmp_path: Path) -> None:
    """And the small ones beside it stand for no more than their bytes."""
    for number in range(30):
        (tmp_path / f"{number}").write_bytes(b"small" * 10)
    large = tmp_path / "large"
    large.write_bytes(bytes(100_000))
    chosen = sample_files(map(str, tmp_path.iterdir()), 1, called="in", words=["in"])
    stand_for = {file.path: file.stands_for for file in chosen.subject.files}
    assert stand_for[str(large)] == pytest.approx(chosen.sampled.size, rel=0.02)


def test_only_what_holds_all_is_tried_where_formats_differ(folder: Path) -> None:
    """With bytes among them, no serializer of values; what is refused names the file."""
    (folder / "raw").write_bytes(random.Random(1).randbytes(20_000))
    (folder / "large.json").write_text(json.dumps([{"id": n} for n in range(1500)]))
    results = several([folder / "large.json", folder / "0.csv", folder / "raw"])
    assert results.format == "bytes, csv, json"
    assert {row.serializer.partition(":")[0] for row in results.rows} == {"raw", "columns"}
    assert any(note.startswith("only raw, columns") for note in results.notes)
    assert any(note.startswith("auto chooses for each file: ") for note in results.notes)
    (folder / "null.json").write_text("[null]")
    results = several([folder / "00.json", folder / "null.json"], serializers=["raw", "bson"])
    (refused,) = [row for row in results.rows if row.status == "refused"]
    assert refused.why.startswith(f"{folder}/")
    assert from_json(json.loads(json.dumps(results.to_json()))) == results


def test_what_cannot_be_read_is_left_out_and_told(folder: Path) -> None:
    container = folder / "packed"
    serialpack.pack(folder / "00.json", container)
    paths = [folder / "gone", container, folder, folder / "01.json"]
    chosen = sample_files(map(str, paths), 20, called="in", words=["in"])
    assert chosen.sampled.measured == [str(folder / "01.json")]
    assert {error.path for error in chosen.errors} == set(map(str, paths[:3]))
    with pytest.raises(FileError, match="no file to measure"):
        sample_files([str(folder / "gone")], 20, called="in", words=["in"])
    with pytest.raises(UsageError, match="one file"):
        several([folder / "00.json", folder / "01.json"], through="disk")
