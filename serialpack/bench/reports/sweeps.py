"""A sweep: how sizes and times grow with n, as curves and as tables."""

from __future__ import annotations

from typing import Literal, NamedTuple

from serialpack.bench.reports.row_columns import (
    READ,
    WRITE,
    Measure,
    is_known,
    significant,
    steps,
    time_unit,
)
from serialpack.bench.results import Results, Row

#: Times are compared with those of this one: Python's own serializer.
NATIVE = "pickle"

Unit = Literal["bytes", "seconds", "times"]


class Curves(NamedTuple):
    """One measure over n. ``lines``: for each chain,
    by its name, the pairs (n, value), in order of n."""

    title: str
    unit: Unit
    lines: dict[str, list[tuple[int, float]]]


class Matrix(NamedTuple):
    """One measure as a table: a row for each n, a column for each chain;
    "" where there is no figure."""

    title: str
    unit: str
    chains: list[str]
    rows: list[tuple[int, list[str]]]


def is_sweep(results: Results) -> bool:
    """Whether rows were measured over several n."""
    return any(row.n is not None for row in results.rows)


def series(results: Results) -> dict[str, list[Row]]:
    """The rows that have figures: for each chain, by its name, those of all n, in order."""
    several = len({row.threads for row in results.rows}) > 1
    lines: dict[str, list[Row]] = {}
    for row in sorted(results.rows, key=lambda row: row.n or 0):
        if is_known(row) and row.n is not None:
            name = f"{row.chain} ×{row.threads}" if several else row.chain
            lines.setdefault(name, []).append(row)
    return lines


def curves(results: Results) -> list[Curves]:
    """All measures of a sweep that have figures: size, size over that of the source, times, times
    over those of ``NATIVE``, and the time to unpack over that to pack."""
    lines = series(results)

    def measure(title: str, unit: Unit, of: Measure) -> Curves:
        points = {
            name: [(row.n or 0, value) for row in rows if (value := of(row)) is not None]
            for name, rows in lines.items()
        }
        return Curves(title, unit, {name: line for name, line in points.items() if line})

    pack, unpack = _times(results)
    found = [
        measure("size", "bytes", lambda row: row.size),
        measure("size over the original", "times", _over_original),
        measure("time to pack", "seconds", pack),
        measure("time to unpack", "seconds", unpack),
        measure(f"pack: time over {NATIVE}'s", "times", _over_native(lines, pack)),
        measure(f"unpack: time over {NATIVE}'s", "times", _over_native(lines, unpack)),
        measure("unpack over pack", "times", lambda row: _over(unpack(row), pack(row))),
    ]
    return [each for each in found if each.lines]


def matrices(results: Results) -> list[Matrix]:
    """Size and times of a sweep as tables."""
    found = []
    for title, unit, lines in curves(results):
        if unit == "times":
            continue
        values = [value for line in lines.values() for _, value in line]
        name, scale = time_unit(values) if unit == "seconds" else ("bytes", 1.0)
        cells = {
            chain: {
                n: f"{value:,}" if unit == "bytes" else significant(value / scale)
                for n, value in line
            }
            for chain, line in lines.items()
        }
        ns = sorted({n for line in lines.values() for n, _ in line})
        rows = [(n, [cells[chain].get(n, "") for chain in cells]) for n in ns]
        found.append(Matrix(title, name, list(cells), rows))
    return found


def _times(results: Results) -> tuple[Measure, Measure]:
    """What gives the seconds to pack, and to unpack;
    of objects without the proof, as benchmarks do."""
    if results.mode == "object":
        return steps(*WRITE), steps(*READ)
    return lambda row: row.pack_seconds, lambda row: row.unpack_seconds


def _over_native(lines: dict[str, list[Row]], of: Measure) -> Measure:
    """``of`` over that of ``NATIVE`` at the same n: without a codec, where it was measured so."""
    natives = [rows for rows in lines.values() if rows[0].serializer.partition(":")[0] == NATIVE]
    native = min(natives, key=lambda rows: rows[0].codec != "none", default=[])
    base = {row.n: of(row) for row in native}
    return lambda row: _over(of(row), base.get(row.n))


def _over_original(row: Row) -> float | None:
    return None if not row.ratio else 1 / row.ratio


def _over(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base
