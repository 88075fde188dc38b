"""docs/columns.md, its plot and the README's table, made from what benchmarks.columns measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean

from benchmarks.columns_aims import amount, lines
from benchmarks.columns_results import Measured, Packed, Source, typical
from serialpack.bench.reports import sentences
from serialpack.bench.reports.plot import Legend, plot
from serialpack.bench.reports.row_columns import anchor_row, significant
from serialpack.bench.results import Anchor, Entropy, Results, Row
from serialpack.text import number_of
from tools._bench_words import code, table_of
from tools._marks import between

PAGE = Path("docs", "columns.md")
PLOT = Path("docs", "benchmarks", "columns.svg")

_LEGEND = Legend(front="columns, proved", anchors="other compressors")

_UNMEASURED = "Not measured yet.\n"

_INTRO = """# Columns beside other compressors

Made by `make bench-columns`, which measures and writes this page from the results, kept in
[benchmarks/columns.json](benchmarks/columns.json); no figure in it is typed by hand.

Every time is that of a whole command, from its start to its end, file to file, the files in
memory; of several alternating runs the median counts, and what takes long is run once. MB are
millions of bytes, speeds those of the source. `columns` is `serialpack pack -s columns`, which has
read back and compared what it wrote unless *not proved* is said. Samples are those of
`serialpack bench`. The limit is the entropy of what was drawn at random in them: no compressor can
do with less.
"""

_PEERS = """
What is beside it, on one thread each:

- `zstd`, `xz`: the commands. `zstd -22` is `zstd --ultra -22`.
- `brotli`: the library from the package index, behind three lines of Python; windows of 16 MiB.
- `clp-s`: the command of the package yscope-clp-core, with its own compression level. It keeps
  values, not bytes: spaces, the order of keys and of records, and some spellings of numbers are its
  own. It reads records of NDJSON only.
- `Parquet`: pyarrow reads NDJSON and writes Parquet, its pages under zstd. It keeps values of
  columns with one type each, and no bytes; there is no way back to the text, so none is timed.
"""


def write_pages(root: Path, measured: Measured | None) -> None:
    """The page, the plot and the README's part, below the root of the repository."""
    results = None if measured is None else _drawn(measured)
    if results is not None and results.rows:
        plot(results, str(root / PLOT), force=True, legend=_LEGEND)
    (root / PAGE).write_text(page(measured), "utf-8")
    readme = root / "README.md"
    readme.write_text(between(readme.read_text("utf-8"), "columns", summary(measured)), "utf-8")


def summary(measured: Measured | None) -> str:
    """The README's part: the plot, what is aimed at, and what was reached."""
    if measured is None:
        return _UNMEASURED
    where = f"On {sentences.machine(_drawn(measured))}.\n"
    return f"{_picture(measured, PLOT)}\n{_aims(measured)}\n{where}"


def page(measured: Measured | None) -> str:
    """All of docs/columns.md."""
    if measured is None:
        return f"{_INTRO}\n{_UNMEASURED}"
    parts = [_INTRO, _where(measured), _PEERS, _picture(measured, PLOT.relative_to("docs"))]
    parts += ["## What is aimed at\n", _aims(measured)]
    for source in measured.sources:
        if source not in measured.files():
            parts += [f"## {source.name}\n", *_of_source(measured, source)]
    if measured.files():
        parts += ["## Real files\n", *_of_files(measured)]
    if measured.memory:
        parts += ["## Memory\n", _of_memory(measured)]
    if measured.fields:
        parts += ["## Single fields\n", _of_fields(measured)]
    if measured.notes:
        parts += ["## What was not measured\n", *(f"- {note}" for note in measured.notes), ""]
    return "\n".join(parts)


def _where(m: Measured) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(m.versions.items()))
    quick = " **A quick run on little data, which tells only that it runs.**" if m.quick else ""
    busy = " Others were at work on it, so that times mislead." if m.load > 0.5 else ""
    return (
        f"On {sentences.machine(_drawn(m))}; {versions}. Up to {m.times} runs each, all in"
        f" {m.seconds / 60:.0f} minutes; before, the load of the machine was {m.load:.1f}."
        f"{busy}{quick}"
    )


def _aims(m: Measured) -> str:
    met = {True: "yes", False: "**no**", None: ""}
    return table_of(
        ("work", "beside", "target", "reached", "met"),
        ([*line[:4], met[line.met]] for line in lines(m)),
    )


def _picture(m: Measured, path: Path) -> str:
    found = _drawn(m)
    if not found.rows:
        return ""
    text = f"Size against speed on one core of {found.machine.cpu}, {found.source}"
    about = "columns at several efforts, proved, in colour; crosses: other compressors"
    return f"![{text}]({path.as_posix()})\n\n{text}: {about}.\n"


def _drawn(m: Measured) -> Results:
    """Flat records on one core, as ``serialpack bench`` keeps its results: others are anchors."""
    source = next((each for each in m.sources if each.role == "contacts"), None)
    here = [p for p in m.packed if p.source == "contacts" and p.pack and p.threads == 1]
    size = 0 if source is None else source.size
    limit = None if source is None or source.limit is None else Entropy(source.limit, "entropy")
    return Results(
        source="" if source is None else source.name,
        mode="file",
        format="" if source is None else source.format,
        size=size,
        records=None if source is None else source.n,
        sampled=size,
        budget=0,
        elapsed=m.seconds,
        date=m.date,
        machine=m.machine,
        limit=limit,
        rows=[_row(each, size) for each in here if each.proved],
        anchors=[_anchor(each, size) for each in here if each.proved is None],
        recommendations=[],
        notes=[],
    )


def _anchor(packed: Packed, size: int) -> Anchor:
    pack = typical(packed.pack)
    unpack = typical(packed.unpack) if packed.unpack else None
    return Anchor(
        name=packed.tool if packed.same else f"{packed.tool} (other bytes)",
        version="",
        size=packed.size,
        ratio=size / packed.size,
        pack_seconds=pack,
        unpack_seconds=unpack,
        pack_speed=size / pack,
        unpack_speed=size / unpack if unpack else None,
    )


def _row(packed: Packed, size: int) -> Row:
    """Ours: in colour, and named."""
    return anchor_row(_anchor(packed, size))._replace(runs=len(packed.pack), front=True)


def _of_source(m: Measured, source: Source) -> Iterator[str]:
    limit = "" if source.limit is None else f"; the limit is {source.limit:,}"
    yield f"{source.size:,} bytes of {source.format}{limit}.\n"
    here = sorted((p for p in m.packed if p.source == source.role), key=lambda p: p.size)
    xz = next((p.size for p in here if p.tool == "xz -6"), None)
    timed = any(p.pack for p in here)
    heads = ["compressor", "threads", "size", "of the limit", "of `xz -6`"]
    heads += ["pack, MB/s", "unpack, MB/s", "gives back"] if timed else []
    rows = []
    for each in here:
        unproved = ", not proved" if each.proved is False else ""
        cells = [code(each.tool) + unproved, str(each.threads), f"{each.size:,}"]
        cells += [_ratio(each.size, source.limit), _ratio(each.size, xz)]
        if timed:
            back = {True: "the bytes", False: "other bytes", None: ""}[each.same]
            cells += [_speed(source, each.pack), _speed(source, each.unpack), back]
        rows.append(cells)
    yield table_of(heads, rows)


def _ratio(size: int, other: int | None) -> str:
    return "" if other is None else f"{size / other:.3f}"


def _speed(source: Source, seconds: list[float]) -> str:
    return significant(source.size / typical(seconds) / 1e6) if seconds else ""


def _of_files(m: Measured) -> Iterator[str]:
    """All sizes of every file; the means; where columns is not the smallest."""
    files = m.files()
    known = {(p.source, p.tool): p.size for p in m.packed}
    tools = list(dict.fromkeys(p.tool for p in m.packed if p.source == files[0].role))
    tools.sort(key=lambda tool: (not tool.startswith("columns"), tool))
    yield (
        "JSON, NDJSON and tables of over 100 kB. Sizes in bytes, the smallest in bold; below them"
        " the geometric means over `xz -6`.\n"
    )
    rows = []
    for source in files:
        sizes = [known.get((source.role, tool)) for tool in tools]
        least = min(size for size in sizes if size is not None)
        cells = ["" if s is None else f"**{s:,}**" if s == least else f"{s:,}" for s in sizes]
        rows.append([source.name, f"{source.size:,}", *cells])
    means = [_mean(m, tool, known) for tool in tools]
    yield table_of(("file", "bytes", *map(code, tools)), [*rows, ["mean", "", *means]])
    yield from _beaten(m, "columns -9", [tool for tool in tools if tool[:7] != "columns"], known)
    yield from _beaten(m, "columns -3", ["xz -6", "zstd -3"], known)


Sizes = dict[tuple[str, str], int]


def _mean(m: Measured, tool: str, known: Sizes) -> str:
    pairs = [(known.get((f.role, tool)), known.get((f.role, "xz -6"))) for f in m.files()]
    ratios = [size / xz for size, xz in pairs if size and xz]
    return f"{geometric_mean(ratios):.3f}" if len(ratios) == len(m.files()) else ""


def _beaten(m: Measured, mine: str, others: list[str], known: Sizes) -> Iterator[str]:
    """The files of which another is smaller."""
    found = []
    for source in m.files():
        size = known.get((source.role, mine))
        smaller = [(known[source.role, o], o) for o in others if (source.role, o) in known]
        if size is None or not smaller or min(smaller)[0] >= size:
            continue
        least, tool = min(smaller)
        found.append(f"- {source.name}: {code(tool)} has {100 * (1 - least / size):.1f} % less")
    beside = ", ".join(map(code, others))
    count = f"{len(found)} of {number_of(len(m.files()), 'file')}"
    yield f"Beside {beside}, {code(mine)} is not the smallest of {count}{':' if found else '.'}\n"
    if found:
        yield "\n".join(found) + "\n"


def _of_memory(m: Measured) -> str:
    heads = ("command", "source", "threads", "block", "idle", "peaks", "above", "blocks a thread")
    rows = [
        (
            code(each.work),
            m.source(each.source).name,
            str(each.threads),
            amount(each.block),
            amount(each.idle),
            ", ".join(map(amount, each.peaks)),
            amount(each.above),
            significant(each.blocks),
        )
        for each in m.memory
    ]
    return (
        "Peak resident memory of each process of a command. *Idle*: the same command on 100"
        " records at `-1`. *Above*: what all processes together had beyond that.\n\n"
        f"{table_of(heads, rows)}"
    )


def _of_fields(m: Measured) -> str:
    heads = ("source", "fields", "time", "all of it", "bytes read", "container")
    rows = [
        (
            m.source(each.source).name,
            code(",".join(each.fields)),
            f"{significant(typical(each.seconds))} s",
            f"{significant(typical(each.whole))} s",
            "" if each.read is None else f"{each.read:,}",
            f"{each.size:,}",
        )
        for each in m.fields
    ]
    return f"`unpack --fields`, beside unpacking all.\n\n{table_of(heads, rows)}"
