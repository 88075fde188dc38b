"""Lines that stand above a table of text: comments, a title, and blank lines between."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import NamedTuple

from serialpack.csv_front import separator_line
from serialpack.formats.base import Read
from serialpack.formats.csv.dialects import first_line_of_table
from serialpack.formats.csv.found import dialect_of
from serialpack.formats.csv.returns import ReturnLines
from serialpack.formats.csv.spaces import SpacedCells, by_rows
from serialpack.formats.csv.widths import widths
from serialpack.formats.declaration import Declaration
from serialpack.text import number_of
from serialpack.values.kinds import AROUND, COMMENTS, Loss, Spelled, shown

#: The last line of a text that begins with so many bytes may be cut off.
_WHOLE = 64 << 10


class TableBelow(NamedTuple):
    """How a table below such lines is read: without these, of which comments are no values.

    ``lines``, ``size``: how many there are, and their bytes, in UTF-8. ``rows``: how those below
    are read, where that is another way than others.
    """

    dropped: tuple[Loss, ...]
    lines: int
    size: int
    rows: ReturnLines | SpacedCells | None

    @property
    def words(self) -> str:
        """What it is read as."""
        words = f"a table below {number_of(self.lines, 'line')}"
        return words if self.rows is None else f"{words}, {self.rows.words}"


def by_table(
    read: Read, head: bytes, delimiter: str, *, headless: bool
) -> tuple[Read, TableBelow | ReturnLines | SpacedCells | None]:
    """As ``by_rows``, also of a table below other lines. ``headless``: the table has no names."""
    size = _size_above(head, delimiter, headless=headless)
    text = head[size:]
    by_row, rows = by_rows(_Behind(read, size).read if size else read, text, delimiter)
    if not size:
        return by_row, rows
    above = head[:size].removeprefix(BOM_UTF8).decode("utf-8", "replace").split("\n")[:-1]
    return by_row, TableBelow(tuple(_dropped(above)), len(above), size, rows)


def in_lines(declared: Declaration, read: Read, head: bytes) -> Read:
    """What reads a source that begins with ``head`` with ends of lines at which ``split`` finds
    records, without spaces before quotes and lines above it, where it is a table that has others;
    for who only looks at these."""
    if not declared.delimiter:
        return read
    dialect = dialect_of(declared)
    if dialect != dialect.usual():
        return read
    return by_table(read, head, dialect.delimiter, headless=dialect.headless)[0]


class _Behind:
    """Reads what stands behind the first ``size`` bytes."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self._before = size

    def read(self, size: int) -> bytes:
        while self._before and (piece := self._read(self._before)):
            self._before -= len(piece)
        return self._read(size)


def _dropped(above: list[str]) -> Iterator[Loss]:
    """What of lines is no value, and what is information that would be lost."""
    for rule, is_comment in ((COMMENTS, True), (AROUND, False)):
        found = [n for n, s in enumerate(above) if s.strip() and s.startswith("#") == is_comment]
        if found:
            was = shown(Spelled(" ".join(above[found[0]].split())))
            yield Loss(rule, len(found), 0, f"line {found[0] + 1}", was, "")


def _size_above(head: bytes, delimiter: str, *, headless: bool) -> int:
    """How many bytes of a text stand above its table; 0 where that is not sure, or none do."""
    mark = len(BOM_UTF8) * head.startswith(BOM_UTF8)
    first = head[mark : head.find(b"\n") + 1]
    if not delimiter or (delimiter.encode() in first and not _is_comment(first)):
        return 0
    end = len(head) if len(head) < _WHOLE else head.rfind(b"\n") + 1
    lines = head[mark:end].splitlines(keepends=True)
    if not lines or separator_line(head) or b"\r" in head.replace(b"\r\n", b""):
        return 0
    found = _comments(lines, delimiter)
    if found is None and not headless:
        found = first_line_of_table(b"".join(lines).decode("utf-8", "replace"), (delimiter,))
        names = lines[found].rstrip(b"\r\n").split(delimiter.encode())
        found *= all(names)  # else what is above may be the one name that there is
    return mark + sum(map(len, lines[:found])) if found else 0


def _comments(lines: list[bytes], delimiter: str) -> int | None:
    """How many lines above a table of several columns are comments or blank; None: there is no
    such table below them. Where one could be its names, it is sure only for the last, and where
    others are ``##`` or ``# ``, as in VCF; else 0."""
    count = next((n for n, line in enumerate(lines) if not _is_comment(line)), 0)
    if not count:
        return None
    below = b"".join(lines[count:]).decode("utf-8", "replace")
    rows = list(filter(None, widths(below, delimiter)[0]))
    is_blank = not any(line.strip() for line in lines[:count])  # and so no names
    if not rows or rows[0] < 2 or not (is_blank or 2 * rows.count(rows[0]) > len(rows)):
        return None
    comments = [line.decode("utf-8", "replace") for line in lines[:count]]
    fitting = [n for n, line in enumerate(comments) if line.count(delimiter) == rows[0] - 1]
    if not fitting:
        return count
    is_names = fitting == [count - 1] and comments[-1][1:2] not in ("#", " ")
    others = {line[1:2].strip() for line in comments[:-1]}
    return count - 1 if is_names and others <= {"", "#"} else 0


def _is_comment(line: bytes) -> bool:
    return line.startswith(b"#") or not line.strip(b"\r\n")
