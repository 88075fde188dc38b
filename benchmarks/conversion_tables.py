"""NDJSON to CSV and to Parquet, beside Miller, DuckDB and sqlite-utils: a row of ``conversion``.

Installed by: apt-get install miller; pip install duckdb sqlite-utils (or those in a folder of
--bin). One that is absent has a line that says so. Each command writes a file.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.data import cached
from benchmarks.measure import Figure, Step, alternate, run
from benchmarks.table import Line, speed
from tools._peer_tools import PEERS, find

_MB = 1_000_000

#: DuckDB on as many cores as serialpack has.
_DUCKDB = "SET threads = 2; COPY (FROM read_json('{source}')) TO '{target}' (FORMAT {form})"
_BY_MODULE = "import sys, duckdb; duckdb.execute(sys.argv[1])"

#: The most memory that any process may take, whatever the size.
_MOST = 250

#: At least so many times as fast as they.
_AIMS = {"Miller": 0.5, "DuckDB": 0.15}


def commands(serialpack: str, path: str, source: str, folder: str) -> Iterator[tuple[str, Step]]:
    """What is measured, named after the tool and the target; of absent tools nothing."""
    found = {peer.name: find(peer, path) for peer in PEERS if peer.name in _PEERS}
    for target in ("csv", "parquet"):
        out = str(Path(folder, f"serialpack.{target}"))
        argv = [serialpack, "unpack", "-f", "-j", "2", "--to", target, source, "-o", out]
        yield f"serialpack {target}", Step(argv)
        query = _DUCKDB.format(source=source, target=Path(folder, f"duckdb.{target}"), form=target)
        if duckdb := found["DuckDB"]:
            yield f"DuckDB {target}", Step([duckdb.command, "-c", query])
        elif importlib.util.find_spec("duckdb"):
            yield f"DuckDB {target}", Step([sys.executable, "-c", _BY_MODULE, query])
    if miller := found["Miller"]:
        argv = [miller.command, "--ijsonl", "--ocsv", "flatten", "then", "unsparsify", source]
        yield "Miller csv", Step(argv, into=str(Path(folder, "miller.csv")))
    if sqlite := found["sqlite-utils"]:
        name = Path(source).stem
        argv = [sqlite.command, "memory", f"{source}:nl", f'select * from "{name}"', "--csv"]
        yield "sqlite-utils csv", Step(argv, into=str(Path(folder, "sqlite.csv")))


_PEERS = ("Miller", "DuckDB", "sqlite-utils")


def tables(serialpack: str, path: str, size: int, times: int) -> Iterator[Line]:
    """Two tables of ``size`` bytes of NDJSON, and what they take of memory."""
    source = str(cached("contacts", size))
    with tempfile.TemporaryDirectory() as folder:
        steps = dict(commands(serialpack, path, source, folder))
        slow = steps.pop("sqlite-utils csv", None)
        figures = alternate(steps, times)
        if slow is not None:  # it has all of it in memory, so that once is enough
            figures["sqlite-utils csv"] = Figure((run(slow),))
        yield from lines(figures, size)
        for target in ("csv", "parquet"):
            peaks: dict[int, int] = {}
            run(steps[f"serialpack {target}"], peaks)
            largest, all_of_them = max(peaks.values()) / _MB, sum(peaks.values()) / _MB
            yield Line(
                f"{size / _MB:.0f} MB of NDJSON to {target}, peak memory of a process",
                "itself",
                f"≤ {_MOST} MB",
                f"{largest:.0f} MB, {len(peaks)} processes together {all_of_them:.0f}",
                largest <= _MOST,
            )


def lines(figures: Mapping[str, Figure], size: int) -> Iterator[Line]:
    """What is measured beside each tool; ``figures`` by tool and target."""
    for target in ("csv", "parquet"):
        ours = figures[f"serialpack {target}"]
        for peer in _PEERS:
            if target == "parquet" and peer != "DuckDB":
                continue  # they do not write it
            aim = _AIMS.get(peer)
            said = f"≥ {aim}×" if aim else ""
            work = f"{size / _MB:.0f} MB of NDJSON to {target}"
            theirs = figures.get(f"{peer} {target}")
            if theirs is None:
                yield Line(work, peer, said, "absent", None)
                continue
            ratio, words = speed(ours, theirs)
            words = f"{words[:-1]}; by processor time {theirs.cpu / ours.cpu:.2f}×)"
            yield Line(work, peer, said, words, ratio >= aim if aim else None)
