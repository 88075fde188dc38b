"""docs/arrays.md and its plots, made from what benchmarks.arrays measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.array_data import Kind
from benchmarks.array_tools import TOOLS
from serialpack.bench.reports.row_columns import significant
from serialpack.bench.results import Machine
from tools._bench_words import code, table_of
from tools.bench_docs import shortened

#: Below the root of the repository.
KEPT = Path("docs", "benchmarks", "arrays.json")
PAGE = Path("docs", "arrays.md")
PLOT = Path("docs", "benchmarks", "arrays.svg")

OURS, SMALLEST, LZMA = "serialpack -3", "serialpack -9", "xz -6"

#: Peers count as equally small that are larger by less than this.
_NEAR = 1.1

_INTRO = """# Arrays beside other files of arrays

Made by `make bench-arrays`, which measures and writes this page from the results, kept in
[benchmarks/arrays.json](benchmarks/arrays.json); no figure in it is typed by hand.

Each run is a process of its own, which holds the data, has used the tool once on next to nothing,
and then times the call that writes a file and the one that reads it back, both also in processor
time (of all threads; in brackets). Peak memory is what the call took beyond what was there. Of
several runs, which alternate, the median counts. Files are in the system's cache. `serialpack`
packs an `.npy` file, proves it, and reads it by `load(path, mmap_mode="r")`, on all cores. The
others get the array. What is called by its name alone is as its documentation shows it: `joblib`
with `compress=3`, `tables` with blosc at level 5, `h5py` with gzip, `nibabel` as `.nii.gz`.
"""


class Measured(NamedTuple):
    """One tool with one kind of data: bytes, seconds, bytes of memory; of each run."""

    data: str
    tool: str
    #: Of the file that the data came from.
    source: int
    size: int
    write: list[float]
    write_cpu: list[float]
    read: list[float]
    read_cpu: list[float]
    write_peak: int
    read_peak: int
    same: bool

    @classmethod
    def of(cls, data: str, tool: str, source: int, runs: list[Any]) -> Measured:
        """Of what the processes of benchmarks.array_tools said."""
        return cls(
            data,
            tool,
            source,
            runs[0]["size"],
            [run["write"]["seconds"] for run in runs],
            [run["write"]["cpu"] for run in runs],
            [run["read"]["seconds"] for run in runs],
            [run["read"]["cpu"] for run in runs],
            max(run["write"]["peak"] for run in runs),
            max(run["read"]["peak"] for run in runs),
            all(run["same"] for run in runs),
        )


class Kept(NamedTuple):
    """All results."""

    machine: Machine
    date: str
    versions: dict[str, str]
    seconds: float
    load: float
    times: int
    measured: list[Measured]
    notes: list[str]

    def of(self, data: str) -> dict[str, Measured]:
        """By tool."""
        return {each.tool: each for each in self.measured if each.data == data}


def read_kept(path: Path) -> Kept | None:
    """What is kept; None where nothing is."""
    if not path.exists():
        return None
    found = json.loads(path.read_text("utf-8"))
    found["machine"] = Machine(**found["machine"])
    found["measured"] = [Measured(**each) for each in found["measured"]]
    return Kept(**found)


def write_kept(path: Path, kept: Kept) -> None:
    """A line each result."""
    rows = ",\n".join(json.dumps(shortened(each._asdict())) for each in kept.measured)
    fields = {**kept._asdict(), "machine": kept.machine._asdict()}
    del fields["measured"]
    lines = [f"{json.dumps(name)}: {json.dumps(shortened(each))}" for name, each in fields.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{" + ",\n".join([*lines, f'"measured": [\n{rows}\n]']) + "}\n", "utf-8")


def write_page(
    root: Path, kept: Kept | None, images: Mapping[str, Kind], joblib: Mapping[str, Kind]
) -> None:
    """The page and its plot, below the root of the repository."""
    if kept is not None:
        _plot(kept, joblib, root / PLOT)
    (root / PAGE).write_text(page(kept, images, joblib), "utf-8")


def page(kept: Kept | None, images: Mapping[str, Kind], joblib: Mapping[str, Kind]) -> str:
    """All of docs/arrays.md."""
    if kept is None:
        return f"{_INTRO}\nNot measured yet.\n"
    here = [name for name in images if kept.of(name)]
    parts = [_INTRO, _where(kept), "## What is aimed at\n", _defaults(kept, here)]
    parts += [_smallest(kept, here), _orders(kept), "## joblib's benchmark\n"]
    parts += [
        "The eight kinds of data of its example on persistence.\n",
        f"![Size, speed and memory of joblib's eight kinds of data]({PLOT.relative_to('docs')})\n",
    ]
    for name, kind in {**joblib, **images}.items():
        if found := kept.of(name):
            heading = "## Fields and images\n\n" if name == next(iter(here), "") else ""
            parts += [f"{heading}### {name}\n", *_of(kind, found)]
    absent = [f"{name}." for name in {**joblib, **images} if not kept.of(name)]
    if notes := [*absent, *kept.notes]:
        parts += ["## What was not measured\n", *(f"- {note}" for note in notes), ""]
    return "\n".join(parts)


def _where(kept: Kept) -> str:
    machine = kept.machine
    versions = ", ".join(f"{name} {version}" for name, version in sorted(kept.versions.items()))
    often = f"Defaults were measured {kept.times} times, all else once"
    if kept.times == 1:
        often = "All was measured once"
    busy = " Others were at work on it, so that times mislead." if kept.load > 0.5 else ""
    return (
        f"On {machine.cpu}, {machine.cores} cores, {kept.date}; {versions}. {often}, together"
        f" in {kept.seconds / 60:.0f} minutes; before, the load of the machine was"
        f" {kept.load:.1f}.{busy}\n"
    )


def _peers(found: dict[str, Measured], *, best: bool) -> list[Measured]:
    return [
        each
        for each in found.values()
        if TOOLS[each.tool].package and best >= TOOLS[each.tool].best
    ]


def _defaults(kept: Kept, names: list[str]) -> str:
    rows = []
    for name in names:
        found = kept.of(name)
        peers = _peers(found, best=False)
        if OURS not in found or not peers:
            continue
        ours, least = found[OURS], min(peers, key=lambda peer: peer.size)
        near = [peer for peer in peers if peer.size <= _NEAR * ours.size]
        fastest = min(near, key=lambda peer: median(peer.write), default=None)
        cells = [name, f"{ours.size:,}", f"{least.size:,} ({code(least.tool)})"]
        cells += [f"{ours.size / least.size:.4f}", _met(ours.size < least.size)]
        if fastest is None:
            cells += ["none is so small", "yes"]
        else:
            ratio = median(fastest.write) / median(ours.write)
            cpu = median(fastest.write_cpu) / median(ours.write_cpu)
            cells += [f"{ratio:.2f} ({cpu:.2f}) of {code(fastest.tool)}", _met(ratio >= 1)]
        rows.append(cells)
    heads = ("data", code(OURS), "smallest default", "size, < 1", "met", "speed, ≥ 1", "met")
    return (
        "Smaller than every default, and at least as fast as the fastest of those that are at most"
        f" a tenth larger:\n\n{table_of(heads, rows)}"
    )


def _smallest(kept: Kept, names: list[str]) -> str:
    rows = []
    for name in names:
        found = kept.of(name)
        peers = _peers(found, best=True)
        if SMALLEST not in found or LZMA not in found or not peers:
            continue
        ours, least = found[SMALLEST], min(peers, key=lambda peer: peer.size)
        ratio = median(ours.write) / median(found[LZMA].write)
        cpu = median(ours.write_cpu) / median(found[LZMA].write_cpu)
        cells = [name, f"{ours.size:,}", f"{least.size:,} ({code(least.tool)})"]
        cells += [f"{ours.size / least.size:.4f}", _met(ours.size < least.size)]
        rows.append([*cells, f"{ratio:.2f} ({cpu:.2f})", _met(ratio <= 1)])
    heads = ("data", code(SMALLEST), "smallest of all", "size, < 1", "met", "time, ≤ 1", "met")
    return (
        f"Smaller than every peer at its best, in at most the time of {code(LZMA)}:\n\n"
        f"{table_of(heads, rows)}"
    )


def _orders(kept: Kept) -> str:
    c, f = kept.of("field3d").get(OURS), kept.of("field3d, Fortran").get(OURS)
    if c is None or f is None:
        return ""
    cells = [
        f"{median(mine) / median(other):.2f} ({median(mine_cpu) / median(other_cpu):.2f})"
        for mine, other, mine_cpu, other_cpu in (
            (c.write, f.write, c.write_cpu, f.write_cpu),
            (c.read, f.read, c.read_cpu, f.read_cpu),
        )
    ]
    return (
        f"The speed of Fortran order, in that of C order (at least 0.95): writing {cells[0]},"
        f" reading {cells[1]}.\n"
    )


def _met(met: bool) -> str:
    return "yes" if met else "**no**"


def _of(kind: Kind, found: dict[str, Measured]) -> Iterator[str]:
    source = next(iter(found.values())).source
    yield f"{kind.about[0].upper()}{kind.about[1:]}: {source:,} bytes.\n"
    rows = [
        (
            code(each.tool),
            f"{each.size:,}",
            f"{each.source / each.size:.2f}",
            f"{_ms(each.write)} ({_ms(each.write_cpu)})",
            f"{_ms(each.read)} ({_ms(each.read_cpu)})",
            significant(each.write_peak / 1e6),
            significant(each.read_peak / 1e6),
            "" if each.same else "other items came back",
        )
        for each in sorted(found.values(), key=lambda each: each.size)
    ]
    heads = (
        "tool",
        "size",
        "ratio",
        "write, ms",
        "read, ms",
        "peak to write, MB",
        "to read, MB",
        "",
    )
    yield table_of(heads, rows)


def _ms(seconds: list[float]) -> str:
    return significant(1000 * median(seconds))


def _plot(kept: Kept, joblib: Mapping[str, Kind], path: Path) -> None:
    """Bars as in joblib's example: a group a kind of data, a colour a tool."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    names = [name for name in joblib if kept.of(name)]
    tools = [
        tool for tool in TOOLS if any(tool in kept.of(name) for name in names) and tool != LZMA
    ]
    panels: dict[str, Callable[[Measured], float]] = {
        "ratio (larger is better)": lambda m: m.source / m.size,
        "write, MB/s": lambda m: m.source / 1e6 / median(m.write),
        "read, MB/s": lambda m: m.source / 1e6 / median(m.read),
        "peak memory to write, times the data": lambda m: m.write_peak / m.source,
        "peak memory to read, times the data": lambda m: m.read_peak / m.source,
    }
    with mpl.rc_context({"svg.hashsalt": "serialpack", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(10, 11), layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True)
        for axis, (title, value) in zip(axes, panels.items(), strict=True):
            for number, tool in enumerate(tools):
                here = [
                    (at, kept.of(name)[tool])
                    for at, name in enumerate(names)
                    if tool in kept.of(name)
                ]
                places = [at + (number - len(tools) / 2) * 0.8 / len(tools) for at, _ in here]
                axis.bar(places, [value(m) for _, m in here], 0.8 / len(tools), label=tool)
            axis.set_ylabel(title)
            axis.set_yscale("symlog" if "peak" in title else "log")
        axes[-1].set_xticks(range(len(names)), names)
        axes[0].legend(ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.02))
        figure.savefig(path, metadata={"Date": None})
