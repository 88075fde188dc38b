"""Objects of Arrow as extensions of MessagePack, and back.

``man/spk.5``, Objects of Python. A table is an Arrow IPC stream, all else a table that holds it.
"""

from __future__ import annotations

from typing import Any

from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.flatbuffers import restored_size
from serialpack.imported import imported
from serialpack.stages.stage import Buffer

#: The extensions of tables, and of anything else, which a table stands for.
ARROW, OF_ARROW = 20, 31

#: The name of the one column of a table that stands for a column.
NAME = "values"


def is_table(value: Any) -> bool:
    """Whether ``value`` is a table of Arrow."""
    pyarrow = imported("pyarrow")
    return pyarrow is not None and type(value) is pyarrow.Table


def stream_of(table: Any) -> memoryview:
    """The table as an IPC stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return memoryview(sink.getvalue()).cast("B")


def table_over(data: Buffer) -> Any:
    """The table over an IPC stream, without a copy; Malformed where ``data`` is none.

    A compressed one is refused: it would take memory on the word of a size in it.
    """
    pa = tables.arrow()
    buffer = pa.py_buffer(data)
    with tables.reading():
        for message in pa.ipc.MessageReader.open_stream(buffer):
            body = memoryview(message.body) if message.body else b""
            if restored_size(message.metadata.to_pybytes(), body):
                raise Malformed("a compressed stream", 0)
        table = pa.ipc.open_stream(buffer).read_all()
        table.validate(full=True)
    return table


def parts_of_arrow(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of a batch, an array, a scalar, a schema, a field or a type; else None."""
    pa = imported("pyarrow")
    if pa is None:
        return None
    if isinstance(value, pa.RecordBatch):
        return OF_ARROW, ["batch", pa.Table.from_batches([value])]
    if isinstance(value, pa.Array | pa.ChunkedArray):
        word = "array" if isinstance(value, pa.Array) else "chunks"
        return OF_ARROW, [word, table_of(value)]
    if isinstance(value, pa.Scalar):
        return OF_ARROW, ["scalar", table_of(pa.array([value], value.type))]
    if type(value) is pa.Schema:
        return OF_ARROW, ["schema", value.empty_table()]
    if type(value) is pa.Field:
        return OF_ARROW, ["field", pa.schema([value]).empty_table()]
    if isinstance(value, pa.DataType):
        return OF_ARROW, ["type", pa.schema({NAME: value}).empty_table()]
    return None


def arrow_of(word: str, table: Any) -> Any:
    """The object that ``parts_of_arrow`` took apart; ValueError where the parts are of none."""
    if not is_table(table):
        raise ValueError("no table, where one is due")
    if word == "schema":
        return table.schema
    if word == "batch":
        (batch,) = table.to_batches() or [_empty_batch(table)]
        return batch
    if word == "field" and len(table.schema) == 1:
        return table.schema.field(0)
    column = column_of(table)
    if word == "type":
        return column.type
    if word == "chunks":
        return column
    array = column.combine_chunks()
    if word == "array":
        return array
    if word == "scalar" and len(array) == 1:
        return array[0]
    raise ValueError(f"nothing of Arrow is a {word}")


def table_of(column: Any) -> Any:
    """The table that stands for an array."""
    import pyarrow as pa

    return pa.table({NAME: column})


def column_of(table: Any) -> Any:
    """The chunked array that a table stands for; ValueError where it stands for none."""
    if not is_table(table) or table.column_names != [NAME]:
        raise ValueError("no table of one column")
    return table.column(0)


def _empty_batch(table: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([], schema=table.schema)
