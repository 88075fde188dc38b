"""Records as CSV text, by the standard library, as RFC 4180 has it with LF as line end."""

from __future__ import annotations

import csv
import io
from typing import Any

from serialpack.csv_front import is_mistaken
from serialpack.formats.csv.style import CsvStyle, write_rows
from serialpack.formats.csv.text import names_of


def write(records: list[Any], delimiter: str) -> bytes:
    """A header line and a row for each record; ValueError for records that are no rows."""
    names = names_of(records)
    if not names:
        return b""
    rows = [list(record.values()) for record in records]
    return header(names, delimiter) + _lines(rows, delimiter, csv.QUOTE_MINIMAL)


def header(names: list[str], delimiter: str) -> bytes:
    """The line of names before the rows."""
    # Unquoted, it would begin with a byte-order mark, or name the delimiter.
    mistaken = is_mistaken(names, delimiter)
    return _lines([names], delimiter, csv.QUOTE_ALL if mistaken else csv.QUOTE_MINIMAL)


def _lines(rows: list[list[str]], delimiter: str, quoting: Any) -> bytes:
    file = io.StringIO(newline="")
    # With another line end, a carriage return within a field would get no quotes.
    csv.writer(file, delimiter=delimiter, quoting=quoting).writerows(rows)
    text = file.getvalue()
    if text.count("\r") == len(rows):
        return text.replace("\r\n", "\n").encode()
    quoted = int(quoting == csv.QUOTE_ALL)
    return (write_rows(rows, delimiter, CsvStyle("\n", quoted)) + "\n").encode()
