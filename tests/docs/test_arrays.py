"""docs/arrays.md: made from the results that are kept beside it; and what measures them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.array_data import IMAGES, JOBLIB, Kind
from benchmarks.array_page import KEPT, PAGE, PLOT, Kept, Measured, page, read_kept, write_kept
from benchmarks.array_page import write_page as written
from benchmarks.array_tools import TOOLS
from benchmarks.arrays import ROOT
from serialpack.bench.machine import this_machine


def test_page_is_made_from_the_results() -> None:
    """Else: python -m benchmarks.arrays --page."""
    assert (ROOT / PAGE).read_text("utf-8") == page(read_kept(ROOT / KEPT), IMAGES, JOBLIB)


def test_all_eight_kinds_were_measured() -> None:
    kept = read_kept(ROOT / KEPT)
    assert kept is not None
    assert {name for name in JOBLIB if kept.of(name)} == JOBLIB.keys()
    assert all(each.same for each in kept.measured if each.tool.startswith("serialpack"))
    assert (ROOT / PLOT).read_text("utf-8").startswith("<?xml")


@pytest.mark.parametrize("tool", ["serialpack -3", "np.savez_compressed"])
def test_a_run_measures_both_ways(tmp_path: Path, tool: str) -> None:
    """In a process of its own, as the benchmark runs it."""
    source = tmp_path / "a.npy"
    np.save(source, np.arange(40_000.0).reshape(200, 200))
    words = [sys.executable, "-m", "benchmarks.array_tools", tool]
    done = subprocess.run(
        [*words, str(source), str(tmp_path / "b")], cwd=ROOT, capture_output=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["same"]
    assert 0 < found["size"] < source.stat().st_size
    assert found["write"]["seconds"] > 0 < found["read"]["seconds"]


def test_targets_are_told_from_the_results(tmp_path: Path) -> None:
    """A page, and plots, of results that are made up."""

    def one(data: str, tool: str, size: int, seconds: float) -> Measured:
        times = [seconds, seconds * 3, seconds * 2]
        return Measured(data, tool, 1000, size, times, times, times, times, 500, 0, True)

    rows = [("serialpack -3", 90, 1), ("joblib", 98, 3), ("blosc2", 200, 0.5)]
    best = [("serialpack -9", 80, 9), ("xz -6", 100, 3), ("pcodec, 12", 79, 3)]
    kept = Kept(
        this_machine(),
        "2026-11-23T12:00:00Z",
        {"joblib": "1"},
        60,
        0,
        3,
        [one("a", *row) for row in rows + best] + [one("b", *row) for row in rows],
        ["tables is not installed."],
    )
    (tmp_path / "docs" / "benchmarks").mkdir(parents=True)
    write_kept(tmp_path / KEPT, kept)
    assert read_kept(tmp_path / KEPT) == kept
    kinds = {"a": Kind("an image", np.load)}, {"b": Kind("a list", np.load)}
    written(tmp_path, kept, *kinds)
    text = (tmp_path / PAGE).read_text("utf-8")
    assert "| a | 90 | 98 (`joblib`) | 0.9184 | yes | 3.00 (3.00) of `joblib` | yes |" in text
    assert "| a | 80 | 79 (`pcodec, 12`) | 1.0127 | **no** | 3.00 (3.00) | **no** |" in text
    assert "- tables is not installed." in text
    assert "peak memory" in (tmp_path / PLOT).read_text("utf-8")
    assert {"serialpack -3", "joblib"} < TOOLS.keys()
