"""``--html FILE``: one page that holds everything, and asks the network for nothing."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from serialpack.bench.reports import sentences
from serialpack.bench.reports._pictures import pictures
from serialpack.bench.reports.row_columns import ReportColumn, anchor_row, by_size, columns
from serialpack.bench.reports.sweeps import is_sweep
from serialpack.bench.results import Results, Row, shown_source
from serialpack.text import printable


def html(results: Results) -> str:
    """The page, as a whole document. What comes from ``results`` is text in it, never markup."""
    style, script = _file("page.css"), _file("page.js")
    parts = {
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)};"
        " img-src data:; base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "source": shown(shown_source(results.source)),
        "headline": shown(sentences.headline(results)),
        "effort": shown(sentences.effort(results)),
        "machine": shown(sentences.machine(results)),
        "recommendations": "\n".join(_recommendations(results)),
        "pictures": "\n".join(pictures(results)),
        "table": "\n".join(_table(results)),
        "remarks": "\n".join(_remarks(results)),
        "results": _data(results),
    }
    # In one pass, so that what is put in is not looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], _file("page.html"))


def shown(text: str) -> str:
    """``text`` as text of the page, or between the quotes of an attribute."""
    return escape(printable(text))


def _file(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def _hash(text: str) -> str:
    """The hash by which the page's security policy allows its own style or script, and no other."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(results: Results) -> str:
    """The results as JSON, in which nothing can end the element that it stands in."""
    text = json.dumps(results.to_json())
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _recommendations(results: Results) -> Iterator[str]:
    """The section with a card for each chain that is recommended, and its command."""
    if not results.recommendations:
        return
    yield '<section><h2>Recommended</h2><div class="cards">'
    for kinds, why, choice in sentences.choices(results):
        because = f'<p class="quiet">{shown(why)}</p>' if why else ""
        yield (
            f'<article class="card"><h3><span>{kinds}</span>'
            f" <code>{shown(choice.chain)}</code></h3>"
            f"<p>{shown(sentences.promise(results, choice))}</p>{because}"
            f'<div class="command"><pre><code>{shown(choice.command)}</code></pre>'
            f'<button type="button" class="copy" hidden>Copy</button></div></article>'
        )
    yield "</div></section>"


def _table(results: Results) -> Iterator[str]:
    """The section with the table of all rows, and of the anchors beside them."""
    rows = by_size(results.rows)
    if not rows:
        return
    found = columns(results)
    anchors = [anchor_row(anchor) for anchor in results.anchors if not anchor.why]
    yield '<section><h2 id="all">All that was measured</h2>'
    yield '<div class="scroll" tabindex="0" role="region" aria-labelledby="all">'
    yield '<table class="rows"><thead><tr>'
    # By what ``by_size`` has sorted the rows.
    first = "n" if is_sweep(results) else "size"
    yield from (_head(column, is_first=column.key == first) for column in found)
    yield "</tr></thead><tbody>"
    yield from (_row(found, row) for row in rows)
    yield "</tbody>"
    if anchors:
        yield '<tbody class="anchors">'
        yield from (_row(found, row) for row in anchors)
        yield "</tbody>"
    yield "</table></div>"
    if any(row.front for row in rows):
        yield f'<p class="quiet">Marked with a bar: {sentences.FRONT}.</p>'
    if any(row.status == "sampled" for row in rows):
        yield f'<p class="quiet">~: {sentences.SAMPLED}.</p>'
    yield "</section>"


def _head(column: ReportColumn, *, is_first: bool) -> str:
    """The head of a column, which sorts by it. ``is_first``: rows are sorted by it already."""
    sorted_by = ' aria-sort="ascending"' if is_first else ""
    first = "descending" if column.descending else "ascending"
    return (
        f'<th scope="col"{_side(column)} data-first="{first}"{sorted_by}>'
        f'<button type="button" title="{escape(column.about)}">{column.title}'
        f"<small>{column.unit}</small></button></th>"
    )


def _row(found: Sequence[ReportColumn], row: Row) -> str:
    """A row of the table; its cells carry the values by which a column is sorted."""
    cells = []
    for column in found:
        value = column.value(row)
        text = shown(column.text(row))
        data = "" if value is None else shown(str(value))
        if column.key == "chain":
            # A narrow table may break a chain before each "+".
            text = text.replace("+", "<wbr>+")
            told = "".join(words for _, words in sentences.marks([row]))
            tag = f'<span class="tag" title="{told}">{row.mark}</span>' if row.mark else ""
            mark = f'<span class="unseen">{sentences.FRONT}</span>' if row.front else ""
            cells.append(f'<th scope="row" data-value="{data}">{text}{tag}{mark}</th>')
        else:
            cells.append(f'<td{_side(column)} data-value="{data}">{text}</td>')
    front = ' class="front"' if row.front else ""
    return f"<tr{front}>{''.join(cells)}</tr>"


def _side(column: ReportColumn) -> str:
    return ' class="number"' if column.right else ""


def _remarks(results: Results) -> Iterator[str]:
    """The sections with notes, and with what has no figures."""
    limit = sentences.limit(results)
    notes = [*([limit] if limit else []), *results.notes]
    out = [
        f"<b>{reason.status}</b> {shown(', '.join(reason.names))}: {shown(reason.why)}"
        for reason in sentences.reasons(results)
    ]
    out += [f"{shown(a.name)}: {shown(a.why)}" for a in results.anchors if a.why]
    for title, lines in (("Notes", [*map(shown, notes)]), ("Without figures", out)):
        if lines:
            yield f'<section><h2>{title}</h2><ul class="remarks">'
            yield from (f"<li>{line}</li>" for line in lines)
            yield "</ul></section>"
