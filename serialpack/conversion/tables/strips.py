"""Rows of tables with very many columns, held until they are enough for a row group: as strips,
which are files of Arrow's, one behind another, each with some of the columns.

An array takes 2 kB beside its values, a column of Parquet 6 kB while it is written or read, however
few rows it has. So such rows are made and proved strip by strip, and a group of Parquet's only of
as many rows as it is worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats import FORMATS
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.table import TableFormat
from serialpack.units import format_size

#: Rows of so many columns wait.
MANY = 256

#: The columns of a strip.
_WIDTH = 512

#: The cells of a group, where rows wait for others. Of each column of a group so many bytes stay in
#: memory until all is written: those that there are at most, of a table that is mostly empty.
CELLS, _NOTE, _MOST_NOTES = 1 << 20, 1 << 10, 512 << 20

#: The bytes of a length, which stands before each strip.
_LENGTH = 8


def rows_wait(fmt: TableFormat, columns: int) -> bool:
    """Whether rows of so many columns wait for others before a file has them."""
    return fmt.least_rows > 0 and columns >= MANY


def check_groups(to: str, rows: int, columns: int) -> None:
    """RefusedError where a mostly empty table is so many groups of so many columns that what is
    noted of them takes far more memory than what stands in them."""
    fmt = FORMATS.get(to)
    if not isinstance(fmt, TableFormat) or not rows_wait(fmt, columns):
        return
    notes = rows * columns // CELLS * columns * _NOTE
    if notes > _MOST_NOTES:
        raise RefusedError(
            f"a table of {rows:,} rows and {columns:,} columns that is mostly empty:"
            f" {to} would take {format_size(notes)} of memory",
            hint="--fields NAME,... takes some, --to json or ndjson holds all",
        )


def strip_format() -> TableFormat:
    """What writes and reads a strip."""
    fmt = FORMATS.get("arrow")
    assert isinstance(fmt, TableFormat)
    return fmt


def strips_of(columns: int) -> Iterator[slice]:
    """Which columns each strip has."""
    for first in range(0, columns, _WIDTH):
        yield slice(first, min(first + _WIDTH, columns))


def together(strips: Iterable[bytes]) -> bytes:
    """The strips of some rows as one."""
    return b"".join(len(strip).to_bytes(_LENGTH) + strip for strip in strips)


def stacked(rows: list[bytes]) -> bytes:
    """Several rows' strips as those of all of them."""
    return together(strip_format().write_table(each, stored=False) for each in _stacks(rows))


def table_of(rows: list[bytes], schema: Any) -> Any:
    """One table of the strips of ``rows``."""
    columns = [column for each in _stacks(rows) for column in each.columns]
    return tables.arrow().Table.from_arrays(columns, schema=schema)


def _stacks(rows: list[bytes]) -> Iterator[Any]:
    """A table for each strip, with the rows of all."""
    for strips in zip(*map(_strips, rows), strict=True):
        found = list(map(strip_format().own_table, strips))
        yield tables.arrow().concat_tables(found).combine_chunks()


def _strips(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        start = at + _LENGTH
        at = start + int.from_bytes(data[at:start])
        yield data[start:at]
