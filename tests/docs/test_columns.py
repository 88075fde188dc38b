"""docs/columns.md and its part of the README: made from the results; and the benchmark runs."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from statistics import geometric_mean

import pytest

from benchmarks import columns_results as results
from benchmarks.columns import KEPT, PARTS, ROOT, main
from benchmarks.columns_aims import lines
from benchmarks.columns_bench import SAMPLES
from benchmarks.columns_page import PAGE, PLOT, page, summary
from benchmarks.columns_results import FILE, Fields, Measured, Memory, Packed, Source
from benchmarks.measure import Step, run
from serialpack.bench.results import Machine
from tools._marks import between

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")

RECORDS = b"".join(b'{"id": %d, "name": "%d Roe", "on": true}\n' % (n, n % 90) for n in range(4000))
ROWS = b"id,name\n" + b"".join(b"%d,%d Roe\n" % (n, n % 90) for n in range(12_000))


def test_page_is_made_from_the_results() -> None:
    """Else: python -m benchmarks.columns --page."""
    assert (ROOT / PAGE).read_text("utf-8") == page(results.read(ROOT / KEPT))


def test_readme_is_made_from_the_results() -> None:
    """Else: python -m benchmarks.columns --page."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert between(text, "columns", summary(results.read(ROOT / KEPT))) == text


def test_what_is_kept_is_no_quick_run() -> None:
    """All of the parts, of the sizes that are named."""
    kept = results.read(ROOT / KEPT)
    if kept is None:
        pytest.skip("not measured yet")
    assert not kept.quick
    names = {source.role: source.name for source in kept.sources}
    assert names.items() >= {role: name for role, (name, _) in SAMPLES.items()}.items()
    assert (ROOT / PLOT).read_text("utf-8").startswith("<?xml")


@pytest.fixture(scope="session")  # tests of other modules run in between
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything measured on little data, beside what needs no installing."""
    root = tmp_path_factory.mktemp("root")
    (root / "docs").mkdir()
    (root / "README.md").write_text("before\n<!-- columns -->\n<!-- /columns -->\nafter\n", "utf-8")
    files = {"ndjson/records.jsonl": RECORDS, "tabular/rows.csv": ROWS, "json/few.json": b"[]"}
    for name, data in files.items():
        path = root / "files" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERIALPACK_BENCH_CACHE", str(root / "cache"))
        main(["--quick", "--times", "1", "--root", str(root), "--files", str(root / "files")])
    return root


@pytest.fixture(scope="session")  # tests of other modules run in between
def made(root: Path) -> Measured:
    found = results.read(root / KEPT)
    assert found is not None
    return found


pytestmark = pytest.mark.xdist_group("columns")


@pytest.mark.slow
def test_every_source_came_back(made: Measured) -> None:
    mine = [each for each in made.packed if each.tool.startswith("columns")]
    timed = [each for each in mine if each.proved and each.pack]
    assert {each.source for each in timed} == {
        "contacts", "contacts-large", "phonebook", "documents",
    }  # fmt: skip
    assert all(each.same for each in timed)
    here = set(SAMPLES) | {f"{FILE}ndjson/records.jsonl", f"{FILE}tabular/rows.csv"}
    assert {each.source for each in mine} == {source.role for source in made.sources} == here


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("zstd") and shutil.which("xz")), reason="no zstd, xz")
def test_every_aim_is_measured(made: Measured) -> None:
    """But those of what is not there."""
    for line in lines(made):
        fields = "--fields" in line.work and not made.fields
        memory = "memory" in line.work and sys.platform != "linux"
        assert ("not measured" in line.figure) == (fields or memory), line
    absent = {"Parquet is not installed.", "brotli is not installed.", "clp-s is not installed."}
    others = set(made.notes) - absent - {"fields: this serialpack has no `unpack --fields`"}
    assert not others


@pytest.mark.slow
def test_sizes_are_those_of_containers(made: Measured) -> None:
    """Some hundred bytes around what must be there."""
    contacts = made.source("contacts")
    assert contacts.limit is not None
    assert contacts.limit < made.ours("contacts", 3).size < contacts.size / 4
    xz = geometric_mean(
        made.ours(f.role, 3).size / made.peer(f.role, "xz -6").size for f in made.files()
    )
    shown = next(line for line in lines(made) if "`-3`, mean size" in line.work)
    assert shown.figure.startswith(f"{xz:.3f}×")


@pytest.mark.slow
def test_pages_are_written(root: Path, made: Measured) -> None:
    """Again without measuring; the plot too, byte for byte."""
    text, plot = (root / PAGE).read_text("utf-8"), (root / PLOT).read_bytes()
    readme = (root / "README.md").read_text("utf-8")
    assert text == page(made)
    assert readme == f"before\n<!-- columns -->\n{summary(made)}<!-- /columns -->\nafter\n"
    for name in (PAGE, PLOT):
        (root / name).unlink()
    main(["--page", "--root", str(root)])
    assert (root / PAGE).read_text("utf-8") == text
    assert (root / PLOT).read_bytes() == plot
    assert b"columns -9" in plot
    assert "## contacts:600\n" in text
    assert "| ndjson/records.jsonl |" in text
    assert str(root) not in text + readme


@pytest.mark.slow
def test_one_part_leaves_the_others(
    root: Path, made: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a command that fails is noted, not taken for a figure."""
    monkeypatch.setenv("SERIALPACK_BENCH_CACHE", str(tmp_path))
    other = tmp_path / "root"
    shutil.copytree(root, other)
    failing = tmp_path / "fails"
    failing.write_text("#!/bin/sh\necho no luck >&2\nexit 1\n")
    failing.chmod(0o755)
    options = ["--quick", "--times", "1", "--only", "documents", "--serialpack", str(failing)]
    main([*options, "--root", str(other)])
    found = results.read(other / KEPT)
    assert found is not None
    assert found.peer("contacts", "zstd -3") == made.peer("contacts", "zstd -3")
    said = [note for note in found.notes if note not in made.notes]
    assert said == [
        f"packing documents:500, columns -{effort}, 2, proved: exit 1, no luck" for effort in (3, 9)
    ]


def measured(*packed: Packed, size: int = 10_000_000) -> Measured:
    """With one sample, whose limit is a tenth of it, and a file."""
    return Measured(
        machine=Machine("a processor", 2, 2**34, "Linux", "Python 3", "0.1"),
        date="2026-01-01T00:00:00Z",
        versions={},
        quick=False,
        seconds=600,
        load=0.0,
        times=5,
        sources=[
            Source("contacts", "contacts:60000", "ndjson", size, size // 10, 60_000),
            Source(f"{FILE}json/a.json", "json/a.json", "json", size),
        ],
        packed=list(packed),
        memory=[],
        fields=[],
        notes=[],
    )


def ours(size: int, seconds: float, **other: object) -> Packed:
    mine = Packed("contacts", "columns -3", 2, True, size, [seconds], [seconds], True)
    return mine._replace(**other)  # type: ignore[arg-type]


XZ = Packed("contacts", "xz -6", 1, None, 2_000_000, [9.0, 10.0, 30.0], [0.5], True)


def shown(found: Measured, work: str, beside: str = "") -> tuple[str, bool | None]:
    """The figure of the first line that is of this, and whether it is met."""
    line = next(a for a in lines(found) if a.work == work and beside in a.peer)
    return line.figure, line.met


def test_aims_are_held_against_figures() -> None:
    """Ratios of medians; met exactly as far as the target says."""
    found = measured(ours(1_120_000, 0.4), XZ)
    size, speed = "60,000 `contacts`, `-3`, size", "60,000 `contacts`, `-3`, speed"
    assert shown(found, size, "entropy") == ("1.120× (1.12 MB to 1.00 MB)", True)
    assert shown(found, size, "xz") == ("0.560× (1.12 MB to 2.00 MB)", True)
    assert shown(found, speed) == ("25× (0.400 s to 10.0 s)", True)
    found = measured(ours(1_410_000, 0.41), XZ)
    assert shown(found, size, "entropy")[1] is False
    assert shown(found, size, "xz")[1] is False
    assert shown(found, speed)[1] is False
    assert shown(found, "60,000 `contacts`, `-9`, speed") == (
        "columns -9 of contacts was not measured",
        None,
    )


def test_changed_bytes_are_counted() -> None:
    work = "all that was unpacked, how many changed"
    assert shown(measured(ours(1, 1)), work) == ("0 (1 held against their sources)", True)
    found = measured(ours(1, 1, same=False))
    assert shown(found, work) == ("1 (contacts:60000)", False)


def test_files_larger_than_zstd_are_named() -> None:
    """A hundredth and 500 bytes are allowed."""
    role, work = f"{FILE}json/a.json", "real files, `-3`, how many are larger"
    zstd = XZ._replace(source=role, tool="zstd -3", size=100_000)
    allowed = measured(ours(101_500, 1, source=role), zstd)
    assert shown(allowed, work) == ("0 (of 1)", True)
    larger = measured(ours(101_501, 1, source=role), zstd)
    assert shown(larger, work) == ("1 (json/a.json by 1.5 %)", False)


def test_files_that_another_makes_smaller_are_listed() -> None:
    role = f"{FILE}json/a.json"
    mine, xz = (
        ours(80_000, 1, source=role, tool="columns -9"),
        XZ._replace(source=role, size=72_000),
    )
    text = page(measured(mine, xz))
    assert "`columns -9` is not the smallest of 1 of 1 file" in text
    assert "- json/a.json: `xz -6` has 10.0 % less" in text
    assert "`columns -9` is not the smallest of 0" in page(measured(mine, xz._replace(size=80_000)))


def test_memory_above_idle_processes() -> None:
    """What is less than an idle one does not count against the others."""
    mib = 1 << 20
    memory = Memory("pack -3", "contacts", 2, 4 * mib, 40 * mib, [100 * mib, 76 * mib, 10 * mib])
    assert memory.above == 96 * mib
    work = "60,000 `contacts`, `pack -3`, memory above idle"
    assert shown(measured()._replace(memory=[memory]), work) == ("12× (101 MB on 2 threads)", True)


def test_single_fields() -> None:
    fields = Fields("contacts-large", ["a", "b.c"], [0.5], [2.0], 1000, 4000)
    found = measured()._replace(fields=[fields])
    assert shown(found, "600,000 `contacts`, `--fields` of two, speed") == (
        "4× (0.500 s to 2.00 s)",
        False,
    )
    read = "600,000 `contacts`, `--fields` of two, bytes read"
    assert shown(found, read) == ("0.250× (1.00 kB of 4.00 kB)", None)


def test_kept_and_read_again(tmp_path: Path) -> None:
    """A form of another version is refused."""
    found = measured(ours(1_120_000, 0.4), XZ)
    path = tmp_path / "columns.json"
    assert results.read(path) is None
    results.write(path, found)
    assert results.read(path) == found
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "version": 0}), "utf-8")
    with pytest.raises(ValueError, match="another version"):
        results.read(path)


def test_parts_are_explained() -> None:
    assert all(part.__doc__ for part in PARTS.values())


class _Seen(dict[int, int]):
    """Peaks, by pid; of each there is a file, too, named by the times that 40 MB are in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __setitem__(self, pid: int, peak: int) -> None:
        super().__setitem__(pid, peak)
        (self._folder / str(peak // 40_000_000)).touch()


@linux
def test_peaks_of_all_processes(tmp_path: Path) -> None:
    """A command that holds 40 MB, and has a child that holds 80 MB, each until that was seen."""
    hold = "import os, time\nheld = b'x' * {}\nwhile not os.path.exists({!r}): time.sleep(0.01)"
    child = f"[sys.executable, '-c', {hold.format(80_000_000, str(tmp_path / '2'))!r}]"
    mine = hold.format(40_000_000, str(tmp_path / "1"))
    both = f"import subprocess, sys; subprocess.run({child})\n{mine}"
    peaks = _Seen(tmp_path)
    run(Step([sys.executable, "-c", both]), peaks)
    assert sorted(peak // 40_000_000 for peak in peaks.values()) == [1, 2]


def test_output_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    step = Step([sys.executable, "-c", "print('x' * 999)"], into=str(path))
    assert run(step).output == path.stat().st_size == 1000
    assert str(step).endswith(f"> {shlex.quote(str(path))}")
