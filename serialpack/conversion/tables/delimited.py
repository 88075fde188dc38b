"""Rows of raw cells, and the text of a delimited table.

A raw cell is as it stands in the text, its quotes too: what is quoted is text, what is bare may
be a value.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from functools import cache
from itertools import chain

from serialpack.conversion.tables.cells import texts_of
from serialpack.formats.shared.document import Malformed


def text_of(columns: Sequence[Sequence[str]], delimiter: str) -> str:
    """The lines of raw cells that stand column by column."""
    if not columns or not columns[0]:
        return ""
    if len(columns) == 1:
        return "\n".join(columns[0]) + "\n"
    return "\n".join(map(delimiter.join, zip(*columns, strict=True))) + "\n"


def read_again(text: str, delimiter: str, width: int) -> list[Sequence[str]] | None:
    """The cells of lines of ``width`` cells without their quotes, column by column, by the
    standard library's reader; None where the lines have others."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = list(reader)
    except csv.Error:  # also for a field of more than 128 KiB
        return [texts_of(cells) for cells in columns_of(text, delimiter, width)]
    if not {width}.issuperset(map(len, rows)):
        return None
    return list(zip(*rows, strict=True))


@cache
def _cell(delimiter: str) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    return re.compile(rf'("[^"]*+(?:""[^"]*+)*+"|(?!")[^{mark}\r\n]*+)({mark}|\r?\n|\Z)')


def columns_of(text: str, delimiter: str, width: int) -> list[Sequence[str]]:
    """The raw cells of lines of ``width`` cells, column by column; blank lines are no rows.

    Malformed, at a character, where the text is none or a line has another number of cells.
    """
    if not text:
        return [()] * width
    if '"' not in text and "\r" not in text:
        lines = [line for line in text.split("\n") if line]
        if width == 1 and delimiter not in text:
            return [lines]
        rows = [line.split(delimiter) for line in lines]
        if {width}.issuperset(map(len, rows)):
            return list(zip(*rows, strict=True)) or [()] * width
    return _transposed(text, delimiter, width)


def _transposed(text: str, delimiter: str, width: int) -> list[Sequence[str]]:
    found = _cell(delimiter).findall(text)
    if len(found) > 1 and found[-1] == ("", "") and found[-2][1] != delimiter:
        found.pop()  # what is behind the last line
    cells, ends = zip(*found, strict=True)
    if sum(map(len, cells)) + sum(map(len, ends)) != len(text):
        raise Malformed("text beside quotes", _place_of(text, cells, ends))
    marks = [end == delimiter for end in ends]
    if len(cells) % width == 0 and marks == [*[True] * (width - 1), False] * (len(cells) // width):
        if width > 1:
            return [cells[at::width] for at in range(width)]
        return [[cell for cell in cells if cell]]
    return _row_by_row(cells, marks, width)


def _row_by_row(cells: Sequence[str], marks: list[bool], width: int) -> list[Sequence[str]]:
    rows: list[list[str]] = []
    row: list[str] = []
    for cell, more in zip(cells, marks, strict=True):
        row.append(cell)
        if not more:
            if row != [""]:
                rows.append(row)
                if len(row) != width:
                    raise RaggedRow(len(rows) - 1, len(row), width)
            row = []
    return list(zip(*rows, strict=True)) or [()] * width


class RaggedRow(ValueError):
    """A row, counted from 0, that has another number of cells than the header."""

    def __init__(self, row: int, cells: int, width: int) -> None:
        super().__init__(f"row {row} has {cells} fields, not {width}")
        self.row = row
        self.cells = cells
        self.width = width


def _place_of(text: str, cells: Sequence[str], ends: Sequence[str]) -> int:
    """Where the first character is that belongs to no cell."""
    at = 0
    for part in chain.from_iterable(zip(cells, ends, strict=True)):
        if not text.startswith(part, at):
            break
        at += len(part)
    return min(at, len(text))
