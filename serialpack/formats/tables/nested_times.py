"""Intervals of months within the structs, lists and maps of a column, as ISO 8601 text: Python has
no type for them, and the rest of the column stays what it is."""

from __future__ import annotations

from typing import Any, NamedTuple

from serialpack.formats.tables.far_times import texts_of_intervals
from serialpack.formats.tables.library import arrow
from serialpack.values.kinds import value_step


class Within(NamedTuple):
    """An array with text in it: how many, and of the first one its row, the steps from there, and
    itself."""

    array: Any
    total: int = 0
    row: int = 0
    path: str = ""
    text: str = ""


def of_texts(array: Any) -> Within:
    """``array``, or a column, that is text throughout."""
    import pyarrow.compute as pc

    total = len(array) - array.null_count
    if not total:
        return Within(array)
    row = pc.index(array.is_valid(), True).as_py()
    return Within(array, total, row, "", array[row].as_py())


def interval_texts(column: Any) -> Within | None:
    """``column`` with text for each interval that stands in a struct, a list or a map; None
    where there are none."""
    if not _has_intervals(column.type):
        return None
    pa = arrow()
    found, base = Within(None), 0
    chunks = column.chunks or [pa.array([], column.type)]
    parts = list(map(_spelled, chunks))
    for part in parts:
        if part.total and not found.total:
            found = part._replace(total=0, row=base + part.row)
        found = found._replace(total=found.total + part.total)
        base += len(part.array)
    return found._replace(array=pa.chunked_array([part.array for part in parts]))


def _has_intervals(kind: Any) -> bool:
    is_a = arrow().types
    if is_a.is_struct(kind):
        return any(_has_intervals(field.type) for field in kind)
    return (_is_list(kind) and _has_intervals(kind.field(0).type)) or is_a.is_interval(kind)


def _is_list(kind: Any) -> bool:
    is_a = arrow().types
    of_any = is_a.is_list(kind) or is_a.is_large_list(kind) or is_a.is_map(kind)
    return bool(of_any or is_a.is_fixed_size_list(kind))


def _spelled(array: Any) -> Within:
    pa, kind = arrow(), array.type
    if not _has_intervals(kind):
        return Within(array)
    if pa.types.is_interval(kind):
        return of_texts(texts_of_intervals(array))
    if not pa.types.is_struct(kind):
        return _spelled_list(array)
    parts = list(map(_spelled, array.flatten()))
    fields = [field.with_type(p.array.type) for field, p in zip(kind, parts, strict=True)]
    made = pa.StructArray.from_arrays(
        [part.array for part in parts], fields=fields, mask=array.is_null()
    )
    first = min(
        (
            part._replace(path=value_step(field.name) + part.path)
            for field, part in zip(kind, parts, strict=True)
            if part.total
        ),
        key=lambda part: part.row,
        default=Within(made),
    )
    return first._replace(array=made, total=sum(part.total for part in parts))


def _spelled_list(array: Any) -> Within:
    """A list of fixed size becomes one of any: Python has one kind of list."""
    import pyarrow.compute as pc

    pa, kind = arrow(), array.type
    if is_map := pa.types.is_map(kind):
        array = _entries(array)
    flat = array.flatten()
    items = _spelled(flat)
    of = kind.field(0).with_type(items.array.type)
    is_large = pa.types.is_large_list(kind)
    width = pa.int64() if is_large else pa.int32()
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(width)
    ends = pc.cumulative_sum(lengths)
    offsets = pa.concat_arrays([pa.array([0], width), ends])
    if is_map:
        parts, made_of = items.array.flatten(), pa.map_(of.type.field(0), of.type.field(1))
        made = pa.MapArray.from_arrays(offsets, *parts, type=made_of, mask=array.is_null())
    else:
        list_array = pa.LargeListArray if is_large else pa.ListArray
        made_of = pa.large_list(of) if is_large else pa.list_(of)
        made = list_array.from_arrays(offsets, items.array, type=made_of, mask=array.is_null())
    if not items.total:
        return Within(made)
    row = pc.index(pc.greater(ends, items.row), True).as_py()
    if is_map:
        path = value_step(flat[items.row].as_py()["key"]) + items.path.removeprefix(".value")
    else:
        path = f"[{items.row - offsets[row].as_py()}]{items.path}"
    return items._replace(array=made, row=row, path=path)


def _entries(maps: Any) -> Any:
    """The lists of keys and values that ``maps`` are."""
    pa, of = arrow(), maps.type.field(0)
    each = pa.StructArray.from_arrays([maps.keys, maps.items], fields=[*of.type])
    buffers, at = maps.buffers()[:2], maps.offset
    return pa.Array.from_buffers(pa.list_(of), len(maps), buffers, offset=at, children=[each])
