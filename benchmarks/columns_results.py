"""What benchmarks.columns measured, and its form in JSON: docs/benchmarks/columns.json.

All sizes are bytes, all times seconds. Sources go by their part in the benchmark (``contacts``,
``contacts-large``, ``file json/canada.json``), so that tables are made of large and of small runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

from benchmarks.compressors import Tool
from serialpack.bench.results import Machine
from tools.bench_docs import shortened

#: The version of the form.
VERSION = 1

#: What the role of a file of the user's begins with.
FILE = "file "

Item = TypeVar("Item")


class NotMeasured(Exception):
    """What a table asks for is not there; it says why."""


class Source(NamedTuple):
    """What was packed. ``limit``: the least bytes that it can take, where that is known."""

    role: str
    name: str
    format: str
    size: int
    limit: int | None = None
    #: What its sample counts.
    n: int | None = None


class Packed(NamedTuple):
    """What a tool made of a source. Only its size was asked for where no times are there."""

    source: str
    tool: str
    threads: int
    #: None for tools that are not ours.
    proved: bool | None
    size: int
    pack: list[float]
    unpack: list[float]
    #: Whether the very bytes came back; None where that was not looked at.
    same: bool | None


class Memory(NamedTuple):
    """Peak resident bytes of each process of a command, and of one that has next to no work."""

    work: str
    source: str
    threads: int
    block: int
    idle: int
    peaks: list[int]

    @property
    def above(self) -> int:
        """What all processes together held above idle ones."""
        return sum(max(peak - self.idle, 0) for peak in self.peaks)

    @property
    def blocks(self) -> float:
        """The same in blocks, a thread."""
        return self.above / (self.threads * self.block)


class Fields(NamedTuple):
    """Single fields out of a container beside all of it. ``read``: bytes read of ``size``."""

    source: str
    fields: list[str]
    seconds: list[float]
    whole: list[float]
    read: int | None
    size: int


class Measured(NamedTuple):
    """All results."""

    machine: Machine
    date: str
    #: Of the tools beside ours.
    versions: dict[str, str]
    quick: bool
    #: How long it took, and the load of the machine when it began.
    seconds: float
    load: float
    times: int
    sources: list[Source]
    packed: list[Packed]
    memory: list[Memory]
    fields: list[Fields]
    #: What could not be measured, and why.
    notes: list[str]

    def source(self, role: str) -> Source:
        """NotMeasured where it is not there."""
        return _found((each for each in self.sources if each.role == role), role)

    def ours(self, role: str, effort: int, *, threads: int = 2, proved: bool = True) -> Packed:
        """Columns at this effort. A size is the same whatever else was asked for."""
        name = f"columns -{effort}"
        here = [each for each in self.packed if (each.source, each.tool) == (role, name)]
        timed = (each for each in here if (each.threads, each.proved) == (threads, proved))
        return _found(timed, f"{name} of {role}")

    def peer(self, role: str, name: str) -> Packed:
        """Another tool."""
        here = (each for each in self.packed if (each.source, each.tool) == (role, name))
        return _found(here, f"{name} of {role}")

    def files(self) -> list[Source]:
        """The user's files."""
        return [source for source in self.sources if source.role.startswith(FILE)]


def _found(those: Iterator[Item], what: str) -> Item:
    found = next(iter(those), None)
    if found is None:
        raise NotMeasured(f"{what} was not measured")
    return found


def typical(seconds: list[float]) -> float:
    """The median; NotMeasured where there is none."""
    if not seconds:
        raise NotMeasured("its time was not measured")
    return median(seconds)


def packed(role: str, tool: Tool, size: int) -> Packed:
    """The size alone."""
    return Packed(role, tool.name, tool.threads, tool.proved, size, [], [], None)


def merged(kept: Measured, found: Measured) -> Measured:
    """What is kept, with what was ``found`` since in its place."""

    def together(old: list[Item], new: list[Item], key: Callable[[Item], Hashable]) -> list[Item]:
        return list({key(each): each for each in [*old, *new]}.values())

    return found._replace(
        sources=together(kept.sources, found.sources, lambda s: s.role),
        packed=together(
            kept.packed, found.packed, lambda p: (p.source, p.tool, p.threads, p.proved)
        ),
        memory=together(kept.memory, found.memory, lambda m: (m.work, m.source)),
        fields=together(kept.fields, found.fields, lambda f: f.source),
        notes=list(dict.fromkeys([*kept.notes, *found.notes])),
    )


def read(path: Path) -> Measured | None:
    """What is kept; None where nothing is. ValueError where it is of another form."""
    if not path.exists():
        return None
    kept = json.loads(path.read_text("utf-8"))
    if kept.pop("version", None) != VERSION:
        raise ValueError(f"{path.name} is of another version; measure anew")
    lists = {"sources": Source, "packed": Packed, "memory": Memory, "fields": Fields}
    made = {name: [cls(**each) for each in kept[name]] for name, cls in lists.items()}
    return Measured(**{**kept, **made, "machine": Machine(**kept["machine"])})


def write(path: Path, measured: Measured) -> None:
    """Keep ``measured``, a line each result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {"version": VERSION, **measured._asdict(), "machine": measured.machine._asdict()}
    lines = []
    for name, value in kept.items():
        if isinstance(value, list) and value and hasattr(value[0], "_asdict"):
            rows = ",\n".join(json.dumps(shortened(each._asdict())) for each in value)
            lines.append(f"{json.dumps(name)}: [\n{rows}\n]")
        else:
            lines.append(f"{json.dumps(name)}: {json.dumps(shortened(value))}")
    path.write_text("{" + ",\n".join(lines) + "}\n", "utf-8")
