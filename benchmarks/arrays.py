"""Arrays in files, beside joblib, NumPy, blosc2, zarr, PyTables, h5py, nibabel and pcodec.

    python -m benchmarks.arrays --files FOLDER      all: about a quarter of an hour
    python -m benchmarks.arrays --only LFW          one kind of data; the others as they are kept
    python -m benchmarks.arrays --page              measures nothing: the page from what is kept

FOLDER holds what benchmarks/array_data.py names; data of files that are not there are left out,
which the page says. The peers are installed into an environment of their own in the cache folder.
Results are kept in docs/benchmarks/arrays.json; from them docs/arrays.md and its plots are made.

Each run is a process of its own, which measures its calls (benchmarks/array_tools.py). Runs of the
tools alternate; those that are set to be small, and take long, are run once.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.array_data import IMAGES, JOBLIB, KINDS, kept
from benchmarks.array_page import KEPT, Kept, Measured, read_kept, write_kept, write_page
from benchmarks.array_tools import ENDINGS, TOOLS
from benchmarks.data import cache_folder
from benchmarks.environment import environment
from serialpack.bench.machine import this_machine

ROOT = Path(__file__).parents[1]

#: Threads of NumPy's algebra, which no tool needs, turn round for 30 ms once it is imported: that
#: counted as processor time of whatever was measured then, and took a core from it.
CALM = {"OPENBLAS_NUM_THREADS": "1"}

PACKAGES = ("joblib", "numpy", "blosc2", "zarr", "tables", "h5py", "nibabel", "pcodec")


def measure(chosen: argparse.Namespace, before: Kept | None) -> Kept:
    """The data that were chosen; of the others, what is kept."""
    since, load, took = perf_counter(), os.getloadavg()[0], 0.0
    python, versions = environment("arrays", PACKAGES, install=True)
    found: list[Measured] = []
    notes = [f"{name} is not installed." for name in PACKAGES if name not in versions]
    for name in chosen.only or KINDS:
        try:
            source = kept(name, chosen.files)
        except OSError as error:
            notes.append(f"{name}: {error.strerror}: {error.filename}")
            continue
        found += _of(name, source, python, versions, chosen.times, notes)
        source.unlink()
    if before is not None and chosen.only:
        found = [*(each for each in before.measured if each.data not in chosen.only), *found]
        notes = list(dict.fromkeys([*before.notes, *notes]))
        took, load = before.seconds, max(before.load, load)
    order = list(KINDS)
    return Kept(
        machine=this_machine(),
        date=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}",
        versions=versions,
        seconds=took + perf_counter() - since,
        load=load,
        times=chosen.times,
        measured=sorted(found, key=lambda each: order.index(each.data)),
        notes=notes,
    )


def _of(
    name: str, source: Path, python: Path, versions: dict[str, str], times: int, notes: list[str]
) -> list[Measured]:
    """All tools with one kind of data."""
    texts = source.suffix == ".json"
    found: dict[str, list[dict[str, float]]] = {}
    size = source.stat().st_size
    with tempfile.TemporaryDirectory(prefix="arrays-", dir=cache_folder()) as folder:
        for turn in range(times):
            for key, tool in TOOLS.items():
                absent = tool.package and tool.package not in versions
                # joblib's own benchmark is about what is there by default.
                small = tool.best and (turn or name in JOBLIB) and tool.package
                if absent or small or (tool.best and turn) or (texts and not tool.texts):
                    continue
                print(f"{name}, {key}, {turn + 1}", file=sys.stderr, flush=True)
                target = Path(folder, f"target{ENDINGS.get(key, '')}")
                words = [sys.executable if tool.source else str(python)]
                words += ["-m", "benchmarks.array_tools", key, str(source), str(target)]
                done = subprocess.run(
                    words,
                    cwd=ROOT,
                    env={**os.environ, **CALM},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    notes.append(f"{name}: {key}: {done.stderr.strip().splitlines()[-1]}")
                else:
                    found.setdefault(key, []).append(json.loads(done.stdout))
                shutil.rmtree(target, ignore_errors=True)
                target.unlink(missing_ok=True)
    return [Measured.of(name, key, size, runs) for key, runs in found.items()]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, keep what was found, and write the page from it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=Path, default=Path(), metavar="FOLDER", help="the data")
    parser.add_argument("--only", action="append", choices=KINDS, metavar="DATA", help="of them")
    parser.add_argument("--times", type=int, default=3, help="runs of each tool (default 3)")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    before = read_kept(chosen.root / KEPT)
    if not chosen.page:
        write_kept(chosen.root / KEPT, measure(chosen, before))
    write_page(chosen.root, read_kept(chosen.root / KEPT), IMAGES, JOBLIB)


if __name__ == "__main__":
    main()
