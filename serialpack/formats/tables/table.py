"""What Parquet and Arrow have in common as sources: a file is a table, its records are its rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from serialpack.errors import FileError, SyntaxInputError
from serialpack.formats.base import Read, SourceBlock, Style, StyleTypes
from serialpack.formats.losses.marks import renamed
from serialpack.formats.shared.document import EMPTY, DocumentFormat, Malformed
from serialpack.formats.shared.random_access import FileRead
from serialpack.formats.tables import pieces
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.library import is_flat
from serialpack.formats.tables.pandas_types import spelled_columns
from serialpack.formats.tables.room import MOST_VALUES
from serialpack.formats.tables.samples import sample_of
from serialpack.text import unique_names
from serialpack.values.kinds import (
    ARRAYS,
    RENAMED,
    TIMESTAMPS,
    ZONES,
    Difference,
    Loss,
    Unheld,
    shown,
    value_step,
)

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

#: The longest schema that is remembered in a header, to write the records under it again.
_MOST_SCHEMA = 8 << 10

#: What is kept beside the columns for those who know what it means has this name.
KEPT = b"serialpack"

#: The kinds of values for which there is text, by the rule that says so.
_KINDS = {ARRAYS: "tag", ZONES: "zoned-datetime", TIMESTAMPS: "time"}

#: The most values that serializers read beside those which the size of stored bytes accounts for.
STORED_VALUES = 1 << 24


class TableFormat(DocumentFormat):
    """A format that pyarrow reads as a table."""

    style_types: ClassVar[StyleTypes] = {"schema": (bytes,)}
    heeds = frozenset(_KINDS)
    in_file = True
    tells = True
    #: How many levels of types it has room for; ``records.table_of`` counts them.
    levels: ClassVar[int]
    #: Fewer rows in a part of a file cost more than they are: 0.2 to 2 kB for each column.
    least_rows: ClassVar[int] = 0
    #: Whether a column has one dictionary in all of a file.
    one_dictionary: ClassVar[bool] = False

    @abstractmethod
    def read_table(self, data: bytes, most: int) -> Any:
        """The table in ``data``, of which no more than ``most`` values are for nothing.

        Malformed, RefusedError. Called with the library there.
        """

    @abstractmethod
    def batches(
        self, path: Path, size: int, values: int, wanted: Collection[str] | None
    ) -> Iterator[Any]:
        """The schema of the file at ``path``, then all of its rows as batches.

        Of ``size`` bytes and ``values`` values, as far as the file allows that, and such that
        ``pieces.check_inner`` is true of them. Of columns those that are ``wanted``, by
        ``pieces.columns_of``. Errors as of ``read_table``, and OSError.
        """

    @abstractmethod
    def read_schema(self, data: bytes) -> Any:
        """The types that the table in ``data`` was written under; any exception where none is."""

    def schema_at(self, path: Path) -> Any:
        """The types of the file at ``path``; any exception where none is."""
        return next(self.batches(path, 1, 1, None))

    def rows_at(self, path: Path) -> int | None:  # noqa: ARG002
        """How many rows the file at ``path`` has; None where it does not say so at once."""
        return None

    @abstractmethod
    def write_table(self, table: Any, *, stored: bool) -> bytes:
        """A file of ``table``; ``stored``: to be compressed by others."""

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        if not for_values or not isinstance(read, FileRead):
            yield from super().split(read, block_size, for_values=for_values)
            return
        tables.arrow()
        most = pieces.limits(block_size, most_values)
        with read.file() as path:
            try:
                found = self.batches(path, *most, read.columns)
                yield from pieces.blocks(found, next(found), *most)
            except Malformed as bad:
                size = path.stat().st_size
                at = size if bad.at is None else bad.at
                said = bad.message if size else EMPTY
                raise SyntaxInputError(f"not valid {self.title}: {said}", offset=at) from None
            except OSError as error:
                raise FileError(f"it cannot be read: {tables.first_line(error)}") from None

    def _split_whole(self, read: Read) -> Iterator[SourceBlock]:
        """A piece again, where each of its rows is wanted alone."""
        for block in super()._split_whole(read):
            table = pieces.marked(bytes(block.data))
            if table is None:
                yield block
            else:
                yield from pieces.alone(table)

    def flat_names(self, block: SourceBlock) -> list[str] | None:
        if block.context != pieces.MARK:
            return None
        schema = pieces.schema_of(bytes(block.data))
        return list(schema.names) if is_flat(schema) else None

    def flat_columns(self, block: SourceBlock) -> dict[str, Sequence[Any]] | None:
        data = bytes(block.data)
        if block.context != pieces.MARK or block.partial:
            return None
        table = pieces.table_of(data)
        if not is_flat(table.schema) or table.num_rows != block.records:
            return None
        if any(spelled_columns(table)):
            return None
        return dict(zip(table.column_names, tables.columns_in(table, len(data)), strict=True))

    def json_columns(self, block: SourceBlock) -> list[str]:
        """The columns that are marked as JSON text; of those of one name, as they are renamed."""
        kind, schema = tables.arrow().json_, self._schema(block)
        names = unique_names(schema.names)
        return [n for n, field in zip(names, schema, strict=True) if field.type == kind()]

    def sample(self, block: SourceBlock) -> dict[str, Any]:
        return sample_of(self._schema(block))

    def kept_words(self, block: SourceBlock) -> bytes | None:
        try:
            return (self._schema(block).metadata or {}).get(KEPT)
        except Exception:  # the file will be read, and say what is wrong
            return None

    def _schema(self, block: SourceBlock) -> Any:
        data = bytes(block.data)
        return pieces.schema_of(data) if block.context == pieces.MARK else self.read_schema(data)

    @abstractmethod
    def own_table(self, data: bytes) -> Any:
        """The table in a file that ``write_table`` made here, with its very types."""

    @abstractmethod
    def open_writer(self, sink: Any, schema: Any) -> Any:
        """What writes tables of ``schema`` into ``sink``, one after another, as one file."""

    @abstractmethod
    def has_rows(self, data: bytes, written: bytes) -> bool:
        """Whether ``written``, a part of a file, has the very rows of the file ``data``."""

    def look_at_head(self, read: Read, count: int) -> bytes | None:
        """As a conversion shows them, which tells what it renames and spells."""
        from serialpack.formats.losses.marks import Marks

        shown = copy(self)
        shown.marks = Marks(frozenset({RENAMED, *_KINDS}))
        return super(TableFormat, shown).look_at_head(read, count)

    def read_block(self, block: SourceBlock) -> list[Any]:
        data = bytes(block.data)
        if block.context == pieces.MARK:
            table = pieces.table_of(data)
        elif self.marks is None:
            return self.read(data)
        else:
            tables.arrow()
            table = self.read_table(data, MOST_VALUES)
        if self.marks is not None and RENAMED in self.marks.allowed:
            table = self._renamed(table, self.marks, first=block.index == 0)
        if self.marks is not None:
            table = self._spelled(table, self.marks, block.first_record)
        return list(tables.records_of(table, len(data)))

    def _renamed(self, table: Any, marks: Marks, *, first: bool) -> Any:
        """A table in which each column has a name of its own; ``first``: to be told."""
        names = table.column_names
        unique = renamed(names, marks.placed, first=first)
        return table if unique == names else table.rename_columns(unique)

    def _spelled(self, table: Any, marks: Marks, first_record: int) -> Any:
        """A table with text for what pandas or Arrow has types for, and Python none."""
        for number, found, what, rule in spelled_columns(table):
            name = table.column_names[number]
            if found.total:
                path, became = f"${value_step(name)}{found.path}", shown(found.text)
                if rule not in marks.allowed:
                    kind = _KINDS[rule]
                    raise Unheld(Difference(found.row, path, what, became, kind))
                place = first_record + found.row
                marks.placed.append(Loss(rule, found.total, place, path, what, became))
            table = table.set_column(number, name, found.array)
        return table

    def read(self, data: bytes) -> list[Any]:
        return self._read(data, MOST_VALUES)

    def read_stored(self, data: bytes) -> list[Any]:
        """As ``read``, what ``write_stored`` wrote: more values that take hardly any bytes."""
        return self._read(data, STORED_VALUES)

    def read_written(self, data: bytes) -> list[Any]:
        return self.read_stored(data)

    def columns_written(self, data: bytes) -> Iterator[list[Any]]:
        """The values of each column of what ``write_table`` has just written here, one column
        after another, so that they need not all be there at once; errors as of ``read``."""
        return tables.columns_in(
            self.read_table(data, STORED_VALUES), len(data), most=STORED_VALUES
        )

    def _read(self, data: bytes, most: int) -> list[Any]:
        tables.arrow()
        return list(tables.records_of(self.read_table(data, most), len(data), most=most))

    def write(self, records: list[Any]) -> bytes:
        return self._write(tables.table_of(records, self.levels), stored=False)

    def write_stored(self, records: list[Any]) -> bytes:
        return self._write(tables.table_of(records, self.levels), stored=True)

    def _write(self, table: Any, *, stored: bool) -> bytes:
        with tables.failures_told():
            return self.write_table(table, stored=stored)

    def detect_style(self, block: SourceBlock) -> Style:
        """The types of its columns, where these are not too long."""
        try:
            schema = self.read_schema(bytes(block.data)).serialize().to_pybytes()
        except Exception:  # the block will be parsed, and say what is wrong
            return {}
        return {"schema": schema} if len(schema) <= _MOST_SCHEMA else {}

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:  # noqa: ARG002
        schema = style.get("schema")
        if isinstance(schema, bytes):
            try:
                table = tables.table_under(records, schema)
                return self._write(table, stored=False)
            except (ValueError, TypeError, OverflowError):
                pass  # types that pyarrow reads, and makes of no values of Python's
        return self.write(records)
