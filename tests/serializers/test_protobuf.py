"""protobuf: google.protobuf.Value, and messages of a user's schema, older and newer ones."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import (
    DamagedError,
    FileError,
    SyntaxInputError,
    UnsupportedError,
    UsageError,
    ValueRefusedError,
)
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.values.equality import difference

pytest.importorskip("google.protobuf")
pytest.importorskip("grpc_tools")

SHOP = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "common.proto";
message Order {
  int64 id = 1;
  string name = 2;
  repeated int32 quantities = 3;
  repeated string tags = 4;
  map<string, Price> prices = 5;
  map<int32, bool> flags = 6;
  oneof payment { string card = 7; bytes token = 8; }
  optional int32 rank = 9;
  float weight = 10;
  double exact = 11;
  Colour colour = 12;
  google.protobuf.Timestamp when = 13;
  Order parent = 14;
  common.Address address = 16;
  uint64 big = 17;
  sint32 small = 18;
  sfixed64 fixed = 19;
  fixed32 word = 20;
  bool yes = 21;
  sint64 zigzag = 22;
  uint32 count = 23;
  sfixed32 step = 24;
  fixed64 hash = 25;
  message Inner { repeated double points = 1 [packed = false]; }
  Inner inner = 2000;
}
message Price { double amount = 1; string currency = 2; }
enum Colour { option allow_alias = true; UNKNOWN = 0; RED = 1; BLUE = 2; AZURE = 2; }
"""
COMMON = """
syntax = "proto3";
package common;
message Address { string street = 1; repeated string lines = 2; }
"""
#: What every order has.
LISTS: dict[str, Any] = {"quantities": [], "tags": [], "prices": {}, "flags": {}}
ORDER: dict[str, Any] = {
    "id": -5,
    "name": "\u00e9",
    "quantities": [1, -2, 2**31 - 1],
    "tags": ["b", "a"],
    "prices": {"z": {"amount": 1.5, "currency": "EUR"}, "a": {"currency": ""}},
    "flags": {7: True, -1: False},
    "token": b"\0\xff",
    "rank": 0,
    "weight": 0.5,
    "exact": -0.0,
    "colour": "BLUE",
    "when": {"seconds": 1, "nanos": 0},
    "parent": {"id": 0, **LISTS},
    "address": {"lines": []},
    "big": 2**64 - 1,
    "small": -(2**31),
    "fixed": -(2**63),
    "word": 2**32 - 1,
    "yes": False,
    "zigzag": -(2**63),
    "count": 2**32 - 1,
    "step": -(2**31),
    "hash": 2**64 - 1,
    "inner": {"points": [0.0, float("inf")]},
}


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Options that name the schema, whose import stands beside it."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.proto").write_text(SHOP)
    (folder / "common.proto").write_text(COMMON)
    return {"schema": str(folder / "shop.proto"), "message": "shop.Order"}


def _configured(options: dict[str, Any]) -> RecordSerializer:
    serializer = SERIALIZERS.create("protobuf")
    assert isinstance(serializer, RecordSerializer)
    serializer.configure(serializer.settings(options))
    return serializer


def _message_class(options: dict[str, Any]) -> Any:
    """The message as the library itself has it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    settings = SERIALIZERS.cls("protobuf").settings(options)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(settings["schema"]).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(settings["message"]))


def test_the_library_reads_what_is_written(shop: dict[str, Any]) -> None:
    data = _configured(shop).dump([ORDER])
    message = _message_class(shop)
    assert message.FromString(data[2:]) == message(**ORDER)  # behind the length
    assert _configured(shop).load(data) == [ORDER]


def test_what_the_library_writes_is_read(shop: dict[str, Any]) -> None:
    from google.protobuf.internal.encoder import _VarintBytes  # type: ignore[attr-defined]

    message = _message_class(shop)(id=7, tags=["x"], rank=0, colour=9, inner={"points": [0.5]})
    message.prices["a"].amount = 2.5
    message.flags[3] = False
    body = message.SerializeToString()
    (record,) = _configured(shop).load(_VarintBytes(len(body)) + body)
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
    serializer = _configured(shop)
    nested = b""
    for _ in range(200):
        nested = b"\x72" + _varint(len(nested)) + nested
    with pytest.raises(ValueError, match="100 messages"):
        serializer.load(_varint(len(nested)) + nested)


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


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
        _configured(shop).load(bytes([len(body)]) + body)


@given(body=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    serializer = SERIALIZERS.create("protobuf")
    assert isinstance(serializer, RecordSerializer)
    for data in (body, _varint(len(body)) + body):
        try:
            serializer.load(data)
        except ValueError:
            continue


OLD = 'syntax = "proto3"; package a; message Item { int32 id = 1; string name = 2; }'
NEW = (
    'syntax = "proto3"; package a; message Item { int32 id = 1; string name = 2;'
    " double price = 3; repeated string tags = 4; }"
)


def test_an_older_and_a_newer_schema(tmp_path: Path) -> None:
    options = {}
    for name, text in (("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.proto").write_text(text)
        options[name] = {"schema": tmp_path / f"{name}.proto", "message": "a.Item"}
    old = serialpack.dumps({"id": 1, "name": "x"}, "protobuf", options=options["old"])
    read = serialpack.loads(old, options=options["new"])
    assert read == {"id": 1, "name": "x", "tags": []}
    record = {"id": 1, "name": "x", "price": 0.5, "tags": []}
    new = serialpack.dumps(record, "protobuf", options=options["new"])
    assert serialpack.loads(new) == record
    with pytest.raises(DamagedError, match=r"field 3 of a\.Item is not in this schema"):
        serialpack.loads(new, options=options["old"])


def test_a_compiled_schema_and_short_names(shop: dict[str, Any], tmp_path: Path) -> None:
    settings = SERIALIZERS.cls("protobuf").settings({**shop, "message": "Order"})
    compiled = tmp_path / "shop.binpb"
    compiled.write_bytes(settings["schema"])
    options = {"schema": compiled, "message": "Price"}
    record = {"currency": "EUR"}
    assert serialpack.loads(serialpack.dumps(record, "protobuf", options=options)) == record
    assert settings["message"] == "shop.Order"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"schema": "gone.proto", "message": "A"}, FileError, "no such file"),
        ({"schema": "shop.proto", "message": "Ordr"}, UsageError, "no message Ordr.*shop.Order"),
        ({"schema": "shop.proto"}, UsageError, "takes a schema and the name of a message"),
        ({"message": "A"}, UsageError, "takes a schema and the name of a message"),
        ({"schema": "shop.proto", "message": "A", "x": 1}, UsageError, "and no x"),
        ({"schema": "shop.proto", "message": 5}, UsageError, "by its name"),
        ({"schema": 5, "message": "A"}, UsageError, "path of its file"),
        ({"schema": "junk.binpb", "message": "A"}, UsageError, "neither a .proto file nor"),
        ({"schema": "bad.proto", "message": "A"}, UsageError, "bad.proto:1:"),
        ({"schema": "group.proto", "message": "A"}, UsageError, "is a group"),
        ({"schema": "large.proto", "message": "A"}, UsageError, r"takes \d+ bytes in the header"),
        ({"schema": "twins.proto", "message": "C"}, UsageError, "more than one message C"),
    ],
)
def test_options_that_are_wrong(
    shop: dict[str, Any],
    tmp_path: Path,
    options: dict[str, Any],
    error: type[Exception],
    words: str,
) -> None:
    many = " ".join(f"string a_field_of_a_long_name_{i} = {i};" for i in range(1, 2000))
    files = {
        "junk.binpb": "no schema",
        "bad.proto": "message A { int64 a }",
        "group.proto": 'syntax = "proto2"; message A { optional group B = 1 {} }',
        "large.proto": f'syntax = "proto3"; message A {{ {many} }}',
        "twins.proto": 'syntax = "proto3"; message A { message C {} } message B { message C {} }',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    if options.get("schema") == "shop.proto":
        options = {**options, "schema": shop["schema"]}
    elif isinstance(options.get("schema"), str):
        options = {**options, "schema": tmp_path / options["schema"]}
    with pytest.raises(error, match=words):
        serialpack.dumps({}, "protobuf", options=options)


@pytest.mark.parametrize(
    "settings",
    [
        {"schema": b"\xff", "message": "A"},
        {"schema": b"", "message": "A"},
        {"schema": "text", "message": "A"},
        {"message": "A"},
        {"schema": b""},
        {"x": 1},
    ],
)
def test_settings_that_no_header_has(settings: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match="protobuf schema"):
        SERIALIZERS.create("protobuf").configure(settings)


def test_no_module_comes_from_the_current_folder(shop: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "grpc_tools.py").write_text("raise SystemExit('taken from here')")
    program = f"import serialpack; serialpack.dumps({LISTS}, 'protobuf', options={shop})"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


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
    assert _configured(shop).load(stored) == records
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
    serializer = _configured(options)
    library = _message_class(options)
    tiles = sorted(folder.rglob("*.mvt"))
    assert tiles
    refused = {}
    for tile in tiles:
        data = tile.read_bytes()
        try:
            (record,) = serializer.load(_varint(len(data)) + data)
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
