"""A database of several tables, read as a map of their records by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from serialpack.compressed.pieces import Pieces
from serialpack.conversion.datasets import kept_copy
from serialpack.conversion.given import Given
from serialpack.conversion.losses import Losses
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.reading import SourceReader
from serialpack.conversion.rules import ARRAYS, BY_TABLE, TABLES, UNIONS
from serialpack.conversion.writing import WritingHalf
from serialpack.errors import RefusedError, SerialpackError, ValueRefusedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK
from serialpack.formats.python.pickle import PROTOCOL, dump_pickle
from serialpack.formats.shared.filed import FileRead, as_file
from serialpack.formats.sqlite.database import tables_in
from serialpack.values.kinds import COLUMNS, Loss, shown

#: Bytes of rows that are read at a time, and what a row takes beside its bytes, about.
_BLOCK, _ROW = 1 << 20, 32


def holds_tables(to: str) -> bool:
    """Whether one file in the format ``to`` is a map, of lists of records for one."""
    return not (to in TABLES | UNIONS | ARRAYS or FORMATS.declaration(to).has_lines)


def from_tables(given: Given, plan: ConversionPlan, losses: Losses, source: Source) -> Given:
    """``given``, a database, as one map of its tables by name, where it has several; a copy of a
    pipe that is made for that is closed with ``source``. ``plan``: how rows are read.

    Errors as of reading one; RefusedError for more than one map holds, ValueRefusedError for what
    ``losses`` does not allow.
    """
    given = kept_copy(given, source)
    path = as_file(given.read).path
    assert path is not None
    tables = list(tables_in(Path(path), counted=False))
    if len(tables) < 2:
        return given
    reading = _Tables(path, plan, losses)
    document = {table.name: reading.rows(table.name) for table in tables}
    names = ", ".join(document)
    told = [Loss(BY_TABLE, len(tables), 0, "$", f"the tables {names:.60}", "lists by name")]
    if empty := [name for name, rows in document.items() if not rows]:
        if COLUMNS not in losses.allowed:
            raise ValueRefusedError(
                f"tables without rows, whose names of columns would be lost: {shown(empty[0])}"
                + f" and {len(empty) - 1} more" * (len(empty) > 1),
                kind=COLUMNS,
                hint=f"--lossy {COLUMNS} drops them",
            )
        told.append(Loss(COLUMNS, len(empty), 0, "$", "the names of columns", ""))
    counted = Losses(losses.allowed)
    counted.merge(told)
    counted.check_carried(plan.target)
    made = ConversionPlan("pickle", fields=plan.fields, alone=True)
    return given._replace(
        read=Pieces(iter([dump_pickle(document, PROTOCOL)])).read,
        plan=made._replace(source_serializer=("pickle", (PROTOCOL,))),
        of=given.of or as_file(given.read),
        dropped=(*given.dropped, *told, *losses.report()),
        as_it_is=False,
    )


class _Tables:
    """Reads all rows of tables of one database, as long as these are few enough for one map."""

    def __init__(self, path: str, plan: ConversionPlan, losses: Losses) -> None:
        half = WritingHalf(plan)
        self._reader = SourceReader(plan, lambda lost, first: half.refuse(lost, first))
        self._path = path
        self._losses = losses
        self._size = 0

    def rows(self, table: str) -> list[Any]:
        """The records of a table."""
        file = FileRead(lambda _: b"", self._path, table)
        records: list[Any] = []
        try:
            for block in self._reader.format.split(file, _BLOCK, for_values=True):
                self._size += len(block.data) + _ROW * (block.records or 0)
                if self._size > MAX_BLOCK:
                    raise RefusedError(
                        "with those before it, it is too large for one map",
                        hint="--to ndjson --table NAME takes one of any size",
                    )
                records += self._reader.read(block, self._losses)
        except SerialpackError as error:
            error.message = f"the table {table}: {error.message}"
            raise
        return records
