"""Parquet as a source, by pyarrow. Files put together are no file.

Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.random_access import FileBytes
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.intervals import (
    batch_with,
    interval_types,
    schema_with,
    table_with,
)
from serialpack.formats.tables.pages import Page, longest_word, pages
from serialpack.formats.tables.pieces import (
    check_inner,
    columns_of,
    compact,
    rows_with,
    with_columns,
)
from serialpack.formats.tables.room import MOST_VALUES, Room
from serialpack.formats.tables.table import STORED_VALUES, TableFormat
from serialpack.formats.tables.thrift import Bytes, ThriftReader

_MAGIC = b"PAR1"

#: Bytes of a column that are read at once.
_BUFFER = 64 << 10

#: The most fields that are read at once, each of which takes 6 kB meanwhile; and from how many
#: fields on none that is written has a dictionary. A group that is read some fields at a time has
#: at most so many bytes, and so many values.
_FIELDS, _NO_WORDS = 512, 5000
_GROUP_BYTES, _GROUP_VALUES = 16 << 20, 2 << 20

# The numbers of fields in Thrift's structs: FileMetaData, SchemaElement, RowGroup, ColumnChunk;
_SCHEMA, _GROUPS, _REPETITION, _COLUMNS, _ROWS, _ABOUT = 2, 4, 3, 1, 3, 3
_REPEATED = 2
# of ColumnMetaData.
_TYPE, _PATH = 1, 3
_BYTE_ARRAY = 6


class ParquetFormat(TableFormat):
    """Apache Parquet."""

    title = "Parquet"
    about = "Parquet, a table as columns"
    #: pyarrow reads schemas of 98 levels.
    levels = 96
    least_rows = 1000

    def read_table(self, data: bytes, most: int) -> Any:
        pa = tables.arrow()
        with tables.reading():
            # The words stay dictionaries until it is known how much text they are.
            groups = _groups(data, Room(len(data), most))
            file = _opened(pa.BufferReader(data), groups, len(data))
            if file.num_row_groups < 2:
                table = file.read(use_threads=False)
            else:  # pyarrow reads no dictionaries within lists so
                numbers = range(file.num_row_groups)
                table = pa.concat_tables(file.read_row_group(n, use_threads=False) for n in numbers)
            return table_with(_with_hollow(table, file.schema_arrow), interval_types(file))

    def batches(
        self, path: Path, size: int, values: int, wanted: Collection[str] | None
    ) -> Iterator[Any]:
        with path.open("rb") as raw, tables.arrow().OSFile(str(path)) as source, tables.reading():
            data = FileBytes(raw)
            groups = _groups(data, None)
            file = _opened(source, groups, len(data), pre_buffer=False, buffer_size=_BUFFER)
            names = columns_of(file.schema_arrow, wanted)
            types = interval_types(file)
            yield schema_with(with_columns(file.schema_arrow, names), types)
            # pyarrow takes a name with a dot for the path of a column within another one.
            read = None if names is None or any("." in name for name in names) else names
            for number, group in enumerate(groups):
                if read is None and _is_flat(file) and group.is_small:
                    for batch in _all_rows(_whole(file, number), number, group.rows):
                        yield batch_with(batch if names is None else batch.select(names), types)
                    continue
                most = min(
                    rows_with(values, group.values // max(group.rows, 1)),
                    size * group.rows // max(group.bytes, 1),
                    4 * size // max(group.longest, 1),
                    values,
                )
                found = file.iter_batches(
                    max(most, 1), row_groups=[number], columns=read, use_threads=False
                )
                for batch in _all_rows(found, number, group.rows):
                    check_inner(batch)
                    whole = _with_hollow(batch, with_columns(file.schema_arrow, read))
                    yield batch_with(whole if names is None else whole.select(names), types)

    def read_schema(self, data: bytes) -> Any:
        pa = tables.arrow()
        import pyarrow.parquet

        return _schema_of(pyarrow.parquet.ParquetFile(pa.BufferReader(data)))

    def schema_at(self, path: Path) -> Any:
        """Without the dictionaries that ``batches`` reads words as."""
        tables.arrow()
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            return _schema_of(file)

    def rows_at(self, path: Path) -> int | None:
        import pyarrow.parquet

        rows: int = pyarrow.parquet.read_metadata(path).num_rows
        return rows

    def own_table(self, data: bytes) -> Any:
        parts = list(_parts(data))
        if len(parts) == 1:
            return parts[0]
        schema = tables.arrow().schema(list(chain.from_iterable(p.schema for p in parts)))
        columns = list(chain.from_iterable(part.columns for part in parts))
        return tables.arrow().Table.from_arrays(columns, schema=schema)

    def columns_written(self, data: bytes) -> Iterator[list[Any]]:
        with tables.reading():
            for part in _parts(data):
                yield from tables.columns_in(part, len(data), most=STORED_VALUES)

    def open_writer(self, sink: Any, schema: Any) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.ParquetWriter(sink, schema, **_usual(schema))

    def has_rows(self, data: bytes, written: bytes) -> bool:
        """A row group has the same bytes wherever it stands: only the footer says where."""
        footer = int.from_bytes(data[-8:-4], "little")
        return written.removeprefix(_MAGIC) == data[len(_MAGIC) : len(data) - 8 - footer]

    def write_table(self, table: Any, *, stored: bool) -> bytes:
        import pyarrow.parquet

        file = io.BytesIO()
        plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        pyarrow.parquet.write_table(table, file, **(plain if stored else _usual(table.schema)))
        return file.getvalue()


def _parts(data: bytes) -> Iterator[Any]:
    """The columns of a file that was written here, some at a time: each takes 8 kB while it is
    read."""
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(tables.arrow().BufferReader(data))
    if not _is_flat(file):
        yield file.read(use_threads=False)
        return
    for some in _some_fields(file):
        part = file.reader.read_all(column_indices=some, use_threads=False)
        yield part.replace_schema_metadata(None)  # that has the types of all fields


def _schema_of(file: Any) -> Any:
    return schema_with(file.schema_arrow, interval_types(file))


def _with_hollow(part: Any, schema: Any) -> Any:
    """A table or a batch with nulls in the columns that pyarrow leaves out of it.

    Those have no column of values in them, so that the file does not say what they hold.
    """
    if len(part.schema) == len(schema):
        return part
    pa = tables.arrow()
    columns = iter(part.columns)
    whole = [
        pa.nulls(part.num_rows, field.type) if _is_hollow(field.type) else next(columns)
        for field in schema
    ]
    found = type(part).from_arrays(whole, names=schema.names)
    return found.replace_schema_metadata(part.schema.metadata)


def _is_hollow(kind: Any) -> bool:
    """Whether type ``kind`` is a struct of no fields, or of such structs alone."""
    pa = tables.arrow()
    is_group = bool(kind.num_fields) or pa.types.is_struct(kind)
    return is_group and all(_is_hollow(kind.field(n).type) for n in range(kind.num_fields))


def _is_flat(file: Any) -> bool:
    """Whether a file has very many columns, and none within another."""
    return bool(_FIELDS < file.metadata.num_columns == len(file.schema_arrow))


def _some_fields(file: Any) -> Iterator[range]:
    fields = file.metadata.num_columns
    for first in range(0, fields, _FIELDS):
        yield range(first, min(first + _FIELDS, fields))


def _all_rows(batches: Iterator[Any], number: int, rows: int) -> Iterator[Any]:
    """``batches`` of row group ``number``; Malformed where they are not all of its ``rows``.

    pyarrow ends without a word where a column ends before the others.
    """
    found = 0
    for batch in batches:
        found += batch.num_rows
        yield batch
    if found != rows:
        raise Malformed(f"row group {number} has {rows} rows, {found} of them in all its columns")


def _whole(file: Any, number: int) -> Iterator[Any]:
    """All rows of group ``number`` as one batch, of which some columns are read at a time."""
    columns: list[Any] = []
    fields: list[Any] = []
    for some in _some_fields(file):
        part = file.reader.read_row_groups([number], column_indices=some, use_threads=False)
        for batch in part.combine_chunks().to_batches():
            check_inner(batch)
            columns += compact(batch).columns
            fields += part.schema
    if columns:
        yield tables.arrow().RecordBatch.from_arrays(columns, schema=tables.arrow().schema(fields))


def _usual(schema: Any) -> dict[str, bool]:
    """The options by which a file is written. With very many columns none has a dictionary: each
    would take 20 kB until its group is written."""
    return {"use_dictionary": len(schema) < _NO_WORDS, "write_page_checksum": True}


class _Group(NamedTuple):
    """A row group: its rows, and what its pages say of how many values and bytes they hold.

    ``words``: the paths of columns of text that are read as dictionaries. ``longest``: the most
    bytes that the texts of other columns with dictionaries may have in a row.
    """

    rows: int
    values: int
    bytes: int
    words: list[str]
    longest: int = 0

    @property
    def is_small(self) -> bool:
        size = self.bytes + self.rows * self.longest
        return size <= _GROUP_BYTES and self.values <= _GROUP_VALUES


def _opened(source: Any, groups: list[_Group], size: int, **how: Any) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(
        source,
        read_dictionary=list(dict.fromkeys(chain.from_iterable(g.words for g in groups))),
        thrift_string_size_limit=size,
        thrift_container_size_limit=size,
        page_checksum_verification=True,  # of pages that have one
        **how,
    )


def _groups(data: Bytes, room: Room | None) -> list[_Group]:
    """The row groups of a file; Malformed, RefusedError for more than there may be.

    Values are counted in the pages themselves: it is by these that pyarrow makes room. ``room``:
    for all that is in the file; None where it is read in pieces, for which a page must be small.
    """
    size = len(data)
    if data[:4] != _MAGIC:
        raise Malformed("it does not begin with PAR1", 0)
    if size < 12 or data[size - 4 :] != _MAGIC:
        raise Malformed("it does not end with PAR1", size)
    footer = int.from_bytes(data[size - 8 : size - 4], "little")
    if footer > size - 12:
        raise Malformed(f"a footer of {footer} bytes is announced", size - 8)
    start = size - 8 - footer
    reader = ThriftReader(data[start : size - 8])
    try:
        return list(_found(data, reader, room))
    except ValueError as error:
        raise Malformed(f"no footer of Parquet's ({error})", start) from None
    except (LookupError, TypeError, AttributeError):  # what Python says of it tells nobody more
        what = "no footer of Parquet's (a field is missing, or of another type)"
        raise Malformed(what, start) from None


def _found(data: Bytes, footer: ThriftReader, room: Room | None) -> Iterator[_Group]:
    """The groups that a footer tells of, one column at a time: it may be as large as the file."""
    seen, in_pieces, schema, told = Room(len(data), 0), room is None, None, False
    for number, kind in footer.fields():
        if number == _SCHEMA:
            schema = footer.value(kind)
        elif number != _GROUPS:
            footer.value(kind)
        elif told:
            raise ValueError("its groups twice")
        else:
            told = True
            # A row may have any number of values where there are lists, or nobody knows.
            if room is None and (schema is None or any(_is_repeated(each) for each in schema)):
                room = Room(len(data), MOST_VALUES)
            for _ in footer.items(kind):
                yield _group(data, footer, seen, room, in_pieces=in_pieces)
    if not told:
        raise ValueError("no groups")


def _is_repeated(element: dict[int, Any]) -> bool:
    return bool(element.get(_REPETITION) == _REPEATED)


def _group(
    data: Bytes, footer: ThriftReader, seen: Room, room: Room | None, *, in_pieces: bool
) -> _Group:
    columns: list[_ColumnPages] = []
    rows = None
    for number, kind in footer.fields():
        if number == _COLUMNS:
            for each in footer.items(kind):
                about = footer.value(each)[_ABOUT]
                columns.append(_column(data, about, seen, room, in_pieces=in_pieces))
        elif number == _ROWS:
            rows = footer.value(kind)
        else:
            footer.value(kind)
    if rows is None:
        raise ValueError("a group of nobody knows how many rows")
    return _Group(
        rows,
        sum(column.values for column in columns),
        sum(column.bytes for column in columns),
        [column.words for column in columns if column.words is not None],
        sum(column.word * max(1, column.values // max(rows, 1)) for column in columns),
    )


class _ColumnPages(NamedTuple):
    """What the pages of one column add to its ``_Group``. ``words``: its path, where it is read as
    a dictionary; ``word``: else the bytes of its longest text, where its dictionary was looked
    through."""

    values: int
    bytes: int
    words: str | None = None
    word: int = 0


def _column(
    data: Bytes, about: dict[int, Any], seen: Room, room: Room | None, *, in_pieces: bool
) -> _ColumnPages:
    dictionary: Page | None = None
    values = size = stored = 0
    for page in pages(data, about, seen):
        if room is not None:
            room.take(page.values, page.bytes)
        else:
            Room(page.stored, page.values).take(0, page.bytes)
        dictionary = page if page.is_dictionary else dictionary
        values, size, stored = values + page.values, size + page.bytes, stored + page.stored
    if dictionary is None or about[_TYPE] != _BYTE_ARRAY:
        return _ColumnPages(values, size)
    word = longest_word(data, about, dictionary) if in_pieces else None
    # In lists, one row may have all the values that there are.
    if word is None or (room is not None and not Room(stored, 0).has_room(values * word)):
        return _ColumnPages(values, size, ".".join(str(name, "utf-8") for name in about[_PATH]))
    return _ColumnPages(values, size, word=word)
