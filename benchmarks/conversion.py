"""Conversion beside other converters: every figure of the README's table, as ratios of one run.

    python -m benchmarks.conversion                 all rows; minutes, and some 2 GB in the cache
    python -m benchmarks.conversion --quick         on data a tenth as large: whether it runs
    python -m benchmarks.conversion --only array    one row; repeatable
    python -m benchmarks.conversion --only tables --mb 60    CSV and Parquet, of less NDJSON
    python -m benchmarks.conversion --bin FOLDER    converters that are in this folder, first

Exits 0 also where a target is missed: the table says so. A line whose converter is absent says so;
docs/peers.md says how each is installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO

from benchmarks.conversion_tables import tables
from benchmarks.data import cached, made
from benchmarks.measure import Figure, Step, alternate, run
from benchmarks.table import Line, arguments, machine, print_table, speed
from tools._peer_tools import PEERS, Found, find, search_path

_DATA = str(Path(__file__).with_name("data.py"))
_MB = 1_000_000

#: What is written by whoever has no converter: all of it in memory, nothing looked at.
_PYTHON = """
import json, sys, msgpack
with open(sys.argv[1], "rb") as file:
    msgpack.dump(json.load(file), sys.stdout.buffer)
"""

_CONFIG = b"""service:
  name: phone-book
  listen: {host: 127.0.0.1, port: 8080}
  workers: 4
  timeout: 2.5
  debug: false
storage:
  driver: files
  folder: data/records
  keep: 30
  compress: true
routes:
"""
_ROUTE = b"""  - path: /contacts/%d
    methods: [GET, PUT]
    limit: 100
"""


class Bench:
    """The commands and sizes that the rows share."""

    def __init__(
        self, serialpack: str, folder: str | None, *, quick: bool, times: int, mb: int
    ) -> None:
        self.times = times
        self.serialpack = serialpack
        self._scale = 10 if quick else 1
        self.path = path = search_path(folder)
        self.mb = mb
        self.peers: dict[str, Found] = {}
        for name in ("json2msgpack", "remarshal", "jaq", "jq", "sqlite-utils"):
            if found := find(next(p for p in PEERS if p.name == name), path):
                self.peers[name] = found

    def size(self, mb: int) -> int:
        return mb * _MB // self._scale

    def ours(self, source: str, target: str, *options: str) -> list[str]:
        return [self.serialpack, "unpack", "--from", source, "--to", target, *options, "-o", "-"]

    def theirs(self, name: str, source: str, target: str, file: str) -> dict[str, Step]:
        """The command line of docs/peers.md, by name; nothing where the converter is absent."""
        found = self.peers.get(name)
        line = found and found.peer.line(source, target, file)
        return {name: Step([found.command, *line])} if found and line else {}


def _ratio(
    work: str, f: Mapping[str, Figure], ours: str, theirs: str, target: float | None
) -> Line:
    """How many times as fast ours is; ``target``: at least so many times."""
    aim = f"≥ {target}×" if target else ""
    if theirs not in f:
        return Line(work, theirs, aim, "absent", None)
    ratio, words = speed(f[ours], f[theirs])
    return Line(work, theirs, aim, words, ratio >= target if target else None)


#: What conversion of an array is beside: with the proof or without, the peer, the target.
_AIMS = {
    300: (("proved", "json2msgpack", 1.0), ("unproved", "json2msgpack", 1.5)),
    30: (("proved", "json2msgpack", 0.8), ("unproved", "json2msgpack", None)),
}
_REMARSHAL = {300: 4.0, 30: 3.0}


def array(bench: Bench, mb: int = 300) -> Iterator[Line]:
    """A JSON array to MessagePack."""
    source = str(cached("contacts-json", bench.size(mb)))
    steps = {
        "proved": Step([*bench.ours("json", "msgpack", "-j", "2"), source]),
        "unproved": Step([*bench.ours("json", "msgpack", "-j", "2", "--no-verify"), source]),
        **bench.theirs("json2msgpack", "json", "msgpack", source),
        "Python's json and msgpack": Step([sys.executable, "-c", _PYTHON, source]),
    }
    f = alternate(steps, bench.times)
    for name, step in bench.theirs("remarshal", "json", "msgpack", source).items():
        # Slow, so only once; and it refuses more than a million values unless told otherwise.
        f[name] = Figure((run(Step([*step.argv, "--max-values", "-1"])),))
    work = f"{bench.size(mb) / _MB:.0f} MB of a JSON array to MessagePack"
    for ours, theirs, target in (
        *_AIMS[mb],
        ("proved", "remarshal", _REMARSHAL[mb]),
        ("proved", "Python's json and msgpack", None),
    ):
        yield _ratio(f"{work}, {ours}", f, ours, theirs, target)


def array_30(bench: Bench) -> Iterator[Line]:
    """The same of a tenth, where starting Python weighs more."""
    yield from array(bench, 30)


def lines(bench: Bench) -> Iterator[Line]:
    """NDJSON read and written again."""
    source = str(cached("contacts", bench.size(300)))
    steps = {
        "proved": Step([*bench.ours("ndjson", "ndjson", "-j", "2"), source]),
        "unproved": Step([*bench.ours("ndjson", "ndjson", "-j", "2", "--no-verify"), source]),
        **bench.theirs("jaq", "ndjson", "ndjson", source),
    }
    f = alternate(steps, bench.times)
    work = f"{bench.size(300) / _MB:.0f} MB of NDJSON reprinted"
    yield _ratio(f"{work}, proved", f, "proved", "jaq", 1.0)
    yield _ratio(f"{work}, unproved", f, "unproved", "jaq", None)


#: sqlite-utils adds to a database that is there.
_INSERT = 'rm -f "$1" && exec "$0" insert "$1" contacts "$2" --nl'


def database(bench: Bench) -> Iterator[Line]:
    """NDJSON to a table of a new SQLite database."""
    source = cached("contacts", bench.size(300))
    steps = {
        "proved": Step([*bench.ours("ndjson", "sqlite", "-j", "2"), str(source)]),
        "unproved": Step([*bench.ours("ndjson", "sqlite", "-j", "2", "--no-verify"), str(source)]),
    }
    if found := bench.peers.get("sqlite-utils"):
        target = str(source.with_name("sqlite-utils.db"))
        steps["sqlite-utils"] = Step(["sh", "-c", _INSERT, found.command, target, str(source)])
    f = alternate(steps, bench.times)
    work = f"{bench.size(300) / _MB:.0f} MB of NDJSON to SQLite"
    yield _ratio(f"{work}, proved", f, "proved", "sqlite-utils", 1.0)
    yield _ratio(f"{work}, unproved", f, "unproved", "sqlite-utils", None)


def memory(bench: Bench) -> Iterator[Line]:
    """Peak memory of an array and of NDJSON, at three sizes."""
    sizes = [bench.size(mb) for mb in (30, 300, 1200)]
    small, middle = (cached("contacts-json", size) for size in sizes[:2])
    large = made(f"contacts-json-{sizes[2]}-four.json", partial(_four_times, middle))
    to_msgpack = bench.ours("json", "msgpack", "-j", "2")
    reprint = [*bench.ours("ndjson", "ndjson", "-j", "2"), "-"]
    stream = "absent"
    if jq := bench.peers.get("jq"):
        peak = run(Step([jq.command, "-c", "--stream", ".", str(middle)])).peak
        stream = f"{peak / _MB:.0f} MB at {sizes[1] / _MB:.0f}"
    for what, steps, peer in (
        (
            "a JSON array to MessagePack",
            [Step([*to_msgpack, str(f)]) for f in (small, middle, large)],
            stream,
        ),
        ("NDJSON through a pipe, reprinted", [Step(reprint, feed) for feed in _feeds(sizes)], ""),
    ):
        peaks = [run(step).peak / _MB for step in steps]
        amounts = ", ".join(f"{size / _MB:.0f}" for size in sizes)
        yield Line(
            f"{what}, peak memory at {amounts} MB",
            f"`jq --stream` ({peer})" if peer else "itself",
            "≤ 1.1× from the second to the third",
            ", ".join(f"{peak:.0f} MB" for peak in peaks),
            peaks[2] <= 1.1 * peaks[1],
        )


def _feeds(sizes: list[int]) -> list[list[str]]:
    """Commands that write about so many bytes of NDJSON: whole copies of a file."""
    files = [cached("contacts", size) for size in sizes[:2]]
    copies = zip((*files, files[-1]), (1, 1, 4), strict=True)
    return [
        [sys.executable, _DATA, "repeat", str(file), "--size", str(n * file.stat().st_size)]
        for file, n in copies
    ]


def _four_times(array: Path, out: IO[bytes]) -> None:
    """A JSON array of the elements of ``array``, four times.

    In pieces: what this process once held would count as memory of those that it starts.
    """
    end = array.stat().st_size - len(b"]\n")
    for mark in (b"[", b", ", b", ", b", "):
        out.write(mark)
        with array.open("rb", buffering=0) as file:
            left = end - file.seek(1)
            while left and (data := file.read(min(left, 1 << 20))):
                left -= out.write(data)
    out.write(b"]\n")


def config(bench: Bench) -> Iterator[Line]:
    """A small file, where starting decides."""
    text = _CONFIG + b"".join(_ROUTE % n for n in range(14))
    source = str(made("config-1k.yaml", lambda out: out.write(text), anew=True))
    steps = {
        "ours": Step([*bench.ours("yaml", "json"), source]),
        **bench.theirs("remarshal", "yaml", "json", source),
        "python -c pass": Step([sys.executable, "-c", "pass"]),
    }
    f = alternate(steps, max(20, bench.times))
    for peer, target in (("remarshal", 0.4), ("python -c pass", None)):
        aim = f"≤ {target}× its time" if target else ""
        words, met = "absent", None
        if peer in f:
            longer = f["ours"].median / f[peer].median
            both = f"{f['ours'].median * 1000:.0f} ms to {f[peer].median * 1000:.0f} ms"
            words, met = f"{longer:.2f}× ({both})", longer <= target if target else None
        yield Line(f"YAML of {len(text)} bytes to JSON", peer, aim, words, met)


def into_tables(bench: Bench) -> Iterator[Line]:
    """NDJSON to CSV and Parquet."""
    yield from tables(bench.serialpack, bench.path, bench.size(bench.mb), bench.times)


ROWS: dict[str, Callable[[Bench], Iterator[Line]]] = {
    "array": array,
    "array-30": array_30,
    "lines": lines,
    "database": database,
    "memory": memory,
    "config": config,
    "tables": into_tables,
}


def main() -> None:
    parser = arguments(__doc__, ROWS)
    parser.add_argument(
        "--bin",
        metavar="FOLDER",
        default=os.environ.get("SERIALPACK_PEERS"),
        help="where converters are looked for first (default: $SERIALPACK_PEERS)",
    )
    parser.add_argument(
        "--mb", type=int, default=240, help="of NDJSON in the row tables (default 240)"
    )
    chosen = parser.parse_args()
    bench = Bench(
        chosen.serialpack, chosen.bin, quick=chosen.quick, times=chosen.times, mb=chosen.mb
    )
    versions = ", ".join(f"{name} {found.version}" for name, found in bench.peers.items())
    print_table(
        {name: partial(ROWS[name], bench) for name in chosen.only or ROWS},
        machine(bench.serialpack, versions or "no other converter", bench.times),
    )


if __name__ == "__main__":
    main()
