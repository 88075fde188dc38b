"""What columns is to reach, each with what it reached: the table of the README."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import geometric_mean
from typing import NamedTuple

from benchmarks.columns_results import Measured, NotMeasured, Source, typical
from benchmarks.table import Line
from serialpack.bench.reports.row_columns import significant

#: A value, and what it was made of.
Value = tuple[float, str]

#: What a file may be larger than zstd makes it: a hundredth, and so many bytes.
SHARE, BYTES = 0.01, 500

#: The bits of a UUID of version 4 that are random, in bytes.
UUID_BYTES = 122 / 8


class Aim(NamedTuple):
    """One line. The value is to be ``least`` or more, or ``most`` or less; else it only tells."""

    work: str
    beside: str
    value: Callable[[Measured], Value]
    least: float | None = None
    most: float | None = None
    unit: str = "×"

    def line(self, measured: Measured) -> Line:
        """As it stands in the table."""
        target = self._target()
        try:
            value, words = self.value(measured)
        except NotMeasured as error:
            return Line(self.work, self.beside, target, str(error), None)
        figure = f"{f'{value:.0f}' if value == int(value) else _digits(value)}{self.unit}"
        return Line(self.work, self.beside, target, f"{figure} ({words})", self._met(value))

    def _target(self) -> str:
        if self.most == 0:
            return "none"
        if self.least is not None:
            return f"≥ {self.least:g}{self.unit}"
        return "" if self.most is None else f"≤ {self.most:g}{self.unit}"

    def _met(self, value: float) -> bool | None:
        if self.least is not None:
            return value >= self.least
        return None if self.most is None else value <= self.most


def _digits(value: float) -> str:
    """Three behind the point where a hundredth decides."""
    return f"{value:.3f}" if value < 3 else significant(value)


def amount(size: float) -> str:
    """Bytes as the README has them."""
    name, scale = ("MB", 1e6) if size >= 1e6 else ("kB", 1e3)
    return f"{significant(size / scale)} {name}"


def _over_limit(role: str, effort: int) -> Callable[[Measured], Value]:
    def value(m: Measured) -> Value:
        size, limit = m.ours(role, effort).size, m.source(role).limit
        if limit is None:
            raise NotMeasured(f"the limit of {role} is not known")
        return size / limit, f"{amount(size)} to {amount(limit)}"

    return value


def _over_peer(role: str, effort: int, peer: str) -> Callable[[Measured], Value]:
    def value(m: Measured) -> Value:
        mine, theirs = m.ours(role, effort).size, m.peer(role, peer).size
        return mine / theirs, f"{amount(mine)} to {amount(theirs)}"

    return value


def _per_key(m: Measured) -> Value:
    size, n = m.ours("uuid4", 3).size, m.source("uuid4").n or 1
    return size / n / UUID_BYTES, f"{size / n:.2f} bytes to {UUID_BYTES:g}"


def _faster(
    role: str, effort: int, peer: str, *, proved: bool = True
) -> Callable[[Measured], Value]:
    def value(m: Measured) -> Value:
        mine = typical(m.ours(role, effort, proved=proved).pack)
        theirs = typical(m.peer(role, peer).pack)
        return theirs / mine, f"{significant(mine)} s to {significant(theirs)} s"

    return value


def _came_back(m: Measured) -> Value:
    timed = [p for p in m.packed if p.proved is not None and p.same is not None]
    if not timed:
        raise NotMeasured("unpacking was not measured")
    changed = sorted({m.source(each.source).name for each in timed if not each.same})
    return len(changed), ", ".join(changed) or f"{len(timed)} held against their sources"


def _unpacking(threads: int) -> Callable[[Measured], Value]:
    def value(m: Measured) -> Value:
        unpack = typical(m.ours("contacts", 3, threads=threads).unpack)
        pack = typical(m.ours("contacts", 3, threads=threads, proved=False).pack)
        return pack / unpack, f"{significant(unpack)} s to {significant(pack)} s"

    return value


def _a_core(m: Measured) -> Value:
    seconds = typical(m.ours("contacts", 3, threads=1).unpack)
    return m.source("contacts").size / seconds / 1e6, f"{significant(seconds)} s"


def over(m: Measured, source: Source, effort: int, peer: str = "xz -6") -> float:
    """The size of a file under columns over that under another tool."""
    return m.ours(source.role, effort).size / m.peer(source.role, peer).size


def _mean(effort: int) -> Callable[[Measured], Value]:
    def value(m: Measured) -> Value:
        files = m.files()
        if not files:
            raise NotMeasured("no files were measured")
        return geometric_mean(over(m, f, effort) for f in files), f"{len(files)} files"

    return value


def _too_large(effort: int, peer: str) -> Callable[[Measured], Value]:
    def value(m: Measured) -> Value:
        files = m.files()
        if not files:
            raise NotMeasured("no files were measured")
        found = []
        for source in files:
            mine, theirs = m.ours(source.role, effort).size, m.peer(source.role, peer).size
            if mine > theirs * (1 + SHARE) + BYTES:
                found.append(f"{source.name} by {100 * (mine / theirs - 1):.1f} %")
        return len(found), ", ".join(found) or f"of {len(files)}"

    return value


def _fields(m: Measured) -> Value:
    if not m.fields:
        raise NotMeasured("not measured; see docs/columns.md")
    here = m.fields[0]
    few, every = typical(here.seconds), typical(here.whole)
    return every / few, f"{significant(few)} s to {significant(every)} s"


def _fields_read(m: Measured) -> Value:
    if not m.fields or m.fields[0].read is None:
        raise NotMeasured("not measured; see docs/columns.md")
    here = m.fields[0]
    assert here.read is not None
    return here.read / here.size, f"{amount(here.read)} of {amount(here.size)}"


def _memory(work: str, role: str) -> Callable[[Measured], Value]:
    def value(m: Measured) -> Value:
        here = next((e for e in m.memory if (e.work, e.source) == (work, role)), None)
        if here is None:
            raise NotMeasured("its memory was not measured")
        return here.blocks, f"{amount(here.above)} on {here.threads} threads"

    return value


_CONTACTS, _MANY = "60,000 `contacts`", "600,000 `contacts`"
_PHONEBOOK, _DOCUMENTS = "10,000 `phonebook`", "100,000 `documents`"
_ENTROPY, _XZ, _XZ_9E = "their entropy", "`xz -6`", "`xz -9e`"
_ZSTD, _NO_PROOF = "`zstd -3`, one thread", "packing without proof"
_FILES = "real files"

AIMS = (
    Aim(f"{_CONTACTS}, `-3`, size", _ENTROPY, _over_limit("contacts", 3), most=1.12),
    Aim(f"{_CONTACTS}, `-3`, size", _XZ, _over_peer("contacts", 3, "xz -6"), most=0.7),
    Aim(f"{_CONTACTS}, `-3`, speed", _XZ, _faster("contacts", 3, "xz -6"), least=25),
    Aim(
        f"{_CONTACTS}, `-3 --no-verify`, speed",
        _XZ,
        _faster("contacts", 3, "xz -6", proved=False),
    ),
    Aim(f"{_MANY}, `-3`, size", _ENTROPY, _over_limit("contacts-large", 3), most=1.12),
    Aim(f"{_MANY}, `-3`, size", _XZ, _over_peer("contacts-large", 3, "xz -6"), most=0.7),
    Aim(f"{_MANY}, `-3`, speed", _ZSTD, _faster("contacts-large", 3, "zstd -3"), least=0.4),
    Aim(
        f"{_MANY}, `-3 --no-verify`, speed",
        _ZSTD,
        _faster("contacts-large", 3, "zstd -3", proved=False),
    ),
    Aim(f"{_CONTACTS}, `-9`, size", _ENTROPY, _over_limit("contacts", 9), most=1.05),
    Aim(f"{_CONTACTS}, `-9`, speed", _XZ, _faster("contacts", 9, "xz -6"), least=1),
    Aim(f"{_MANY}, `-9`, size", _ENTROPY, _over_limit("contacts-large", 9), most=1.05),
    Aim("262,144 `uuid4`, `-3`, a key", "122 random bits", _per_key, most=1.06),
    Aim(f"{_PHONEBOOK}, `-3`, size", _XZ, _over_peer("phonebook", 3, "xz -6"), most=0.75),
    Aim(f"{_PHONEBOOK}, `-3`, speed", _XZ, _faster("phonebook", 3, "xz -6"), least=25),
    Aim(f"{_PHONEBOOK}, `-9`, size", _XZ, _over_peer("phonebook", 9, "xz -6"), most=0.72),
    Aim(f"{_PHONEBOOK}, `-9`, speed", _XZ, _faster("phonebook", 9, "xz -6"), least=1),
    Aim("letters of `dna`, `-3`, size", "2 bits a letter", _over_limit("dna", 3), most=1.05),
    Aim(
        "letters of `protein`, `-3`, size",
        "4.32 bits a letter",
        _over_limit("protein", 3),
        most=1.05,
    ),
    Aim(f"{_DOCUMENTS}, `-3`, size", _XZ_9E, _over_peer("documents", 3, "xz -9e"), most=1),
    Aim(f"{_DOCUMENTS}, `-3`, speed", _XZ_9E, _faster("documents", 3, "xz -9e"), least=25),
    Aim(f"{_FILES}, `-3`, mean size", _XZ, _mean(3), most=0.85),
    Aim(f"{_FILES}, `-9`, mean size", _XZ, _mean(9), most=0.75),
    *(
        Aim(
            f"{_FILES}, `-{effort}`, how many are larger",
            f"`{peer}` + 1 % + 500 bytes",
            _too_large(effort, peer),
            most=0,
            unit="",
        )
        for effort, peer in ((3, "zstd -3"), (9, "zstd -19"), (9, "zstd -22"))
    ),
    Aim("all that was unpacked, how many changed", "the sources", _came_back, most=0, unit=""),
    Aim(f"{_CONTACTS}, unpack, speed", _NO_PROOF, _unpacking(2), least=0.5),
    Aim(f"{_CONTACTS}, unpack on one core, speed", _NO_PROOF, _unpacking(1), least=0.5),
    Aim(f"{_CONTACTS}, unpack on one core", "", _a_core, least=100, unit=" MB/s"),
    Aim(f"{_MANY}, `--fields` of two, speed", "unpacking all", _fields, least=5),
    Aim(f"{_MANY}, `--fields` of two, bytes read", "the container", _fields_read),
    *(
        Aim(
            f"{what}, `{work} -{effort}`, memory above idle",
            "a block, a thread",
            _memory(f"{work} -{effort}", role),
            most=12,
        )
        for what, role, effort in (
            (_CONTACTS, "contacts", 3),
            (_CONTACTS, "contacts", 9),
            (_MANY, "contacts-large", 3),
        )
        for work in ("pack", "unpack")
    ),
)


def lines(measured: Measured) -> Iterator[Line]:
    """The table's lines."""
    return (aim.line(measured) for aim in AIMS)
