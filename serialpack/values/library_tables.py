"""What tables of Arrow and frames of polars are, however their memory is cut."""

from __future__ import annotations

from typing import Any


def arrow_told(value: Any) -> Any:
    """What a table or a column of Arrow is, however its memory is cut; None for any other value.

    It is a digest of its IPC stream, so that memory holds no other copy of it.
    """
    import pyarrow as pa

    if isinstance(value, pa.ChunkedArray | pa.Array):
        value = pa.table({"": value})
    if not isinstance(value, pa.Table):
        return None
    from hashlib import blake2b

    state = blake2b()
    sink = pa.PythonFile(_HashedSink(state), mode="w")
    with pa.ipc.new_stream(sink, _without_names_of_entries(value.schema)) as stream:
        stream.write_table(value)
    return state.digest()


def _without_names_of_entries(schema: Any) -> Any:
    """``schema`` as Arrow reads it again: the entries of a map are called ``entries`` then, in a
    table out of Parquet as the column, which Arrow takes for the same type."""
    import pyarrow as pa

    again = pa.ipc.read_schema(schema.serialize())
    return again if again.equals(schema) else schema


def polars_told(value: Any) -> Any:
    """What a frame or a series of polars is, however its memory is cut: names and types, and a
    digest of its IPC stream, in which texts stand one after another."""
    from hashlib import blake2b

    import polars

    frame = value.to_frame() if hasattr(value, "to_frame") else value
    state = blake2b()
    sink: Any = _HashedSink(state)
    # Integers of 128 bits as text: as numbers, any may stand behind what is missing.
    wide = [name for name, kind in frame.schema.items() if str(kind) in ("Int128", "UInt128")]
    shown = (
        frame.with_columns(polars.col(wide).cast(polars.String).fill_null("")) if wide else frame
    )
    shown.rechunk().write_ipc_stream(sink, compat_level=polars.CompatLevel.oldest())
    types = [(name, repr(kind)) for name, kind in frame.schema.items()]
    return [types, frame.shape, state.digest()]


class _HashedSink:
    """A file that hashes the bytes that are written, and keeps none."""

    closed = False

    def __init__(self, state: Any) -> None:
        self._state = state

    def write(self, data: Any) -> int:
        self._state.update(data)
        return len(data)

    def flush(self) -> None: ...

    def close(self) -> None: ...
