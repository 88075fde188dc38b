"""How rows are written: the style of a source, and rows as text in it."""

import re
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from serialpack.formats.base import Style
from serialpack.formats.csv.tokens import CsvField, fields
from serialpack.formats.shared.document import Malformed

#: Fields that are looked at to tell the style of a block.
_SAMPLE = 4096

#: How the cells of a column are quoted: where they have to be, always, where they are not empty.
NEEDED, ALL, FILLED = "n", "a", "f"


class CsvStyle(NamedTuple):
    """How rows are written: what ends a line, and which fields are quoted without need.

    ``quoted``: 0 none, 1 all, else the numbers of the columns in which they are.
    """

    newline: str = "\n"
    quoted: int | tuple[int, ...] = 0

    def stored(self) -> Style:
        """The style as the container keeps it; what is usual is left out."""
        found: Style = {}
        if self.newline != "\n":
            found["e"] = self.newline
        if self.quoted:
            found["q"] = self.quoted if isinstance(self.quoted, int) else list(self.quoted)
        return found


def style_of(style: Style) -> CsvStyle:
    """The style that a container keeps; ValueError where that is none."""
    newline, quoted = style.get("e", "\n"), style.get("q", 0)
    if newline not in ("\n", "\r\n"):
        raise ValueError("the style's line end is none")
    if isinstance(quoted, list) and all(type(column) is int for column in quoted):
        return CsvStyle(newline, tuple(quoted))
    if type(quoted) is not int or quoted not in (0, 1):
        raise ValueError("the style's quoting is none")
    return CsvStyle(newline, quoted)


def detect_style(text: str, delimiter: str) -> CsvStyle:
    """The style of rows, from the first of them."""
    needs = _needs_quotes(delimiter)
    columns: list[set[bool]] = []
    unneeded: set[int] = set()
    column, newline = 0, ""
    try:
        for field in islice(fields(text, delimiter), _SAMPLE):
            if column == len(columns):
                columns.append(set())
            columns[column].add(field.quoted)
            if field.quoted and not needs(field.text):
                unneeded.add(column)
            ends = field.end != delimiter
            column = 0 if ends else column + 1
            newline = newline or (field.end if ends else "")
    except Malformed:
        pass
    always = tuple(i for i in sorted(unneeded) if columns[i] == {True})
    if len(always) in (0, len(columns)):
        return CsvStyle(newline or "\n", int(bool(always)))
    return CsvStyle(newline or "\n", always)


class TableStyle(NamedTuple):
    """How a table of text is written beside its delimiter.

    ``newline``: what ends its lines; ``marked``: whether a byte-order mark stands before them;
    ``names``: whether its names are quoted without need; ``cells``: how those of each column are.
    """

    newline: str = "\n"
    marked: bool = False
    names: bool = False
    cells: tuple[str, ...] = ()


def table_style(text: str, delimiter: str, *, headless: bool, whole: bool) -> TableStyle:
    """The style of the table that begins so, as far as it is regular; not whether it is marked.

    ``whole``: the last row is no piece of one.
    """
    rows: list[list[CsvField]] = [[]]
    newline = ""
    try:
        for field in fields(text, delimiter):
            rows[-1].append(field)
            if field.end != delimiter:
                newline = newline or field.end
                rows.append([])
    except Malformed:
        whole = False
    rows = [
        row for row in (rows if whole else rows[:-2]) if len(row) > 1 or any(f.raw for f in row)
    ]
    needs = _needs_quotes(delimiter)
    names, cells = rows[:1], rows[not headless :]
    quoted = all(field.quoted for row in names for field in row)
    spare = any(field.quoted and not needs(field.text) for row in names for field in row)
    columns = list(zip(*cells, strict=False))
    return TableStyle(newline or "\n", names=quoted and spare, cells=_quoted_cells(columns, needs))


def _quoted_cells(columns: list[tuple[CsvField, ...]], needs: Any) -> tuple[str, ...]:
    """How each of the columns is quoted; nothing where none is quoted without need.

    A column without an empty cell does not say whether those are quoted: others do.
    """
    several = len(columns) > 1
    if not any(
        f.quoted and not needs(f.text) and (several or f.text) for each in columns for f in each
    ):
        return ()
    seen = [
        ({f.quoted for f in each if f.text}, {f.quoted for f in each if not f.text})
        for each in columns
    ]
    always = [False not in filled for filled, _ in seen]
    empty = {quoted for (_, some), fit in zip(seen, always, strict=True) if fit for quoted in some}
    unseen = ALL if empty == {True} or (not empty and all(always)) else FILLED
    return tuple(_quoted_as(*each, unseen) for each in seen)


def _quoted_as(filled: set[bool], empty: set[bool], unseen: str) -> str:
    """How a column is quoted of whose cells these are: ``unseen`` where none is empty."""
    if False in filled or len(empty) == 2:
        return NEEDED
    if not empty:
        return unseen
    if True in empty:
        return ALL
    return FILLED if filled else NEEDED


@cache
def _needs_quotes(delimiter: str) -> Any:
    return re.compile(rf'["\r\n{re.escape(delimiter)}]').search


def write_rows(rows: list[list[str]], delimiter: str, style: CsvStyle) -> str:
    """The rows, without the end of the last line."""
    if style.quoted == 1:
        both = f'"{delimiter}"'
        lines = [f'"{both.join([f.replace(_QUOTE, _TWO) for f in row])}"' for row in rows]
    elif style.quoted == 0:
        lines = [delimiter.join(row) for row in rows]
        for i, row in enumerate(rows):
            line = lines[i]
            if (
                not line
                or '"' in line
                or "\n" in line
                or "\r" in line
                or line.count(delimiter) >= len(row)
            ):
                lines[i] = _write_row(row, delimiter, ())
    else:
        assert isinstance(style.quoted, tuple)
        lines = [_write_row(row, delimiter, style.quoted) for row in rows]
    return style.newline.join(lines)


_QUOTE, _TWO = '"', '""'


def _write_row(row: list[str], delimiter: str, quoted: tuple[int, ...]) -> str:
    needs = _needs_quotes(delimiter)
    line = delimiter.join(
        f'"{field.replace(_QUOTE, _TWO)}"' if i in quoted or needs(field) else field
        for i, field in enumerate(row)
    )
    return line or '""'  # an empty line would be no record
