"""Avro container files as a source: what is read, what is refused before fastavro sees it."""

from __future__ import annotations

import bz2
import contextlib
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.avro.avro import Avro
from serialpack.formats.base import SourceBlock, Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.values.equality import difference
from tests.formats.hostile import on_the_command_line, said

fastavro = pytest.importorskip("fastavro")

FMT = cast(Avro, FORMATS.get("avro"))
SYNC = b"sixteen bytes of"


def z(number: int) -> bytes:
    """A long, as Avro writes it."""
    number = number << 1 if number >= 0 else (-number << 1) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def container(
    schema: Any, blocks: Iterable[tuple[int, bytes]], codec: bytes | None = b"null"
) -> bytes:
    """A file by hand. ``blocks``: the values announced, and the bytes."""
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    meta = [(b"avro.schema", text)] + ([(b"avro.codec", codec)] if codec else [])
    out = b"Obj\x01" + z(len(meta))
    for pair in meta:
        out += b"".join(z(len(part)) + part for part in pair)
    out += z(0) + SYNC
    for count, data in blocks:
        out += z(count) + z(len(data)) + data + SYNC
    return out


def record(*fields: Any) -> Any:
    names = "abcdefgh"
    return {
        "type": "record",
        "name": "R",
        "fields": [{"name": names[i], "type": kind} for i, kind in enumerate(fields)],
    }


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


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _snappy(data: bytes) -> bytes:
    cramjam = pytest.importorskip("cramjam")
    return bytes(cramjam.snappy.compress_raw(data)) + zlib.crc32(data).to_bytes(4, "big")


CODECS: dict[bytes, Callable[[bytes], bytes]] = {
    b"null": bytes,
    b"deflate": _deflate,
    b"bzip2": bz2.compress,
    b"xz": lzma.compress,
    b"zstandard": zstandard.compress,
    b"snappy": _snappy,
}


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


@pytest.mark.parametrize("codec", [c for c in CODECS if c != b"null"])
def test_a_block_restores_to_no_more_than_a_block(codec: bytes) -> None:
    if codec == b"snappy":
        pytest.importorskip("cramjam")
        bomb = b"\x80\x80\x80\x80\x0f" + bytes(100)
    else:
        bomb = CODECS[codec](bytes(65 << 20))
    with pytest.raises(RefusedError, match="64 MiB"):
        FMT.read(container("bytes", [(1, bomb)], codec))


RECURSIVE = {
    "type": "record",
    "name": "A",
    "fields": [{"name": "n", "type": ["null", "A"]}],
}
ONE = container("long", [(1, z(1))])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not begin as Avro"),
        (b"\xef\xbb\xbf" + ONE, "does not begin as Avro"),
        (ONE.decode("latin-1").encode("utf-16"), "does not begin as Avro"),
        (b"Obj\x02" + ONE[4:], "does not begin as Avro"),
        (ONE[:10], "announced"),
        (ONE[:4], "ends too early"),
        (ONE[:-1], "are there"),
        (ONE + b"x", "a block of -|ends too early"),
        (ONE + ONE, "a block of -40 values"),
        (ONE[:-1] + b"?", "no sync marker"),
        (container("long", [(-1, z(1))]), "a block of -1 values"),
        (container("long", [(2, z(1))]), "2 values are announced in 1 bytes"),
        (container("long", [(1, z(1) + z(2))]), "more than its values"),
        (container("long", [(2, b"\x80\x80")]), "ends within a value"),
        (container("long", [(1, b"\xff" * 10 + b"\1")]), "more than 64 bits"),
        (container("int", [(1, z(1 << 40))]), "is not an int"),
        (container("boolean", [(1, b"\7")]), "not a boolean"),
        (container("double", [(1, b"\0\0")]), "ends within a value"),
        (container("string", [(1, z(-5) + b"abc")]), "-5 bytes are announced"),
        (container("string", [(1, z(1 << 40) + b"abc")]), "bytes are announced, 3 are there"),
        (container("string", [(1, z(1) + b"\xff")]), "not UTF-8"),
        (container(["null", "long"], [(1, z(7))]), "no place in a union"),
        (container(["null", "long"], [(1, z(-1) + z(0))]), "no place in a union"),
        (container({"type": "enum", "name": "E", "symbols": ["A"]}, [(1, z(1))]), "1 symbols"),
        (container({"type": "enum", "name": "E", "symbols": ["A"]}, [(1, z(-1))]), "1 symbols"),
        (container({"type": "array", "items": "int"}, [(1, z(1 << 32) + z(1))]), "announced"),
        (
            container({"type": "array", "items": "int"}, [(1, z(-1) + z(9) + z(1) + z(0))]),
            "do not end",
        ),
        (container({"type": "map", "values": "int"}, [(1, z(1 << 32) + z(1))]), "announced"),
        (container({"type": "int", "logicalType": "time-millis"}, [(1, z(-1))]), "beyond the day"),
        (
            container(
                {"type": "bytes", "logicalType": "decimal", "precision": 2}, [(1, z(1) + b"\x70")]
            ),
            "more than 2 digits",
        ),
        (container(b"{", []), "its schema is none"),
        (container("nope", []), "its schema is none"),
        (container(b"\xff", []), "its schema is none"),
        (container(b"[" * 100_000, []), "its schema is none"),
        (container(b'{"type":"array","items":' * 800 + b'"int"' + b"}" * 800, []), "levels|deep"),
        (container({"type": "fixed", "name": "F", "size": -1}, []), "fixed type"),
        (container({"type": "fixed", "name": "F", "size": 1 << 50}, [(1, b"a")]), "within a value"),
        (
            container({**record("int", "int"), "fields": [{"name": "a", "type": "int"}] * 2}, []),
            "two fields",
        ),
        (container("long", [(1, z(1))], b"lzma9"), "which is not in the specification"),
        (b"Obj\x01" + z(0) + SYNC, "no schema"),
        (b"Obj\x01" + z(1 << 32), "entries are announced"),
    ],
)
def test_bad_files_are_told(data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words) as caught:
        FMT.read(data)
    assert caught.value.at is not None
    error = said(data, "avro")
    assert isinstance(error, SyntaxInputError)
    assert 0 <= error.offset <= len(data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (
            container(
                {"type": "map", "values": "int"},
                [(0, b""), (1, z(2) + (z(1) + b"k" + z(1)) * 2 + z(0))],
            ),
            "duplicate-keys",
        ),
        (
            container({"type": "long", "logicalType": "timestamp-micros"}, [(1, z(1 << 60))]),
            "value",
        ),
        (container({"type": "int", "logicalType": "date"}, [(1, z(1 << 30))]), "value"),
        (container({"type": "string", "logicalType": "uuid"}, [(1, z(1) + b"x")]), "value"),
        (container(RECURSIVE, [(1, z(1) * 100_000 + z(0))]), "depth"),
    ],
)
def test_values_that_python_does_not_hold(data: bytes, kind: str) -> None:
    with pytest.raises(Unheld) as caught:
        FMT.read(data)
    assert caught.value.difference.kind == kind
    for serializer in ("avro", "json"):
        error = said(data, "avro", serializer)
        assert isinstance(error, ValueRefusedError)
        assert error.kind == kind


def _doubling(levels: int) -> Any:
    """Records of two records each, of nothing in the end."""
    kind: Any = "null"
    for i in range(levels):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"R{i - 1}" if i else "null"}]
        kind = {"type": "record", "name": f"R{i}", "fields": fields}
    return kind


@pytest.mark.parametrize(
    "data",
    [
        container("null", [(1 << 40, b"")]),
        container(record("null"), [(1 << 40, b"")]),
        container({"type": "array", "items": "null"}, [(1, z(1 << 40) + z(0))]),
        container({"type": "array", "items": record()}, [(1, z(1 << 40) + z(0))]),
        container(_doubling(60), [(1, b"")]),
    ],
)
def test_values_of_no_bytes_are_counted(data: bytes) -> None:
    with pytest.raises((RefusedError, Malformed), match="take no bytes"):
        FMT.read(data)


def test_few_values_of_no_bytes_are_read() -> None:
    assert FMT.read(container("null", [(3, b"")])) == [None] * 3
    nulls = {"type": "array", "items": "null"}
    assert FMT.read(container(nulls, [(1, z(3) + z(0))])) == [[None] * 3]
    nested: Any = {"n": None}
    for _ in range(100):
        nested = {"n": nested}
    assert FMT.read(container(RECURSIVE, [(1, z(1) * 100 + z(0))])) == [nested]


@pytest.mark.parametrize(
    ("data", "exit_code"),
    [
        (container(RECURSIVE, [(1, z(1) * 100_000 + z(0))]), 4),
        (container(b"[" * 100_000, []), 3),
        (container({"type": "array", "items": "null"}, [(1, z(1 << 32) + z(0))]), 4),
        (container({"type": "array", "items": "int"}, [(1, z(1 << 32) + z(0))]), 3),
        (container("bytes", [(1, _deflate(bytes(65 << 20)))], b"deflate"), 4),
        (container("bytes", [(1, zstandard.compress(bytes(65 << 20)))], b"zstandard"), 4),
        (container(_doubling(60), [(1, b"")]), 3),
    ],
)
def test_hostile_bytes(tmp_path: Path, data: bytes, exit_code: int) -> None:
    code, message = on_the_command_line(tmp_path, data, "avro")
    assert code == exit_code, message
    assert message.count("\n") == 1


@given(st.data())
def test_changed_bytes_are_read_or_refused(data: st.DataObject) -> None:
    records = [
        {"a": [1, None, "x"], "b": {"": 1.5}, "c": Decimal("1.5"), "e": [{"x": 1}, {"y": []}]}
    ]
    source = bytearray(FMT.write(records))
    for _ in range(data.draw(st.integers(1, 4))):
        source[data.draw(st.integers(0, len(source) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(Malformed, Unheld, RefusedError):
        FMT.read(bytes(source))


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
    for spelling in ({"schema": "{"}, {"schema": '"int"', "meta": 5}, {"schema": '"string"'}):
        with pytest.raises((ValueError, TypeError)):
            FMT.spell([1], spelling, first=True)
    assert FMT.read(FMT.spell([1], {"schema": 7}, first=True)) == [1]


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
        again = FMT.spell(records, FMT.learn(block), first=True)
        assert FMT.difference(block, again) is None
        assert difference(records, FMT.read(FMT.write(records))) is None
