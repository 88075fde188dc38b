"""Avro container files as a source: what is read, and what is written."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats.base import SourceBlock
from serialpack.formats.shared.document import Malformed
from serialpack.values.equality import difference
from tests.formats.avro_files import CODECS, FMT, container, record, z

fastavro = pytest.importorskip("fastavro")


_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner),
        st.dictionaries(st.text(), inner),
        st.dictionaries(st.sampled_from("abcd"), inner),
        st.fixed_dictionaries({"x": inner, "y": inner}),
    ),
    max_leaves=20,
)


@given(st.lists(_values))
def test_values_of_any_shape_come_back(records: list[Any]) -> None:
    assert difference(records, FMT.read(FMT.write(records))) is None


@given(st.lists(st.datetimes(timezones=st.just(UTC)) | st.none() | st.dates()))
def test_moments_come_back(records: list[Any]) -> None:
    records = [each.replace(fold=0) if isinstance(each, datetime) else each for each in records]
    assert difference(records, FMT.read(FMT.write(records))) is None


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([1, 2], "long"),
        ([], ["null"]),
        ([None], ["null"]),
        ([1, None, "a", 1.5, True], ["null", "boolean", "long", "double", "string"]),
        (
            [{"a": 1}],
            {"type": "record", "name": "Record", "fields": [{"name": "a", "type": "long"}]},
        ),
        ([{"odd key": 1}, {}], {"type": "map", "values": "long"}),
        ([{}], {"type": "map", "values": ["null"]}),
        (
            [Decimal("1.50")],
            {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2},
        ),
        ([date(1, 1, 1)], {"type": "int", "logicalType": "date"}),
        ([UUID(int=1)], {"type": "string", "logicalType": "uuid"}),
    ],
)
def test_schemas_are_made_for_the_records(values: list[Any], schema: Any) -> None:
    data = FMT.write(values)
    found = json.loads(fastavro.reader(io.BytesIO(data)).metadata["avro.schema"])
    if isinstance(found, dict):
        found = {key: value for key, value in found.items() if key != "__fastavro_parsed"}
    assert found == schema
    assert difference(values, FMT.read(data)) is None
    assert FMT.write(values) == data


def test_absent_is_not_null() -> None:
    records = [{"a": 1}, {"a": None}, {}, {"a": 1, "b": [{"c": 1}, {"d": 2}]}, {"b": [], "a": 0}]
    assert difference(records, FMT.read(FMT.write(records))) is None
    many = [{f"k{i}": i} for i in range(100)]  # no hundred types: a map
    assert difference(many, FMT.read(FMT.write(many))) is None


@pytest.mark.parametrize(
    "values",
    [
        [2**63],
        ["\ud800"],
        [Decimal("1.5"), Decimal("1.50")],
        [Decimal("1E+3")],
        [Decimal("-0")],
        [datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)],  # two longs
        [1, datetime(2020, 1, 1, tzinfo=UTC)],
        ["a", UUID(int=1)],
        [{1: 2}],
        [(1, 2)],
        [datetime(2020, 10, 25, 2, fold=1)],
        [time(1, tzinfo=UTC)],
    ],
)
def test_what_no_schema_holds(values: list[Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        FMT.write(values)


@pytest.mark.parametrize(
    ("schema", "data", "value"),
    [
        ("int", z(-5), -5),
        ("float", b"\0\0\0\x3f", 0.5),
        ({"type": "fixed", "name": "F", "size": 2}, b"ab", b"ab"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, z(1), "B"),
        (
            {"type": "array", "items": "int"},
            z(-2) + z(2) + z(1) + z(2) + z(1) + z(3) + z(0),
            [1, 2, 3],
        ),
        ({"type": "map", "values": "null"}, z(1) + z(1) + b"k" + z(0), {"k": None}),
        (record("null", "boolean"), b"\1", {"a": None, "b": True}),
        (record(), b"", {}),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            z(1),
            datetime(1970, 1, 1, 0, 0, 0, 1000, UTC),
        ),
        ({"type": "int", "logicalType": "time-millis"}, z(86_399_999), time(23, 59, 59, 999_000)),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 1},
            z(1) + b"\xf1",
            Decimal("-1.5"),
        ),
    ],
)
def test_types_of_others(schema: Any, data: bytes, value: Any) -> None:
    assert difference([value], FMT.read(container(schema, [(1, data)]))) is None


@pytest.mark.parametrize("codec", CODECS)
def test_codecs(codec: bytes) -> None:
    blocks = [(2, z(1) + z(2)), (1, z(3))]
    packed = container("long", [(n, CODECS[codec](data)) for n, data in blocks], codec)
    assert FMT.read(packed) == [1, 2, 3]
    for bad in (b"", b"\xff\xff\xff\xff\xff\xff"):
        if codec != b"null":
            with pytest.raises((Malformed, RefusedError)):
                FMT.read(container("long", [(1, bad)], codec))
    if codec not in (b"null", b"zstandard"):
        cut = CODECS[codec](z(1) * 1000)[:-5]
        with pytest.raises(Malformed):
            FMT.read(container("long", [(1000, cut)], codec))


@pytest.mark.parametrize(
    ("schema", "sound"),
    [
        ({"precision": 4, "scale": 2}, True),
        ({"precision": 4, "scale": 2, "type": "fixed", "name": "F", "size": 2}, True),
        ({}, False),
        ({"precision": 0}, False),
        ({"precision": True}, False),
        ({"precision": 2, "scale": 5}, False),
        ({"precision": 2, "scale": -1}, False),
        ({"precision": 5, "type": "fixed", "name": "F", "size": 2}, False),
    ],
    ids=str,
)
def test_decimals_that_are_none_are_bytes(schema: dict[str, Any], sound: bool) -> None:
    """As the specification says of logical types that are not valid; such a file was refused."""
    schema = {"type": "bytes", "logicalType": "decimal"} | schema
    data = b"\x01\x02"
    stored = data if schema["type"] == "fixed" else z(2) + data
    whole = container(record([schema, "null"]), [(1, z(0) + stored)])
    assert FMT.read(whole) == [{"a": Decimal("2.58") if sound else data}]


def test_the_schema_goes_with_the_values_through_others() -> None:
    """The values are written under the schema that they were read under."""
    schema = {
        "type": "record",
        "name": "Weather",
        "namespace": "test",
        "doc": "A reading.",
        "fields": [
            {"name": "station", "type": "string"},
            {"name": "temp", "type": "int"},
            {"name": "kind", "type": {"type": "enum", "name": "K", "symbols": ["A", "B"]}},
            {"name": "note", "type": ["null", "string"], "default": None},
        ],
    }
    records = [{"station": "x", "temp": i, "kind": "B", "note": None} for i in range(3)]
    file = io.BytesIO()
    fastavro.writer(file, schema, records, codec="deflate", metadata={"who": "me"})
    for name in ("msgpack", "json", "avro"):
        packed, back = io.BytesIO(), io.BytesIO()
        serialpack.pack(io.BytesIO(file.getvalue()), packed, serializer=name, format="avro")
        packed.seek(0)
        serialpack.unpack(packed, back)
        assert name != "avro" or back.getvalue() == file.getvalue()
        reader = fastavro.reader(io.BytesIO(back.getvalue()))
        assert list(reader) == records
        assert (reader.codec, reader.metadata["who"]) == ("deflate", "me")
        found = reader.writer_schema
        assert (found["name"], found["doc"]) == ("test.Weather", "A reading.")
        assert found["fields"][1]["type"] == "int"


def test_a_spelling_that_is_none_is_refused() -> None:
    for style in ({"schema": "{"}, {"schema": '"int"', "meta": 5}, {"schema": '"string"'}):
        with pytest.raises((ValueError, TypeError)):
            FMT.write_text([1], style, first=True)
    assert FMT.read(FMT.write_text([1], {"schema": 7}, first=True)) == [1]


def test_samples(shared_data: Path) -> None:
    paths = sorted((shared_data / "avro").glob("*.avro"))
    assert paths
    for path in paths:
        data = path.read_bytes()
        if b"snappy" in data[:300]:
            pytest.importorskip("cramjam")
        records = FMT.read(data)
        assert difference(records, list(fastavro.reader(io.BytesIO(data)))) is None
        block = SourceBlock(data, 0, 0, last=True)
        again = FMT.write_text(records, FMT.detect_style(block), first=True)
        assert FMT.difference(block, again) is None
        assert difference(records, FMT.read(FMT.write(records))) is None


@pytest.mark.parametrize(
    ("style", "first"),
    [
        ({}, False),
        ({"schema": '"int"', "codec": "bzip2"}, False),
        ({"schema": '"int"', "meta": ["a"]}, True),
        ({"schema": '"int"', "meta": {"a": 1}}, True),
        ({"schema": '"int"', "meta": {1: "a"}}, True),
    ],
)
def test_values_are_written_under_a_sound_style_only(style: dict[str, Any], first: bool) -> None:
    assert FMT.read(FMT.write_text([1], {"schema": '"int"', "meta": {"a": "b"}}, first=True)) == [1]
    with pytest.raises(ValueError, match=r"not a style|schema is not known"):
        FMT.write_text([1], style, first=first)


def test_why_a_table_has_one_type_for_all_is_told() -> None:
    """That a union has two of one type told nobody what the names of columns have to do with it."""
    record = {"a b": 1, "at": datetime(2001, 1, 1)}
    with pytest.raises(ValueRefusedError, match="its keys are no names of fields in Avro"):
        serialpack.dumps([record], "avro")
    sound = {"a": 1, "at": datetime(2001, 1, 1)}
    assert serialpack.loads(serialpack.dumps([sound], "avro")) == [sound]
