"""``LineFinder`` and what else NDJSON and CSV share: records that end where a line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from serialpack.formats.base import Span, picked
from serialpack.formats.shared.split import Boundary, Finder
from serialpack.stages.stage import Buffer

#: The bytes that a blank line may have: in JSON white space, in CSV none.
BLANK = b" \t\r\n"
LINE_ENDS = b"\r\n"

#: Lines are counted in pieces of so many bytes, as what is found for each takes memory.
_COUNTED = 1 << 20

#: From so many lines on they are skipped by counting those in so many bytes at a time.
_BY_TURNS = 100
_SKIPPED = 64 << 10


def count_lines(buf: bytes | bytearray, start: int, end: int, blank: bytes = BLANK) -> int:
    """The lines in ``buf[start:end]``, which begins with one, that are not blank."""
    count = 0
    while start < end:
        stop = buf.find(b"\n", start + _COUNTED, end) + 1 or end
        count += _count(buf, start, stop, blank)
        start = stop
    return count


def _count(buf: bytes | bytearray, start: int, end: int, blank: bytes) -> int:
    """As ``count_lines``, of one line at least, and all at once."""
    if buf[start] not in blank:
        # One pass finds the newlines, and whether what follows one may begin a blank line: a third
        # faster than counting and searching in turn.
        newlines = _newlines(blank).findall(buf, start, end)
        if len(b"".join(newlines)) == len(newlines):
            return len(newlines) + (buf[end - 1] != 0x0A)
    return len(_filled(blank).findall(buf, start, end))


@cache
def _newlines(blank: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\n[%b]?" % blank)


@cache
def _filled(blank: bytes) -> re.Pattern[bytes]:
    """A line that is not blank, from the first byte that makes it so."""
    return re.compile(rb"[^%b][^\n]*" % blank)


def line_spans(data: bytes, start: int = 0, blank: bytes = BLANK) -> Iterator[Span]:
    """Start and end of each line that is not blank, without its line end, from ``start`` on."""
    for match in _filled(blank).finditer(data, start):
        begin = data.rfind(b"\n", start, match.start()) + 1 or start
        start = match.end()
        yield begin, start - (data[start - 1] == 0x0D)


def line_range(data: bytes, span: Span, count: int, start: int = 0) -> Span | None:
    """As ``Format.record_range``, for ``count`` lines; None where some may be blank."""
    # Blank lines are no records: as many lines as records means that none is blank.
    if data.count(b"\n", start) + (not data.endswith(b"\n")) != count:
        return None
    begin = behind_lines(data, start, span[0])
    end = behind_lines(data, begin, span[1] - span[0])
    line = data[begin:end].removesuffix(b"\n")
    return begin, begin + len(line.removesuffix(b"\r"))


def lines_in_pieces(pieces: Iterator[Buffer], span: Span) -> tuple[bytes, int, int] | None:
    """Lines ``span[0]`` up to but not including ``span[1]`` of a text that comes in pieces: a
    stretch of the text, and where in it they begin and end.

    Asks for no piece behind them. None where the text ends before the newline of the last one.
    """
    text = bytearray()
    counted = dropped = seen = 0
    parts = (piece[at : at + _COUNTED] for piece in pieces for at in range(0, len(piece), _COUNTED))
    for part in parts:
        behind = len(text)
        text += part
        end = text.rfind(b"\n", behind) + 1
        if not end:
            continue
        seen += count_lines(text, counted, end)
        if seen >= span[1]:
            lines, wanted = bytes(text[:end]), (span[0] - dropped, span[1] - dropped)
            found = line_range(lines, wanted, seen - dropped)
            if found is None:
                found = picked(line_spans(lines), wanted, seen - dropped)
                assert found is not None
            return lines, *found
        counted = end
        if seen <= span[0]:
            del text[:end]
            counted, dropped = 0, seen
    return None


def behind_lines(data: bytes, start: int, count: int) -> int:
    """Where ``count`` lines after ``start`` end."""
    while count > _BY_TURNS and start < len(data):
        stop = start + _SKIPPED
        if (lines := data.count(b"\n", start, stop)) > count:
            # Faster than a loop, but an object for each line.
            rest = data[start:stop].split(b"\n", count)
            return min(stop, len(data)) - len(rest[-1])
        start, count = min(stop, len(data)), count - lines
    for _ in range(count):
        start = data.find(b"\n", start) + 1 or len(data)
    return start


class LineFinder(Finder):
    """Every newline ends a record, which is JSON."""

    takes_bytes = True
    marks = b"\n,:[{"

    def last(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        end = buf.rfind(b"\n", start, limit) + 1
        return Boundary(end, count_lines(buf, start, end)) if end else None

    def first(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        end = buf.find(b"\n", start, limit) + 1
        return Boundary(end, count_lines(buf, start, end)) if end else None

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
