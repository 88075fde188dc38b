"""serialpack beside its peers: every figure of the README's table, as ratios of one run.

    python -m benchmarks.peers                 all rows; minutes, and some 3 GB in the cache folder
    python -m benchmarks.peers --quick         on data a tenth as large: whether it runs, no more
    python -m benchmarks.peers --only pack     one row; repeatable

Exits 0 also where a target is missed: the table says so. A row that cannot run says why.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from benchmarks.data import cached, head, made
from benchmarks.measure import Figure, Step, alternate, run
from benchmarks.table import CannotRun, Line, arguments, machine, print_table, speed

_DATA = str(Path(__file__).with_name("data.py"))
_MB = 1_000_000
_BLOCK = 4 << 20

#: Seconds of one record, of everything on all cores and of everything on one, in one process.
_RANGE = """
import json, os, sys, time
import serialpack
path, record = sys.argv[1], int(sys.argv[2])
def best(times, **options):
    seconds = []
    for _ in range(times):
        with open(os.devnull, "wb", buffering=0) as out:
            started = time.perf_counter()
            serialpack.unpack(path, out, **options)
            seconds.append(time.perf_counter() - started)
    return min(seconds)
best(2, record_range=(record, record + 1))
print(json.dumps([best(20, record_range=(record, record + 1)), best(3), best(3, threads=1)]))
"""


class Bench:
    """The commands and sizes that the rows share."""

    def __init__(self, serialpack: str, *, quick: bool, times: int) -> None:
        self.times = times
        self.scale = 10 if quick else 1
        self.size = 300 * _MB // self.scale
        self.serialpack = serialpack
        self._zstd = shutil.which("zstd")

    @property
    def zstd(self) -> str:
        if self._zstd is None:
            raise CannotRun("the zstd command is not installed")
        return self._zstd

    @property
    def mb(self) -> str:
        return f"{self.size // _MB} MB"

    def pack(self, *options: str) -> list[str]:
        return [self.serialpack, "pack", "-s", "raw", "-3", "-j", "2", *options, "-o", "-"]

    def unpack(self, *options: str) -> list[str]:
        return [self.serialpack, "unpack", *options, "-o", "-"]

    def zstd_pack(self, *options: str) -> list[str]:
        return [self.zstd, "-q", "-T2", "-3", "-c", *options]

    def packed(self, argv: list[str], name: str, copies: int = 1) -> Path:
        """What ``argv`` writes, ``copies`` times, as a file of the cache, made anew."""

        def write(out: IO[bytes]) -> None:
            for _ in range(copies):
                out.flush()
                subprocess.run(argv, stdout=out, stdin=subprocess.DEVNULL, check=True)

        return made(name, write, anew=True)


def pack(bench: Bench, kind: str = "contacts", what: str = "NDJSON") -> Iterator[Line]:
    """Raw packing, with and without the proof."""
    source = str(cached(kind, bench.size))
    whole = bench.packed(bench.zstd_pack(source), f"peer-{kind}.zst")
    f = alternate(
        {
            "unproved": Step([*bench.pack("--no-verify"), source]),
            "zstd": Step(bench.zstd_pack(source)),
            "proved": Step([*bench.pack(), source]),
            "test": Step([bench.zstd, "-q", "-t", str(whole)]),
        },
        bench.times,
    )
    tested = Figure(
        tuple(
            z._replace(seconds=z.seconds + t.seconds)
            for z, t in zip(f["zstd"].runs, f["test"].runs, strict=True)
        )
    )
    work = f"pack raw {bench.mb} of {what}"
    for name, peer, theirs, target in (
        ("unproved", "`zstd -T2 -3`", f["zstd"], 1.0),
        ("proved", "`zstd -T2 -3`", f["zstd"], 0.9),
        ("proved", "`zstd -T2 -3`, then `zstd -t`", tested, 1.3),
    ):
        ratio, words = speed(f[name], theirs)
        yield Line(f"{work}, {name}", peer, f"≥ {target}×", words, ratio >= target)
    larger = f["proved"].output / f["zstd"].output
    yield Line(f"{work}, size", "`zstd -T2 -3`", "≤ 1.02×", f"{larger:.4f}×", larger <= 1.02)


def pack_json(bench: Bench) -> Iterator[Line]:
    """The same of one JSON array, whose records must be found first."""
    yield from pack(bench, "contacts-json", "a JSON array")


def unpack(bench: Bench) -> Iterator[Line]:
    """Unpacking four members one after another, to /dev/null."""
    source = str(cached("contacts", bench.size))
    zst = bench.packed(bench.zstd_pack(source), "peer-4.zst", copies=4)
    spk = bench.packed([*bench.pack(), source], "ours-4.spk", copies=4)
    f = alternate(
        {
            "ours": Step([*bench.unpack("-j", "2"), str(spk)], discard=True),
            "zstd": Step([bench.zstd, "-q", "-d", "-c", str(zst)], discard=True),
        },
        bench.times,
    )
    ratio, words = speed(f["ours"], f["zstd"])
    work = f"unpack {4 * bench.size // _MB} MB in four members to /dev/null"
    yield Line(work, "`zstd -d`", "≥ 1.5×", words, ratio >= 1.5)


def memory(bench: Bench) -> Iterator[Line]:
    """Peak memory of what flows through a pipe, at two sizes."""
    source = str(cached("contacts", bench.size))
    sizes = [gib * 2**30 // bench.scale for gib in (1, 4)]
    feeds = [[sys.executable, _DATA, "repeat", source, "--size", str(size)] for size in sizes]
    peer = run(Step(bench.zstd_pack("-"), feeds[1])).peak / _MB
    packed = [
        ["sh", "-c", f"{shlex.join(feed)} | {shlex.join([*bench.pack('--no-verify'), '-'])}"]
        for feed in feeds
    ]
    amount = f"{sizes[1] / 2**30:.2g} GiB through a pipe"
    for work, who, peaks in (
        ("pack", f"`zstd -T2 -3` ({peer:.0f} MB)", [Step([*bench.pack(), "-"], x) for x in feeds]),
        ("unpack", "", [Step([*bench.unpack("-j", "2"), "-"], x, discard=True) for x in packed]),
    ):
        small, large = (run(step).peak / _MB for step in peaks)
        yield Line(
            f"{work} {amount}, peak memory", who, "≤ 150 MB", f"{large:.0f} MB", large <= 150
        )
        yield Line(
            f"{work} {amount}, growth",
            f"itself at {sizes[0] / 2**30:.2g} GiB ({small:.0f} MB)",
            "≤ 1.1×",
            f"{large / small:.2f}×",
            large <= 1.1 * small,
        )


def small(bench: Bench) -> Iterator[Line]:
    """The container around 100 bytes."""
    source = cached("random", 100)
    around = run(Step([*bench.pack(), str(source)])).output - 100
    yield Line(
        "a file of 100 random bytes, container around it",
        "its size",
        "≤ 300 bytes",
        f"{around} bytes",
        around <= 300,
    )


def start(bench: Bench) -> Iterator[Line]:
    """What a command costs that has next to nothing to do."""
    source = made("contacts-1k.ndjson", lambda out: out.write(head(_contacts(), 3)[:1000]))
    f = alternate(
        {
            "click": Step([sys.executable, "-c", "import click"]),
            "version": Step([bench.serialpack, "--version"]),
            "pack": Step([*bench.pack(), str(source)]),
        },
        max(20, bench.times),
    )
    for name, work, target in (
        ("version", "`serialpack --version`", 1.3),
        ("pack", "pack of 1 kB", 2.0),
    ):
        longer = f[name].median / f["click"].median
        yield Line(
            f"{work}, time",
            f"`python -c 'import click'` ({f['click'].median * 1000:.0f} ms)",
            f"≤ {target}×",
            f"{longer:.2f}× ({f[name].median * 1000:.0f} ms)",
            longer <= target,
        )


def ranges(bench: Bench) -> Iterator[Line]:
    """One record or a few bytes out of a large container."""
    source = cached("contacts", bench.size)
    with source.open("rb") as file:
        record = sum(1 for _ in file) // 2
    spk = bench.packed([*bench.pack(), str(source)], "ours.spk")
    yield from _read_of_ranges(bench, spk, record)
    yield from _ranges_in_library(bench, spk, record)
    f = alternate(
        {
            "one": Step([*bench.unpack("--records", f"{record}:{record + 1}"), str(spk)]),
            "all": Step([*bench.unpack(), str(spk)], discard=True),
        },
        bench.times,
    )
    ratio, words = speed(f["one"], f["all"])
    yield Line(
        f"one record out of {bench.mb}, as a command",
        "all of it; both start Python",
        "≥ 50×",
        words,
        ratio >= 50,
    )


def _read_of_ranges(bench: Bench, spk: Path, record: int) -> Iterator[Line]:
    """How many bytes are read for a record, and for a few bytes."""
    few = made("contacts-10.ndjson", lambda out: out.write(head(_contacts(), 10)))
    tiny = bench.packed([*bench.pack(), str(few)], "ours-10.spk")
    size = spk.stat().st_size
    # A range of bytes may touch two blocks; the rest is header and index.
    limit = 2 * size * _BLOCK // bench.size + (64 << 10)
    middle = bench.size // 2
    for option, there, here in (
        ("--records", f"{record}:{record + 1}", "5:6"),
        ("--bytes", f"{middle}:{middle + 400}", "500:900"),
    ):
        one = run(Step([*bench.unpack(option, there), str(spk)]))
        least = run(Step([*bench.unpack(option, here), str(tiny)]))
        if one.read is None or least.read is None:
            raise CannotRun("only Linux tells how many bytes a process has read")
        # What Python reads of its own modules is the same for a tiny container.
        read = max(0, one.read - least.read)
        yield Line(
            f"`{option}` out of {bench.mb}, bytes read",
            f"the whole container ({size})",
            f"two blocks and the index, ≤ {limit}",
            f"{read}",
            read <= limit,
        )


def _ranges_in_library(bench: Bench, spk: Path, record: int) -> Iterator[Line]:
    """How much quicker a record is had than all of them."""
    answer = subprocess.run(
        [sys.executable, "-c", _RANGE, str(spk), str(record)],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    one_s, all_s, single_s = json.loads(answer)
    for who, seconds in (("all of it", all_s), ("all of it on one thread", single_s)):
        yield Line(
            f"one record out of {bench.mb}, in the library",
            f"{who} ({seconds * 1000:.0f} ms)",
            "≥ 50×",
            f"{seconds / one_s:.0f}× ({one_s * 1000:.1f} ms)",
            seconds >= 50 * one_s,
        )


def _contacts() -> Path:
    return cached("contacts", 10_000)


ROWS: dict[str, Callable[[Bench], Iterator[Line]]] = {
    "pack": pack,
    "pack-json": pack_json,
    "unpack": unpack,
    "memory": memory,
    "small": small,
    "start": start,
    "ranges": ranges,
}


def zstd_version(bench: Bench) -> str:
    try:
        said = subprocess.run([bench.zstd, "--version"], capture_output=True, text=True)
    except CannotRun:
        return "no zstd"
    return said.stdout.strip(" *\n").split(",")[0]


def main() -> None:
    chosen = arguments(__doc__, ROWS).parse_args()
    bench = Bench(chosen.serialpack, quick=chosen.quick, times=chosen.times)
    print_table(
        {name: partial(ROWS[name], bench) for name in chosen.only or ROWS},
        machine(bench.serialpack, zstd_version(bench), bench.times),
    )


if __name__ == "__main__":
    main()
