"""What auto chooses, and what it costs: the dial, the look at a file, and bench's best beside it.

    python -m benchmarks.auto FILE... > benchmarks/auto.md
    python -m benchmarks.auto --only dial FILE...

Figures are of one thread where speed counts; times are medians of five.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from inspect import cleandoc
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import IO, Any, cast

import serialpack
from serialpack import api
from serialpack.auto.choice import choose
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS

#: A row of bench is as fast as another one that takes this much longer: what two runs differ by.
_NOISE = 1.05


def dial(files: Sequence[Path], folder: Path) -> Iterator[str]:
    """Sizes at each effort. A step is named where it is larger than the one before.

    Where `raw` goes to zstd, that is zstd's own doing: its levels 1 and 2 differ in strategy, not
    in effort, so that what repeats at length may be larger at 2; and on numbers 19 and 22 at times
    find less than the levels before. Of columns, steps of some bytes are the header's, which says
    a block size other than 4 MiB (efforts 5 and 7), or a choice between encodings made by an
    estimate. A block larger than the one before has other records in it: at 9 some columns are a
    little larger.
    """
    yield from _head("file", "chain at -3", *(f"-{effort}" for effort in EFFORTS), "larger")
    for path in files:
        reports = [
            serialpack.pack(path, folder / "x.spk", effort=effort, force=True) for effort in EFFORTS
        ]
        sizes = [report.packed for report in reports]
        grows = [
            f"-{effort} by {now / before - 1:.3%}"
            for effort, before, now in zip([*EFFORTS][1:], sizes, sizes[1:], strict=False)
            if now > before
        ]
        chain = reports[DEFAULT_EFFORT - min(EFFORTS)].chain
        yield _row(path.name, f"`{chain}`", *(f"{s:,}" for s in sizes), ", ".join(grows) or "no")


def look(files: Sequence[Path], folder: Path) -> Iterator[str]:
    """The time to choose, beside the time to pack. What is read to choose is not read again."""
    yield from _head("file", "MB", "chosen in", "packed in", "share", "because")
    for path in files:
        choices, packs = [], []
        for _ in range(5):
            since = perf_counter()
            found = api.chosen(path, choose())
            choices.append(perf_counter() - since)
            since = perf_counter()
            serialpack.pack(path, folder / "x.spk", force=True, threads=1)
            packs.append(perf_counter() - since)
        chosen, packed = median(choices), median(packs)
        size = path.stat().st_size / 1e6
        times = (f"{chosen * 1e3:.1f} ms", f"{packed * 1e3:.0f} ms", f"{chosen / packed:.1%}")
        yield _row(path.name, f"{size:.1f}", *times, found.why)


def beside(files: Sequence[Path], _: Path) -> Iterator[str]:
    """The best of bench's rows that pack and unpack as fast as auto's, or less than 5 % slower."""
    yield from _head("file", "auto", "size", "best of its speed", "size", "auto is larger by")
    for path in files:
        words = [sys.executable, "-m", "serialpack", "bench", "--format", "json", "-q", "-j", "1"]
        done = subprocess.run([*words, str(path)], capture_output=True, check=True)
        rows: list[dict[str, Any]] = [
            row for row in json.loads(done.stdout)["rows"] if row["size"] and row["pack_speed"]
        ]
        mine = next(row for row in rows if row["auto"])
        rivals = [
            row
            for row in rows
            if all(row[key] * _NOISE >= mine[key] for key in ("pack_speed", "unpack_speed"))
        ]
        best = min(rivals, key=lambda row: int(row["size"]))
        more = f"{mine['size'] / best['size'] - 1:.1%}"
        yield _row(
            path.name, f"`{mine['chain']}`", f"{mine['size']:,}",
            f"`{best['chain']}`", f"{best['size']:,}", more,
        )  # fmt: skip


def noise(_: Sequence[Path], folder: Path) -> Iterator[str]:
    """Incompressible bytes, from a file in memory to nowhere."""
    yield from _head("300 MB of random bytes", "seconds", "MB/s")
    source = folder / "noise"
    source.write_bytes(os.urandom(300_000_000))
    works: dict[str, Callable[[], object]] = {
        "read": lambda: _read(source),
        "packed by auto, not proved": lambda: serialpack.pack(source, _nowhere(), verify=False),
        "packed by auto": lambda: serialpack.pack(source, _nowhere()),
        "packed as `raw+none`": lambda: serialpack.pack(source, _nowhere(), codec="none"),
        "packed as `raw+zstd:3`": lambda: serialpack.pack(source, _nowhere(), codec="zstd:3"),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _turn in range(5):
        for name, work in works.items():
            since = perf_counter()
            work()
            times[name].append(perf_counter() - since)
    for name, took in times.items():
        yield _row(name, f"{median(took):.2f}", f"{300 / median(took):,.0f}")


class _Nowhere(io.RawIOBase):
    def write(self, data: Any) -> int:
        return len(data)


def _nowhere() -> IO[bytes]:
    return cast("IO[bytes]", _Nowhere())


def _read(source: Path) -> None:
    with source.open("rb") as file:
        while file.read(4 << 20):
            pass


PARTS = {"dial": dial, "look": look, "beside": beside, "noise": noise}


def _head(*cells: str) -> Iterator[str]:
    yield _row(*cells)
    yield _row(*("---" for _ in cells))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    print("# What auto chooses\n\nMade by `python -m benchmarks.auto FILE...`.")
    with tempfile.TemporaryDirectory() as folder:
        for name, part in PARTS.items():
            if given.only is None or name in given.only:
                print(f"\n## {name}\n\n{cleandoc(part.__doc__ or '')}\n", flush=True)
                for line in part(given.files, Path(folder)):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
