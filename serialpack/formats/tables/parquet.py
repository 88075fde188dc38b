"""Parquet as a source, by pyarrow. Files put together are no file.

Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import io
from typing import Any

from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.table import TableFormat
from serialpack.formats.tables.thrift import ThriftReader

_MAGIC = b"PAR1"

# Numbers of fields: of FileMetaData, RowGroup and ColumnChunk;
_GROUPS, _COLUMNS, _ABOUT = 4, 1, 3
# of ColumnMetaData;
_TYPE, _PATH, _COMPRESSED, _PAGES, _DICTIONARY = 1, 3, 7, 9, 11
_BYTE_ARRAY = 6
# of PageHeader, of the headers in it for pages of values, and of these.
_PAGE_TYPE, _PAGE_SIZE, _PAGE_STORED = 1, 2, 3
_DICTIONARY_PAGE = 2
_PAGE_KINDS, _PAGE_VALUES = (5, 8), 1


class ParquetFormat(TableFormat):
    """Apache Parquet."""

    title = "Parquet"
    about = "Parquet, a table as columns"
    #: pyarrow reads schemas of 98 levels.
    levels = 96

    def read_table(self, data: bytes, most: int) -> Any:
        if not data.startswith(_MAGIC):
            raise Malformed("it does not begin with PAR1", 0)
        if len(data) < 12 or not data.endswith(_MAGIC):
            raise Malformed("it does not end with PAR1", len(data))
        footer = int.from_bytes(data[-8:-4], "little")
        if footer > len(data) - 12:
            raise Malformed(f"a footer of {footer} bytes is announced", len(data) - 8)
        try:
            # The words stay dictionaries until it is known how much text they are.
            words = _texts(data, len(data) - 8 - footer, most)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Malformed(f"no footer of Parquet's ({error})", len(data) - 8 - footer) from None
        pa = tables.arrow()
        import pyarrow.parquet

        try:
            file = pyarrow.parquet.ParquetFile(
                pa.BufferReader(data),
                read_dictionary=words,
                thrift_string_size_limit=len(data),
                thrift_container_size_limit=len(data),
            )
            if file.num_row_groups < 2:
                return file.read(use_threads=False)
            # Of several, pyarrow reads no dictionaries within lists.
            groups = (file.read_row_group(n, use_threads=False) for n in range(file.num_row_groups))
            return pa.concat_tables(groups)
        except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
            raise Malformed(tables.first_line(error)) from None

    def read_schema(self, data: bytes) -> Any:
        pa = tables.arrow()
        import pyarrow.parquet

        return pyarrow.parquet.read_schema(pa.BufferReader(data))

    def own_table(self, data: bytes) -> Any:
        import pyarrow.parquet

        source = tables.arrow().BufferReader(data)
        return pyarrow.parquet.ParquetFile(source).read(use_threads=False)

    def open_writer(self, sink: Any, schema: Any) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.ParquetWriter(sink, schema)

    def has_rows(self, data: bytes, written: bytes) -> bool:
        """A row group has the same bytes wherever it stands: only the footer says where."""
        footer = int.from_bytes(data[-8:-4], "little")
        return written.removeprefix(_MAGIC) == data[len(_MAGIC) : len(data) - 8 - footer]

    def write_table(self, table: Any, *, stored: bool) -> bytes:
        import pyarrow.parquet

        file = io.BytesIO()
        plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        pyarrow.parquet.write_table(table, file, **(plain if stored else {}))
        return file.getvalue()


def _texts(data: bytes, footer: int, most: int) -> list[str]:
    """The paths of columns of text that use dictionaries. RefusedError for more than there may be.

    Values are counted in the pages themselves: it is by these that pyarrow makes room.
    """
    room = tables.Room(len(data), most)
    paths: dict[str, None] = {}
    for group in ThriftReader(data, footer).struct()[_GROUPS]:
        for column in group[_COLUMNS]:
            about = column[_ABOUT]
            if _take_pages(data, about, room) and about[_TYPE] == _BYTE_ARRAY:
                paths[".".join(str(name, "utf-8") for name in about[_PATH])] = None
    return list(paths)


def _take_pages(data: bytes, about: dict[int, Any], room: tables.Room) -> bool:
    """Whether there is a dictionary among the pages of a column."""
    found = False
    at = about.get(_DICTIONARY) or about[_PAGES]
    end = min(at + about[_COMPRESSED], len(data))
    while at < end:
        if at < 0:
            raise ValueError("a page before the file")
        reader = ThriftReader(data, at)
        page = reader.struct()
        kind = next((page[kind] for kind in _PAGE_KINDS if kind in page), {_PAGE_VALUES: 0})
        if min(page[_PAGE_SIZE], page[_PAGE_STORED], kind[_PAGE_VALUES]) < 0:
            raise ValueError("a size below zero")
        behind = min(reader.at + page[_PAGE_STORED], end)
        room.pass_over(max(behind, reader.at) - at)
        room.take(kind[_PAGE_VALUES], page[_PAGE_SIZE])
        found = found or page[_PAGE_TYPE] == _DICTIONARY_PAGE
        at = reader.at + page[_PAGE_STORED]
    return found
