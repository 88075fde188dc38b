"""The tokens of CSV text: fields, the rows that they make, and the newlines that end a record.

The grammar is that of RFC 4180, with line ends of one or two characters, read as Python's csv
module reads it strictly: a quote opens a field only where the field begins, a doubled one inside
is one, and nothing but the field's end stands behind the one that closes. A line without a
character is no record. A carriage return outside quotes belongs to a line end.

Sources are split before they are known to be sound: ``record_ends`` takes any bytes, and a quote
where the grammar has none for a character as any other.
"""

import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.lines import LINE_ENDS, count_lines

#: What may stand between the quotes of a field: more than the field where text ends within one.
_WITHIN = r'[^"]*+(?:""[^"]*+)*+'
_QUOTED = rf'"{_WITHIN}"'

QUOTED_FIELD = re.compile(_QUOTED.encode())
#: What follows the quote that opens a field, up to the one that closes it or may be half of two.
WITHIN_QUOTES = re.compile(_WITHIN.encode())

_NEWLINE = 0x0A

LONE_RETURN = "a carriage return that ends no line"
TWO_RETURNS = "two carriage returns where a line ends"
UNCLOSED = "a quote that is not closed"
BEHIND_QUOTE = "text behind the quote that closes a field"

#: Characters of a row that are taken apart at once.
_PIECE = 64 << 10


class CsvField(NamedTuple):
    """A field as it stands in the text. ``end``: the delimiter behind it, the line end, or none."""

    raw: str
    end: str

    @property
    def quoted(self) -> bool:
        return self.raw[:1] == '"'

    @property
    def text(self) -> str:
        return unquoted(self.raw) if self.quoted else self.raw


def unquoted(raw: str) -> str:
    """The text of a field in quotes."""
    return raw[1:-1].replace('""', '"')


def texts_of(fields: Sequence[str]) -> list[str]:
    """The text of fields, each as it stands, in quotes or without."""
    joined = "\n".join(fields)
    if '"' not in joined:
        return list(fields)
    ends = len(fields) - 1
    if joined.count('"\n"') == ends == joined.count("\n") and joined[0] == joined[-1] == '"':
        # All are quoted, and no line's end is within one.
        return unquoted(joined.replace('"\n"', "\n")).split("\n")
    return [unquoted(raw) if raw[:1] == '"' else raw for raw in fields]


@cache
def _field(delimiter: str) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    return re.compile(rf'({_QUOTED}|(?!")[^{mark}\r\n]*+)({mark}|\r?\n|\Z)')


@cache
def _all_fields(delimiter: str) -> re.Pattern[str]:
    """The same, or all that is left: where a field is malformed, none is looked for behind it."""
    return re.compile(rf"{_field(delimiter).pattern}|[\s\S]++")


def fields(text: str, delimiter: str) -> Iterator[CsvField]:
    """Every field of ``text``; an empty line is one empty field. Malformed, at a character."""
    pattern, at, end = _field(delimiter), 0, ""
    while at < len(text) or end == delimiter:
        match = pattern.match(text, at)
        if match is None:
            raise _malformed(text, at)
        at, end = match.end(), match[2]
        yield CsvField(match[1], end)


def _malformed(text: str, at: int) -> Malformed:
    """The error in the field that begins at ``at``."""
    if text[at] != '"':
        at = text.index("\r", at)
        return Malformed(TWO_RETURNS if text.startswith("\r\r\n", at) else LONE_RETURN, at)
    close = re.compile(_QUOTED).match(text, at)
    if close is None:
        return Malformed(UNCLOSED, at)
    two = text.startswith("\r\r\n", close.end())
    return Malformed(TWO_RETURNS if two else BEHIND_QUOTE, close.end())


def _raw_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The fields of ``text`` as they stand, row by row; a blank line is a row of none.

    Malformed. All at once: the pattern alone takes less than half the time of ``fields``.
    """
    found = _all_fields(delimiter).findall(text)
    if len(found) > 1 and found[-1] == ("", "") and found[-2][1] != delimiter:
        found.pop()  # what is behind the last line
    if sum(map(len, chain.from_iterable(found))) != len(text):
        found = list(fields(text, delimiter))  # which says what is wrong
    row: list[str] = []
    for raw, end in found:
        row.append(raw)
        if end != delimiter:
            yield row if row != [""] else []
            row = []


def rows_of(text: str, delimiter: str) -> list[list[str]]:
    """The rows of ``text``; Malformed, at a character. A blank line is a row of no fields."""
    if '"' not in text:
        lines = text.replace("\r\n", "\n").split("\n") if "\r" in text else text.split("\n")
        if not lines[-1]:
            lines.pop()
        if "\r" not in text or not any("\r" in line for line in lines):
            return [line.split(delimiter) if line else [] for line in lines]
    elif "\r" not in text.replace("\r\n", ""):
        import csv

        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            return list(reader)
        except csv.Error:  # also for a field of more than 128 KiB
            pass
    return [texts_of(row) for row in _raw_rows(text, delimiter)]


def raw_columns(
    text: str, delimiter: str, width: int, *, padded: bool = False
) -> list[Sequence[str]]:
    """The fields of rows of ``width``, as they stand, column by column; blank lines are no rows
    where there are several columns. ``padded``: shorter ones end in empty fields.

    ValueError for a row of another width; Malformed, at a character.
    """
    split = _raw_rows if '"' in text else rows_of
    rows = list(split(text, delimiter))
    if width > 1:
        rows = list(filter(None, rows))
    if padded:
        rows = [row + [""] * (width - len(row)) for row in rows]
    if not {width}.issuperset(map(len, rows)):
        raise ValueError("rows of different lengths")
    return list(zip(*rows, strict=True)) or [()] * width


def fields_of_row(line: str, delimiter: str) -> Iterator[str]:
    """The text of the fields of one row, without what ends it, some at a time; Malformed."""
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
            if field.end != delimiter and (width > 1 or field.raw):
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
        line += field.raw.count("\n")
        if field.end != delimiter:
            line, row = line + 1, row + 1
    return line


@cache
def line_tokens(delimiter: bytes) -> re.Pattern[bytes]:
    """Newlines, whole quoted fields, and the quote of one that does not end here.

    What a match begins with stands first in the pattern, so that all else is skipped ten times as
    fast; and a field that does not end is looked through once.
    """
    opens = rb'"(?:(?<![^%b\r\n]")|(?<=\n\xef\xbb\xbf"))' % re.escape(delimiter)
    return re.compile(rb'\n|%b(?:%b")?+' % (opens, WITHIN_QUOTES.pattern))


def record_ends(buf: bytes | bytearray, start: int, limit: int, delimiter: bytes) -> Iterator[int]:
    """Behind each newline that ends a record; ``buf[start]`` is in no field in quotes."""
    quote = buf.find(b'"', start, limit)
    plain = limit if quote < 0 else quote
    while (newline := buf.find(b"\n", start, plain)) >= 0:
        start = newline + 1
        yield start
    if quote < 0:
        return
    for match in line_tokens(delimiter).finditer(buf, start, limit):
        at = match.start()
        if buf[at] == _NEWLINE:
            yield at + 1
        elif match.end() == at + 1:
            return


#: What stands between quotes is an object of some 50 bytes: so many bytes are looked at together,
#: and more where no record ends in them.
_AT_ONCE, _MOST_AT_ONCE = 1 << 18, 1 << 20


def counted_records(
    buf: bytearray, start: int, limit: int, delimiter: bytes
) -> tuple[int, int] | None:
    """Where the last whole record of ``buf[start:limit]`` ends, and how many there are that are no
    blank lines; None where a quote stands inside a field that has no quotes around it, or where a
    record is large.

    To look for the end of each record takes three times as long. ``buf[start]`` is in no field in
    quotes.
    """
    end, records, size = start, 0, _AT_ONCE
    while True:
        until = min(end + size, limit)
        found = _counted_at_once(buf, end, until, delimiter)
        if found is None:
            return None
        ended = found[0] > end
        end, records = found[0], records + found[1]
        if until == limit:
            return end, records
        size = _AT_ONCE if ended else 2 * size
        if size > _MOST_AT_ONCE:
            return None


def _counted_at_once(
    buf: bytearray, start: int, limit: int, delimiter: bytes
) -> tuple[int, int] | None:
    """As ``counted_records``: what stands between quotes is left out, and the lines of the rest are
    counted."""
    with memoryview(buf) as view:
        parts = bytes(view[start:limit]).split(b'"')
    outside = parts[::2]
    before_quotes = {part[-1:] for part in outside[: len(parts) // 2]}
    if not before_quotes <= {b"", delimiter, b"\r", b"\n"}:
        return None
    end = limit
    for number in range(len(parts) - 1, -1, -1):
        end -= len(parts[number])
        if number % 2 == 0 and (newline := parts[number].rfind(b"\n") + 1):
            end += newline
            # A quote in the place of each field in quotes: its line is not blank.
            lines = b'"'.join([*outside[: number // 2], parts[number][:newline]])
            return end, count_lines(lines, 0, len(lines), LINE_ENDS)
        end -= 1  # the quote before the part
    return start, 0
