"""``--format table``: what a person reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from serialpack.bench.reports import sentences
from serialpack.bench.reports.row_columns import (
    WANTED,
    ReportColumn,
    anchor_row,
    by_size,
    columns,
    is_known,
    seconds,
)
from serialpack.bench.reports.sweeps import Matrix, is_sweep, matrices
from serialpack.bench.results import Results, Row, shown_source
from serialpack.text import aligned, printable

#: At most so many rows are shown, and of a sweep so many n.
MOST_ROWS = 30
MOST_N = 12

#: Where there is no room for more, a chain that is longer than this gets a line of its own.
LEAST_CHAIN = 24

#: Where to find what is left out.
_ALL = "--format json, csv or markdown has all"

#: A line, and how it is drawn: a style of rich.
Line = tuple[str, str]


def table(results: Results, *, width: int, colour: bool) -> str:
    """What people need of ``results``, in lines of at most ``width`` characters;
    commands are not broken."""
    lines = list(_lines(results, max(width, 40)))
    if not colour:
        return "\n".join(text for text, _ in lines) + "\n"
    import io

    from rich.console import Console
    from rich.text import Text

    # The terminal's own colours, readable on a light and on a dark one.
    console = Console(
        file=io.StringIO(), force_terminal=True, color_system="standard", highlight=False
    )
    for text, style in lines:
        console.print(Text(text, style), soft_wrap=True)
    drawn: str = console.file.getvalue()  # type: ignore[attr-defined]
    return drawn


def _lines(results: Results, width: int) -> Iterator[Line]:
    """The lines of the report, from its head to what is recommended."""
    yield from _wrapped(
        f"{shown_source(results.source)}: {sentences.headline(results)}", width, "bold"
    )
    yield from _wrapped(sentences.effort(results), width, "")
    yield from _wrapped(sentences.machine(results), width, "dim")
    yield "", ""
    if is_sweep(results):
        found = matrices(results)
        for matrix in found:
            yield from _matrix(matrix, width)
        left = max((len(m.rows) - len(_thinned(m.rows)) for m in found), default=0)
        if left:
            yield from _wrapped(f"and {left:,} more n; {_ALL}", width, "dim")
    elif any(map(is_known, results.rows)):
        yield from _table(results, width)
    yield from _closing(results, width)
    yield from _recommended(results, width)


def _table(results: Results, width: int) -> Iterator[Line]:
    """The table of the best rows, as far as ``width`` has room, and what its marks mean."""
    rows = by_size(results.rows)
    shown = _best(results, rows)
    anchors = [anchor_row(anchor) for anchor in results.anchors if not anchor.why]
    fitting = _fitting(columns(results), [*shown, *anchors], width)
    cells = [[_cell(column, row) for column in fitting] for row in [*shown, *anchors]]
    heads = [[column.title for column in fitting], [column.unit for column in fitting]]
    right = [number for number, column in enumerate(fitting) if column.right]
    room = max(_left(fitting, [*heads, *cells], width), LEAST_CHAIN)
    # A long chain is put on a line above its figures, and so does not widen its column.
    names = [line[0] if len(line[0]) > room else "" for line in cells]
    short = [["" if name else line[0], *line[1:]] for name, line in zip(names, cells, strict=True)]
    drawn = aligned([*heads, *short], right)
    yield from (("  " + line, "bold") for line in drawn[:2] if line)
    for number, row in enumerate(shown):
        yield from _row(names[number], drawn[2 + number], row)
    if len(rows) > len(shown):
        yield from _wrapped(f"and {len(rows) - len(shown):,} more; {_ALL}", width, "dim")
    if anchors:
        yield "", ""
        for number, row in enumerate(anchors, len(shown)):
            yield from _row(names[number], drawn[2 + number], row, "dim")
    yield "", ""
    if any(row.front for row in shown):
        yield from _wrapped(f"* {sentences.FRONT}", width, "")
    for mark, words in sentences.marks(shown):
        yield from _wrapped(f"({mark}) {words}", width, "")
    if any(row.status == "sampled" for row in shown):
        yield from _wrapped(f"~ {sentences.SAMPLED}", width, "")


def _row(name: str, line: str, row: Row, style: str = "") -> Iterator[Line]:
    """A row, with its name on a line of its own where that is given."""
    mark = "* " if row.front else "  "
    style = "green" if row.front else style
    if name:
        yield mark + name, style
        mark = "  "
    yield mark + line, style


def _cell(column: ReportColumn, row: Row) -> str:
    text = printable(column.text(row))
    return printable(row.named) if column.key == "chain" else text


def _fitting(found: list[ReportColumn], rows: Sequence[Row], width: int) -> list[ReportColumn]:
    """The columns out of ``found`` for which lines of ``width`` have room,
    given the ``rows`` shown."""
    chosen = [column for column in found if not column.need]
    for need in sorted({column.need for column in found} - {0}):
        new = [c for c in found if c.need == need and any(c.text(row) for row in rows)]
        more = [c for c in found if c in chosen or c in new]
        cells = [[_cell(c, row) for c in more] for row in rows]
        longest = max(map(len, (line[0] for line in cells)), default=0)
        wanted = min(longest, LEAST_CHAIN) if need <= WANTED else longest
        heads = [[c.title for c in more], [c.unit for c in more]]
        if _left(more, [*heads, *cells], width) >= wanted:
            chosen = more
    return chosen


def _left(found: list[ReportColumn], lines: list[list[str]], width: int) -> int:
    """How many characters of ``width`` are left for the first column, which names the chains."""
    others = [max(len(line[i]) for line in lines) for i in range(1, len(found))]
    return width - 2 - sum(others) - 2 * len(others)


def _best(results: Results, rows: list[Row]) -> list[Row]:
    """At most ``MOST_ROWS`` of ``rows``: those that are marked or recommended, then those nearest
    to the front; more where more are marked."""
    chosen = {(choice.chain, choice.threads) for choice in results.recommendations}
    ranked = _by_layer(rows)
    ranked.sort(key=lambda row: not (row.front or row.mark or (row.chain, row.threads) in chosen))
    marked = sum(bool(row.front or row.mark) for row in rows)
    kept = {id(row) for row in ranked[: max(MOST_ROWS, marked)]}
    return [row for row in rows if id(row) in kept]


def _by_layer(rows: list[Row]) -> list[Row]:
    """The rows of the front of size against seconds, then those of the front of what is left, and
    so on.

    ``rows`` come in the order of their size.
    """
    ranked: list[Row] = []
    left = rows
    while left:
        layer: list[Row] = []
        rest: list[Row] = []
        least = float("inf")
        for row in left:
            (layer if seconds(row) < least else rest).append(row)
            least = min(least, seconds(row))
        ranked += layer
        left = rest
    return ranked


def _matrix(matrix: Matrix, width: int) -> Iterator[Line]:
    """The table of one measure of a sweep;
    in several parts where a line does not hold all chains."""
    rows = _thinned(matrix.rows)
    heads = [printable(chain).replace("+", "\n+").split("\n") for chain in matrix.chains]
    column = [
        max(map(len, [*head, *(cells[i] for _, cells in rows)])) for i, head in enumerate(heads)
    ]
    first = max(len(f"{n:,}") for n, _ in rows)
    start = 0
    while start < len(heads):
        end = start + 1
        while (
            end < len(heads)
            and first + sum(column[start : end + 1]) + 2 * (end + 1 - start) <= width
        ):
            end += 1
        part = heads[start:end]
        tall = max(map(len, part))
        head = [
            ["n" if i == tall - 1 else "", *(h[i] if i < len(h) else "" for h in part)]
            for i in range(tall)
        ]
        body = [[f"{n:,}", *cells[start:end]] for n, cells in rows]
        yield f"{matrix.title} ({matrix.unit})", "bold"
        drawn = aligned([*head, *body], range(len(part) + 1))
        yield from ((line, "bold" if i < tall else "") for i, line in enumerate(drawn))
        yield "", ""
        start = end


def _thinned(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """At most ``MOST_N`` of ``rows``, evenly spread, with the first and the last."""
    if len(rows) <= MOST_N:
        return rows
    step = -(-(len(rows) - 1) // (MOST_N - 1))
    return [*rows[:-1:step], rows[-1]]


def _closing(results: Results, width: int) -> Iterator[Line]:
    """What stands below the table: the limit, why rows have no figures, and notes."""
    limit = sentences.limit(results)
    if limit:
        yield from _wrapped(limit, width, "")
    for reason in sentences.reasons(results):
        text = f"{reason.status}: {reason.listed}: {reason.why}"
        yield from _wrapped(text, width, "red" if reason.status == "failed" else "yellow")
    for anchor in results.anchors:
        if anchor.why:
            yield from _wrapped(f"{anchor.name}: {anchor.why}", width, "yellow")
    for note in results.notes:
        yield from _wrapped(f"note: {note}", width, "")


def _recommended(results: Results, width: int) -> Iterator[Line]:
    """What is recommended, each command on a line of its own however long it is,
    so that it can be copied."""
    found = sentences.choices(results)
    if found:
        yield "", ""
        yield from _wrapped(sentences.RECOMMENDED, width, "")
    for kinds, why, choice in found:
        yield "", ""
        because = f"; {why}" if why else ""
        yield from _wrapped(f"{kinds}: {choice.chain}{because}", width, "bold")
        for line, style in _wrapped(sentences.promise(results, choice), width - 4, ""):
            yield f"    {line}", style
        yield f"    {printable(choice.command)}", "cyan"


def _wrapped(text: str, width: int, style: str) -> Iterator[Line]:
    for line in wrap(printable(text), width, subsequent_indent="  ", break_on_hyphens=False):
        yield line, style
