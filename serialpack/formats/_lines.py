"""Records that are lines: what NDJSON and CSV share."""

from __future__ import annotations

import re

from serialpack.formats._cutting import Cut, Finder
from serialpack.stage import Buffer

#: A line that begins with white space may be a blank one.
_MAYBE_BLANK = re.compile(rb"\n[ \t\r\n]")
BLANK = b" \t\r\n"


def count_lines(buf: bytes | bytearray, start: int, end: int) -> int:
    """The lines in ``buf[start:end]``, which begins with one, that are not blank."""
    if start == end:
        return 0
    if buf[start] in BLANK or _MAYBE_BLANK.search(buf, start, end):
        return sum(1 for line in buf[start:end].split(b"\n") if line.strip(BLANK))
    return buf.count(b"\n", start, end) + (buf[end - 1] != 0x0A)


def line_spans(data: Buffer, start: int = 0) -> list[tuple[int, int]]:
    """Start and end of each line that is not blank, without its line end."""
    spans = []
    for line in bytes(data)[start:].split(b"\n"):
        if line.strip(BLANK):
            spans.append((start, start + len(line) - line.endswith(b"\r")))
        start += len(line) + 1
    return spans


class LineFinder(Finder):
    """Every newline ends a record."""

    def last(self, buf: bytearray, start: int, limit: int) -> Cut | None:
        end = buf.rfind(b"\n", start, limit) + 1
        return Cut(end, count_lines(buf, start, end)) if end else None

    def first(self, buf: bytearray, start: int, limit: int) -> Cut | None:
        end = buf.find(b"\n", start, limit) + 1
        return Cut(end, count_lines(buf, start, end)) if end else None

    def rest(self, buf: bytearray, start: int) -> int | None:
        return count_lines(buf, start, len(buf))

    def ends(
        self,
        buf: bytearray,
        start: int,
        limit: int,
        *,
        begin: bool,  # noqa: ARG002
    ) -> int | None:
        return buf.find(b"\n", start, limit) + 1 or None
