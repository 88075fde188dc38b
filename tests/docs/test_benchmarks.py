"""docs/benchmarks.md: made from the results that are kept beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from serialpack.bench.results import Results
from serialpack.bench.samples import SAMPLES
from tools.bench_docs import COLD, DOCS, SECTIONS, Kept, main, page

KEPT = Kept(DOCS)

#: Of benchmarks.columns and benchmarks.arrays.
OTHERS = ("columns", "arrays")

#: So small that all of them are measured in some seconds.
TINY = {
    "uuid4": 50,
    "phonebook": 10,
    "contacts": 20,
    "dna": 2000,
    "protein": 2000,
    "documents": 20,
    "target-object": 300,
    "messages": 1000,
    "field3d": 8,
    "field3d-fortran": 8,
    "random": 1000,
}


def test_page_is_made_from_the_results() -> None:
    """Else: python -m tools.bench_docs --page."""
    assert KEPT.page.read_text("utf-8") == page(KEPT)


def test_every_sample_has_a_section() -> None:
    assert list(SECTIONS) == list(SAMPLES)
    heads = re.findall(r"(?m)^## (.*)$", KEPT.page.read_text("utf-8"))
    assert heads[: len(SAMPLES)] == list(SAMPLES)


@pytest.mark.parametrize("name", SECTIONS)
def test_sample_was_measured(name: str) -> None:
    """As large as it is by itself, and the plot is there."""
    results = KEPT.read(name)
    assert results is not None
    sample = SAMPLES[name]
    swept = bool(sample.table.sweep)
    assert results.source == (name if swept else f"{name}:{sample.default}")
    assert any(row.pack_seconds for row in results.rows)
    assert KEPT.plot(name).read_text("utf-8").startswith("<?xml")


def test_nothing_is_left_over() -> None:
    there = {path.stem for path in KEPT.folder.iterdir()}
    assert there <= {*SECTIONS, COLD, *OTHERS}


# One process makes it, and runs all tests on it.
pytestmark = pytest.mark.xdist_group("benchmarks")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Every sample, measured now."""
    docs = tmp_path_factory.mktemp("docs")
    main(["--docs", str(docs), "--budget", "0.5", *(f"{name}:{n}" for name, n in TINY.items())])
    return Kept(docs)


def test_main_measures_and_writes(made: Kept) -> None:
    """The page is what the kept results give, and measuring is not needed for it."""
    text = made.page.read_text("utf-8")
    assert text == page(made)
    made.page.unlink()
    main(["--docs", str(made.page.parent), "--page"])
    assert made.page.read_text("utf-8") == text
    assert set(TINY) == set(SECTIONS)
    assert "Not measured yet" not in text


@pytest.mark.parametrize("name", SECTIONS)
def test_section(made: Kept, name: str) -> None:
    """Plot, machine and command stand in it; a sentence and a table that are made of its rows."""
    results = made.read(name)
    assert results is not None
    section = made.page.read_text("utf-8").partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert f"](benchmarks/{name}.svg)" in section
    assert section.count(f"{results.machine.cpu}, {results.machine.cores} cores") >= 2
    assert f"`serialpack bench --sample {results.source} --budget 0.5`" in section
    smallest = min((row for row in results.rows if row.size), key=lambda row: row.size or 0)
    assert f"{smallest.size:,}" in section
    lines = [line for line in section.splitlines() if line.startswith("|")]
    assert len(lines) > 2
    assert all(re.search("[.!:)]$|^$|^[|#!]", line) for line in section.splitlines())


def test_what_is_not_measured_says_so(tmp_path: Path) -> None:
    text = page(Kept(tmp_path))
    assert text.count("Not measured yet.") == len(SECTIONS)
    assert "From the disk" not in text


def test_a_cold_run_is_shown(made: Kept, tmp_path: Path) -> None:
    """Where it is kept."""
    kept = Kept(tmp_path)
    found = made.read("random")
    assert found is not None
    kept.write(COLD, found._replace(source="big.ndjson"))
    assert "## From the disk" in page(kept)
    assert "`big.ndjson`" in page(kept)


def test_figures_are_shortened(made: Kept) -> None:
    """Four digits, and whole numbers as they are."""
    found = made.read("random")
    assert isinstance(found, Results)
    row = found.rows[0]
    assert row.pack_seconds is not None
    assert row.pack_seconds == float(f"{row.pack_seconds:.4g}")
    assert found.machine.memory > 10**6
