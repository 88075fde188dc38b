"""Files of tables, as pyarrow writes them."""

from __future__ import annotations

import io
from typing import Any

import pytest

from serialpack.formats import FORMATS
from serialpack.formats.tables.table import TableFormat

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


NAMES = ("parquet", "arrow")


def table_format(name: str) -> TableFormat:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, TableFormat)
    return fmt


def file_of(name: str, table: Any, **how: Any) -> bytes:
    """A file as pyarrow writes it."""
    file = io.BytesIO()
    if name == "parquet":
        pq.write_table(table, file, **how)
    else:
        options = pa.ipc.IpcWriteOptions(**how)
        with pa.ipc.new_file(file, table.schema, options=options) as writer:
            writer.write_table(table)
    return file.getvalue()


def stream_of(table: Any) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()
