"""Records as CSV text, by the standard library, as RFC 4180 has it."""

from __future__ import annotations

import csv
import io
from typing import Any

from serialpack.formats.csv.text import names_of


def write(records: list[Any], delimiter: str) -> bytes:
    """A header line and a row for each record; ValueError for records that are no rows."""
    names = names_of(records)
    if not names:
        return b""
    file = io.StringIO(newline="")
    _writer(file, delimiter, csv.QUOTE_MINIMAL).writerows(record.values() for record in records)
    return header(names, delimiter) + file.getvalue().encode()


def header(names: list[str], delimiter: str) -> bytes:
    """The line of names before the rows."""
    file = io.StringIO(newline="")
    # Unquoted, the first character would be a byte-order mark.
    marked = names[0].startswith("\ufeff")
    _writer(file, delimiter, csv.QUOTE_ALL if marked else csv.QUOTE_MINIMAL).writerow(names)
    return file.getvalue().encode()


def _writer(file: io.StringIO, delimiter: str, quoting: Any) -> Any:
    return csv.writer(file, delimiter=delimiter, quoting=quoting)
