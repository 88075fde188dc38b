"""Records as Parquet and Arrow: blocks of columns, each proved, put together as one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, time
from decimal import Decimal
from itertools import starmap
from typing import Any, ClassVar
from uuid import UUID

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import PLACES
from serialpack.conversion.tables.blame import blame
from serialpack.conversion.tables.cells import json_texts
from serialpack.conversion.tables.layout import Layout, TableColumn, schema_of
from serialpack.conversion.tables.strips import (
    CELLS,
    rows_wait,
    stacked,
    strip_format,
    strips_of,
    table_of,
    together,
)
from serialpack.conversion.tables.table import (
    TypedTable,
    as_json_texts,
    lost_in,
    of_json_texts,
    same_column,
    unlike,
)
from serialpack.errors import ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.pieces.join import Join, Piece
from serialpack.formats.shared.file_objects import Sink
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.bits import same_bits
from serialpack.formats.tables.table import STORED_VALUES, TableFormat
from serialpack.serializers.base import FAILURES
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import Difference, Loss
from serialpack.values.missing import MISSING

#: Rows that wait do so up to so many bytes; so many pieces of them do before they are put together,
#: in each of which a column takes so many bytes beside its values.
_BYTES, _WAITING, _COLUMN_BYTES = 16 << 20, 8, 256


class FrameTable(TypedTable):
    """One of a file with types."""

    def __init__(
        self, target: str, layout: Layout, *, verify: bool, lossy: tuple[tuple[str, ...], ...]
    ) -> None:
        fmt = FORMATS.get(target)
        assert isinstance(fmt, TableFormat)
        super().__init__(layout, verify=verify, lossy=lossy)
        self._in_strips = rows_wait(fmt, len(layout.columns))
        self._format = strip_format() if self._in_strips else fmt
        self._schema = schema_of(layout)
        self._fields = list(self._schema)

    join = Join()

    @property
    def takes_arrays(self) -> bool:  # type: ignore[override]
        """Whether all columns are written at once."""
        return not self._in_strips

    def _rows(
        self, values: list[Sequence[Any]], told: list[Loss], first_record: int
    ) -> tuple[bytes, Difference | None]:
        if not self._in_strips:
            return self._file(slice(None), values, told, first_record)
        strips: list[bytes] = []
        for some in strips_of(len(values)):
            data, lost = self._file(some, values[some], told, first_record)
            if lost is not None or not data:
                return b"", lost
            strips.append(data)
        return together(strips), None

    def _file(
        self, some: slice, values: list[Sequence[Any]], told: list[Loss], first_record: int
    ) -> tuple[bytes, Difference | None]:
        """A file of ``some`` columns, which have these values; as ``_rows``."""
        columns, fields = self._layout.columns[some], self._fields[some]
        held: list[Sequence[Any]] = []
        odd: Difference | None = None
        for column, field, each in zip(columns, fields, values, strict=True):
            try:
                if _is_array(each):
                    held.append(_cast(each, field.type))
                else:
                    put, odd_here = self._held(column, each, first_record, told)
                    held.append(put)
                    odd = odd or odd_here
            except FAILURES:
                return b"", no_json(column, each)
        try:
            arrays: list[Any] = [
                each if _is_array(each) else tables.array_of(each, field.type)
                for each, field in zip(held, fields, strict=True)
            ]
            data = self._written(arrays, fields)
            if self._verify:
                del arrays  # each takes kilobytes, however short it is
                return data, self._unheld(data, columns, values, held, told, first_record)
            for column, put, array in zip(columns, held, arrays, strict=True):
                if not (column.is_json or _is_array(put)) and _may_widen(put, array.type):
                    _widened_column(column, put, array.to_pylist(), told, first_record)
        except FAILURES as error:
            return b"", blame(columns, fields, held, error)
        return data, odd

    def _held(
        self, column: TableColumn, values: Sequence[Any], first_record: int, told: list[Loss]
    ) -> tuple[Sequence[Any], Difference | None]:
        """What stands in a column: null for what is missing, and JSON text; and as ``_plain``."""
        made, odd = self._plain(column, values, first_record, told)
        return as_json_texts(column, made, first_record, told) if column.is_json else made, odd

    def _written(self, arrays: list[Any], fields: list[Any]) -> bytes:
        pa = tables.arrow()
        with tables.failures_told():
            schema = pa.schema(fields, self._schema.metadata)
            table = pa.Table.from_arrays(arrays, schema=schema)
            return self._format.write_table(table, stored=False)

    def _unheld(
        self,
        data: bytes,
        columns: Sequence[TableColumn],
        values: list[Sequence[Any]],
        held: list[Sequence[Any]],
        told: list[Loss],
        first_record: int,
    ) -> Difference | None:
        """The first value that does not come back from the bytes of the file."""
        found = self._written_again(data, held)
        for column, was, put, became in zip(columns, values, held, found, strict=True):
            lost = None
            if _is_array(put):
                if not same_bits(put, became):
                    return Difference(0, column.value_path, "the values", "others", "value")
            elif column.is_json:
                lost = unlike(column, put, became) or self._turned(column, was, became)
            elif not same_column(put, became):
                wide = _widened_column(column, put, became, told, first_record)
                lost = unlike(column, wide, became)
            if lost is not None:
                return lost
        return None

    def _written_again(self, data: bytes, held: list[Sequence[Any]]) -> Iterator[Any]:
        """The columns in the bytes of a file: arrays where such are ``held``, else values."""
        if not any(map(_is_array, held)):
            yield from self._format.columns_written(data)
            return
        table = self._format.own_table(data)
        others = table.select([n for n, each in enumerate(held) if not _is_array(each)])
        values = tables.columns_in(others, len(data), most=STORED_VALUES)
        for number, each in enumerate(held):
            if _is_array(each):
                column = table.column(number)
                column.validate(full=True)
                yield column.combine_chunks()
            else:
                yield next(values)

    def _turned(
        self, column: TableColumn, was: Sequence[Any], became: Sequence[Any]
    ) -> Difference | None:
        """The first value that JSON text does not give back, where all are such as JSON has."""
        made = [None if v is MISSING else v for v in was]
        losses = Losses(*self._lossy)
        plain = self._json.carried(made, losses, 0)
        return unlike(column, plain, of_json_texts(became, plain))


def _is_array(values: Any) -> bool:
    return isinstance(values, tables.arrow().Array)


def _cast(array: Any, kind: Any) -> Any:
    """An array as one of ``kind``; ValueError where decimals would get more places, which is told
    of each."""
    is_decimal = tables.arrow().types.is_decimal
    if is_decimal(array.type) and is_decimal(kind) and array.type.scale != kind.scale:
        raise ValueError("decimals with other places")
    return tables.cast(array, kind)


def no_json(column: TableColumn, values: Sequence[Any]) -> Difference:
    """The first value that has no JSON text."""
    for number, value in enumerate(values):
        try:
            json_texts([None if value is MISSING else value])
        except FAILURES:
            return lost_in(number, column.value_path, value)
    return Difference(0, column.value_path, "the values", "an error", "value")


def _may_widen(values: Sequence[Any], kind: Any) -> bool:
    """Whether some of ``values`` may be others in a column of Arrow's type ``kind``."""
    is_a, types = tables.arrow().types, set(map(type, values))
    if is_a.is_floating(kind):
        return int in types
    may_be_decimals = is_a.is_string(kind) or is_a.is_decimal(kind)
    return Decimal in types if may_be_decimals else is_a.is_nested(kind)


def _widened_column(
    column: TableColumn,
    values: Sequence[Any],
    became: Sequence[Any],
    told: list[Loss],
    first_record: int,
) -> list[Any]:
    """As ``widened``, of all values of a column; what was changed is put into ``told``."""
    counts: dict[str, tuple[int, int]] = {}
    wide = [
        widened(was, again, counts, number)
        for number, (was, again) in enumerate(zip(values, became, strict=True))
    ]
    told += told_of(column, counts, first_record)
    return wide


def widened(was: Any, became: Any, counts: dict[str, tuple[int, int]], number: int) -> Any:
    """``was`` as it is in the column's type: integers as doubles, what is missing as null, and
    decimals, UUIDs and times as text, or decimals with the places of others.

    ``became`` is what was read of it. ``counts``: how often each rule changed something, and the
    first row.
    """
    if type(was) is int and type(became) is float and int(became) == was:
        _count(counts, "numbers", number)
        return float(was)
    if type(became) is str and (rule := _TEXTS.get(type(was))) and _text(was) == became:
        _count(counts, rule, number)
        return became
    if type(was) is Decimal and type(became) is Decimal and was == became:
        if was.as_tuple() != became.as_tuple():
            _count(counts, PLACES, number)
        return became
    if type(was) is dict and type(became) is dict:
        if list(was) != [key for key in became if key in was]:
            _count(counts, "key-order", number)
        if was.keys() <= became.keys():
            for _ in range(len(became) - len(was)):
                _count(counts, "missing", number)
            return {key: widened(was.get(key), became[key], counts, number) for key in became}
    if type(was) is list and type(became) is list and len(was) == len(became):
        return [widened(*pair, counts, number) for pair in zip(was, became, strict=True)]
    return was


#: The rules by which values of these types are text.
_TEXTS: dict[type, str] = {
    **dict.fromkeys((Decimal, UUID), "decimals"),
    **dict.fromkeys((datetime, time), "timestamps"),
}


def _text(value: Any) -> str:
    return str(value.isoformat() if type(value) in (datetime, time) else value)


def _count(counts: dict[str, tuple[int, int]], rule: str, number: int) -> None:
    count, first = counts.get(rule, (0, number))
    counts[rule] = count + 1, first


_WORDS = {
    "numbers": ("an integer", "a double"),
    "missing": ("nothing", "null"),
    "key-order": ("keys", "other order"),
    "decimals": ("a decimal", "text"),
    "timestamps": ("a time", "text"),
    PLACES: ("a decimal", "one with more places"),
}


def told_of(
    column: TableColumn, counts: dict[str, tuple[int, int]], first_record: int
) -> Iterator[Loss]:
    """What ``widened`` counted."""
    for rule, (count, first) in counts.items():
        yield Loss(rule, count, first_record + first, column.value_path, *_WORDS[rule])


class FrameJoin(Join):
    """Pieces, each a file of its own or of strips, as the row groups or batches of one file.

    What comes first waits until there is more, since alone it is the file. Of many columns, of
    which each of each group costs, few rows wait for others.
    """

    block_size: ClassVar[int] = 2 << 20

    def __init__(self, target: str, layout: Layout) -> None:
        fmt = FORMATS.get(target)
        assert isinstance(fmt, TableFormat)
        self._format = fmt
        self._schema = schema_of(layout)
        self._in_strips = rows_wait(fmt, len(layout.columns))
        #: The pieces that are in no group yet, and their rows.
        self._held: list[bytes] = []
        self._rows = 0
        self._out = Sink()
        self._writer: Any = None

    def body(self, piece: Piece, structure: str) -> Buffer:  # noqa: ARG002
        written = self._group() if self._held and not self._waits() else b""
        self._held.append(bytes(piece.body))
        self._rows += piece.records
        if len(self._held) > _WAITING:
            with tables.failures_told():
                self._held = [stacked(self._held)]
        return written

    def _waits(self) -> bool:
        """Whether what is held is too little for a group."""
        columns = len(self._schema)
        beside = _COLUMN_BYTES * columns * len(self._held)
        return (
            self._in_strips
            and self._rows < self._format.least_rows
            and self._rows * columns < CELLS
            and sum(map(len, self._held)) - beside < _BYTES
        )

    def _group(self) -> bytes:
        """What is held as the next group, proved."""
        with tables.failures_told():
            table = self._table()
            data = self._file(table)
            if self._writer is None:
                self._writer = self._format.open_writer(self._out, self._schema)
            self._writer.write_table(table)
        self._held, self._rows = [], 0
        written = self._out.taken()
        if not self._format.has_rows(data, written):
            raise _other_rows()
        return written

    def _table(self) -> Any:
        """What is held, as one table."""
        if self._in_strips:
            return table_of(self._held, self._schema)
        table = self._format.own_table(self._held[0])
        return table if table.schema == self._schema else table.cast(self._schema)

    def _file(self, table: Any) -> bytes:
        """The file of what is held, proved; ``table``: the same."""
        if not self._in_strips:
            return self._held[0]
        data = self._format.write_table(table, stored=False)
        pairs = zip(
            tables.columns_in(table, len(data), most=STORED_VALUES),
            self._format.columns_written(data),
            strict=True,
        )
        if not all(starmap(same_column, pairs)):
            raise _other_rows()
        return data

    def end(self) -> Iterator[bytes]:
        if self._held and self._writer is None:
            with tables.failures_told():
                yield self._file(self._table() if self._in_strips else None)
            return
        if self._held:
            yield self._group()
        elif self._writer is None:
            self._writer = self._format.open_writer(self._out, self._schema)
        self._writer.close()
        yield self._out.taken()


def _other_rows() -> ValueRefusedError:
    return ValueRefusedError("the rows in the file are not those that were proved")
