"""The columns of the tables in all reports:
what a column says of a row, and how figures are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from serialpack.bench.results import Anchor, Results, Row
from serialpack.units import format_size

#: What a column sorts by.
Value = float | int | str | None

#: Gives a figure of a row; None where it is not known.
Measure = Callable[[Row], float | None]

#: The steps of packing and unpacking without the proof: what benchmarks call write and read.
WRITE = ("serialize", "compress")
READ = ("decompress", "deserialize")

#: Columns up to this ``need`` are shown even where long chains get a line of their own for it.
WANTED = 3

#: The units of time: the name, and the seconds in one.
TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


class ReportColumn(NamedTuple):
    """One column. ``value``: of a row, to sort by, None where nothing is known; ``text``: to read,
    empty where nothing is known."""

    key: str
    title: str
    unit: str
    #: What it says, in a few words, for the page.
    about: str
    value: Callable[[Row], Value]
    text: Callable[[Row], str]
    #: 0: always shown. Others are shown where the table is wide enough, those with the lowest
    #: number first, and those with the same number together.
    need: int = 0
    right: bool = True
    #: Whether more is better, so that people want the largest first.
    descending: bool = False


def is_known(row: Row) -> bool:
    """Whether a row has figures."""
    return row.status in ("measured", "sampled")


def by_size(rows: Sequence[Row]) -> list[Row]:
    """The rows that have figures, the smallest size first; in a sweep by n first."""
    return sorted(
        (row for row in rows if is_known(row)),
        key=lambda row: (row.n or 0, row.size or 0, seconds(row), row.chain, row.threads),
    )


def seconds(row: Row) -> float:
    """The seconds to pack and to unpack; 0 where they are not known."""
    return (row.pack_seconds or 0) + (row.unpack_seconds or 0)


def anchor_row(anchor: Anchor) -> Row:
    """``anchor`` as a row, so that it stands in the same columns."""
    return Row(
        chain=f"{anchor.name} {anchor.version}".strip(),
        serializer="",
        filters=[],
        codec="",
        threads=1,
        n=None,
        status="measured" if anchor.size is not None or anchor.pack_speed else "skipped",
        why=anchor.why,
        size=anchor.size,
        overhead=None,
        ratio=anchor.ratio,
        pack_seconds=anchor.pack_seconds,
        unpack_seconds=anchor.unpack_seconds,
        pack_speed=anchor.pack_speed,
        unpack_speed=anchor.unpack_speed,
        seconds={},
        runs=0,
        spread=None,
        memory=None,
        kept=None,
        traits=[],
    )


def columns(results: Results) -> list[ReportColumn]:
    """The columns that suit ``results``, in order."""
    found = [_CHAIN]
    if any(row.n is not None for row in results.rows):
        found.append(_N)
    if len({row.threads for row in results.rows}) > 1:
        found.append(_THREADS)
    if len({row.block_size for row in results.rows}) > 1:
        found.append(_BLOCK_SIZE)
    if results.mode == "object":
        found += [*_object_times(results.rows), _SIZE]
    else:
        found += [_SIZE, _RATIO, _PACK_SPEED, _UNPACK_SPEED]
    if any(row.over_limit is not None for row in results.rows):
        found.append(_OVER_LIMIT)
    found += [_KEPT, _MEMORY, _SPREAD, _OVERHEAD]
    return [*found, *_object_means(results.rows)] if results.mode == "object" else found


def significant(value: float) -> str:
    """``value`` with three digits, or with all that it has before the point."""
    size = abs(value)
    places = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.995 else 3
    return f"{value:,.{places}f}"


def duration(value: float) -> str:
    """``value`` seconds for a person: ``1.23 ms``."""
    name, scale = nearest_unit(value)
    return f"{significant(value / scale)} {name}"


def nearest_unit(value: float) -> tuple[str, float]:
    """The largest unit of which ``value`` seconds are at least one; else the smallest unit."""
    return next((unit for unit in TIMES if value > 0.999 * unit[1]), TIMES[-1])


def time_unit(values: Sequence[float]) -> tuple[str, float]:
    """One unit for all of ``values``, which are seconds:
    the largest in which each has digits to show."""
    least = min((v for v in values if v > 0), default=1.0)
    return next((unit for unit in TIMES if least >= unit[1] / 50), TIMES[-1])


def _size(row: Row) -> str:
    if row.size is None:
        return ""
    if row.status != "sampled":
        return f"{row.size:,}"
    digits = max(len(str(row.size)) - 3, 0)
    return f"~{round(row.size, -digits):,}"


def _speed(value: float | None) -> str:
    return "" if value is None else significant(value / 1e6)


def _spread(row: Row) -> str:
    if row.spread is None:
        return ""
    return "<1%" if row.spread < 0.01 else f"{100 * row.spread:.0f}%"


def _object_times(rows: Sequence[Row]) -> list[ReportColumn]:
    """For a table of objects: the times to write, to read, both; and where there is a codec, all
    steps together. Without the proof."""
    unit = _unit(rows)
    found = [
        _time(unit, "write", "time to serialize", steps("serialize")),
        _time(unit, "read", "time to deserialize", steps("deserialize")),
        _time(unit, "both", "time to write and read", steps("serialize", "deserialize"), need=1),
    ]
    if any(row.codec != "none" for row in rows if is_known(row)):
        about = "time to serialize, compress, decompress and deserialize"
        found.append(_time(unit, "total", about, steps(*WRITE, *READ), need=2))
    return found


def _object_means(rows: Sequence[Row]) -> list[ReportColumn]:
    """The times to dump and to load an object, as means of all runs: the other columns have those
    of the fastest run."""
    if not any(row.means for row in rows):
        return []
    unit = _unit(rows)
    return [
        _time(unit, "mean write", "mean time to serialize", mean("serialize"), need=7),
        _time(unit, "mean read", "mean time to deserialize", mean("deserialize"), need=7),
        _time(unit, "mean both", "both means", mean("serialize", "deserialize"), need=7),
    ]


def _unit(rows: Sequence[Row]) -> tuple[str, float]:
    """The unit of all times in a table of objects."""
    times = (row.seconds.get(step) for row in rows for step in ("serialize", "deserialize"))
    return time_unit([took for took in times if took])


def _time(
    unit: tuple[str, float], key: str, about: str, value: Measure, need: int = 0
) -> ReportColumn:
    """A column of times in one unit."""

    def text(row: Row) -> str:
        number = value(row)
        return "" if number is None else significant(number / unit[1])

    return ReportColumn(key, key, unit[0], about, value, text, need)


def steps(*names: str) -> Measure:
    """The seconds of these steps together, in the fastest run;
    None where none of them was timed."""
    return lambda row: _sum(row.seconds, names)


def mean(*names: str) -> Measure:
    """The seconds of these steps together, on average; None where none of them was timed."""
    return lambda row: _sum(row.means or {}, names)


def _sum(times: dict[str, float], names: Sequence[str]) -> float | None:
    return sum(times.get(name, 0.0) for name in names) or None


def _optional(
    field: Literal["ratio", "over_limit"], mark: str = ""
) -> tuple[Measure, Callable[[Row], str]]:
    """``value`` and ``text`` of a column of one field, with a ``mark`` before the number."""

    def value(row: Row) -> float | None:
        number: float | None = getattr(row, field)
        return number

    def text(row: Row) -> str:
        number = value(row)
        return "" if number is None else mark + significant(number)

    return value, text


_CHAIN = ReportColumn(
    "chain",
    "chain",
    "",
    "serializer, filters and codec",
    lambda row: row.chain,
    lambda row: row.chain,
    right=False,
)
_N = ReportColumn(
    "n",
    "n",
    "",
    "how much it was measured with",
    lambda row: row.n,
    lambda row: "" if row.n is None else f"{row.n:,}",
)
_THREADS = ReportColumn(
    "threads", "threads", "", "threads", lambda row: row.threads, lambda row: str(row.threads)
)
_BLOCK_SIZE = ReportColumn(
    "block_size",
    "blocks",
    "of",
    "size of the blocks that it was split into",
    lambda row: row.block_size,
    lambda row: format_size(row.block_size, exact=True),
)
_SIZE = ReportColumn("size", "size", "bytes", "size of the container", lambda row: row.size, _size)
_RATIO = ReportColumn(
    "ratio", "ratio", "", "source over container", *_optional("ratio"), need=1, descending=True
)
_PACK_SPEED = ReportColumn(
    "pack_speed",
    "pack",
    "MB/s",
    "millions of bytes of the source packed, and proved, a second",
    lambda row: row.pack_speed,
    lambda row: _speed(row.pack_speed),
    descending=True,
)
_UNPACK_SPEED = ReportColumn(
    "unpack_speed",
    "unpack",
    "MB/s",
    "millions of bytes of the source given back a second",
    lambda row: row.unpack_speed,
    lambda row: _speed(row.unpack_speed),
    descending=True,
)
_KEPT = ReportColumn(
    "kept",
    "kept",
    "",
    "exact: the very bytes come back; faithful: the same values",
    lambda row: row.kept,
    lambda row: row.kept or "",
    need=3,
    right=False,
)
_MEMORY = ReportColumn(
    "memory",
    "memory",
    "peak",
    "peak memory above that of the process at rest",
    lambda row: row.memory,
    lambda row: "" if row.memory is None else format_size(row.memory),
    need=4,
)
_OVER_LIMIT = ReportColumn(
    "over_limit",
    "limit",
    "times",
    "size over the least that is possible",
    *_optional("over_limit", "×"),
    need=2,
)
_SPREAD = ReportColumn(
    "spread",
    "spread",
    "±",
    "how much slower than the fastest run the median run was",
    lambda row: row.spread,
    _spread,
    need=5,
)
_OVERHEAD = ReportColumn(
    "overhead",
    "around",
    "bytes",
    "bytes of the container around the payload",
    lambda row: row.overhead,
    lambda row: "" if row.overhead is None else f"{row.overhead:,}",
    need=6,
)
