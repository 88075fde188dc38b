"""The words, tables and comparisons that docs/benchmarks.md is made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from serialpack.bench.reports.row_columns import by_size, significant
from serialpack.bench.reports.sentences import reasons
from serialpack.bench.results import Results, Row
from serialpack.stages.chain import parse_chain
from tools.fidelity import table

#: Paragraphs and tables.
Text = Iterator[str]


class Setting(NamedTuple):
    """What tells the rows of a sample apart."""

    serializer: str
    filters: tuple[str, ...]
    codec: str
    level: int
    block: int
    threads: int


def code(name: str) -> str:
    """A name as code."""
    return f"`{name}`"


def times(value: float) -> str:
    """How many times."""
    return f"{significant(value)} times"


def size_of(row: Row) -> str:
    """The size of a row, marked where it is told from a sample."""
    assert row.size is not None
    return f"{'~' if row.status == 'sampled' else ''}{row.size:,}"


def speed(value: float | None) -> str:
    """MB/s."""
    return "" if value is None else significant(value / 1e6)


def rate(count: int, seconds: float) -> str:
    """So many bytes in so long."""
    name, scale = ("GB/s", 1e9) if count / seconds >= 1e9 else ("MB/s", 1e6)
    return f"{significant(count / seconds / scale)} {name}"


def known(results: Results) -> list[Row]:
    """The rows with figures, the smallest first."""
    return by_size(results.rows)


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of these cells."""
    return table(heads, (f"| {' | '.join(row)} |" for row in rows))


def absent(results: Results) -> Text:
    """Rows without figures, and why; and what else a reader must know."""
    for reason in reasons(results):
        yield f"{reason.status.capitalize()}: {reason.listed} ({reason.why}).\n"
    for note in results.notes:
        yield f"{capital(note)}.\n"


def capital(text: str) -> str:
    """With a capital letter first."""
    return text[:1].upper() + text[1:]


def setting_of(row: Row) -> Setting:
    """Of the codec as far as it has them: level, block size, its own threads."""
    codec = parse_chain(row.chain).codec
    level, block, threads = (*codec.values, 0, 0, 0)[:3]
    return Setting(row.serializer, tuple(row.filters), codec.name, level, block, threads)


def effect(
    rows: Iterable[Row],
    what: Callable[[Row], float | None],
    key: Callable[[Setting], Hashable],
    base: Hashable,
    other: Hashable,
    rest: Callable[[Setting], Hashable],
) -> float | None:
    """The median of ``what`` of rows whose ``key`` is ``other`` over that of those that have
    ``base`` and are the same in ``rest``; None where there is no such pair."""
    found: dict[tuple[Hashable, Hashable], float] = {}
    for row in rows:
        value, setting = what(row), setting_of(row)
        if value is not None:
            found[key(setting), rest(setting)] = value
    ratios = [
        value / found[base, rest_]
        for (key_, rest_), value in found.items()
        if key_ == other and found.get((base, rest_))
    ]
    return median(ratios) if ratios else None


def write(row: Row) -> float:
    """Seconds to serialize, and to nothing else."""
    return row.seconds["serialize"]


def read(row: Row) -> float:
    """Seconds to deserialize."""
    return row.seconds["deserialize"]


def both(row: Row) -> float:
    """Both."""
    return write(row) + read(row)


def size(row: Row) -> float | None:
    """Bytes of the container."""
    return row.size


def codec_time(row: Row) -> float:
    """Seconds to compress and to decompress."""
    return row.seconds["compress"] + row.seconds["decompress"]
