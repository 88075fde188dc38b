"""What all reports say in whole sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from serialpack.bench.reports.row_columns import duration, is_known, significant
from serialpack.bench.results import Recommendation, Results, Row, Status
from serialpack.text import number_of
from serialpack.units import format_size

#: So many names are listed for one reason; the others are counted.
MOST_NAMES = 8

FRONT = "on the front: nothing else here is both smaller and faster"
RECOMMENDED = "recommended, each with the command to type:"
SAMPLED = "measured with a part of the source, and scaled up"


class Reason(NamedTuple):
    """Why some rows have no figures. ``names``: their serializers, where it is said of all rows of
    one, else their chains."""

    status: Status
    names: list[str]
    why: str

    @property
    def listed(self) -> str:
        """As many of the names as people read."""
        shown = ", ".join(self.names[:MOST_NAMES])
        more = len(self.names) - MOST_NAMES
        return f"{shown} and {more:,} more" if more > 0 else shown


def reasons(results: Results) -> list[Reason]:
    """Why rows have no figures: one reason for all rows with the same status and the same words."""
    order: tuple[Status, ...] = ("refused", "failed", "skipped")
    groups: dict[tuple[Status, str], list[Row]] = {}
    for status in order:
        for row in results.rows:
            if row.status == status:
                groups.setdefault((status, row.why), []).append(row)
    several = len({row.threads for row in results.rows}) > 1
    total = _counts([row.serializer for row in results.rows])
    found = []
    for (status, why), rows in groups.items():
        here = _counts([row.serializer for row in rows])
        # Where it is said of all rows of a serializer, its name says them all.
        names = [
            row.serializer
            if here[row.serializer] == total[row.serializer] and row.effort is None
            else _name(row, several=several)
            for row in rows
        ]
        found.append(Reason(status, list(dict.fromkeys(names)), why))
    return found


def _name(row: Row, *, several: bool) -> str:
    """A row by its chain; ``several``: there are rows with other numbers of threads."""
    threads = f" on {number_of(row.threads, 'thread')}" if several else ""
    return row.named + threads + (f" with n = {row.n:,}" if row.n is not None else "")


def _counts(names: list[str]) -> dict[str, int]:
    return {name: names.count(name) for name in set(names)}


def marks(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """The marks of choices of auto that ``rows`` have, each with what it means."""
    found = {row.mark: row for row in rows if row.mark}
    for mark, row in sorted(found.items()):
        yield (
            mark,
            "what auto would choose" if row.effort is None else f"what pack -{row.effort} makes",
        )


def headline(results: Results) -> str:
    """What the source is, without its name."""
    what = "Python objects" if results.mode == "object" else results.format
    count = results.records
    records = "" if count is None else f", {number_of(count, 'record')}"
    return f"{number_of(results.size, 'byte')} of {what}{records}"


def effort(results: Results) -> str:
    """How much was measured, in what time."""
    known = [row for row in results.rows if is_known(row)]
    sampled = sum(row.status == "sampled" for row in known)
    text = f"{len(known):,} of {number_of(len(results.rows), 'combination')} measured"
    if sampled:
        held = f"at most {format_size(results.sampled)}"
        part = held if results.sampled < results.size else "a part"
        text += f", {sampled:,} of them with {part} of the source"
    text += f", in {results.elapsed:.1f} s (budget {results.budget:g} s)"
    return text + ("; stopped before its end" if results.interrupted else "")


def machine(results: Results) -> str:
    """Where and when it was measured."""
    here = results.machine
    cores = number_of(here.cores, "core")
    return (
        f"{here.cpu}, {cores}, {format_size(here.memory)} of memory, {here.system},"
        f" Python {here.python}, serialpack {here.serialpack}, {results.date}"
    )


def limit(results: Results) -> str | None:
    """The least size that is possible; None where it is not known."""
    found = results.limit
    return None if found is None else f"limit {round(found.size):,} bytes: {found.why}"


class Recommended(NamedTuple):
    """A chain that is recommended: for what purposes (``smallest, balanced``), and why; of several
    purposes each reason begins with its own (``smallest: the fewest bytes; balanced: ...``).
    ``first``: its recommendation for the first of them.
    """

    kinds: str
    why: str
    first: Recommendation


def choices(results: Results) -> list[Recommended]:
    """What is recommended, once for each command."""
    groups: dict[str, list[Recommendation]] = {}
    for each in results.recommendations:
        groups.setdefault(each.command, []).append(each)
    return [
        Recommended(
            ", ".join(each.kind for each in group),
            _why(group),
            group[0],
        )
        for group in groups.values()
    ]


def _why(group: list[Recommendation]) -> str:
    if len({each.why for each in group}) == 1:
        return group[0].why
    return "; ".join(f"{each.kind}: {each.why}" for each in group if each.why)


def promise(results: Results, choice: Recommendation) -> str:
    """The figures of a recommended row."""
    row = row_of(results, choice)
    error = row and row.error
    sure = "" if error is None else f" ±{max(100 * error, 0.1):.1f}%"
    parts = [f"{'' if choice.whole else '~'}{choice.size:,} bytes{sure}"]
    if row is not None:
        if row.ratio is not None:
            parts.append(f"ratio {significant(row.ratio)}")
        if row.pack_seconds is not None and row.unpack_seconds is not None:
            parts += speeds(results, row)
        if len({r.threads for r in results.rows}) > 1:
            parts.append(f"{row.threads} thread{'s' * (row.threads > 1)}")
        if row.kept:
            parts.append(row.kept)
    return ", ".join(parts)


def speeds(results: Results, row: Row) -> list[str]:
    """How fast a row packs and unpacks; of objects how long that takes."""
    if results.mode == "object" or row.pack_speed is None or row.unpack_speed is None:
        return [
            f"packs in {duration(row.pack_seconds or 0)}",
            f"unpacks in {duration(row.unpack_seconds or 0)}",
        ]
    return [
        f"packs {significant(row.pack_speed / 1e6)} MB/s",
        f"unpacks {significant(row.unpack_speed / 1e6)} MB/s",
    ]


def row_of(results: Results, choice: Recommendation) -> Row | None:
    """The row that ``choice`` recommends."""
    same = [
        row
        for row in results.rows
        if (row.chain, row.threads) == (choice.chain, choice.threads) and is_known(row)
    ]
    return max(same, key=lambda row: (row.size == choice.size, row.n or 0), default=None)
