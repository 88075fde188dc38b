"""protobuf: google.protobuf.Value, and messages of a user's schema."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.values.equality import difference
from tests.serializers.shop import LISTS, ORDER, configured, message_class, varint

pytest.importorskip("google.protobuf")
pytest.importorskip("grpc_tools")


def test_the_library_reads_what_is_written(shop: dict[str, Any]) -> None:
    data = configured(shop).dump([ORDER])
    message = message_class(shop)
    assert message.FromString(data[2:]) == message(**ORDER)  # behind the length
    assert configured(shop).load(data) == [ORDER]


def test_what_the_library_writes_is_read(shop: dict[str, Any]) -> None:
    from google.protobuf.internal.encoder import _VarintBytes  # type: ignore[attr-defined]

    message = message_class(shop)(id=7, tags=["x"], rank=0, colour=9, inner={"points": [0.5]})
    message.prices["a"].amount = 2.5
    message.flags[3] = False
    body = message.SerializeToString()
    (record,) = configured(shop).load(_VarintBytes(len(body)) + body)
    assert record == {
        "id": 7,
        "tags": ["x"],
        "prices": {"a": {"amount": 2.5}},
        "flags": {3: False},
        "rank": 0,
        "colour": 9,
        "inner": {"points": [0.5]},
        "quantities": [],
    }


def test_an_order_comes_back_through_a_container(shop: dict[str, Any]) -> None:
    shuffled = dict(reversed(ORDER.items()))
    for record in (ORDER, shuffled, LISTS, {**LISTS, "parent": {**LISTS, "inner": {"points": []}}}):
        again = serialpack.loads(serialpack.dumps(record, "protobuf", options=shop))
        assert difference(record, again) is None


@pytest.mark.parametrize(
    ("part", "path", "kind"),
    [
        ({"id": "x"}, "$.id", "text"),
        ({"id": True}, "$.id", "boolean"),
        ({"id": 1.0}, "$.id", "integral-float"),
        ({"id": 2**63}, "$.id", "uint64"),
        ({"big": -1}, "$.big", "integer"),
        ({"small": 2**31}, "$.small", "integer"),
        ({"step": -(2**31) - 1}, "$.step", "integer"),
        ({"word": 2**32}, "$.word", "integer"),
        ({"yes": 1}, "$.yes", "integer"),
        ({"exact": 1}, "$.exact", "integer"),
        ({"weight": 0.1}, "$.weight", "float"),
        ({"weight": 1e300}, "$.weight", "integral-float"),
        ({"name": b"x"}, "$.name", "bytes"),
        ({"name": "\ud800"}, "$.name", "surrogates"),
        ({"name": None}, "$.name", "null"),
        ({"token": bytearray(b"x")}, "$.token", "bytearray"),
        ({"token": b"x", "card": "y"}, "$.card", "text"),
        ({"colour": "GREEN"}, "$.colour", "text"),
        ({"colour": "AZURE"}, "$.colour", "text"),  # would be read as BLUE
        ({"colour": 1}, "$.colour", "integer"),  # would be read as RED
        ({"tags": ("a",)}, "$.tags", "tuple"),
        ({"tags": ["a", 3]}, "$.tags[1]", "integer"),
        ({"prices": {"a": {"amount": 1}}}, "$.prices.a.amount", "integer"),
        ({"prices": []}, "$.prices", "array"),
        ({"flags": {"a": True}}, "$.flags.a", "text"),
        ({"parent": {"id": 1}}, "$.parent", "value"),  # without its lists
        ({"when": []}, "$.when", "array"),
        ({"nope": 1}, "$.nope", "integer"),
    ],
)
@pytest.mark.parametrize("verify", [True, False])
def test_what_is_not_of_the_schema_is_refused(
    shop: dict[str, Any], part: dict[str, Any], path: str, kind: str, verify: bool
) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({**LISTS, **part}, "protobuf", options=shop, verify=verify)
    assert (caught.value.value_path, caught.value.kind) == (path, kind)


def test_an_empty_list_in_another_order_is_refused(shop: dict[str, Any]) -> None:
    record = {"prices": {}, "name": "a", "tags": ["x"], "quantities": [], "flags": {}}
    with pytest.raises(ValueRefusedError, match="do not stand in the order"):
        serialpack.dumps(record, "protobuf", options=shop)


def test_messages_within_each_other_have_an_end(shop: dict[str, Any]) -> None:
    deep: dict[str, Any] = dict(LISTS)
    for _ in range(99):
        deep = {**LISTS, "parent": deep}
    assert serialpack.loads(serialpack.dumps(deep, "protobuf", options=shop)) == deep
    for _ in range(5000):
        deep = {**LISTS, "parent": deep}
    with pytest.raises(ValueRefusedError, match="nested too deeply"):
        serialpack.dumps(deep, "protobuf", options=shop)
    serializer = configured(shop)
    nested = b""
    for _ in range(200):
        nested = b"\x72" + varint(len(nested)) + nested
    with pytest.raises(ValueError, match="100 messages"):
        serializer.load(varint(len(nested)) + nested)


@pytest.mark.parametrize(
    "body",
    [
        b"\xa8\x7d\x01",  # field 2005
        b"\x0a\x01x",  # id as bytes
        b"\x08\x01\x08\x02",  # id twice
        b"\x3a\x00\x42\x00",  # card and token
        b"\x08",
        b"\x12\x05ab",
        b"\x12\x01\xff",
        b"\x08" + b"\xff" * 10 + b"\x01",
        b"\xa8\x01\x02",  # yes = 2
        b"\x48" + b"\xff" * 9 + b"\x01" + b"\x48\x00",
        b"\x55\0\0",  # weight cut off
        b"\x2a\x02\x0a\x05",  # an entry cut off
        b"\x2a\x04\x0a\x00\x0a\x00",  # two keys in an entry
        b"\x2a\x02\x18\x00",
        b"\x32\x04\x08\x01\x10\x00\x32\x04\x08\x01\x10\x01",  # a key twice
        b"\x0b\x0c",  # a group
        b"\x1a\x05\x01",
    ],
)
def test_what_no_serializer_wrote_is_refused(shop: dict[str, Any], body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        configured(shop).load(bytes([len(body)]) + body)


@given(body=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    serializer = SERIALIZERS.create("protobuf")
    assert isinstance(serializer, RecordSerializer)
    for data in (body, varint(len(body)) + body):
        try:
            serializer.load(data)
        except ValueError:
            continue


def test_records_of_a_file(shop: dict[str, Any]) -> None:
    records = [{"id": i, "name": f"n{i}", "weight": i / 2, **LISTS} for i in range(500)]
    source = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    packed, stream = io.BytesIO(), io.BytesIO()
    serialpack.pack(
        io.BytesIO(source), packed, serializer="protobuf", format="ndjson", options=shop
    )
    packed.seek(0)
    serialpack.convert(packed, stream, to="protobuf")
    stored = stream.getvalue()
    assert configured(shop).load(stored) == records
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.pack(
            io.BytesIO(source + b'{"id": "x"}\n'),
            io.BytesIO(),
            serializer="protobuf",
            format="ndjson",
            options=shop,
        )
    assert (caught.value.record, caught.value.value_path) == (500, "$.id")
    # The stream is a source of its own: its bytes are kept, and held against the schema.
    kept, back = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(
        io.BytesIO(stored), kept, serializer="protobuf", format="protobuf", options=shop
    )
    assert (report.records, report.exact) == (500, True)
    kept.seek(0)
    serialpack.unpack(kept, back)
    assert back.getvalue() == stored
    with pytest.raises(SyntaxInputError, match=r"not a delimited stream of shop\.Price"):
        serialpack.pack(
            io.BytesIO(stored),
            io.BytesIO(),
            serializer="protobuf",
            format="protobuf",
            options={**shop, "message": "Price"},
        )


def test_vector_tiles(shared_data: Path) -> None:
    """All tiles that keep to their schema; the others are refused by the field that does not."""
    folder = shared_data / "protobuf"
    options = {"schema": folder / "vector_tile.proto", "message": "Tile"}
    serializer = configured(options)
    library = message_class(options)
    tiles = sorted(folder.rglob("*.mvt"))
    assert tiles
    refused = {}
    for tile in tiles:
        data = tile.read_bytes()
        try:
            (record,) = serializer.load(varint(len(data)) + data)
        except ValueError as error:
            refused[tile.parent.name] = str(error)
            continue
        again = serializer.dump([record])
        assert difference(record, serializer.load(again)[0]) is None
        whole = library.FromString(data)
        assert library.FromString(again[len(again) - _body(again) :]) == whole
        assert not record["layers"] or record["layers"][0]["name"] == whole.layers[0].name
    assert refused == {
        "010": "field string_value is of another type",
        "011": "field 4242 of vector_tile.Tile.Value is not in this schema",
        "023": "vector_tile.Tile.Layer without name",
        "024": "vector_tile.Tile.Layer without version",
        "061": "vector_tile.Tile.Layer without version",
    }


def _body(stream: bytes) -> int:
    """The length of the first message."""
    length = shift = 0
    for byte in stream:
        length |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    return length
