"""Records as Arrow tables and back: what pyarrow would bend into another type is refused.

A table has columns: all records are maps with the same keys, and a column holds values of one
type, or null. Types are made from the values (``_columns``), so pyarrow infers none. Whatever a
file holds is read as the plain values of Python's types, times with nanoseconds as those of
``values.nanoseconds``; what these would cut off (nanoseconds in another zone than UTC) or not tell
(a field twice) is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from uuid import UUID

from serialpack.depth import TooDeep
from serialpack.formats.base import Difference, Unheld, value_step
from serialpack.formats.shared.column_types import ColumnType, Keys, Mixed, Odd, column_of
from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables.folded import is_folded, unfolded, unfolded_type
from serialpack.formats.tables.library import arrow as arrow
from serialpack.formats.tables.library import is_plain
from serialpack.formats.tables.room import MOST_VALUES, Room
from serialpack.values.kinds import ROOT, Path, path_text, shown
from serialpack.values.nanoseconds import (
    DURATION,
    LOCAL_TIME,
    UTC_TIME,
    fine_kind,
    nanoseconds_of,
    time_of,
)

#: The most keys of a map that a message names.
_MOST_SAID = 20


def table_of(records: list[Any], most: int) -> Any:
    """The table that holds ``records``; ``most``: the levels that its types may have.

    An array counts for two, a map for one. TypeError, ValueError, OverflowError or RecursionError
    where there is no such table.
    """
    pa = arrow()
    if not records:
        return pa.table({})
    columns, fields = columns_of(records, most)
    arrays = [
        array_of(column.cells, field.type)
        for column, field in zip(columns.values(), fields, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def columns_of(records: list[Any], most: int) -> tuple[dict[str, ColumnType], list[Any]]:
    """The columns of ``records``, at least one, and the fields of their table; as ``table_of``."""
    pa = arrow()
    rows = column_of(records, as_map=_one_shape)
    if rows.kinds != ("map",):
        raise Odd(next(record for record in records if type(record) is not dict))
    assert rows.shapes is not None
    columns = _only(rows.shapes)
    if not columns:
        raise ValueError("a table has at least one column")
    return columns, [pa.field(key, _type(column, most)) for key, column in columns.items()]


def table_under(records: list[Any], schema: bytes) -> Any:
    """The table that holds ``records`` under a schema of an earlier file."""
    pa = arrow()
    with failures_told():
        fields = pa.ipc.read_schema(pa.py_buffer(schema))
        columns = [[record[field.name] for record in records] for field in fields]
        arrays = [
            array_of(column, field.type) for column, field in zip(columns, fields, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=fields)


def _one_shape(shapes: Collection[Keys]) -> bool:
    """False, for ``as_map``; Mixed for maps with different keys, before anything is made of
    them."""
    if len(shapes) > 1:
        first, second = islice(shapes, 2)
        raise Mixed(f"maps with the keys {_said(first)} and {_said(second)}"[:200])
    return False


def _said(keys: Keys) -> str:
    return f"{keys[:_MOST_SAID]}"


def _only(shapes: dict[Any, dict[str, ColumnType]]) -> dict[str, ColumnType]:
    (columns,) = shapes.values()
    return columns


def _type(column: ColumnType, most: int) -> Any:
    """The type of a column."""
    pa = arrow()
    if most < 0:
        raise TooDeep
    kinds = [kind for kind in column.kinds if kind != "null"]
    if len(kinds) > 1:
        raise Mixed(f"a column of {' and '.join(kinds)}")
    if not kinds:
        return pa.null()
    kind = kinds[0]
    if kind == "array":
        assert column.items is not None
        return pa.list_(_type(column.items, most - 2))
    if kind == "map":
        assert column.shapes is not None
        columns = _only(column.shapes).items()
        return pa.struct([pa.field(key, _type(each, most - 1)) for key, each in columns])
    if kind == "decimal":
        digits, places = column.decimals
        return (pa.decimal128 if digits <= 38 else pa.decimal256)(digits, places)
    if kind == "integer":
        low, high = column.integers
        if low < -1 << 63 or high >= 1 << 64:
            raise Odd(low if low < -1 << 63 else high)
        if high < 1 << 63:
            return pa.int64()
        if low < 0:
            raise Mixed("a column of integers below 0 and from 2^63 up")
        return pa.uint64()
    return {
        "boolean": pa.bool_,
        "float": pa.float64,
        "text": pa.string,
        "bytes": pa.binary,
        "utc": lambda: pa.timestamp("us", "UTC"),
        "local": lambda: pa.timestamp("us"),
        "date": pa.date32,
        "time": lambda: pa.time64("us"),
        "timedelta": lambda: pa.duration("us"),
        "uuid": pa.uuid,
    }[kind]()


def array_of(values: Sequence[Any], kind: Any) -> Any:
    """A column of values; as ``table_of``."""
    pa = arrow()
    storage = kind if (plain := is_plain(kind)) else mapped(kind, _storage)
    with failures_told():
        if plain or (storage == kind and not has_nanoseconds(kind)):
            return pa.array(values, type=kind, from_pandas=False)
        # pyarrow makes no UUIDs within arrays and maps, and takes nanoseconds as integers.
        return cast(pa.array(_bare([*values]), type=storage, from_pandas=False), kind)


def cast(array: Any, kind: Any) -> Any:
    """An array as one of a type that differs in what is in its structs and lists.

    pyarrow's own ``cast`` makes broken arrays of lists of several nulls (pyarrow 26), also where
    these are not to change.
    """
    pa = arrow()
    if array.type == kind:
        return array
    # To cast takes ten times as long as to wrap the values in extension types.
    if _storage(kind) == array.type:
        return pa.ExtensionArray.from_storage(kind, array)
    if _storage(array.type) == kind:
        return array.storage
    if pa.types.is_struct(kind):
        parts = [cast(array.field(at), kind.field(at).type) for at in range(kind.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=[*kind], mask=array.is_null())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        values = cast(array.values, kind.value_type)
        return type(array).from_arrays(array.offsets, values, type=kind, mask=array.is_null())
    return array.cast(kind)


def _bare(value: Any) -> Any:
    if type(value) is UUID:
        return value.bytes
    if type(value) is list:
        return [_bare(item) for item in value]
    if type(value) is dict:
        return {key: _bare(item) for key, item in value.items()}
    return value if fine_kind(type(value)) is None else nanoseconds_of(value)


def _storage(kind: Any) -> Any:
    return kind.storage_type if isinstance(kind, arrow().BaseExtensionType) else kind


def mapped(kind: Any, leaf: Callable[[Any], Any]) -> Any:
    """``kind`` with ``leaf`` of each type in it that holds no others."""
    pa = arrow()
    is_a = pa.types
    if is_a.is_struct(kind):
        return pa.struct([field.with_type(mapped(field.type, leaf)) for field in kind])
    if is_a.is_map(kind):
        return pa.map_(mapped(kind.key_type, leaf), mapped(kind.item_type, leaf))
    if is_a.is_large_list(kind):
        return pa.large_list(mapped(kind.value_type, leaf))
    if is_a.is_fixed_size_list(kind):
        return pa.list_(mapped(kind.value_type, leaf), kind.list_size)
    if is_a.is_list(kind):
        return pa.list_(kind.value_field.with_type(mapped(kind.value_type, leaf)))
    return leaf(kind)


def _held(kind: Any) -> Any:
    """The type whose values Python holds as they are. To cast is refused where it loses any."""
    pa = arrow()
    is_a = pa.types
    if is_a.is_dictionary(kind):
        return _held(kind.value_type)
    if is_a.is_timestamp(kind):
        # For a zone called UTC pyarrow would make a ZoneInfo, which is another value.
        return pa.timestamp("us", "+00:00" if kind.tz == "UTC" else kind.tz)
    if is_a.is_time(kind):
        return pa.time64("us")
    if is_a.is_duration(kind):
        return pa.duration("us")
    if is_a.is_date64(kind):
        return pa.date32()
    if kind == pa.bool8():
        return pa.bool_()
    if isinstance(kind, pa.BaseExtensionType) and kind != pa.uuid():
        return _held(kind.storage_type)
    return kind


def without_words(kind: Any) -> Any:
    """The type of an array of type ``kind`` in which each value stands where it is used."""
    is_dictionary = arrow().types.is_dictionary
    return mapped(
        unfolded_type(kind), lambda leaf: leaf.value_type if is_dictionary(leaf) else leaf
    )


def records_of(table: Any, size: int, *, most: int = MOST_VALUES) -> list[dict[str, Any]]:
    """The records of a table that was read from ``size`` bytes.

    Malformed where it contradicts itself, Unheld where Python's values cannot say what it does,
    RefusedError for more than ``most`` values that the size does not account for.
    """
    columns = list(columns_in(table, size, most=most))
    if not columns:
        return [{} for _ in range(table.num_rows)]
    names = table.column_names
    return [dict(zip(names, row)) for row in zip(*columns)]  # noqa: B905 (it is slow, they are)


def columns_in(table: Any, size: int, *, most: int = MOST_VALUES) -> Iterator[list[Any]]:
    """The values of each column, made as they are asked for; as ``records_of``."""
    pa = arrow()
    room = Room(size, most)
    try:
        table.validate()
        _check_names(table.schema)
        room.take(table.num_rows)
        for column in table.columns:
            for chunk in column.chunks:
                room.take_array(chunk)
        table.validate(full=True)
    except (pa.ArrowException, LookupError, UnicodeDecodeError) as error:
        raise Malformed(first_line(error)) from None
    for i, field in enumerate(table.schema):
        yield _values(field.name, table.column(i))


def _values(name: str, column: Any) -> list[Any]:
    pa = arrow()
    why: Exception
    try:
        if is_plain(column.type):
            plain: list[Any] = column.to_pylist()
            return plain
        if is_folded(column.type):
            chunks = [unfolded(chunk) for chunk in column.chunks]
            column = pa.chunked_array(chunks, unfolded_type(column.type))
        kind = column.type
        try:
            return _as_python(column, mapped(kind, _held))
        except pa.ArrowInvalid:  # a time with nanoseconds, perhaps
            if not has_nanoseconds(kind):
                raise
        counts = _as_python(column, mapped(kind, lambda leaf: _held(_counted(leaf))))
        return [_timed(value, kind) for value in counts]
    except KeyError as error:  # a key twice in a map
        kind, why = "duplicate-keys", error
    except (pa.ArrowException, ValueError, ArithmeticError, TypeError) as error:
        kind, why = "value", error
    raise Unheld(Difference(0, f"${value_step(name)}", first_line(why), "", kind))


def _as_python(column: Any, kind: Any) -> list[Any]:
    """The values of ``column``, read as those of type ``kind``."""
    if kind != column.type:
        pa = arrow()
        column = pa.chunked_array([cast(chunk, kind) for chunk in column.chunks], kind)
    # What says how to read maps is slow, whatever is read.
    how = {"maps_as_pydicts": "strict"} if _has_map(kind) else {}
    values: list[Any] = column.to_pylist(**how)
    return values


def has_nanoseconds(kind: Any) -> bool:
    """Whether values of a type may be times with nanoseconds that ``values.nanoseconds`` holds."""
    return bool(mapped(kind, _counted) != kind)


def _counted(kind: Any) -> Any:
    """The integer type for a type of times with nanoseconds; any other type as it is."""
    return kind if _time_kind(kind) is None else arrow().int64()


def _time_kind(kind: Any) -> str | None:
    """The kind of times that a type with nanoseconds holds; None for all other types."""
    is_a = arrow().types
    if is_a.is_duration(kind):
        return DURATION if kind.unit == "ns" else None
    if not is_a.is_timestamp(kind) or kind.unit != "ns":
        return None
    return {None: LOCAL_TIME, "UTC": UTC_TIME, "+00:00": UTC_TIME}.get(kind.tz)


def is_fine_in_zone(kind: Any) -> bool:
    """Whether values of a type are times that may have nanoseconds, in another zone than UTC."""
    is_fine = arrow().types.is_timestamp(kind) and kind.unit == "ns"
    return bool(is_fine and _time_kind(kind) is None)


def _timed(value: Any, kind: Any) -> Any:
    """``value``, of type ``kind``, with a time for each count of nanoseconds in it."""
    if value is None or is_plain(kind):
        return value
    is_a = arrow().types
    if (time := _time_kind(kind)) is not None:
        return time_of(time, value)
    if is_a.is_struct(kind):
        return {field.name: _timed(value[field.name], field.type) for field in kind}
    if is_a.is_map(kind):
        pairs = value.items()
        return {_timed(k, kind.key_type): _timed(v, kind.item_type) for k, v in pairs}
    if is_a.is_list(kind) or is_a.is_large_list(kind) or is_a.is_fixed_size_list(kind):
        return [_timed(item, kind.value_type) for item in value]
    return value


def _has_map(kind: Any) -> bool:
    if arrow().types.is_map(kind):
        return True
    return any(_has_map(kind.field(i).type) for i in range(kind.num_fields))


def _check_names(fields: Any) -> None:
    """Unheld where two fields beside each other have one name."""
    stack: list[tuple[Path, list[Any]]] = [(ROOT, list(fields))]
    while stack:
        path, fields = stack.pop()
        counts = Counter(field.name for field in fields)
        if len(counts) < len(fields):
            twice = counts.most_common(1)[0][0]
            place = path_text(path)
            raise Unheld(Difference(0, place, f"{shown(twice)} twice", "", "duplicate-keys"))
        for field in fields:
            kind = field.type
            if is_plain(kind):
                continue
            inner = [kind.field(i) for i in range(kind.num_fields)]
            if arrow().types.is_struct(kind):
                stack.append(((path, field.name), inner))
            else:
                stack += [((path, field.name), [each]) for each in inner]


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


@contextmanager
def failures_told() -> Iterator[None]:
    """Make whatever pyarrow raises one of the errors that serializers raise."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise
    except (arrow().ArrowException, OSError, RuntimeError, KeyError, MemoryError) as error:
        raise ValueError(first_line(error)) from None


@contextmanager
def reading() -> Iterator[None]:
    """Make whatever pyarrow raises while it reads a file Malformed."""
    try:
        yield
    except Malformed:
        raise
    except (arrow().ArrowException, OSError, ValueError, LookupError, MemoryError) as error:
        raise Malformed(first_line(error)) from None
