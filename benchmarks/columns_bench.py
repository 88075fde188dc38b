"""How benchmarks.columns runs commands: sources, files that come and go, and what is noted."""

from __future__ import annotations

import argparse
import datetime
import filecmp
import shutil
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks import columns_results as results
from benchmarks.columns_results import FILE, Fields, Memory, Packed, Source
from benchmarks.compressors import Peers, Tool, ours, size_of
from benchmarks.data import cache_folder, made
from benchmarks.measure import Figure, Step, alternate, run
from serialpack.bench.samples import parse_sample
from serialpack.pipeline.workers import usable_cores

#: Role -> sample, and as it is for a quick run.
SAMPLES = {
    "contacts": ("contacts:60000", "contacts:600"),
    "contacts-large": ("contacts:600000", "contacts:2000"),
    "uuid4": ("uuid4:262144", "uuid4:500"),
    "phonebook": ("phonebook:10000", "phonebook:20"),
    "dna": ("dna:1000000", "dna:5000"),
    "protein": ("protein:1000000", "protein:5000"),
    "documents": ("documents:100000", "documents:500"),
}

#: What the names of files end in.
FORMATS = {".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv", ".tsv": "tsv"}

#: A command that takes longer, in seconds, is run once.
PATIENCE = 3.0


class Job(NamedTuple):
    """A size that is still to be found."""

    source: Source
    tool: Tool


class Bench:
    """What the parts share, and what they have found."""

    def __init__(self, chosen: argparse.Namespace, peers: Peers, folder: Path) -> None:
        self.peers = peers
        self.quick: bool = chosen.quick
        self.times: int = chosen.times
        self.command: str = chosen.serialpack
        self.files: Path | None = chosen.files
        self.folder = folder
        self.sources: dict[str, Source] = {}
        self.paths: dict[str, Path] = {}
        self.packed: list[Packed] = []
        self.memory: list[Memory] = []
        self.fields: list[Fields] = []
        self.notes: list[str] = []
        self.jobs: list[Job] = []

    def sample(self, role: str) -> Source:
        """A sample's file, written now if it is not in the cache."""
        if role not in self.sources:
            name = SAMPLES[role][self.quick]
            sample, n = parse_sample(name)
            path = made(
                f"sample-{sample.name}-{n}.{sample.format}",
                lambda out: out.writelines(sample.chunks(n)),
            )
            limit = sample.limit(n)
            least = None if limit is None else round(limit.size)
            self._add(Source(role, name, sample.format, path.stat().st_size, least, n), path)
        return self.sources[role]

    def file(self, path: Path) -> Source:
        """A file of the user's, named by its folder and itself."""
        name = f"{path.parent.name}/{path.name}"
        size = path.stat().st_size
        return self._add(Source(FILE + name, name, FORMATS[path.suffix], size), path)

    def _add(self, source: Source, path: Path) -> Source:
        self.sources[source.role], self.paths[source.role] = source, path
        return source

    def ours(self, effort: int, *, threads: int = 2, proved: bool = True) -> Tool:
        return ours(self.command, effort, threads=threads, proved=proved)

    def target(self, source: Source, tool: Tool, what: str) -> str:
        """Where ``tool`` writes."""
        name = f"{source.role}-{tool.key}.{what}"
        return str(self.folder / "".join(c if c.isalnum() or c in ".-" else "_" for c in name))

    def time(
        self,
        source: Source,
        tools: Iterable[Tool],
        times: int | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Pack and unpack with each of the tools; hold what comes back against the source."""
        times = times or self.times
        here = {tool.key: tool for tool in tools if tool.takes(source.format)}
        path = str(self.paths[source.role])
        there = {key: self.target(source, tool, "packed") for key, tool in here.items()}
        packing = self.alternating(
            {key: tool.pack(path, there[key]) for key, tool in here.items()},
            times,
            f"packing {source.name}",
            patience,
        )
        back = {key: self.target(source, tool, "back") for key, tool in here.items()}
        unpacking = self.alternating(
            {
                key: tool.unpack(there[key], back[key])
                for key, tool in here.items()
                # A proof changes nothing of what is there to unpack.
                if tool.unpack and key in packing and tool.proved is not False
            },
            times,
            f"unpacking {source.name}",
            patience,
        )
        for key, figure in packing.items():
            found = results.packed(source.role, here[key], size_of(Path(there[key])))
            if key in unpacking:
                found = found._replace(unpack=seconds(unpacking[key]), same=_same(path, back[key]))
            self.packed.append(found._replace(pack=seconds(figure)))
        remove([*there.values(), *back.values()])

    def alternating(
        self, steps: dict[str, Step], times: int, what: str, patience: float = PATIENCE
    ) -> dict[str, Figure]:
        """Every command once; then again and again those that took no longer than ``patience``.

        One that fails is left out, and noted.
        """
        first: dict[str, Figure] = {}
        for name, step in steps.items():
            try:
                first |= alternate({name: step}, 1)
            except RuntimeError as error:
                self.note(f"{what}, {name}", error)
            else:
                say(f"{what}, {name}: {first[name].min:.2f} s")
        quick = {name: steps[name] for name, figure in first.items() if figure.min <= patience}
        others = alternate(quick, times - 1)
        none = Figure(())
        return {name: Figure(f.runs + others.get(name, none).runs) for name, f in first.items()}

    def note(self, what: str, error: Exception) -> None:
        """That something could not be measured, without the paths of this machine."""
        # Of a command that failed: its exit code, then the command, then a line of what it said.
        first, _, said = str(error).partition("\n")
        words = f"{first.partition(':')[0]}, {said}" if said else first
        words = words.replace(str(self.folder), "").replace(str(cache_folder()), "")
        self.notes.append(f"{what}: {' '.join(words.split())[:300]}")
        say(self.notes[-1])

    def later(self, source: Source, *tools: Tool) -> None:
        """Have the sizes found at the end."""
        self.jobs += [Job(source, tool) for tool in tools if tool.takes(source.format)]

    def find_sizes(self) -> None:
        """The sizes that are left, the longest work first."""
        todo = sorted(self.jobs, key=lambda job: -job.source.size)
        say(f"{len(todo)} sizes alone")
        with ThreadPoolExecutor(usable_cores()) as pool:
            self.packed += filter(None, pool.map(self._size, todo))

    def _size(self, job: Job) -> Packed | None:
        source, tool = job
        target = self.target(source, tool, "packed")
        try:
            run(tool.pack(str(self.paths[source.role]), target))
            return results.packed(source.role, tool, size_of(Path(target)))
        except RuntimeError as error:
            self.note(f"{tool.name} of {source.name}", error)
            return None
        finally:
            remove([target])


def say(what: str) -> None:
    """What is done now, for who waits."""
    now = datetime.datetime.now()
    print(f"{now:%H:%M:%S} {what}", file=sys.stderr, flush=True)


def seconds(figure: Figure) -> list[float]:
    return [each.seconds for each in figure.runs]


def _same(source: str, back: str) -> bool:
    """Whether ``back``, a file or the folder of one, holds the bytes of ``source``."""
    path = Path(back)
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return len(files) == 1 and filecmp.cmp(source, files[0], shallow=False)


def remove(paths: Iterable[str]) -> None:
    for path in map(Path, paths):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
