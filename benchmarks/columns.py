"""The serializer columns beside other compressors: sizes, speeds and memory, as ratios of one run.

    python -m benchmarks.columns --files FOLDER      all: ten minutes, and 1 GB in the cache folder
    python -m benchmarks.columns --quick             little data: whether it runs, no more
    python -m benchmarks.columns --only memory       one part; the others as they are kept
    python -m benchmarks.columns --page              measures nothing: the pages from what is kept

FOLDER holds folders named json, ndjson and tabular; their files over 100 kB are packed too. Results
are kept in docs/benchmarks/columns.json; from them docs/columns.md, the plot and the table of the
README are made. ``--quick`` prints the page instead, and installs no peers.

Commands that are timed alternate; one that takes long is run once. Sizes that no speed is wanted
of are found at the end, on all cores. Exits 0 also where a target is missed: the tables say so.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks import columns_results as results
from benchmarks.columns_bench import FORMATS, Bench, remove, say, seconds
from benchmarks.columns_page import page, write_pages
from benchmarks.columns_results import Fields, Measured, Memory, Source
from benchmarks.compressors import Peers, Tool, size_of
from benchmarks.data import cache_folder, made
from benchmarks.measure import Step, run
from benchmarks.table import CannotRun, arguments
from serialpack.bench.machine import this_machine
from serialpack.bench.samples import parse_sample
from serialpack.stages.effort import EFFORTS

ROOT = Path(__file__).parents[1]

#: Below the root of the repository.
KEPT = Path("docs", "benchmarks", "columns.json")

#: Where files are looked for below FOLDER, and which of them are taken.
FOLDERS = ("json", "ndjson", "tabular")
LEAST = 100_000

#: Peers of which the size alone is wanted; and others, of files.
SIZES = ("xz -6", "xz -9e", "zstd -3", "zstd -19")
MORE_SIZES = ("zstd -22", "brotli -11")


def contacts(bench: Bench) -> None:
    """Everything, on flat records."""
    source = bench.sample("contacts")
    mine = [bench.ours(e, threads=t) for e in (3, 9) for t in (2, 1)]
    mine += [bench.ours(3, threads=t, proved=False) for t in (2, 1)]
    # For the plot.
    mine += [bench.ours(effort, threads=1) for effort in (1, 5, 7)]
    names = ("zstd -3", "zstd -19", "xz -6", "brotli -5", "clp-s -3", "clp-s -19")
    bench.time(source, [*mine, *bench.peers.tools(*names, "Parquet -3")])
    bench.later(source, *bench.peers.tools("xz -9e", "brotli -11"))


def contacts_large(bench: Bench) -> None:
    """Ten times as many; what takes minutes for them is not timed."""
    source = bench.sample("contacts-large")
    mine = [bench.ours(3), bench.ours(3, proved=False)]
    bench.time(source, [*mine, *bench.peers.tools("zstd -3")], min(bench.times, 3), patience=10)
    bench.later(source, bench.ours(9), *bench.peers.tools("xz -6"))


def phonebook(bench: Bench) -> None:
    """Prose and nested records."""
    source = bench.sample("phonebook")
    mine = [bench.ours(3), bench.ours(3, proved=False), bench.ours(9)]
    bench.time(source, [*mine, *bench.peers.tools("xz -6", "zstd -3")], min(bench.times, 3))
    bench.later(source, *bench.peers.tools("zstd -19"))


def documents(bench: Bench) -> None:
    """What document databases store."""
    source = bench.sample("documents")
    mine = [bench.ours(3), bench.ours(9)]
    bench.time(source, [*mine, *bench.peers.tools("xz -9e", "zstd -3")], min(bench.times, 3))
    bench.later(source, *bench.peers.tools("xz -6", "zstd -19"))


def sizes(bench: Bench) -> None:
    """Samples near whose limit there is little to save."""
    for role in ("uuid4", "dna", "protein"):
        _later(bench, bench.sample(role))


def files(bench: Bench) -> None:
    """The files of the folder that the user named."""
    if bench.files is None:
        bench.notes.append("No files: --files was not given.")
        return
    folders = (bench.files / name for name in FOLDERS)
    found = [path for folder in folders for path in sorted(folder.glob("*"))]
    for path in found:
        if path.suffix in FORMATS and path.stat().st_size > LEAST:
            source = bench.file(path)
            _later(bench, source)
            bench.later(source, *bench.peers.tools(*MORE_SIZES))


def _later(bench: Bench, source: Source) -> None:
    bench.later(source, bench.ours(3), bench.ours(9), *bench.peers.tools(*SIZES))


def memory(bench: Bench) -> None:
    """Peak memory of packing and unpacking, on two threads, and of what has next to no work."""
    for role, effort in (("contacts", 3), ("contacts", 9), ("contacts-large", 3)):
        source, tool = bench.sample(role), bench.ours(effort)
        say(f"memory of {source.name} at {effort}")
        there, back = bench.target(source, tool, "packed"), bench.target(source, tool, "back")
        idle = [max(_peaks(step)) for step in _both(bench.ours(1), _few(), there, back)]
        peaks = [_peaks(step) for step in _both(tool, bench.paths[role], there, back)]
        block = EFFORTS[effort].block_size
        for work, least, most in zip(("pack", "unpack"), idle, peaks, strict=True):
            name = f"{work} -{effort}"
            bench.memory.append(Memory(name, role, tool.threads, block, least, most))
        remove([there, back])


def _few() -> Path:
    """Records for which next to nothing is to do."""
    sample, n = parse_sample("contacts:100")
    return made("sample-contacts-100.ndjson", lambda out: out.writelines(sample.chunks(n)))


def _both(tool: Tool, path: Path, there: str, back: str) -> tuple[Step, Step]:
    assert tool.unpack is not None
    return tool.pack(str(path), there), tool.unpack(there, back)


def _peaks(step: Step) -> list[int]:
    """Of each process that the command had."""
    peaks: dict[int, int] = {}
    run(step, peaks)
    found = sorted((peak for peak in peaks.values() if peak), reverse=True)
    if not found:
        raise CannotRun("only Linux tells of the memory of a command's processes")
    return found


def fields(bench: Bench) -> None:
    """Two fields out of a container, beside all of it."""
    said = subprocess.run([bench.command, "unpack", "--help"], capture_output=True, text=True)
    if "--fields" not in said.stdout:
        raise CannotRun("this serialpack has no `unpack --fields`")
    source, tool, names = bench.sample("contacts-large"), bench.ours(3), ["index", "name.last"]
    there, back = bench.target(source, tool, "packed"), bench.target(source, tool, "back")
    words = [bench.command, "unpack", "-q", "-j", "2", "--fields", ",".join(names)]
    one = Step([*words, "--to", "ndjson", there, "-o", "-"], into=back)
    pack_few, _ = _both(tool, _few(), there, back)
    pack, every = _both(tool, bench.paths[source.role], there, f"{back}-all")
    # What Python reads of its own modules is the same for a few records.
    run(pack_few)
    least = run(one).read
    run(pack)
    found = bench.alternating({"single": one, "all": every}, bench.times, "fields")
    single = found["single"]
    read = None if single.read is None or least is None else max(single.read - least, 0)
    bench.fields.append(
        Fields(
            source.role, names, seconds(single), seconds(found["all"]), read, size_of(Path(there))
        )
    )
    remove([there, back, f"{back}-all"])


PARTS: dict[str, Callable[[Bench], None]] = {
    "contacts": contacts,
    "contacts-large": contacts_large,
    "phonebook": phonebook,
    "documents": documents,
    "memory": memory,
    "fields": fields,
    "sizes": sizes,
    "files": files,
}


def measure(chosen: argparse.Namespace, kept: Measured | None) -> Measured:
    """The parts that were chosen; of the others, what is kept."""
    since, load = perf_counter(), os.getloadavg()[0]
    peers = Peers(install=not chosen.quick)
    with tempfile.TemporaryDirectory(prefix="columns-", dir=cache_folder()) as folder:
        bench = Bench(chosen, peers, Path(folder))
        for name in chosen.only or PARTS:
            say(f"{name}: {(PARTS[name].__doc__ or '').strip()}")
            try:
                PARTS[name](bench)
            except CannotRun as error:
                bench.note(name, error)
        bench.find_sizes()
    say(f"done in {perf_counter() - since:.0f} s")
    absent = [f"{name} is not installed." for name in sorted(peers.absent)]
    found = Measured(
        machine=this_machine(),
        date=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}",
        versions=peers.versions,
        quick=chosen.quick,
        seconds=perf_counter() - since,
        load=load,
        times=chosen.times,
        sources=list(bench.sources.values()),
        packed=bench.packed,
        memory=bench.memory,
        fields=bench.fields,
        notes=[*bench.notes, *absent],
    )
    return results.merged(kept, found) if chosen.only and kept else found


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, keep what was found, and write the pages from it."""
    parser = arguments(__doc__, PARTS)
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="of json, ndjson, tabular")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    root = chosen.root or (None if chosen.quick else ROOT)
    kept = None if root is None else results.read(root / KEPT)
    if not chosen.page:
        kept = measure(chosen, kept)
    if root is None:
        print(page(kept))
        return
    if kept is not None and not chosen.page:
        results.write(root / KEPT, kept)
        kept = results.read(root / KEPT)
    write_pages(root, kept)


if __name__ == "__main__":
    main()
