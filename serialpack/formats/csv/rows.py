"""CSV text to rows of fields and back, in the style of the source.

The grammar is that of RFC 4180, with line ends of one or two characters, read as Python's csv
module reads it strictly: a quote opens a field only where the field begins, a doubled one inside
is one, and nothing but the field's end stands behind the one that closes. A line without a
character is no record. A carriage return outside quotes belongs to a line end.
"""

import csv
import io
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from serialpack.formats.base import Style
from serialpack.formats.shared.document import Malformed

#: Characters of a row that are taken apart at once.
_PIECE = 64 << 10

#: Fields that are looked at to tell the style of a block.
_SAMPLE = 4096


class CsvField(NamedTuple):
    """A field as it stands in the text. ``end``: the delimiter behind it, the line end, or none."""

    text: str
    quoted: bool
    end: str


@cache
def _field(delimiter: str) -> re.Pattern[str]:
    quoted = r'"([^"]*+(?:""[^"]*+)*+)"'
    delimiter = re.escape(delimiter)
    return re.compile(rf'(?:{quoted}|((?!")[^{delimiter}\r\n]*+))({delimiter}|\r?\n|\Z)')


def fields(text: str, delimiter: str) -> Iterator[CsvField]:
    """Every field of ``text``; an empty line is one empty field that is not quoted."""
    pattern, at, end = _field(delimiter), 0, ""
    while at < len(text) or end == delimiter:
        match = pattern.match(text, at)
        if match is None:
            raise _bad(text, at)
        quoted, plain, end = match.groups()
        if quoted is None:
            yield CsvField(plain, False, end)
        else:
            yield CsvField(quoted.replace('""', '"'), True, end)
        at = match.end()


def cells_of(line: str, delimiter: str) -> Iterator[str]:
    """The fields of one row, without what ends it, some at a time; Malformed."""
    if '"' in line or "\r" in line or "\n" in line:
        at = 0
        for field in fields(line, delimiter):
            at += len(field.text)
            if field.end not in (delimiter, ""):
                raise Malformed("a line end within a row", at)
            yield field.text
        return
    start, size = 0, len(line)
    while (end := line.find(delimiter, start + _PIECE, size)) >= 0:
        yield from line[start:end].split(delimiter)
        start = end + 1
    yield from line[start:].split(delimiter)


def first_width(text: str, delimiter: str) -> int:
    """How many fields the first row has that is no blank line; those before what is malformed."""
    width = 0
    try:
        for field in fields(text, delimiter):
            width += 1
            if field.end != delimiter and (width > 1 or field.text or field.quoted):
                return width
            width = width if field.end == delimiter else 0
    except Malformed:
        width += 1
    return width


def line_of_row(text: str, delimiter: str, number: int) -> int:
    """How many line ends stand before a row of ``text``, which is not malformed; from 0."""
    line = row = 0
    for field in fields(text, delimiter):
        if row == number:
            break
        line += field.text.count("\n")
        if field.end != delimiter:
            line, row = line + 1, row + 1
    return line


def _bad(text: str, at: int) -> Malformed:
    """The error in the field that begins at ``at``."""
    if text[at] != '"':
        return Malformed("a carriage return that ends no line", text.index("\r", at))
    close = re.compile(r'"[^"]*+(?:""[^"]*+)*+"').match(text, at)
    if close is None:
        return Malformed("a quote that is not closed", at)
    return Malformed("text behind the quote that closes a field", close.end())


def rows_of(text: str, delimiter: str) -> list[list[str]]:
    """The rows of ``text``; Malformed, at a character. A blank line is a row of no fields."""
    if '"' not in text:
        lines = text.replace("\r\n", "\n").split("\n") if "\r" in text else text.split("\n")
        if not lines[-1]:
            lines.pop()
        if "\r" not in text or not any("\r" in line for line in lines):
            return [line.split(delimiter) if line else [] for line in lines]
    elif "\r" not in text.replace("\r\n", ""):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            return list(reader)
        except csv.Error:  # also for a field of more than 128 KiB
            pass
    rows: list[list[str]] = []
    row: list[str] = []
    for field in fields(text, delimiter):
        row.append(field.text)
        if field.end != delimiter:
            rows.append([] if len(row) == 1 and not field.quoted and not field.text else row)
            row = []
    return rows


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
