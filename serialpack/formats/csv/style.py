"""How rows are written: the style of a source, and rows as text in it."""

import re
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from serialpack.formats.base import Style
from serialpack.formats.csv.tokens import fields
from serialpack.formats.shared.document import Malformed

#: Fields that are looked at to tell the style of a block.
_SAMPLE = 4096


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
