"""Several files: those that are measured stand for all, and one answer is given."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import pytest

import serialpack
from serialpack.bench.material import WHOLE, read_windows
from serialpack.bench.measuring.workbench import Trial, Workbenches
from serialpack.bench.reports import report
from serialpack.bench.results import Results, Row, from_json
from serialpack.bench.run import Bench, Question
from serialpack.bench.several.chosen import LEAST_FILES, sample_files
from serialpack.bench.several.survey import AT_LEAST, sample, survey
from serialpack.cli.verbs.seconds_per_file import seconds_per_file
from serialpack.container.header import DEFAULT_BLOCK_SIZE
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


@pytest.fixture
def many(tmp_path: Path) -> list[Path]:
    """Text, and bytes of two kinds that no ending tells apart: more than are measured."""
    made, draw = tmp_path / "many", random.Random(5)
    made.mkdir()
    words = [draw.randbytes(4).hex() for _ in range(300)]
    for number in range(700):
        count = int(draw.paretovariate(1.2) * 20)
        text = " ".join(draw.choices(words, k=min(count, 3000)))
        noise = draw.randbytes(min(count, 3000) * 8)
        (made / f"{number}.txt").write_text(text)
        if number % 3 == 0:
            kind = noise if number % 2 else bytes(b & 3 for b in noise)
            (made / f"{number}.dat").write_bytes(kind)
    return sorted(made.iterdir())


def test_some_files_stand_for_all(
    many: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes are told from what all take behind a quick codec: within 5 %, and how sure that is."""
    monkeypatch.setattr("serialpack.bench.several.chosen.LARGER", (8,))
    results = several(many, budget=1, serializers=["raw"], codecs=["xz:6", "zlib:1", "none"])
    assert results.files is not None
    measured = [Path(path) for path in results.files.measured]
    assert len(measured) < len(many) / 10
    assert {path.suffix for path in measured} == {".dat", ".txt"}
    assert results.size == sum(path.stat().st_size for path in many) == results.files.size
    for chain in ("raw+xz:6", "raw+zlib:1", "raw+none"):
        row, real = rows_of(results)[chain], packed(many, chain, tmp_path)
        assert row.status == "sampled"
        assert row.size == pytest.approx(real, rel=0.05), chain
        assert row.error is not None
        assert row.error < 0.15
        assert row.size == pytest.approx(real, rel=2 * row.error + 1e-3), chain
    assert not any(found.whole for found in results.recommendations)
    assert any(f"of {len(many)} files, " in note for note in results.notes)
    assert "±" in report(results, "table", width=100, colour=False)


def test_what_is_recommended_is_measured_on_more(folder: Path, tmp_path: Path) -> None:
    """On all files, where there is time: its size is then that of their containers."""
    paths = [path for path in sorted(folder.glob("*.*")) if path.stat().st_size]
    results = several(paths, budget=1, serializers=["raw"])
    rows = rows_of(results)
    for found in results.recommendations:
        assert found.whole
        assert found.size == packed(paths, found.chain, tmp_path)
    assert results.files is not None
    assert len(results.files.measured) == len(paths) > LEAST_FILES
    assert {row.status for row in rows.values() if row.auto} == {"measured"}
    assert any(f"{LEAST_FILES} of 66 files" in n or "to look" in n for n in results.notes)


def test_a_part_of_a_file_tells_what_all_of_it_takes(tmp_path: Path) -> None:
    """Half of it repeats and half does not: what is held of it tells less than the survey."""
    draw = random.Random(1)
    path, small = tmp_path / "large.dat", tmp_path / "small.dat"
    path.write_bytes(draw.randbytes(900_000) + bytes(300_000) + b"abcdefgh" * 50_000)
    small.write_bytes(draw.randbytes(3000))
    chosen = sample_files([str(path), str(small)], 1, called="in", words=["in"])
    chosen = chosen._replace(subject=chosen.subject._replace(larger=()))
    assert sum(file.most_held for file in chosen.subject.files) < path.stat().st_size
    question = Question("in", several=chosen, budget=PLENTY, serializers=["raw"], codecs=["zlib:1"])
    row = rows_of(Bench(question).run())["raw+zlib:1"]
    assert row.status == "sampled"
    assert row.size == pytest.approx(packed([path, small], "raw+zlib:1", tmp_path), rel=0.05)


def test_each_file_costs_time_beside_its_bytes(folder: Path) -> None:
    """It is counted for all files, also those that are not measured; several are done at a time."""
    paths = sorted(folder.glob("0*.json"))
    sizes = [path.stat().st_size for path in paths]
    seconds = {}
    for many in (False, True):
        chosen = sample_files(map(str, paths), 1, called="in", words=["in"], handling=(10.0, 20.0))
        crowd = chosen.subject.crowd
        assert crowd is not None
        assert not crowd.many
        subject = chosen.subject._replace(crowd=crowd._replace(many=many))
        chosen = chosen._replace(subject=subject)
        question = Question("in", several=chosen, budget=PLENTY, threads=[2])
        row = rows_of(Bench(question._replace(serializers=["raw"], codecs=["none"])).run())
        seconds[many] = row["raw+none"]
    files = sum(size > 0 for size in sizes)
    assert seconds[False].pack_seconds == pytest.approx(10 * files, abs=5)
    assert seconds[False].unpack_seconds == pytest.approx(20 * files, abs=5)
    assert seconds[True].pack_seconds == pytest.approx(5 * files, abs=5)


def test_what_a_file_costs_is_measured_and_nothing_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pack, unpack = seconds_per_file()
    assert 0 < pack < 1
    assert 0 < unpack < 1
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(FileError, match="temporary file"):
        seconds_per_file()


def test_a_survey_of_some_stands_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more files than are surveyed, the drawn ones stand for the bytes and number of all."""
    monkeypatch.setattr("serialpack.bench.several.survey.LEAST_FILES", 40)
    monkeypatch.setattr("serialpack.bench.several.survey.FILES_A_SECOND", 1)
    files = []
    for number in range(300):
        path = tmp_path / f"{number}.{'ab'[number % 2]}"
        path.write_bytes(b"x%d" % number * (5 + number % 70))
        files.append((str(path), path.stat().st_size))
    found = survey(files, 1)
    assert len(found) <= 40
    assert sum(each.alike for each in found) == pytest.approx(300)
    total = sum(size for _, size in files)
    assert sum(each.alike * each.size for each in found) == pytest.approx(total, rel=0.02)
    drawn = sample(found, 10)
    assert len(drawn) <= 10
    assert sum(stands.files for _, stands in drawn) == pytest.approx(300)
    squeezed = sum(each.alike * each.squeezed for each in found)
    assert sum(stands.squeezed for _, stands in drawn) == pytest.approx(squeezed)


def test_a_large_file_is_measured_for_certain(tmp_path: Path) -> None:
    """And the small ones beside it stand for no more than their bytes."""
    for number in range(30):
        (tmp_path / f"{number}").write_bytes(b"small" * 10)
    large = tmp_path / "large"
    large.write_bytes(random.Random(1).randbytes(100_000))
    chosen = sample_files(map(str, tmp_path.iterdir()), 1, called="in", words=["in"])
    stand_for = {file.path: file.stands.bytes for file in chosen.subject.files if file.stands}
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


def test_a_survey_takes_a_share_of_the_budget(
    many: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took as long as it took, on top: the rest is told from what was tried in that time."""
    files = [(str(path), size) for path in many if (size := path.stat().st_size)]
    whole = survey(files, PLENTY)
    clock = iter(range(10_000))
    monkeypatch.setattr("serialpack.bench.several.survey.perf_counter", lambda: next(clock))
    tried: list[Path] = []
    real = read_windows

    def reading(path: Path, *how: int) -> bytes:
        tried.append(path)
        return real(path, *how)

    monkeypatch.setattr("serialpack.bench.several.survey.read_windows", reading)
    some = survey(files, 800)  # of which a quarter is 200 seconds
    assert AT_LEAST < len(tried) == 201 + AT_LEAST - 1
    assert [(file.path, file.size) for file in some] == [(file.path, file.size) for file in whole]
    total = sum(file.squeezed for file in whole)
    assert sum(file.squeezed for file in some) == pytest.approx(total, rel=0.1)


@pytest.mark.parametrize("seconds", [3.0, 100.0])
def test_the_survey_is_part_of_the_budget(folder: Path, seconds: float) -> None:
    """But half of that is for measuring, whatever it took."""
    paths = sorted(folder.glob("0*.json"))
    chosen = sample_files(map(str, paths), 1, called="in", words=["in"])
    question = Question("in", several=chosen._replace(seconds=seconds), budget=40, codecs=CODECS)
    results = Bench(question._replace(serializers=["raw"])).run()
    assert results.elapsed > min(seconds, 20)
    assert rows_of(results)


@pytest.mark.parametrize("chain", ["raw+zstd:1", "raw+zstd:9", "raw+xz:6", "raw+zlib:6"])
def test_a_part_of_a_file_tells_of_what_repeats_far_back_in_all_of_it(
    tmp_path: Path, chain: str
) -> None:
    """The quick codec of the survey does not see that, nor a part: three times the bytes were
    promised behind codecs that look back so far."""
    draw = random.Random(5)
    texts = [draw.randbytes(300).hex() for _ in range(1500)]
    paths = [tmp_path / "far.json", tmp_path / "near.json"]
    paths[0].write_text(json.dumps([{"n": n, "text": text} for n, text in enumerate(texts * 3)]))
    paths[1].write_text(json.dumps([{"n": n, "x": draw.randrange(999)} for n in range(9000)]))
    chosen = sample_files(map(str, paths), 2, called="in", words=["in"])
    found = Workbenches(chosen.subject).figures(Trial(chain, 1, WHOLE, DEFAULT_BLOCK_SIZE))
    assert found.source < chosen.sampled.size / 5
    promised = found.size * chosen.sampled.size / found.source
    assert promised == pytest.approx(packed(paths, chain, tmp_path), rel=0.15)
