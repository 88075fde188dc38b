"""CSV and TSV: split at record ends, which are newlines outside quoted fields.

A quote opens a field only where the field begins (as Python's csv module reads it); a doubled
quote inside stays inside. The first line is a header, not a record.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from serialpack.csv_front import LONGEST_SEPARATOR_LINE, before_header, separator_line
from serialpack.formats.base import Read, SourceBlock, Span, Style
from serialpack.formats.csv.found import dialect_of
from serialpack.formats.csv.text import CsvText
from serialpack.formats.csv.tokens import (
    WITHIN_QUOTES,
    counted_records,
    first_width,
    line_tokens,
    record_ends,
)
from serialpack.formats.shared.lines import LINE_ENDS, count_lines, line_range, line_spans
from serialpack.formats.shared.split import Boundary, Finder, split_records
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.formats.csv.join import TableJoin

_QUOTE = 0x22
_NEWLINE = 0x0A
#: A row that is read becomes a map: with one field it takes as much memory as so many values do,
#: and with each field more as half of them.
_ROW = 6


class _CsvFinder(Finder):
    """``with_record``: the first block has a record, where there is any: its header is spelled
    from the names in that, however long it is; and rows become maps.
    """

    def __init__(
        self, delimiter: bytes, *, with_record: bool = False, headless: bool = False
    ) -> None:
        self._with_record = self._as_maps = with_record
        self._delimiter = delimiter
        self.marks = delimiter + b"\n"
        self._opens_behind = delimiter + b"\r\n"
        self._header, self._first = not headless, True
        # For a record in pieces: the piece before ended inside quotes; at a quote that closes
        # unless it is half of a doubled one; with this byte.
        self._quoted = self._closed = False
        self._before = _NEWLINE

    def values(self, part: memoryview) -> int:
        fields = super().values(part)
        return (fields + bytes(part).count(b"\n")) // 2 if self._as_maps else fields

    def _split(self, buf: bytearray, start: int, end: int, records: int) -> Boundary | None:
        """Without the header, which is a line of the first block, blank or not, and without the
        line that names the delimiter, behind which no block ends."""
        if self._first:
            front = separator_line(bytes(buf[start : start + LONGEST_SEPARATOR_LINE]))
            if front and front == end - start:
                return None
            records -= bool(front)
            if self._header:
                records -= bool(buf[start + front : end].strip(LINE_ENDS))
            if self._with_record and self._header and not records:
                return None
            self._first = False
        return Boundary(end, records)

    def last(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        if buf.find(b'"', start, limit) < 0:
            end = buf.rfind(b"\n", start, limit) + 1
            if not end:
                return None
            return self._split(buf, start, end, count_lines(buf, start, end, LINE_ENDS))
        found = counted_records(buf, start, limit, self._delimiter)
        if found is None:
            end, records = start, 0
            for behind in record_ends(buf, start, limit, self._delimiter):
                records += bool(buf[end:behind].strip(LINE_ENDS))
                end = behind
            found = end, records
        end, records = found
        return self._split(buf, start, end, records) if end > start else None

    def first(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        behind, records = start, 0
        for end in record_ends(buf, start, limit, self._delimiter):
            records += bool(buf[behind:end].strip(LINE_ENDS))
            if boundary := self._split(buf, start, end, records):
                return boundary
            behind = end
        return None

    def rest(self, buf: bytearray, start: int) -> int | None:
        self._with_record = False
        boundary = self.last(buf, start, len(buf)) or Boundary(start, 0)
        if buf[boundary.end :].strip(LINE_ENDS):
            boundary = self._split(buf, start, len(buf), boundary.records + 1) or boundary
        return boundary.records

    def ends(self, buf: bytearray, start: int, limit: int, *, begin: bool) -> int | None:
        self._first = False
        if begin:
            self._quoted, self._before = False, _NEWLINE
        elif buf[start] == _QUOTE and not self._quoted:
            if self._closed:
                self._quoted = True  # it was the first half of a doubled one
                start += 1
            elif self._before not in self._opens_behind:
                start += 1
        self._closed, self._before = False, buf[limit - 1]
        if self._quoted:
            inside = WITHIN_QUOTES.match(buf, start, limit)
            assert inside
            close = inside.end()
            if close == limit:
                return None
            self._quoted = False
            self._closed = close == limit - 1
            start = close + 1
        quote = buf.find(b'"', start, limit)
        newline = buf.find(b"\n", start, limit if quote < 0 else quote)
        if newline >= 0 or quote < 0:
            return newline + 1 or None
        for match in line_tokens(self._delimiter).finditer(buf, quote, limit):
            if buf[match.start()] == _NEWLINE:
                return match.end()
            if match.end() == match.start() + 1:
                self._quoted = True
                break
            self._closed = match.end() == limit
        return None


class CsvFormat(CsvText):
    """Comma-separated values."""

    title = "CSV"
    about = "comma-separated values with a header line"

    @property
    def join(self) -> TableJoin:
        from serialpack.formats.csv.join import TableJoin

        return TableJoin(self.declared.delimiter.decode())

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        declared = self.declared
        finder = _CsvFinder(declared.delimiter, with_record=for_values, headless=declared.headless)
        most = most_values // _ROW if for_values else most_values
        blocks = split_records(read, block_size, finder, for_values=for_values, most_values=most)
        return self._headed(blocks) if for_values else blocks

    def _first_line(self, data: bytes) -> bytes:
        front = separator_line(data)
        return data[: next((end for end in self._ends(data) if end > front), len(data))]

    @property
    def parameters(self) -> Style:
        return dialect_of(self.declared).stored() if self.declared.variants else {}

    slice_needs_head = True

    def record_spans(
        self,
        data: Buffer,
        style: Style,  # noqa: ARG002
        *,
        first: bool,
    ) -> Iterator[Span]:
        text = bytes(data)
        spans = self._quoted_spans(text) if b'"' in text else line_spans(text, blank=LINE_ENDS)
        lines = self._lines_before(text) if first else 0
        if lines or not self.declared.headless:
            return islice(spans, lines, None)
        return self._without_mark(text, spans) if first else spans

    def _lines_before(self, text: bytes) -> int:
        """How many lines stand before the records of a source that begins so."""
        return (not self.declared.headless) + (separator_line(text) > 0)

    def _without_mark(self, text: bytes, spans: Iterator[Span]) -> Iterator[Span]:
        """Spans of a source's first block, in which no header has the byte-order mark."""
        for start, end in spans:
            yield start + len(BOM_UTF8) * (not start and text.startswith(BOM_UTF8)), end

    def _quoted_spans(self, text: bytes) -> Iterator[Span]:
        start = 0
        for end in chain(self._ends(text), (len(text),)):
            if line := text[start:end].rstrip(LINE_ENDS):
                yield start, start + len(line)
            start = end

    def value_spans(self, block: SourceBlock, style: Style) -> Iterator[Span]:
        """As ``record_spans`` of a block, also with the blank lines of a table of one column, which
        are records where it is read as values; those with their ends, and not the last ones."""
        spans = self.record_spans(block.data, style, first=not block.index)
        head = self.header_of(block)
        text = head[before_header(head) :].decode("utf-8", "replace")
        if first_width(text, self.declared.delimiter.decode()) != 1:
            yield from spans
            return
        data = bytes(block.data)
        behind = len(data) - len(self.without_header(block))
        for start, end in spans:
            yield from _blank_lines(data, behind, start)
            yield start, end
            behind = data.find(b"\n", end) + 1 or len(data)
        if not block.last:
            yield from _blank_lines(data, behind, len(data))

    def record_range(
        self, data: Buffer, style: Style, span: Span, count: int, *, first: bool
    ) -> Span | None:
        text = bytes(data)
        found = None
        front = first and before_header(text)
        if b'"' not in text and not (self.declared.headless and front):
            at = self._lines_before(text) if first else 0
            found = line_range(text, (span[0] + at, span[1] + at), count + at)
        return found or super().record_range(text, style, span, count, first=first)

    def slice_ends(
        self,
        head: Buffer,
        style: Style,  # noqa: ARG002
    ) -> tuple[bytes, bytes]:
        text = bytes(head)
        line = self._first_line(text)
        newline = b"\r\n" if line.endswith(b"\r\n") else b"\n"
        if self.declared.headless:
            return text[: before_header(text)], newline
        return line.rstrip(LINE_ENDS) + newline, newline

    def ends_record(
        self,
        data: Buffer,
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
        within: bool,
    ) -> bool:
        return not within and len(data) in self._ends(bytes(data))

    def _ends(self, text: bytes) -> Iterator[int]:
        """Behind each newline of ``text``, which begins with a record, that ends one."""
        delimiter = self.declared.delimiter
        if not text.startswith(BOM_UTF8):
            return record_ends(text, 0, len(text), delimiter)
        buf = Finder.spare + text  # for the quote behind the mark
        return (end - 1 for end in record_ends(buf, 1, len(buf), delimiter))


def _blank_lines(data: bytes, start: int, end: int) -> Iterator[Span]:
    """Each of the lines that stand there, which all are blank."""
    while start < end:
        behind = data.find(b"\n", start, end) + 1 or end
        yield start, behind
        start = behind


class TsvFormat(CsvFormat):
    """Tab-separated values."""

    title = "TSV"
    about = "tab-separated values with a header line"


class SemicolonFormat(CsvFormat):
    """Values between semicolons: CSV where the comma is the decimal mark."""

    about = "semicolon-separated values with a header line"


class PipeFormat(CsvFormat):
    """Values between vertical bars."""

    about = "values between vertical bars with a header line"


class DialectFormat(CsvFormat):
    """Tables as they are found, one of ``found.Dialect``; those in UTF-8 with doubled quotes."""

    about = "CSV as its name says it is: csv:cp1252, csv:semicolon+utf-16-le+escaped+no-header"
