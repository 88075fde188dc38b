"""What stands before the first line of cells of CSV: a byte-order mark, and the line by which Excel
is told the delimiter (``sep=;``)."""

from __future__ import annotations

import re

_FRONT = re.compile(rb"(?:\xef\xbb\xbf)?(?:[sS][eE][pP]=([,;|\t])\r?\n)?")

#: The same line as a cell in quotes, above a row that has the delimiter: it may be a name, too.
_QUOTED = re.compile(rb'(?:\xef\xbb\xbf)?"[sS][eE][pP]=([,;|\t])"\r?\n(?=[^\r\n]*\1)')

#: The most bytes of such a line and a mark before it.
LONGEST_SEPARATOR_LINE = 10


def before_header(data: bytes) -> int:
    """How many bytes of a text stand before its first line of cells."""
    front = _FRONT.match(data)
    return front.end() if front else 0


def separator_line(data: bytes) -> int:
    """How many bytes stand before the first line of cells, where the delimiter's line is there;
    else 0."""
    front = _FRONT.match(data)
    return front.end() if front and front[1] else 0


def separator_named(data: bytes) -> str:
    """The delimiter that the first line of a text names; nothing where that is a line of cells.

    In quotes it is one of cells, but hardly of a table with another delimiter.
    """
    front = _QUOTED.match(data) or _FRONT.match(data)
    return front[1].decode() if front and front[1] else ""


def is_mistaken(names: list[str], delimiter: str) -> bool:
    """Whether the line of ``names``, without quotes, would be read as the delimiter's line, or its
    begin as a mark."""
    line = f"{delimiter.join(names[:3])}\n".encode("utf-8", "replace")
    return before_header(line) > 0
