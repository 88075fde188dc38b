"""Parquet and Arrow as sources: what is read as which values."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.formats.base import SourceBlock, Unheld
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.formats.hostile import said
from tests.formats.table_files import NAMES, file_of, stream_of, table_format

pa = pytest.importorskip("pyarrow")


def _columns(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of one type, wherever they are."""
    return st.lists(inner | st.none(), min_size=1, max_size=5)


_leaves = st.sampled_from(
    [
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.integers(2**63, 2**64 - 1),
        st.floats(),
        st.text(),
        st.binary(),
        st.dates(),
        st.times(),
        st.datetimes(),
        st.datetimes(timezones=st.just(UTC)),
        st.timedeltas(timedelta(days=-(10**6)), timedelta(days=10**6)),
        st.decimals(allow_nan=False, allow_infinity=False, places=3).filter(
            lambda value: (
                len(value.as_tuple().digits) < 70 and not (value.is_signed() and not value)
            )
        ),
        st.uuids(),
        st.none(),
    ]
)
_types = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        inner.map(lambda kind: st.lists(kind | st.none(), max_size=3)),
        st.tuples(inner, inner).map(
            lambda pair: st.fixed_dictionaries({"x": pair[0], "a b": pair[1] | st.none()})
        ),
    ),
    max_leaves=3,
)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=150)
def test_columns_of_one_type_come_back(name: str, data: st.DataObject) -> None:
    fmt = table_format(name)
    kind = data.draw(data.draw(_types.map(lambda inner: st.just(inner))))
    values = data.draw(_columns(kind))
    records = [{"v": _plain(value), "n": i} for i, value in enumerate(values)]
    for write, read in ((fmt.write, fmt.read), (fmt.write_stored, fmt.read_stored)):
        assert difference(records, read(write(records))) is None


def _plain(value: Any) -> Any:
    """Without the folds that Hypothesis likes, and the orders of keys."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    return value.replace(fold=0) if isinstance(value, datetime | time) else value


ROWS: list[dict[str, Any]] = [
    {
        "text": "\u00e9",
        "number": 2**64 - 1,
        "least": -(2**63),
        "most": 2**63 - 1,
        "beyond": 2**63,
        "float": -0.0,
        "flag": True,
        "bytes": b"\0",
        "moment": datetime(2020, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        "local": datetime(1, 1, 1),
        "day": date(9999, 12, 31),
        "time": time(23, 59, 59, 999_999),
        "span": timedelta(microseconds=-1),
        "price": Decimal("1.50"),
        "id": UUID(int=7),
        "ids": [UUID(int=8), None],
        "list": [[1.5], []],
        "map": {"b": 1, "a": {"c": None}},
        "beside": {"id": UUID(int=9), "nothings": [None, None], "ids": [[UUID(int=1)], None]},
        "nothing": None,
        "empty": [],
    }
]


@pytest.mark.parametrize("name", NAMES)
def test_types_of_columns(name: str) -> None:
    fmt = table_format(name)
    records = [*ROWS, dict.fromkeys(ROWS[0]), *ROWS]
    data = fmt.write(records)
    assert difference(records, fmt.read(data)) is None
    assert fmt.write(records) == data
    table = fmt.read_table(data, 0)
    assert table.schema.field("moment").type == pa.timestamp("us", "UTC")
    assert fmt.read(fmt.write([])) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "records",
    [
        [1],
        ["a"],
        [{"a": 1}, [1]],
        [{}],
        [{"a": 1}, {"b": 1}],
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        [{"a": 1}, {"a": 1, "b": None}],
        [{"a": 1}, {"a": 1.5}],
        [{"a": 1}, {"a": True}],
        [{"a": 1}, {"a": "x"}],
        [{"a": {"x": 1}}, {"a": {"y": 1}}],
        [{"a": [1, "x"]}],
        [{"a": 2**64}],
        [{"a": -1}, {"a": 2**63}],
        [{"a": -(2**63) - 1}],
        [{"a": Decimal("1.5")}, {"a": Decimal("1.50")}],
        [{"a": Decimal("0." + "1" * 77)}],
        [{"a": Decimal("NaN")}],
        [{"a": timedelta.max}],
        [{"a": datetime(2020, 1, 1)}, {"a": datetime(2020, 1, 1, tzinfo=UTC)}],
        [{"a": (1, 2)}],
        [{"a": bytearray(b"x")}],
        [{"a": np.int64(1)}],
        [{"a": "\ud800"}],
        [{1: 2}],
    ],
)
def test_what_no_column_holds(name: str, records: list[Any]) -> None:
    for write in (table_format(name).write, table_format(name).write_stored):
        with pytest.raises(FAILURES):
            write(records)


_UTC = {"tzinfo": UTC}
READ: list[tuple[Any, Any]] = [
    (pa.array([-1], pa.int8()), -1),
    (pa.array([0.1], pa.float32()), float(np.float32(0.1))),
    (pa.array([1.5], pa.float16()), 1.5),
    (pa.array(["a"]).dictionary_encode(), "a"),
    (pa.array([1500], pa.timestamp("ms")), datetime(1970, 1, 1, 0, 0, 1, 500_000)),
    (pa.array([1000], pa.timestamp("ns", "UTC")), datetime(1970, 1, 1, microsecond=1, **_UTC)),  # type: ignore[arg-type]
    (pa.array([1000], pa.time64("ns")), time(0, 0, 0, 1)),
    (pa.array([1], pa.time32("s")), time(0, 0, 1)),
    (pa.array([1], pa.duration("s")), timedelta(seconds=1)),
    (pa.array([86_400_000], pa.date64()), date(1970, 1, 2)),
    (pa.array([[("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int8())), {"a": 1, "b": None}),
    (pa.array([[1, 2]], pa.list_(pa.int8(), 2)), [1, 2]),
    (pa.array([["a"]], pa.large_list(pa.large_string())), ["a"]),
    (
        pa.array([[{"t": datetime(2020, 1, 1, tzinfo=UTC)}]]),
        [{"t": datetime(2020, 1, 1, tzinfo=UTC)}],
    ),
    (pa.array(['{"a":1}'], pa.json_()), '{"a":1}'),
]
ARROW_ONLY: list[tuple[Any, Any]] = [
    (pa.array(["long enough for a view"], pa.string_view()), "long enough for a view"),
    (pa.array([b"x", None], pa.binary_view()), b"x"),
    (pa.array(["a"], pa.string_view()).dictionary_encode(), "a"),
    (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None], pa.int8())), True),
    (pa.array([{}], pa.struct([])), {}),
    (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array(["a"])]), 1),
]


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [(name, *case) for name in NAMES for case in READ] + [("arrow", *case) for case in ARROW_ONLY],
)
def test_columns_of_others(name: str, column: Any, value: Any) -> None:
    fmt = table_format(name)
    data = file_of(name, pa.table({"v": column}))
    assert difference(value, fmt.read(data)[0]["v"]) is None
    if name == "arrow":
        assert difference(fmt.read(data), fmt.read(stream_of(pa.table({"v": column})))) is None
    # Other serializers give a file of the same types again, where pyarrow makes them of values.
    block = SourceBlock(data, 0, 0, last=True)
    again = fmt.write_text(fmt.read(data), fmt.detect_style(block), first=True)
    assert fmt.difference(block, again) is None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([1], pa.timestamp("ns", "Europe/Vienna")), "value"),
        (pa.array([1], pa.time64("ns")), "value"),
        (pa.array([1 << 30], pa.date32()), "value"),
        (pa.array([1], pa.timestamp("us", "No/Where")), "value"),
        (pa.array([[("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int8())), "duplicate-keys"),
        (
            pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
            "duplicate-keys",
        ),
    ],
)
def test_what_python_does_not_hold(name: str, column: Any, kind: str) -> None:
    data = file_of(name, pa.table({"v": column}))
    with pytest.raises(Unheld) as caught:
        table_format(name).read(data)
    assert (caught.value.difference.value_path, caught.value.difference.kind) == ("$.v", kind)
    assert isinstance(said(data, name), ValueRefusedError)


def test_a_moment_beyond_all_years() -> None:
    data = file_of("arrow", pa.table({"v": pa.array([1 << 60], pa.timestamp("s"))}))
    with pytest.raises(Unheld):
        table_format("arrow").read(data)


@pytest.mark.parametrize("name", NAMES)
def test_two_columns_of_one_name(name: str) -> None:
    data = file_of(name, pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    for serializer in (name, "json"):
        error = said(data, name, serializer)
        assert isinstance(error, ValueRefusedError)
        assert error.kind == "duplicate-keys"


@pytest.mark.parametrize("name", NAMES)
def test_other_serializers_keep_the_types(name: str) -> None:
    table = pa.table({"a": pa.array([1, 2], pa.int8()), "b": pa.array(["x", None])})
    data = file_of(name, table)
    for serializer in ("json", "msgpack", name):
        packed, back = io.BytesIO(), io.BytesIO()
        report = serialpack.pack(io.BytesIO(data), packed, serializer=serializer, format=name)
        packed.seek(0)
        serialpack.unpack(packed, back)
        assert table_format(name).read_schema(back.getvalue()) == table.schema
        assert report.exact == (back.getvalue() == data)


@pytest.mark.parametrize("name", [None, "arrow"])
def test_a_stream_from_before_2019_is_read(name: str | None) -> None:
    """Its messages have no mark in front of them."""
    table = pa.table({"n": [1, 2], "text": ["a", "b"]})
    source, out = io.BytesIO(), io.BytesIO()
    options = pa.ipc.IpcWriteOptions(use_legacy_format=True)
    with pa.ipc.new_stream(source, table.schema, options=options) as writer:
        writer.write_table(table)
    source.seek(0)
    serialpack.convert(source, out, format=name, to="ndjson")
    assert out.getvalue() == b'{"n":1,"text":"a"}\n{"n":2,"text":"b"}\n'


def _group(name: str, children: int) -> bytes:
    """An optional group in the footer of Parquet (Thrift's compact protocol)."""
    return b"\x35\x02\x18" + bytes([len(name)]) + name.encode() + b"\x15" + bytes([2 * children, 0])


def _with_group_of_none(rows: list[int], size: int) -> bytes:
    """Parquet of a column, with a group before it in which is one of no fields."""
    table = pa.table({"a": rows})
    data = file_of("parquet", table, store_schema=False, row_group_size=size)
    at = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    root = b"\x06schema\x15"
    before, _, after = data[at:-8].partition(root + b"\x02\0")
    assert after
    assert before[2:4] == b"\x19\x2c"  # a list of two structs
    groups = root + b"\x04\0" + _group("nested", 1) + _group("inner", 0)
    footer = before[:3] + b"\x4c" + before[4:] + groups + after
    return data[:at] + footer + len(footer).to_bytes(4, "little") + data[-4:]


@pytest.mark.parametrize("size", [1, 3])
def test_a_group_of_no_fields_is_null(size: int) -> None:
    """pyarrow leaves the column out of what it reads; that ended in an internal error."""
    data, out = _with_group_of_none([1, 2, 3], size), io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, to="ndjson")
    assert out.getvalue() == b"".join(b'{"nested":null,"a":%d}\n' % n for n in (1, 2, 3))
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, serializer="json")
    assert serialpack.inspect(io.BytesIO(out.getvalue())).members[0].records == 3
