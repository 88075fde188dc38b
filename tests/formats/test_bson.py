"""BSON as a source: what is read, what the library would drop, where errors are."""

from __future__ import annotations

import io
import struct
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from uuid import UUID

import bson
import pytest
from bson.datetime_ms import DatetimeMS
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import MissingLibraryError, RefusedError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld
from serialpack.formats.bson.bson import BsonFormat
from serialpack.formats.shared.document import Malformed
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.formats.hostile import on_the_command_line, said

FMT = cast(BsonFormat, FORMATS.get("bson"))


def _document(*elements: bytes) -> bytes:
    inner = b"".join(elements) + b"\0"
    return struct.pack("<i", len(inner) + 4) + inner


def _element(kind: int, value: bytes, key: bytes = b"a") -> bytes:
    return bytes([kind]) + key + b"\0" + value


def _text(value: bytes) -> bytes:
    return struct.pack("<i", len(value) + 1) + value + b"\0"


#: A reference to a document, with its keys in another order than usual.
_TURNED = _element(0x10, bytes(4), b"$id") + _element(0x02, _text(b"c"), b"$ref")


def _scoped(scope: bytes) -> bytes:
    inner = _text(b"f()") + scope
    return struct.pack("<i", len(inner) + 4) + inner


def _same(one: Any, other: Any) -> bool:
    return difference(one, other) is None


@pytest.mark.parametrize(
    "value",
    [
        *(
            None,
            True,
            0,
            -1,
            1 << 31,
            (1 << 63) - 1,
            -(1 << 63),
            1.5,
            -0.0,
            float("inf"),
            "",
            "é\0",
        ),
        *(b"", b"\0\xff", [], [[1], {}], {"": {"b": 1, "a": [None]}}, {"$ref": 1, "x.y": 2}),
        *(UUID(int=5), bson.ObjectId("0123456789ab0123456789ab"), bson.Decimal128("1.50")),
        *(bson.Regex("a", 10), bson.Timestamp(1, 2), bson.Binary(b"x", 5), bson.MinKey()),
        *(bson.Code("f()"), bson.Code("f()", {"x": [1]}), bson.DBRef("c", 5), DatetimeMS(1 << 60)),
        *(bson.MaxKey(), struct.unpack("<d", b"\1\0\0\0\0\0\xf8\x7f")[0]),
        datetime(2023, 10, 25, 0, 44, 28, 123_000, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_kept(value: Any) -> None:
    record = {"v": value}
    data = FMT.write([record])
    assert _same(FMT.read(data), [record])


@pytest.mark.parametrize(
    "value",
    [
        *(1 << 63, 10**30, "\ud800", bytearray(b"a"), (1, 2), {1}, frozenset(), 1j, object()),
        *({1: 2}, {"a\0b": 1}, bson.Int64(5), {"a": bson.SON(b=1)}, DatetimeMS, len),
        datetime(2023, 10, 25, 0, 44, 28, 123_456, tzinfo=UTC),
        datetime(2023, 10, 25, tzinfo=timezone(timedelta(hours=2))),
        datetime(2023, 10, 25),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_refused_before_the_library_is_asked(value: Any) -> None:
    with pytest.raises(FAILURES):
        FMT.write([{"v": value}])
    with pytest.raises(FAILURES):
        FMT.write([value])


def test_documents_one_after_another_with_their_keys_in_order() -> None:
    records = [{"b": 1, "_id": 2, "a": {"x": 1, "_id": 2}}, {}, {"_id": 1, "a": 2}]
    data = FMT.write(records)
    assert _same(FMT.read(data), records)
    assert data == b"".join(FMT.write([record]) for record in records)
    assert data.startswith(_document(_element(0x10, struct.pack("<i", 1), b"b"))[4:11], 4)
    assert FMT.read(b"") == []


def test_integers_are_pythons_own_whatever_their_width() -> None:
    wide = _document(_element(0x12, struct.pack("<q", 5)))
    (record,) = FMT.read(wide)
    assert type(record["a"]) is int
    assert FMT.write([record]) == _document(_element(0x10, struct.pack("<i", 5)))


@pytest.mark.parametrize(
    ("elements", "path", "was"),
    [
        ([_element(0x08, b"\1"), _element(0x08, b"\1")], "$.a", "the key 'a'"),
        ([_element(0x06, b"")], "$.a", "undefined"),
        ([_element(0x0E, _text(b"x"))], "$.a", "a symbol"),
        ([_element(0x0C, _text(b"c") + bytes(12))], "$.a", "a pointer"),
        ([_element(0x0B, b"a\0xz\0")], "$.a", "options 'xz'"),
        ([_element(0x0B, b"a\0mi\0")], "$.a", "options 'mi'"),
        ([_element(0x03, _document(_element(0x06, b"", b"odd key")))], '$.a["odd key"]', "undef"),
        (
            [_element(0x04, _document(_element(0x0A, b"", b"0"), _element(0x06, b"", b"1")))],
            "$.a[1]",
            "undefined",
        ),
        ([_element(0x0F, _scoped(_document(_element(0x06, b""))))], "$.a.scope.a", "undefined"),
        (
            [_element(0x03, _document(_TURNED))],
            "$.a",
            "another order",
        ),
    ],
)
def test_what_the_library_would_drop_is_refused(elements: list[bytes], path: str, was: str) -> None:
    data = _document() + _document(
        _element(0x01, bytes(8), b"d"),
        _element(0x02, _text(b"x"), b"t"),
        _element(0x05, b"\1\0\0\0\x80z", b"b"),
        _element(0x13, bytes(16), b"n"),
        *elements,
        _element(0x12, bytes(8), b"z"),
    )
    for serializer in ("bson", "json", "cbor"):
        error = said(data, "bson", serializer)
        assert isinstance(error, ValueRefusedError)
        assert (error.record, error.value_path) == (1, path)
        assert was in error.message


def test_what_is_only_spelled_in_another_way_is_read() -> None:
    odd = _document(
        _element(0x04, _document(_element(0x08, b"\1", b"7"), _element(0x08, b"\0", b""))),
        _element(0x05, b"\5\0\0\0\2\1\0\0\0x", b"old"),
    )
    assert FMT.read(odd)[0]["a"] == [True, False]


def _deep(levels: int) -> bytes:
    data = _document()
    for _ in range(levels):
        data = _document(_element(0x03, data))
    return data


def test_depth() -> None:
    (record,) = FMT.read(_deep(MAX_DEPTH - 1))
    assert FMT.write([record]) == _deep(MAX_DEPTH - 1)
    for levels in (MAX_DEPTH + 1, 900, 5000, 20_000):
        with pytest.raises(Unheld) as caught:
            FMT.read(_document() + _deep(levels))
        assert caught.value.difference.kind == "depth"
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(RecursionError):
        FMT.write([deep])


@pytest.mark.parametrize(
    ("data", "exit_code", "where"),
    [
        (_document(_element(0x10, bytes(4)))[:-2], 3, "byte 0"),
        (_document() + b"\x05", 3, "byte 5"),
        (_document() + b"x" * 20, 3, "byte 5"),
        (b"\xff\xff\xff\x7f\x10a\0" + bytes(5), 3, "byte 0"),
        (b"\xff\xff\xff\xff\0", 3, "byte 0"),
        (bytes(5), 3, "byte 0"),
        (_document() + _document(_element(0x77, b"")), 3, "byte 5"),
        (_document(_element(0x02, b"\xff\xff\xff\x7fa\0")), 3, "byte 0"),
        (_document(_element(0x05, b"\xff\xff\xff\x7f\0a")), 3, "byte 0"),
        (_document(_element(0x02, _text(b"\xff"))), 3, "byte 0"),
        (_document(_element(0x10, bytes(4)))[:-1] + b"\1", 3, "byte 0"),
        (b"\xef\xbb\xbf{}", 3, "byte 0"),
        ('{"a": 1}'.encode("utf-16"), 3, "byte 0"),
        (_deep(20_000), 4, "record 0"),
    ],
    ids=range(14),
)
def test_hostile_bytes(tmp_path: Path, data: bytes, exit_code: int, where: str) -> None:
    error = said(data, "bson")
    assert error.exit_code == exit_code
    assert where in str(error)
    if exit_code == 4 or data.startswith(b"\xff"):
        code, message = on_the_command_line(tmp_path, data, "bson")
        assert (code, where in message, "Traceback" in message) == (exit_code, True, False)


def test_text_that_is_not_utf8_is_said_to_be_that() -> None:
    with pytest.raises(Malformed, match="a document: text that is not UTF-8"):
        FMT.read(_document(_element(0x02, _text(b"\xff"))))


def test_another_module_of_that_name_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bson", ModuleType("bson"))
    with pytest.raises(MissingLibraryError, match="not PyMongo's"):
        FMT.read(_document())
    monkeypatch.setitem(sys.modules, "bson", None)
    with pytest.raises(MissingLibraryError, match="bson is not installed"):
        FMT.write([{}])


def test_its_own_serializer_keeps_the_bytes() -> None:
    data = _document(_element(0x12, struct.pack("<q", 5))) + _document()
    packed, unpacked = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), packed, serializer="bson", format="bson")
    packed.seek(0)
    serialpack.unpack(packed, unpacked)
    assert unpacked.getvalue() == data


plain = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 63) - 1), st.floats()),
    *(st.text(max_size=5), st.binary(max_size=5), st.uuids()),
    st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC)).map(
        lambda value: value.replace(microsecond=value.microsecond // 1000 * 1000, fold=0)
    ),
)
keys = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3)
values = st.recursive(
    plain,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=10,
)


@given(records=st.lists(st.dictionaries(keys, values, max_size=4), max_size=3))
def test_values_come_back(records: list[Any]) -> None:
    try:
        data = FMT.write(records)
    except FAILURES:
        return
    assert difference(records, FMT.read(data)) is None


elements = st.one_of(
    st.builds(_element, st.integers(0, 255), st.binary(max_size=12), st.sampled_from([b"a", b""])),
    st.builds(
        _element,
        st.sampled_from([1, 2, 3, 4, 5, 8, 9, 11, 15, 16, 17, 18]),
        st.one_of(
            st.binary(min_size=8, max_size=8),
            st.just(_document()),
            st.just(_text(b"x")),
            st.just(b"a\0i\0"),
        ),
        st.sampled_from([b"a", b"b", b"_id"]),
    ),
)


@given(data=st.lists(elements, max_size=5).map(lambda parts: _document(*parts)))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """What is read and written again is read as the same."""
    try:
        records = FMT.read(data)
    except (Malformed, Unheld, RefusedError):
        return
    again = FMT.write(records)
    assert difference(records, FMT.read(again)) is None


def test_a_key_of_an_array_may_be_any_bytes() -> None:
    """The library does not look at them; that ended in a UnicodeDecodeError."""
    array = _document(_element(0x10, bytes([7, 0, 0, 0]), b"\x80"))
    with pytest.raises((Malformed, Unheld)):
        FMT.read(_document(_element(0x03, array)))
    assert FMT.read(_document(_element(0x04, array))) == [{"a": [7]}]
