"""The bar that a person at a terminal sees, on a real pseudo-terminal."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import serialpack
from tests.faults.conftest import (
    KIB,
    Command,
    Start,
    catches_signals,
    feed,
    records,
    wait_for,
)
from tests.faults.terminal import Terminal, ended
from tests.noise import noise


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


#: What may stand in a bar: all of it in whole words.
SIZE = r"\d+(\.\d+)? ([KM]i)?B"
FRAME = re.compile(
    r"(?P<name>\S.*? )?( *(?P<share>\d+)% )?\|(?P<bar>[█▒▓ ]{10,})\| (?P<clock>\d+:\d\d)"
    rf"(, ({SIZE}( of {SIZE}|/s| written| being worked on)?|about \d+:\d\d left|finishing))*"
)


class Frame(NamedTuple):
    """A bar as it stood there once."""

    text: str
    share: int | None
    bar: str
    clock: str


def frames(terminal: Terminal) -> list[Frame]:
    """The bars that stood there one after another; a failure for what is no bar."""
    found = []
    for line in terminal.screen.decode().split("\r\n")[0].split("\r"):
        text = line.rstrip()
        if not text or " -> " in text:
            continue
        match = FRAME.fullmatch(text)
        assert match is not None, text
        share = match["share"]
        found.append(
            Frame(text, None if share is None else int(share), match["bar"], match["clock"])
        )
    return found


def slowed(process: Command, terminal: Terminal, shown: bytes = rb"(\d+)% \|") -> None:
    """Stop the command again and again until three bars were shown that differ in ``shown``: time
    goes on, and its work hardly does, so that there is a bar for what takes a fast machine less
    than a second."""
    wait_for(lambda: catches_signals(process), "handlers")
    while process.poll() is None and len(set(re.findall(shown, terminal.screen))) < 3:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.05)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_bar_moves_while_a_single_block_is_worked_on(
    start: Start, tmp_path: Path, columns: int
) -> None:
    (tmp_path / "some-records.ndjson").write_bytes(records(1024 * KIB))
    terminal = Terminal(columns)
    # Less than a block at this effort, and no room for several.
    process = start("pack", "-9", "-s", "columns", "some-records.ndjson", stderr=terminal.slave)
    slowed(process, terminal)
    ended(process, terminal)
    shown = frames(terminal)
    assert len(shown) >= 3
    assert all(len(frame.text) < columns for frame in shown)
    assert all(frame.text.startswith("some") for frame in shown)
    # Where the machine is busy, a bar stands there before it is known how much there is to do.
    shares = [-1 if frame.share is None else frame.share for frame in shown]
    assert shares == sorted(shares)
    assert len({*shares} - {-1}) >= 3
    assert all(before.text != after.text for before, after in pairwise(shown))
    assert shown[0].clock <= shown[-1].clock
    assert len(terminal.lines) == 1


def test_a_bar_moves_while_a_single_call_takes_long(start: Start, tmp_path: Path) -> None:
    """Nobody knows how far zstd is within a block, but that it is at work."""
    terminal = Terminal()
    (tmp_path / "text").write_bytes(b64encode(Random(1).randbytes(3 << 20)))
    how = ("-c", "zstd:22", "-s", "raw", "--block-size", "16M")
    process = start("pack", *how, "text", stderr=terminal.slave)
    slowed(process, terminal, rb"\|([^|\r]*)\|[^|\r]*being worked on")
    ended(process, terminal)
    shown = frames(terminal)
    assert len(shown) >= 3
    assert all(before.bar != after.bar for before, after in pairwise(shown))
    assert any("being worked on" in frame.text for frame in shown)


@pytest.mark.parametrize("way", ["file", "standard input", "conversion", "gzip"])
def test_the_total_is_that_of_what_comes_out(start: Start, tmp_path: Path, way: str) -> None:
    """A container says what it restores to. It gets slow by a reader of its output that is."""
    text = records(2600 * KIB)
    (tmp_path / "x").write_bytes(text)
    packed = tmp_path / "x.spk"
    serialpack.pack(
        tmp_path / "x",
        packed,
        format="ndjson",
        serializer="raw",
        codec="zstd:1",
        block_size=64 * KIB,
    )
    (tmp_path / "x.ndjson.gz").write_bytes(gzip.compress(text))
    terminal = Terminal()
    args = {
        "file": ["unpack", "x.spk", "-o", "-"],
        "standard input": ["unpack"],
        "conversion": ["unpack", "x.spk", "--to", "json", "-o", "-"],
        "gzip": ["unpack", "x.ndjson.gz", "--to", "json", "-o", "-"],
    }[way]
    with packed.open("rb") as stdin:
        process = start(*args, stdin=stdin, stderr=terminal.slave)
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 100)
        time.sleep(1.5)
        while os.read(process.stdout.fileno(), 1 << 20):
            pass
        ended(process, terminal)
    shown = frames(terminal)
    assert shown
    total = r"[0-9.]+ MiB" if way == "gzip" else r"2\.5 MiB"
    assert all(re.search(rf" of {total}\b", f.text) for f in shown if f.share), shown
    assert any(frame.share for frame in shown)
    assert all((frame.share or 0) <= 100 for frame in shown)


SLOW = ["pack", "--block-size", "64K", "-o"]


def drip(*processes: Command) -> None:
    """Input that takes over a second to come, from when they wait for it."""
    data = noise(64 * KIB * 4)
    for process in processes:
        wait_for(lambda process=process: catches_signals(process), "handlers")  # type: ignore[misc]
    for pause in (1.1, 0.15, 0.15, 0.15):
        for process in processes:
            feed(process, data)
        time.sleep(pause)
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None


def test_work_over_a_second_shows_a_bar_that_vanishes(start: Start, terminal: Terminal) -> None:
    process = start(*SLOW, "out", stderr=terminal.slave)
    drip(process)
    ended(process, terminal)
    shown = frames(terminal)
    assert any(frame.share is None and "KiB/s" in frame.text for frame in shown), shown
    (line,) = terminal.lines
    assert line.startswith("-: 1.0 MiB -> 1.0 MiB")


def test_the_bar_names_a_file_and_tells_the_share_that_is_done(
    start: Start, tmp_path: Path, terminal: Terminal
) -> None:
    """A file gets slow by a reader of its output that is."""
    (tmp_path / "big[red]\x1b[31m").write_bytes(noise(64 * KIB * 40))
    args = ["pack", "--block-size", "64K", "-o", "-", "big[red]\x1b[31m"]
    process = start(*args, stderr=terminal.slave)
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 100)
    time.sleep(1.1)
    while os.read(process.stdout.fileno(), 32 * KIB):
        pass
    ended(process, terminal)
    assert rb"big[red]\x1b[31m " in terminal.screen
    assert any(frame.share for frame in frames(terminal))
    assert b"\x1b[31m" not in terminal.screen
    assert terminal.lines == []


def test_quick_work_shows_no_bar(start: Start, tmp_path: Path) -> None:
    text = tmp_path / "rows.ndjson"
    text.write_bytes(records(100 * KIB))
    for _ in range(5):
        terminal = Terminal()
        since = time.monotonic()
        ended(start("pack", "-f", "--block-size", "4K", text, stderr=terminal.slave), terminal)
        if time.monotonic() - since < 1:
            assert len(terminal.lines) == 1
            assert b"\r" not in terminal.screen.replace(b"\r\n", b"")
            return
    pytest.skip("nothing is quick on this machine now")


def test_no_bar_where_it_is_not_wanted_or_standard_error_is_no_terminal(start: Start) -> None:
    quiet, plain, other = Terminal(), Terminal(), Terminal()
    processes = [
        start(*SLOW, "q", "-q", stderr=quiet.slave),
        start(*SLOW, "p", "--no-progress", stderr=plain.slave),
        start(*SLOW, "o", stdout=other.slave, stderr=subprocess.PIPE),
    ]
    drip(*processes)
    _, said = processes[2].communicate(timeout=60)
    ended(processes[0], quiet)
    ended(processes[1], plain)
    ended(processes[2], other)
    assert (quiet.screen, other.screen) == (b"", b"")
    for text in plain.screen.replace(b"\r\n", b"\n"), said:
        assert b"\r" not in text
        assert text.count(b"\n") == 1


def test_ctrl_c_takes_the_bar_away(start: Start, terminal: Terminal) -> None:
    process = start(*SLOW, "out", stderr=terminal.slave)
    feed(process, noise(64 * KIB * 4))
    time.sleep(1.1)
    feed(process, noise(64 * KIB * 4))
    wait_for(lambda: b"\r" in terminal.screen, "the bar")
    process.send_signal(signal.SIGINT)
    process.wait(60)
    ended(process, terminal, 130)
    assert frames(terminal)
    assert terminal.lines == []
