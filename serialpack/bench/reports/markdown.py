"""``--format markdown``: all rows as a table in GitHub's dialect, for an issue or a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from serialpack.bench.reports import sentences
from serialpack.bench.reports.row_columns import ReportColumn, anchor_row, by_size, columns
from serialpack.bench.reports.sweeps import is_sweep, matrices
from serialpack.bench.results import Results, Row, shown_source
from serialpack.text import printable

#: What has a meaning in Markdown, or in the HTML that it may hold.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~&$]")

#: Names that can stand in code as they are.
_PLAIN = re.compile(r"[\w+:@/., -]+")


def markdown(results: Results) -> str:
    """``results`` as Markdown; no row is left out."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Results) -> Iterator[str]:
    """The lines of the report, from its head to what is recommended."""
    yield f"### {_text(shown_source(results.source))}"
    yield ""
    yield f"{_text(sentences.headline(results))}. {_text(sentences.effort(results))}."
    yield ""
    yield f"{_text(sentences.machine(results))}."
    yield ""
    if is_sweep(results):
        for matrix in matrices(results):
            yield f"**{matrix.title}** ({matrix.unit})"
            yield ""
            body = [[f"{n:,}", *cells] for n, cells in matrix.rows]
            right = [True] * (1 + len(matrix.chains))
            yield from _table(["n", *map(_code, matrix.chains)], body, right)
    else:
        yield from _rows(results)
    limit = sentences.limit(results)
    if limit:
        yield f"- {_text(limit)}"
    for reason in sentences.reasons(results):
        yield f"- {reason.status}: {_text(', '.join(reason.names))}: {_text(reason.why)}"
    for anchor in results.anchors:
        if anchor.why:
            yield f"- {_text(anchor.name)}: {_text(anchor.why)}"
    yield from (f"- {_text(note)}" for note in results.notes)
    for kinds, why, choice in sentences.choices(results):
        yield ""
        because = f"; {_text(why)}" if why else ""
        promise = _text(sentences.promise(results, choice))
        yield f"**{kinds}**: {_code(choice.chain)}, {promise}{because}"
        yield ""
        yield from _block(choice.command, "python" if results.mode == "object" else "sh")


def _rows(results: Results) -> Iterator[str]:
    """The table of all rows, and what its marks mean."""
    found = columns(results)
    rows = by_size(results.rows)
    if not rows:
        return
    anchors = [anchor_row(anchor) for anchor in results.anchors if not anchor.why]
    heads = [f"{c.title} {c.unit}".strip() for c in found]
    body = [[_cell(column, row) for column in found] for row in [*rows, *anchors]]
    yield from _table(heads, body, [column.right for column in found])
    yield f"Bold: {sentences.FRONT}." if any(row.front for row in rows) else ""
    for mark, words in sentences.marks(rows):
        yield f"({mark}): {words}."
    yield f"~: {sentences.SAMPLED}." if any(row.status == "sampled" for row in rows) else ""
    yield ""


def _cell(column: ReportColumn, row: Row) -> str:
    if column.key != "chain":
        return _text(column.text(row))
    name = _code(row.chain) if row.serializer else _text(row.chain)
    return (f"**{name}**" if row.front else name) + (f" ({row.mark})" if row.mark else "")


def _table(
    heads: Sequence[str], body: Sequence[Sequence[str]], right: Sequence[bool]
) -> Iterator[str]:
    rules = ["---:" if right[i] else "---" for i in range(len(heads))]
    for line in (heads, rules, *body):
        yield f"| {' | '.join(line)} |"
    yield ""


def _text(text: str) -> str:
    """``text`` with nothing in it that Markdown would act on."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], printable(text))


def _code(name: str) -> str:
    """A chain as code, where that is possible."""
    return f"`{name}`" if _PLAIN.fullmatch(name) else _text(name)


def _block(command: str, language: str) -> list[str]:
    """``command`` as a block of code, which nothing in it can end."""
    command = printable(command)
    longest = max((len(run) for run in re.findall("`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, command, fence]
