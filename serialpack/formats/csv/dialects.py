"""Which of the characters that separate fields does so in a text: CSV as it is found."""

from __future__ import annotations

import io
import re

from serialpack.csv_front import separator_named
from serialpack.errors import SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.csv.found import doubling
from serialpack.formats.csv.returns import by_lines
from serialpack.formats.csv.spaces import has_spaces
from serialpack.formats.csv.tokens import fields, line_of_row
from serialpack.formats.csv.widths import ROWS, fits, widths
from serialpack.formats.shared.document import Malformed

#: So many rows below a line of names have as many fields, where lines above it are none of it.
_BELOW = 10

COMMA = ","

#: Lines above a table that do not tell how its cells are parted.
_COMMENTS = re.compile(r"\A(?:#(?=[#\s])[^\n]*\n|\r?\n)++")

#: What is looked at has fewer bytes only where the file has.
_HEAD = 4 << 10


def dialect_told(head: bytes, named: str) -> str:
    """The dialect that a text is in: its delimiter is the one that fits its first rows."""
    names = FORMATS.dialects(named)
    return names[delimiter_of(head, tuple(names), whole=len(head) < _HEAD)]


def delimiter_of(head: bytes, delimiters: tuple[str, ...], *, whole: bool) -> str:
    """The one of ``delimiters`` that gives all of the first rows the same number of fields, more
    than one; the comma where it does, or where several others do. Where none does, that which
    gives most of them as many as the line of names, and all of them several, or a table below
    lines of a title; else the comma. The one that a first line ``sep=;`` names, or that is before
    spaces and quotes.

    ``head``: how the text begins; ``whole``: all of it, so that its last line has an end.
    """
    if (named := separator_named(head)) in delimiters:
        return named
    text = (
        by_lines(io.BytesIO(head).read, head)[0](len(head))
        .decode("utf-8", "replace")
        .removeprefix("\ufeff")
    )
    if not whole:
        text = text[: text.rfind("\n") + 1]
    text = below_comments(text)
    spaced = [mark for mark in delimiters if '"' in text and has_spaces(text.encode(), mark)]
    if len(spaced) == 1:
        return spaced[0]
    plain = _plain_rows(text)
    how_many = {
        mark: fits(text, mark) if plain is None else 2 * _fits_plain(plain, mark)
        for mark in delimiters
    }
    best = max(how_many.values())
    found = [mark for mark in delimiters if how_many[mark] == best]
    if not best:
        found = [mark for mark in delimiters if _nearly_fits(text, mark)]
    if not found and max(widths(text, COMMA)[0], default=0) > 1:  # else it is one of one column
        found = [mark for mark in delimiters if first_line_of_table(text, (mark,))]
    return COMMA if COMMA in found or len(found) != 1 else found[0]


def below_comments(text: str) -> str:
    """The text without the lines above a table that do not tell how it is written."""
    return _COMMENTS.sub("", text, 1) or text


def first_line_of_table(text: str, delimiters: tuple[str, ...]) -> int:
    """How many lines of one field, a title or comments, stand above a table: several fields are
    in its line of names, and as many in the rows below it. 0: none, or no table is found."""
    text = text[:_HEAD] if len(text) <= _HEAD else text[: text.rfind("\n", 0, _HEAD) + 1]
    for mark in delimiters:
        rows = widths(text, mark)[0]
        above = next((number for number, width in enumerate(rows) if width > 1), 0)
        below = [width for width in rows[above:] if width]
        if above and len(below) > 1 and {below[0]}.issuperset(below[:_BELOW]):
            return line_of_row(text, mark, above)
    return 0


def are_escaped(head: bytes, delimiters: tuple[str, ...]) -> bool:
    """Whether quotes within fields of a text that begins so are escaped, and not doubled: then
    its first rows fit each other, which else they do not."""
    if b'\\"' not in head:
        return False
    lines = head[: head.rfind(b"\n") + 1] or head
    doubled = doubling()(lines, True)
    try:
        mark = delimiter_of(doubled, delimiters, whole=True)
    except SyntaxInputError:  # its lines would end in more than one way
        return False
    return not _is_sound(lines, mark) and _is_sound(doubled, mark)


def _is_sound(lines: bytes, delimiter: str) -> bool:
    """Whether no quote is out of place in some rows."""
    text = lines.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        for _ in fields(text, delimiter):
            pass
    except Malformed:
        return False
    return True


def _plain_rows(text: str) -> list[str] | None:
    """The first rows of a text in which no line's end is within a field, as is mostly so; None
    where that has to be looked for."""
    if '"' in text or "\r" in (lines := text.replace("\r\n", "\n")):
        return None
    return [line for line in lines.split("\n") if line][:ROWS]


def _fits_plain(rows: list[str], delimiter: str) -> bool:
    """As ``fits``, in a fiftieth of the time: whether all rows have one number of fields, more
    than one."""
    width = rows[0].count(delimiter) if rows else 0
    return width > 0 and all(row.count(delimiter) == width for row in rows)


def _nearly_fits(text: str, delimiter: str) -> bool:
    """Whether all rows have several fields, and most of them as many as the line of names."""
    rows = list(filter(None, widths(text, delimiter)[0]))
    return bool(rows) and min(rows) > 1 and 2 * rows.count(rows[0]) > len(rows)
