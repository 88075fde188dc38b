"""A delimited stream of google.protobuf.Value as a source: what is read, where errors are."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld
from serialpack.formats.protobuf.protobuf import ProtobufFormat
from serialpack.formats.shared.document import Malformed
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.formats.hostile import on_the_command_line, said

FMT = cast(ProtobufFormat, FORMATS.get("protobuf"))

_floats = st.floats().filter(lambda x: not x.is_integer() or abs(x) > 2**53)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _floats | st.text() | st.just(-0.0),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.lists(_values))
def test_values_come_back(records: list[Any]) -> None:
    assert difference(records, FMT.read(FMT.write(records))) is None


@given(_values)
def test_the_library_reads_them_too(value: Any) -> None:
    struct_pb2 = pytest.importorskip("google.protobuf.struct_pb2")

    def plain(message: Any) -> Any:
        kind = message.WhichOneof("kind")
        if kind == "null_value":
            return None
        if kind == "list_value":
            return [plain(item) for item in message.list_value.values]
        if kind == "struct_value":
            return {key: plain(item) for key, item in message.struct_value.fields.items()}
        return getattr(message, kind)

    data = FMT.write([value])
    size = next(i for i, byte in enumerate(data) if byte < 128) + 1
    read = plain(struct_pb2.Value.FromString(data[size:]))
    assert _as_the_library(read) == _as_the_library(value)


def _as_the_library(value: Any) -> Any:
    """Numbers are doubles, and maps have no order."""
    if isinstance(value, dict):
        return sorted((key, _as_the_library(item)) for key, item in value.items())
    if isinstance(value, list):
        return [_as_the_library(item) for item in value]
    return repr(value if value is None or isinstance(value, bool | str) else float(value))


def test_what_the_library_writes_is_read() -> None:
    struct_pb2 = pytest.importorskip("google.protobuf.struct_pb2")
    struct = struct_pb2.Struct()
    struct.update({"a": [1, 2.5, None, {"": True}]})
    body = struct_pb2.Value(struct_value=struct).SerializeToString()
    assert FMT.read(bytes([len(body)]) + body) == [{"a": [1, 2.5, None, {"": True}]}]


@pytest.mark.parametrize(
    "value",
    [1.0, 0.0, float(2**53), 2**53 + 1, -(2**53) - 1, b"", (1,), {1: 2}, {None: 1}, "\ud800"],
)
def test_what_a_value_cannot_say(value: Any) -> None:
    with pytest.raises(FAILURES):
        FMT.write([value])


def test_depth() -> None:
    deep: Any = []
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert FMT.read(FMT.write([deep])) == [deep]
    with pytest.raises(RecursionError):
        FMT.write([[deep]])


@pytest.mark.parametrize(
    ("data", "at", "words"),
    [
        (b"\x00", 1, "no kind"),
        (b"\x02\x20", 0, "2 bytes are announced, 1 are there"),
        (b"\x80", 0, "ends within a number"),
        (b"\xff" * 10 + b"\x01", 0, "more than 64 bits"),
        (b"\xff\xff\xff\xff\x0f", 0, "4294967295 bytes are announced, 0 are there"),
        (b"\x02\x20\x02", 1, "2 is no bool"),
        (b"\x02\x08\x01", 1, "1 is no null"),
        (b"\x04\x11\0\0\0", 1, "ends within a number"),
        (b"\x04\x20\x01\x20\x01", 3, "more than one kind"),
        (b"\x03\x1a\x01\xff", 3, "not UTF-8"),
        (b"\x02\x38\x01", 1, "begins no field of a Value"),
        (b"\x04\x32\x02\x12\x00", 3, "begins no field of a ListValue"),
        (b"\x04\x2a\x02\x12\x00", 3, "begins no field of a Struct"),
        (b"\x06\x2a\x04\x0a\x02\x0a\x00", 5, "a key without a value"),
        (b"\x06\x2a\x04\x0a\x02\x1a\x00", 7, "begins no field of an entry"),
        (b"\x1f\x8b\x08\x00", 0, "31 bytes are announced"),
        (b"\xef\xbb\xbf{}", 0, "bytes are announced"),
        (b"\xff\xfe{\0}\0", 0, "bytes are announced"),
    ],
)
def test_bad_bytes_are_told_with_their_place(data: bytes, at: int, words: str) -> None:
    with pytest.raises(Malformed, match=words) as caught:
        FMT.read(data)
    assert caught.value.at == at
    error = said(data, "protobuf")
    assert isinstance(error, SyntaxInputError)
    assert error.offset == at


def test_a_key_twice() -> None:
    field = b"\x0a\x07\x0a\x01a\x12\x02\x20\x01"
    data = b"\x14\x2a\x12" + field * 2
    with pytest.raises(Unheld) as caught:
        FMT.read(data)
    assert caught.value.difference.kind == "duplicate-keys"
    for serializer in ("protobuf", "json"):
        error = said(data, "protobuf", serializer)
        assert isinstance(error, ValueRefusedError)
        assert error.kind == "duplicate-keys"


def test_other_serializers_pack_a_stream() -> None:
    data = FMT.write([{"b": 1, "a": [0.5, None]}, "x", {"c": {}}])
    for name in ("protobuf", "json", "msgpack", "raw"):
        packed, back = io.BytesIO(), io.BytesIO()
        report = serialpack.pack(io.BytesIO(data), packed, serializer=name, format="protobuf")
        assert report.exact
        packed.seek(0)
        serialpack.unpack(packed, back)
        assert back.getvalue() == data


def _nested(levels: int) -> bytes:
    """Lists within lists, each with its length, the innermost first."""
    lengths, size = [], 0
    for _ in range(levels):
        for tag in (b"\x0a", b"\x32"):
            head = tag + _varint(size)
            lengths.append(head)
            size += len(head)
    return _varint(size) + b"".join(reversed(lengths))


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


@pytest.mark.parametrize(
    ("data", "exit_code"),
    [
        (_nested(100_000), 4),
        (b"\xff\xff\xff\xff\x0f", 3),
        (b"\xff" * 9 + b"\x01", 3),
        (b"\x0a" * 100_000, 3),
    ],
)
def test_hostile_bytes(tmp_path: Path, data: bytes, exit_code: int) -> None:
    code, message = on_the_command_line(tmp_path, data, "protobuf")
    assert code == exit_code, message
    assert message.count("\n") == 1
