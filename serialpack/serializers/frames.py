"""Tables of Arrow, frames and series of pandas as extensions of MessagePack: made and undone.

``man/spk.5``, Objects of Python. A table is an Arrow IPC stream. A frame is its columns, each of
them an array of NumPy where it is one, else a table; what comes back is held against it as ever.
"""

from __future__ import annotations

import sys
from datetime import UTC
from typing import Any

from serialpack.errors import UnsupportedError
from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.flatbuffers import restored_size
from serialpack.stages.stage import Buffer

ARROW, FRAME, SERIES = 20, 21, 22

#: The name of the one column of a table that stands for a column.
_NAME = "values"


def is_table(value: Any) -> bool:
    """Whether ``value`` is a table of Arrow."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and type(value) is pyarrow.Table


def is_frame(value: Any) -> bool:
    """Whether ``value`` is a frame or a series of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) in (pandas.DataFrame, pandas.Series)


def stream_of(table: Any) -> memoryview:
    """The table as an IPC stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return memoryview(sink.getvalue()).cast("B")


def table_over(data: Buffer) -> Any:
    """The table over an IPC stream, which stays where it is; Malformed where that is none.

    One that is compressed is not read: it would take memory on the word of a size in it.
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


def parts_of_frame(value: Any) -> tuple[int, list[Any]] | None:
    """What a frame or a series becomes; None for what is none, TypeError where it is not held."""
    if not is_frame(value):
        return None
    if value.attrs or not value.flags.allows_duplicate_labels:
        raise TypeError("a frame with attributes of its own")
    if value.ndim == 1:
        return SERIES, [value.name, _index(value.index), _column(value)]
    columns = [_column(value.iloc[:, number]) for number in range(value.shape[1])]
    return FRAME, [_index(value.columns), _index(value.index), columns]


def _index(index: Any) -> list[Any]:
    """The name, and the values, of times their frequency; or of a range start, stop and step."""
    pandas = sys.modules["pandas"]
    if type(index) is pandas.RangeIndex:
        return [index.name, [index.start, index.stop, index.step]]
    if type(index) not in (pandas.Index, pandas.DatetimeIndex, pandas.TimedeltaIndex):
        raise TypeError(f"a frame with a {type(index).__name__}")
    return [index.name, _column(index.to_series()), getattr(index, "freqstr", None)]


def _column(series: Any) -> Any:
    import numpy as np

    if isinstance(series.dtype, np.dtype) and not series.dtype.hasobject:
        return series.to_numpy()
    try:
        import pyarrow as pa
    except ImportError:
        raise TypeError(f"a column of {series.dtype} without pyarrow") from None
    try:
        return pa.Table.from_pandas(series.to_frame(_NAME), preserve_index=False)
    except pa.ArrowException as error:
        raise TypeError(str(error)) from None


def frame_of(code: int, parts: list[Any]) -> Any:
    """The frame or the series; ValueError where the parts are none."""
    try:
        import pandas
    except ImportError:
        raise UnsupportedError("needs pandas", hint="pip install pandas") from None
    first, index, values = parts
    try:
        where = _index_of(pandas, *index)
        if code == SERIES:
            return _series_of(pandas, values, where).rename(first)
        columns = dict(enumerate(_series_of(pandas, each, where) for each in values))
        frame = pandas.DataFrame(columns, index=where)
        frame.columns = _index_of(pandas, *first)
    except Exception as error:  # whatever the library says of what is none
        raise ValueError(f"no frame of pandas ({error})") from None
    return frame


def _index_of(pandas: Any, name: Any, values: Any, frequency: Any = None) -> Any:
    if type(values) is list:
        return pandas.RangeIndex(*values, name=name)
    index = pandas.Index(_series_of(pandas, values, None), name=name)
    if frequency is not None:
        index.freq = frequency
    return index


def _series_of(pandas: Any, values: Any, index: Any) -> Any:
    if is_table(values):
        values = values.to_pandas()[_NAME].array
        if str(getattr(values.dtype, "tz", None)) == "UTC":
            values = values.tz_convert(UTC)  # as pandas itself has it, and pyarrow does not
    return pandas.Series(values, index=index)
