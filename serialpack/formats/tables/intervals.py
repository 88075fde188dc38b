"""Parquet's intervals, which pyarrow reads as twelve bytes without a name, as Arrow's.

Source: https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#interval
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.tables.library import arrow
from serialpack.formats.tables.pieces import compact

_MILLISECOND = 10**6


def interval_types(file: Any) -> dict[str, Any]:
    """Name -> type of the columns in ``file`` in which there are intervals, with these; of those
    whose name comes twice, none."""
    stored = file.schema
    leaves = [stored.column(n).converted_type == "INTERVAL" for n in range(len(stored))]
    if True not in leaves:
        return {}
    schema, each = file.schema_arrow, iter(leaves)
    made = [(field.name, field.type, _typed(field.type, each)) for field in schema]
    return {name: t for name, was, t in made if t != was and schema.names.count(name) == 1}


def schema_with(schema: Any, types: dict[str, Any]) -> Any:
    """``schema`` with ``types``, by the names of columns."""
    if not types:
        return schema
    fields = [f.with_type(types.get(f.name, f.type)) for f in schema]
    return arrow().schema(fields, schema.metadata)


def table_with(table: Any, types: dict[str, Any]) -> Any:
    """As ``batch_with``, of a table."""
    if not types:
        return table
    made = [batch_with(batch, types) for batch in table.to_batches()]
    return arrow().Table.from_batches(made, schema_with(table.schema, types))


def batch_with(batch: Any, types: dict[str, Any]) -> Any:
    """``batch`` with intervals in the columns that are of ``types``.

    RefusedError for one of more months or days than Arrow counts.
    """
    if not types:
        return batch
    schema, plain = schema_with(batch.schema, types), compact(batch)
    columns = [_made(c, f.type) for c, f in zip(plain.columns, schema, strict=True)]
    return arrow().RecordBatch.from_arrays(columns, schema=schema)


def _typed(kind: Any, leaves: Iterator[bool]) -> Any:
    """``kind`` with intervals where ``leaves`` say so, which has one for each type in it that has
    no others within."""
    pa = arrow()
    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType):  # of which none is of intervals
        _typed(kind.storage_type, leaves)
        return kind
    if not kind.num_fields and not is_a.is_struct(kind):
        is_one = next(leaves, False) and kind == pa.binary(12)
        return pa.month_day_nano_interval() if is_one else kind
    fields = [kind.field(n) for n in range(kind.num_fields)]
    fields = [field.with_type(_typed(field.type, leaves)) for field in fields]
    if is_a.is_struct(kind):
        return pa.struct(fields)
    if is_a.is_map(kind):
        entries = fields[0].type
        return pa.map_(entries.field(0), entries.field(1), keys_sorted=kind.keys_sorted)
    if is_a.is_list(kind):
        return pa.list_(fields[0])
    return pa.large_list(fields[0]) if is_a.is_large_list(kind) else kind


def _made(array: Any, kind: Any) -> Any:
    """``array``, which is no slice, of type ``kind``."""
    if array.type == kind:
        return array
    pa = arrow()
    is_a = pa.types
    if is_a.is_interval(kind):
        return _intervals(array)
    buffers, size = array.buffers(), len(array)
    if is_a.is_struct(kind):
        children = [_made(array.field(n), field.type) for n, field in enumerate(kind)]
        return pa.Array.from_buffers(kind, size, buffers[:1], children=children)
    if is_a.is_map(kind):
        keys, items = _made(array.keys, kind.key_type), _made(array.items, kind.item_type)
        entries = pa.StructArray.from_arrays([keys, items], fields=[*kind.field(0).type])
        return pa.Array.from_buffers(kind, size, buffers[:2], children=[entries])
    children = [_made(array.values, kind.value_type)]
    return pa.Array.from_buffers(kind, size, buffers[:2], children=children)


def _intervals(array: Any) -> Any:
    """The intervals that bytes are: months, days and milliseconds, each of 32 bits."""
    import numpy as np

    pa = arrow()
    validity, data = array.buffers()
    stored = np.frombuffer(data or b"", "<u4")[: 3 * len(array)].reshape(-1, 3)
    there = np.asarray(array.is_valid())
    if (stored[there, :2] >> 31).any():
        raise RefusedError("an interval of more months or days than 2,147,483,647 is not read")
    made = np.zeros(len(array), [("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])
    made["months"], made["days"] = stored[:, 0].astype("i4"), stored[:, 1].astype("i4")
    made["nanoseconds"] = stored[:, 2].astype("i8") * _MILLISECOND
    buffers = [validity, pa.py_buffer(made.tobytes())]
    return pa.Array.from_buffers(pa.month_day_nano_interval(), len(array), buffers)
