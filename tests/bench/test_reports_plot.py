"""Pictures of bench's results: drawn, refused in time, and nothing in a name acts on them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from serialpack.bench.reports.plot import check_plot, plot
from serialpack.bench.results import Results
from serialpack.errors import FileError, MissingLibraryError, UsageError
from tests.bench.found import (
    file_results,
    hostile_results,
    object_results,
    sweep_results,
    unknown,
)

matplotlib = pytest.importorskip("matplotlib")


@pytest.mark.parametrize("kind", [file_results, object_results, sweep_results, hostile_results])
def test_svg_has_the_names_and_no_markup_of_theirs(
    kind: Callable[[], Results], tmp_path: Path
) -> None:
    path = tmp_path / "a.svg"
    plot(kind(), str(path))
    root = ElementTree.fromstring(path.read_text("utf-8"))
    texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert root.find(".//{http://www.w3.org/2000/svg}script") is None
    if kind is sweep_results:
        assert {"pickle+none", "size over the original", "unpack over pack"} <= set(texts)
    elif kind is object_results:
        assert {"marshal+none", "pickle+zstd:3"} <= set(texts)
    else:
        assert texts.count("columns+xz") == 2
        assert texts.count("memcpy") == 2
    if kind is hostile_results:
        assert any(text.startswith("<script>document.title='owned'</script>") for text in texts)


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.svg", tmp_path / "other.SVG"
    plot(object_results(), str(one))
    plot(object_results(), str(other))
    assert one.read_bytes() == other.read_bytes()


def test_png(tmp_path: Path) -> None:
    plot(object_results(), str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_what_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text("mine")
    with pytest.raises(FileError, match="exists"):
        plot(object_results(), str(path))
    assert path.read_text() == "mine"
    plot(object_results(), str(path), force=True)
    assert path.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("name", ["a.pdf", "png", "a.svg.gz", ""])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"takes \.png and \.svg"):
        check_plot(name)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is said before anything is measured, with what to install."""
    monkeypatch.delitem(sys.modules, "matplotlib")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MissingLibraryError, match=r"pip install 'serialpack\[plot\]'"):
        check_plot("a.png")


@pytest.mark.parametrize("kind", [file_results, sweep_results])
def test_nothing_to_draw(kind: Callable[[], Results], tmp_path: Path) -> None:
    n = 100 if kind is sweep_results else None
    found = kind()._replace(rows=[unknown("raw+none", "skipped", "no time", n=n)], anchors=[])
    with pytest.raises(UsageError, match="nothing was measured"):
        plot(found, str(tmp_path / "a.svg"))
    assert not list(tmp_path.iterdir())


def test_a_home_that_is_not_to_be_written_to_is_no_news(tmp_path: Path) -> None:
    """The library said of it, and of the folder that it took instead, what to set and why."""
    script = (
        "from tests.bench.found import object_results\n"
        "from serialpack.bench.reports.plot import plot\n"
        "plot(object_results(), 'a.svg')\n"
    )
    home = str(tmp_path / "file")
    Path(home).touch()
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "HOME": home, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "a.svg").exists()
