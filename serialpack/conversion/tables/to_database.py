"""Records as the rows of a database's table: columns by what stands in them, each row proved.

A worker makes rows of a block, which the database gets in order. When it is whole, all of it is
read again, and must be the rows that were proved.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import EMPTY_LISTS
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.carrier import Carrier
from serialpack.conversion.tables.layout import Layout, TableColumn, layout_of, shape_under
from serialpack.conversion.tables.shape import ValueShape
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.table import (
    TypedTable,
    as_json_texts,
    lost_in,
    of_json_texts,
    unlike,
)
from serialpack.errors import RefusedError, UsageError, ValueRefusedError
from serialpack.formats.csv.join import TableJoin
from serialpack.formats.pieces.join import Join, Piece
from serialpack.formats.sqlite.database import open_table
from serialpack.formats.sqlite.rows import COUNTED, decoded, encoded, together
from serialpack.formats.sqlite.write import (
    DECLARED,
    HIGHEST,
    LOWEST,
    MOST_COLUMNS,
    NewDatabase,
    is_name,
    same_names,
)
from serialpack.hidden import temporary_folder
from serialpack.serializers.base import FAILURES
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import AN_ERROR, Difference, Loss, shown
from serialpack.values.missing import MISSING, Missing

_PIECE = 1 << 20

#: So many rows of columns are made at a time.
_ROWS = 1 << 12

#: As what JSON is declared whose numbers would else become numbers of SQLite's.
_JSON_TEXT = "JSON TEXT"

#: The table's name where no file has one.
_NO_NAME = "data"

#: The column of one that has no rows, and so no names: that of records which are no maps.
NO_ROWS_COLUMN = "value"


def table_name(said: str | None, path: str) -> str:
    """The name of the table: what the user says, else the name of the source's file without its
    endings; ``data`` where that is none. UsageError."""
    if said is not None:
        if not is_name(said):
            raise UsageError(f"--table {said!r} is no name that a table can have")
        return said
    name = Path(path).name.partition(".")[0]
    return name if is_name(name) and not name.startswith("<") and name != "-" else _NO_NAME


def database_layout(
    shape: ValueShape, shaping: Shaping, rows: str, table: str, json: Collection[str]
) -> Layout:
    """As ``layout_of``, with declared types; ValueRefusedError, RefusedError. ``json``: the columns
    of text that are marked as JSON in the source."""
    layout = layout_of(shape, shaping, rows)
    names = [column.name for column in layout.columns]
    if len(names) > MOST_COLUMNS:
        raise RefusedError(
            f"{len(names):,} columns are more than the {MOST_COLUMNS:,} that SQLite has",
            hint="--fields A,B takes some, --to ndjson has no such limit",
        )
    if (pair := same_names(names)) is not None:
        raise ValueRefusedError(
            f"the columns {shown(pair[0])} and {shown(pair[1])} are one to SQLite",
            kind="duplicate-keys",
            hint="--to csv or parquet keeps them apart, --fields takes one of them",
        )
    if (odd := next((name for name in names if "\0" in name), None)) is not None:
        raise ValueRefusedError(
            f"a NUL in the key {shown(odd)}", kind="nul", hint="--to json or ndjson can"
        )
    columns = [_declared(column, shape_under(shape, column.path)) for column in layout.columns]
    columns = [
        c._replace(declared=_JSON_TEXT) if c.name in json and c.declared == DECLARED[str] else c
        for c in columns
    ]
    return layout._replace(columns=tuple(columns), table=table)


def no_records(place: str, count: int = 1) -> Loss:
    """What is told of so many lists without records, of which the first is at ``place``."""
    became = f"a table of the column {NO_ROWS_COLUMN}"
    return Loss(EMPTY_LISTS, count, 0, place, "a list without records", became)


def with_a_column(layout: Layout, plan: ConversionPlan) -> tuple[Layout, list[Loss]]:
    """``layout``, which has no column, with the one of a table without rows, and what is told of
    that. ValueRefusedError where the plan does not allow it."""
    losses = Losses(plan.lossy)
    losses.merge([no_records("$")])
    losses.check_carried(plan.target)
    column = TableColumn((NO_ROWS_COLUMN,), NO_ROWS_COLUMN)
    return layout._replace(columns=(column,)), losses.report()


def _declared(column: TableColumn, shape: ValueShape) -> TableColumn:
    """A column with the type of all its values; with none where they are of several.

    Booleans beside numbers, which 0 and 1 are too, are JSON text, and beside text: BOOLEAN makes
    numbers of text that reads as one. What is JSON among numbers is declared as text too, else
    these would become numbers of SQLite's, and 1.0 the integer 1. REAL takes -0.0 for 0.0.
    """
    types = shape.types - {type(None), Missing}
    if column.is_json or (bool in types and len(types) > 1):
        declared = _JSON_TEXT if types & {int, float} else "JSON"
        return column._replace(is_json=True, declared=declared)
    if len(types) != 1 or shape.negative_zero:
        return column
    return column._replace(declared=DECLARED.get(next(iter(types)), ""))


class DatabaseCarrier(Carrier):
    """Turns values into those of SQLite's types, by rules."""

    def __init__(self, *, of_json: bool) -> None:
        """``of_json``: the source has no values but those that JSON has."""
        super().__init__("json", frozenset({"bytes", "non-finite"}), utf8=True)
        if of_json:
            self._never = frozenset[str]()
            self._refused = frozenset({"surrogates"})
        self._refused |= {"uint64", "bigint", "non-finite", "nan-bits"}
        self._never |= {"uint64", "bigint", "nan-bits"}

    def _holds(self, value: Any) -> bool:
        if type(value) is float:
            return value == value
        return super()._holds(value)


class DatabaseTable(TypedTable):
    """One of rows that a database is to get."""

    #: What stands between the rows of blocks: nothing.
    join = Join()

    def _rows(
        self, values: list[Sequence[Any]], told: list[Loss], first_record: int
    ) -> tuple[bytes, Difference | None]:
        layout = self._layout
        plain, held = [], []
        odd: Difference | None = None
        for column, each in zip(layout.columns, values, strict=True):
            try:
                as_held, odd_here = self._plain(column, each, first_record, told)
                plain.append(as_held)
                held.append(_cells(column, as_held, first_record, told))
            except FAILURES as error:
                return b"", _blame(column, each, error)
            odd = odd or odd_here
        try:
            data = encoded(zip(*held, strict=True))
        except FAILURES as error:
            found = [_blame(*pair, error) for pair in zip(layout.columns, values, strict=True)]
            lost = next((f for f in found if not f.because), None)
            return b"", lost or _blame(layout.columns[0], (), error)
        return data, self._unheld(data, plain) if self._verify else odd

    def _rows_of_columns(
        self, values: list[Any], told: list[Loss], count: int, first_record: int
    ) -> tuple[bytes, Difference | None]:
        """Some rows at a time: there are no more values of Python's than of these."""
        found = []
        for first in range(0, count, _ROWS):
            some = [_listed(column[first : first + _ROWS]) for column in values]
            data, lost = self._rows(some, told, first_record + first)
            if lost is not None:
                return b"", lost._replace(record=lost.record + first)
            found.append(data)
        return together(found), None

    def _unheld(self, data: bytes, plain: list[Sequence[Any]]) -> Difference | None:
        """The first value that the rows do not give back, as they are read."""
        columns = list(zip(*decoded(data), strict=True))
        for column, was, cells in zip(self._layout.columns, plain, columns, strict=True):
            if column.is_json:
                became = of_json_texts(cells, was)
            elif column.declared == DECLARED[bool]:
                became = [None if cell is None else cell == 1 for cell in cells]
            else:
                became = list(cells)
            if (lost := unlike(column, was, became)) is not None:
                return lost
        return None


def _listed(values: Any) -> Sequence[Any]:
    """A sequence, or an array, as a sequence."""
    return values if isinstance(values, (list, tuple)) else values.to_pylist()


def _cells(
    column: TableColumn, values: Sequence[Any], first_record: int, told: list[Loss]
) -> Sequence[Any]:
    """What the database gets; one of ``FAILURES`` for what it has no type for."""
    types = set(map(type, values))
    first = next((n for n, value in enumerate(values) if value is not None), 0)
    place = first_record + first, column.value_path
    if column.is_json:
        return as_json_texts(column, values, first_record, told)
    if bool in types:
        count = sum(value is not None for value in values)
        became = str(int(values[first]))
        told.append(Loss("booleans", count, *place, shown(values[first]), became))
        return [None if value is None else int(value) for value in values]
    if not types <= _HELD:
        raise TypeError("a value that SQLite has no type for")
    if int in types:
        numbers = [value for value in values if type(value) is int]
        if min(numbers) < LOWEST or max(numbers) > HIGHEST:
            raise OverflowError("an integer of more than 64 bits")
    if float in types and any(value != value for value in values):
        raise ValueError("NaN is null to SQLite")
    return values


_HELD = frozenset({type(None), *DECLARED} - {bool})


def _blame(column: TableColumn, values: Sequence[Any], error: Exception) -> Difference:
    """The first value that its column does not take."""
    for number, value in enumerate(values):
        try:
            encoded([_cells(column, [None if value is MISSING else value], 0, [])])
        except FAILURES:
            return lost_in(number, column.value_path, value)
    return Difference(0, column.value_path, "the values", AN_ERROR, "value", str(error))


class DatabaseJoin(Join):
    """Rows become one table of a new database, and that the file."""

    block_size = TableJoin.block_size

    def __init__(self, layout: Layout, *, verify: bool) -> None:
        self._table = layout.table
        self._folder = ExitStack()
        self._path = Path(self._folder.enter_context(temporary_folder())) / "new.db"
        columns = [(column.name, column.declared) for column in layout.columns]
        self._database: NewDatabase | None = None
        if columns:
            kept = b"" if layout.kept is None else layout.kept.stored()
            self._database = NewDatabase(self._path, layout.table, columns, kept)
        self._digest = hashlib.blake2b() if verify else None

    def body(self, piece: Piece, structure: str) -> Buffer:  # noqa: ARG002
        assert self._database is not None
        data = bytes(piece.body)
        try:
            self._database.add(decoded(data))
        except sqlite3.Error as error:
            raise RefusedError(f"SQLite does not take it: {error}") from None
        if self._digest is not None:
            # Without their number: they are read again in pieces of other sizes.
            self._digest.update(memoryview(data)[COUNTED:])
        return b""

    def end(self) -> Iterator[bytes]:
        if self._database is None:
            raise RefusedError(
                "there is no field, and a table has one at least", hint="--to ndjson holds nothing"
            )
        database, self._database = self._database, None
        database.close()
        if self._digest is not None:
            self._check(self._digest.digest())
        with self._path.open("rb") as file:
            yield from iter(partial(file.read, _PIECE), b"")

    def _check(self, digest: bytes) -> None:
        """ValueRefusedError where the table has other rows than it was given."""
        again = hashlib.blake2b()
        with open_table(self._path, self._table) as table:
            for _, rows in table.pieces(_PIECE):
                again.update(memoryview(rows.data)[COUNTED:])
        if again.digest() != digest:
            raise ValueRefusedError("the rows in the database are not those that were proved")

    def close(self) -> None:
        if self._database is not None:
            self._database.close(keep=False)
        self._folder.close()
