"""What the benchmarks beside other tools share: lines of a table, and how they are printed."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Figure


class CannotRun(Exception):
    """A row's peer is absent, or the machine cannot tell what the row asks for."""


class Line(NamedTuple):
    """One line of the table. ``met`` is None where nothing is aimed at."""

    work: str
    peer: str
    target: str
    figure: str
    met: bool | None


def speed(ours: Figure, theirs: Figure) -> tuple[float, str]:
    """How many times as fast ours is, by medians; and the same in words, with the minimums."""
    ratio = theirs.median / ours.median
    return ratio, (
        f"{ratio:.2f}× ({ours.median:.2f} s to {theirs.median:.2f} s; "
        f"by the fastest runs {theirs.min / ours.min:.2f}×)"
    )


def arguments(about: str | None, rows: Mapping[str, object]) -> argparse.ArgumentParser:
    """The options that all of them have."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="data a tenth as large, where starting Python weighs most",
    )
    parser.add_argument(
        "--only", action="append", choices=rows, metavar="ROW", help=", ".join(rows)
    )
    parser.add_argument("--times", type=int, default=5, help="runs of each command (default 5)")
    parser.add_argument(
        "--serialpack",
        default=str(Path(sys.executable).with_name("serialpack")),
        help="the command to measure (default: the one beside this Python)",
    )
    return parser


def machine(serialpack: str, others: str, times: int) -> str:
    """What the figures were measured on and with. ``others``: the tools beside serialpack."""
    version = subprocess.run(
        [serialpack, "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return (
        f"{version}, {others}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"load {os.getloadavg()[0]:.1f} at the start (more than 0.5: others were at work, the "
        f"figures mislead); medians of {times} alternating runs"
    )


def print_table(rows: Mapping[str, Callable[[], Iterator[Line]]], said: str) -> None:
    """Measure each row and print its lines as they come, after ``said``."""
    print(said, "", "| work | peer | target | figure | met |", sep="\n")
    print("| --- | --- | --- | --- | --- |", flush=True)
    for name, measured in rows.items():
        print(f"measuring {name}", file=sys.stderr, flush=True)
        try:
            for line in measured():
                met = {True: "yes", False: "**no**", None: ""}[line.met]
                print("|", " | ".join([*line[:4], met]), "|", flush=True)
        except (CannotRun, RuntimeError, subprocess.CalledProcessError) as error:
            why = " ".join(str(error).split())
            print(f"| {name} | | | could not run: {why} | |", flush=True)
