"""Frames of a bar: what has room, in whole words; and lines that are printed meanwhile."""

from __future__ import annotations

import re
import sys
import threading
from itertools import pairwise
from typing import Any

import pytest

from serialpack.cli.reporting import progress
from serialpack.cli.reporting.progress import FINE, LEAST, FilesBar, ProgressLine, bar, clock, line
from serialpack.cli.words import complain, note, screen
from serialpack.text import shortened, width_of

SAID = ["1:05", "3.1 MiB of 7.0 MiB", "about 1:20 left", "1.2 MiB/s", "640 KiB written"]
NAMES = [
    "a",
    "citm_catalog.json",
    "a name of several words.json",
    "日本語のファイル名.json",
    "x" * 300,
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [None, 0.0, 0.004, 0.5, 0.999, 1.0])
def test_a_frame_has_whole_words_and_ten_cells_of_bar_at_every_width(
    name: str, share: float | None
) -> None:
    for width in range(4, 220):
        text = line(name, share, 0.1, SAID, width=width)
        assert width_of(text) <= width
        found = re.fullmatch(r"(.*?)( *\d+% )?\|([-=# ]+)\| (.*)", text)
        if found is None:
            # No room for a bar: how far it is, and since when.
            assert width < 39
            percent = "" if share is None else f"{int(100 * share):3}% "
            assert text == (percent + SAID[0] if width > 8 or not percent else percent.strip())
            continue
        label, percent, cells, said = found.groups()
        assert (percent is None) is (share is None)
        assert len(cells) >= LEAST
        pieces = said.split(", ")
        assert pieces == SAID[: len(pieces)]
        assert not label or label.rstrip() == name or ".." in label
    assert line(name, share, 0, SAID, width=400).count(", ") == len(SAID) - 1


def test_a_bar_is_full_only_when_all_is_done_and_never_stands_still() -> None:
    for cells in (10, 30):
        for share in (None, *(n / 100 for n in range(100))):
            for working in (0, 0.05, 1):
                shown = [bar(share, working, cells, number, FINE) for number in range(7)]
                assert all(len(each) == cells for each in shown)
                assert all(a != b for a, b in pairwise(shown))
                assert FINE.done * cells not in shown
        assert bar(1, 0, cells, 0, FINE) == FINE.done * cells


def test_one_bar_over_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """By bytes, within the file that is worked on too; by files where these have none."""
    shown: list[Any] = []
    monkeypatch.setattr(ProgressLine, "start", lambda _, frame: shown.append(frame))
    with FilesBar([3000, 1000, 0]) as files:
        (frame,) = shown
        assert frame()[0] == 0
        files(1500, 10)
        assert frame()[:2] == (0.375, 0)
        files.next()
        share, _, said = frame()
        assert share == 0.75
        assert said[:2] == ["1 of 3 files", "2.9 KiB of 3.9 KiB"]
        files(5000, 10)  # it grew
        assert frame()[0] == 1
    with FilesBar([0, 0]) as files:
        files.next()
        assert shown[-1]()[0] == 0.5


def test_names_are_shortened_in_the_middle() -> None:
    assert shortened("measurements.csv", 16) == "measurements.csv"
    assert shortened("measurements.csv", 12) == "measu..s.csv"
    assert [width_of(shortened("日本語のファイル名.json", n)) for n in (3, 4, 9)] == [3, 4, 9]
    assert shortened("abc", 2) == ""


def test_times() -> None:
    assert [clock(s) for s in (0.9, 65, 3600 + 62)] == ["0:00", "1:05", "1:01:02"]


def test_a_line_that_is_printed_takes_the_place_of_the_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setenv("COLUMNS", "60")
    drawn = threading.Event()

    def frame() -> tuple[float, float, list[str]]:
        drawn.set()
        return 0.5, 0, []

    shown = ProgressLine("name")
    shown.start(frame)
    assert drawn.wait(60)
    with screen.lock:  # the frame stands there
        note("said")
        complain("broken", "x")
    shown.close()
    note("in the end")
    cells: list[str] = []
    lines = []
    for text in capsys.readouterr().err.split("\n"):
        for piece in text.split("\r"):
            cells[: len(piece)] = piece
        lines.append("".join(cells).rstrip())
        cells = []
    assert lines == ["said", "serialpack: x: broken", "in the end", ""]


def test_a_terminal_without_the_signs_gets_plain_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, plain in (("ascii", True), ("latin-1", True), ("utf-8", False)):
        monkeypatch.setattr(sys, "stderr", type("Stream", (), {"encoding": encoding}))
        assert (progress._marks() == progress.PLAIN) is plain
