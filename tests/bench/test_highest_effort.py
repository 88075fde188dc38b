"""What ``auto`` chooses at the highest effort: a row that is measured as ``pack -9`` packs."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from serialpack.bench import run
from serialpack.bench.compare import changes_text, compare
from serialpack.bench.measuring.disk import Through
from serialpack.bench.recommend import Weighing, command, recommendations
from serialpack.bench.reports import report
from serialpack.bench.reports.html import html
from serialpack.bench.results import Results, Row
from serialpack.bench.run import Bench, Question
from serialpack.bench.schedules.candidates import Candidates, candidates
from serialpack.bench.schedules.highest import HIGHEST
from serialpack.bench.schedules.one_search import OneSearch
from serialpack.bench.several.chosen import sample_files
from tests.bench.found import PLENTY, file_results, row
from tests.cli.conftest import warm_command

#: The words for what was measured, and for what was not.
SURE, UNSURE = "the fewest bytes, however long it takes", f"pack -{HIGHEST} may take fewer"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little else is measured, though the user names nothing."""

    def made(*_: object, **kinds: object) -> Candidates:
        objects, formats = bool(kinds["objects"]), set(kinds["formats"])  # type: ignore[call-overload]
        named = candidates(["raw"], [], ["zstd:3", "none"], formats=formats, objects=objects)
        open_ = candidates([], [], [], formats=formats, objects=objects).serializers
        columns = [spec for spec in open_ if spec.name == "columns"]
        return named._replace(
            serializers=[*named.serializers, *columns], chosen=frozenset(), absent=[]
        )

    monkeypatch.setattr(run, "candidates", made)


def bench(path: str, **changes: object) -> Results:
    question = Question(path, budget=PLENTY, threads=[1])
    return Bench(question._replace(**changes)).run()  # type: ignore[arg-type]


def of_highest(results: Results) -> list[Row]:
    return [row for row in results.rows if row.effort is not None]


def smallest_of(results: Results) -> tuple[str, int, str]:
    found = next(each for each in results.recommendations if each.kind == "smallest")
    return found.command, found.size, found.why


def packed(words: str) -> int:
    """The size of what a recommended command makes."""
    program, verb, *rest = shlex.split(words)
    assert (program, verb) == ("serialpack", "pack")
    _run(verb, "-o", "made.spk", *rest)
    size = Path("made.spk").stat().st_size
    Path("made.spk").unlink()
    return size


def _run(*words: str) -> None:
    done = warm_command().run([*words], b"", Path.cwd(), {**os.environ}, timeout=120)
    assert done.returncode == 0, done.stderr


def _ndjson(path: Path) -> None:
    records = ({"id": n, "name": f"name {n * 7919 % 1000}", "share": n / 7} for n in range(3000))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def _csv(path: Path) -> None:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows([n, f"name, {n * n}", f"{n / 100:.2f}"] for n in range(2000))
    path.write_text(out.getvalue())


def _text(path: Path) -> None:
    words = [f"word{n * n % 997}" for n in range(9000)]
    path.write_text("\n".join(" ".join(words[i : i + 9]) for i in range(0, len(words), 9)))


def _npy(path: Path) -> None:
    np.save(path, np.cumsum(np.random.MT19937(2).random_raw(40_000) % 7).astype("<f4"))


def _npz(path: Path) -> None:
    steps = np.random.MT19937(3).random_raw(60_000) % 7
    with path.open("wb") as file:
        np.savez(file, a=np.cumsum(steps).astype("<f4"), b=np.cumsum(steps).astype("<u8"))


def _planes(path: Path) -> None:
    """More than a block, whose size is chosen by its planes."""
    plane = np.add.outer(np.arange(211) ** 2, np.arange(199) ** 2) // 700
    noise = np.random.MT19937(4).random_raw(130 * plane.size) % 3
    stack = np.arange(130)[:, None, None] + plane + noise.reshape(130, 211, 199).astype(int)
    np.save(path, stack.astype("u1"))


def _few(path: Path) -> None:
    np.save(path, np.arange(900, dtype="<u8") ** 3)


FILES: dict[str, Callable[[Path], None]] = {
    "lines.ndjson": _ndjson,
    "-table.csv": _csv,
    "a text.txt": _text,
    "array.npy": _npy,
    "arrays.npz": _npz,
    "planes.npy": _planes,
    "few.npy": _few,
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", FILES)
def test_pack_9_makes_a_file_of_the_size_promised(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    through: Through = "disk" if list(FILES).index(name) % 2 else "memory"
    FILES[name](Path(name))
    results = bench(name, through=through)
    (highest,) = of_highest(results)
    assert highest.status == "measured", highest.why
    assert highest.kept == "exact"
    inputs = ("--", name) if name.startswith("-") else (name,)
    words = command(highest, inputs, False)
    assert words == shlex.join(["serialpack", "pack", f"-{HIGHEST}", *inputs])
    assert packed(words) == highest.size
    # And it is what is recommended, where nothing else is smaller.
    advised, size, why = smallest_of(results)
    assert why.startswith(SURE)
    assert size == min(row.size for row in results.rows if row.size is not None)
    assert packed(advised) == size


@pytest.mark.usefixtures("few")
def test_of_several_files_each_is_measured_as_pack_9_packs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There was no row, and no more was said than that it may take fewer bytes."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    paths = ["in/-table.csv", "in/few.npy"]
    for path in paths:
        FILES[Path(path).name](Path(path))
    several = sample_files(paths, PLENTY, called="in", words=["-r", "in"])
    results = bench("in", several=several)
    (highest,) = of_highest(results)
    assert highest.status == "measured", highest.why
    assert any(
        note.startswith(f"pack -{HIGHEST} chooses for each file: ") for note in results.notes
    )
    words = command(highest, ["-r", "in"], False)
    assert words == f"serialpack pack -{HIGHEST} -r in"
    _run(*shlex.split(words)[1:], "-o", "made")
    assert sum(path.stat().st_size for path in Path("made").iterdir()) == highest.size
    assert smallest_of(results)[2] == SURE


@pytest.mark.usefixtures("few")
def test_of_a_built_in_sample_it_is_measured_too() -> None:
    """Its table has filters, which were taken for those of a user."""
    results = bench("random:2000", is_sample=True)
    (highest,) = of_highest(results)
    assert highest.status == "measured", highest.why
    assert smallest_of(results)[2].startswith(SURE)


@pytest.mark.usefixtures("few")
def test_of_a_pipe_only_the_front_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _npz(Path("arrays"))
    (highest,) = of_highest(bench("arrays", called="-"))
    with Path("arrays").open("rb") as file, Path("made.spk").open("wb") as made:
        words = [sys.executable, "-m", "serialpack", "pack", f"-{HIGHEST}", "-"]
        with subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
            subprocess.run(words, stdin=cat.stdout, stdout=made, check=True)
    assert Path("made.spk").stat().st_size == highest.size


def test_where_stages_are_named_nothing_else_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "lines.ndjson"
    _ndjson(path)
    results = bench(str(path), serializers=["raw"], codecs=["zstd:3", "none"])
    assert not of_highest(results)
    assert smallest_of(results)[2] == SURE


@pytest.mark.usefixtures("few")
def test_without_time_for_it_it_is_skipped_and_smallest_promises_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.ndjson"
    _ndjson(path)
    monkeypatch.setattr(OneSearch, "_look_closer", lambda *_: None)
    results = bench(str(path))
    (highest,) = of_highest(results)
    assert (highest.status, highest.size) == ("skipped", None)
    assert UNSURE in smallest_of(results)[2]
    assert f"{highest.chain} (auto -{HIGHEST})" in report(results, "table", width=200)


@pytest.mark.usefixtures("few")
def test_nothing_is_said_of_it_where_it_could_not_be_recommended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.ndjson"
    _ndjson(path)
    monkeypatch.setattr(OneSearch, "_look_closer", lambda *_: None)
    assert smallest_of(bench(str(path), weighing=Weighing("portable")))[2] == SURE


@pytest.mark.usefixtures("few")
def test_a_sample_of_it_is_not_taken_for_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "array.npy"
    np.save(path, np.cumsum(np.random.MT19937(2).random_raw(600_000) % 7).astype("<f4"))
    monkeypatch.setattr(OneSearch, "_fits", lambda *_, **__: False)
    results = bench(str(path))
    (highest,) = of_highest(results)
    assert highest.status == "sampled"
    assert UNSURE in smallest_of(results)[2]


@pytest.mark.usefixtures("few")
def test_what_is_a_row_already_is_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "line.json"
    path.write_bytes(b'"%d"\n' % (1 << 200))
    results = bench(str(path))
    named = {(row.chain, row.block_size) for row in results.rows if row.effort is None}
    for highest in of_highest(results):
        assert (highest.chain, highest.block_size) not in named


HIGH = row("raw+xz:6@4", effort=9, size=1000, front=True, block_size=16 << 20)
MARKED = file_results()._replace(rows=[HIGH, row("raw+zstd:3", auto=True)], recommendations=[])


def test_its_mark_is_in_every_report() -> None:
    assert HIGH.mark == "auto -9"
    for form in ("table", "markdown"):
        text = report(MARKED, form, width=120)
        assert "(auto -9)" in text
        assert "what pack -9 makes" in text
        assert "what auto would choose" in text
    assert 'title="what pack -9 makes">auto -9<' in html(MARKED)
    lines = list(csv.DictReader(io.StringIO(report(MARKED, "csv"))))
    assert [line["effort"] for line in lines[:2]] == ["9", ""]
    assert [each["effort"] for each in MARKED.to_json()["rows"]] == [9, None]


@pytest.mark.parametrize(
    ("threads", "format", "words"),
    [
        (False, None, "serialpack pack -9 x"),
        (True, None, "serialpack pack -9 -j 1 x"),
        (True, "csv", "serialpack pack -9 -j 1 --from csv x"),
    ],
)
def test_its_command_says_no_more_than_needed(
    threads: bool, format: str | None, words: str
) -> None:
    found = recommendations(
        [HIGH], Weighing(), inputs=["x"], objects=False, name_threads=threads, format=format
    )
    assert {each.command for each in found} == {words}


def test_two_runs_compare_it_with_itself() -> None:
    named = HIGH._replace(effort=None, size=900)
    old, new = (MARKED._replace(rows=[named, high]) for high in (HIGH, HIGH._replace(size=800)))
    found = compare(old, new)
    (change,) = found.changes
    assert (change.effort, change.what, change.old, change.new) == (9, "size", 1000, 800)
    assert "raw+xz:6@4 (auto -9)" in changes_text(found)
