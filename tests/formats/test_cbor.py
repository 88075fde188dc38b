"""CBOR as a source: what is read, what stays a tag, where errors are."""

from __future__ import annotations

import io
import json
import math
import struct
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld
from serialpack.formats.cbor.cbor import CborFormat, read_items, write_items
from serialpack.formats.shared.document import Malformed
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.formats.hostile import said

FMT = cast(CborFormat, FORMATS.get("cbor"))


def _hex(*items: str) -> bytes:
    return bytes.fromhex("".join(items))


def _same(one: Any, other: Any) -> bool:
    return difference(one, other) is None


def _tag(number: int, value: Any) -> Any:
    return cbor2.CBORTag(number, value)


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("00", 0),
        ("1bffffffffffffffff", (1 << 64) - 1),
        ("3bffffffffffffffff", -(1 << 64)),
        ("c249010000000000000000", 1 << 64),
        ("c349010000000000000000", -(1 << 64) - 1),
        ("f93c00", 1.0),
        ("f98000", -0.0),
        ("fa47c35000", 100000.0),
        ("f97c00", math.inf),
        ("f97e00", math.nan),
        ("5f42010243030405ff", b"\1\2\3\4\5"),
        ("7f657374726561646d696e67ff", "streaming"),
        ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]),
        ("bf6346756ef563416d7421ff", {"Fun": True, "Amt": -2}),
        ("a201020304", {1: 2, 3: 4}),
        ("a1820102f6", {(1, 2): None}),
        ("a141616162", {b"a": "b"}),
        ("c074323031332d30332d32315432303a30343a30305a", datetime(2013, 3, 21, 20, 4, tzinfo=UTC)),
        ("c11a514b67b0", datetime(2013, 3, 21, 20, 4, tzinfo=UTC)),
        ("c1fb41d452d9ec200000", datetime(2013, 3, 21, 20, 4, 0, 500_000, tzinfo=UTC)),
        ("c48221196ab3", Decimal("273.15")),
        ("d81e820103", Fraction(1, 3)),
        ("d82550" + "12345678" * 4, UUID("12345678" * 4)),
        ("d83444c0a80001", IPv4Address("192.168.0.1")),
        ("d8368218204420010db8", IPv6Network("2001:db8::/32")),
        ("d864190f9a", date(1980, 12, 8)),
        ("d903ec6a323031332d30332d3231", date(2013, 3, 21)),
        ("d9010283010203", {1, 2, 3}),
        ("d9a7f882f93c00f9c000", 1 - 2j),
        ("d9d9f7a1616183010203", {"a": [1, 2, 3]}),
    ],
)
def test_what_python_has_a_value_for(spelled: str, value: Any) -> None:
    (found,) = read_items(_hex(spelled))
    assert _same(found, value)
    assert _same(read_items(write_items([value])), [value])


@pytest.mark.parametrize(
    "value",
    [
        _tag(32, "http://www.example.com"),
        _tag(23, b"\1\2"),
        _tag(9999, [1, _tag(9998, {"x": [[]]})]),
        # Of a time, what Python's does not hold: nanoseconds, leap seconds, an unknown place.
        _tag(0, "2013-03-21T20:04:00.123456789Z"),
        _tag(0, "2016-12-31T23:59:60Z"),
        _tag(0, "2013-03-21T20:04:00-00:00"),
        _tag(0, "2013-03-21"),
        _tag(0, 5),
        _tag(1, 1 << 62),
        _tag(1, math.inf),
        _tag(1, 1363896240.0000002),
        _tag(100, 1 << 40),
        # What Python takes for a number: true is none.
        _tag(1, True),
        _tag(100, True),
        _tag(30, [True, 2]),
        _tag(1004, "20130321"),
        # A decimal of a float, an exponent beyond Python's, a binary fraction.
        _tag(4, [1, 1.5]),
        _tag(4, [1 << 62, 1]),
        _tag(5, [-1, 3]),
        _tag(30, [2, 4]),
        _tag(30, [1, 0]),
        _tag(43000, [1, 2]),
        _tag(37, b"short"),
        # Text of languages that Python reads otherwise, or changes.
        _tag(35, "(?P<a"),
        _tag(36, "Subject: x\r\n\r\ny"),
        cbor2.CBORSimpleValue(255),
        cbor2.undefined,
    ],
    ids=lambda value: type(value).__name__,
)
def test_all_other_tags_stay_whole(value: Any) -> None:
    data = cbor2.dumps(value)
    (found,) = FMT.read(data)
    assert _same(found, value)
    assert FMT.write([found]) == data


def test_a_sequence_is_a_record_for_each_item() -> None:
    data = _hex("01", "820203", "f6", "60")
    assert FMT.read(data) == [1, [2, 3], None, ""]
    assert FMT.write([1, [2, 3], None, ""]) == data
    assert FMT.read(b"") == []
    assert FMT.write([]) == b""


@pytest.mark.parametrize("count", [1, 23, 24, 255, 256, 65535, 65536])
def test_a_sequence_of_any_length(count: int) -> None:
    assert FMT.write([None] * count) == b"\xf6" * count
    assert FMT.read(b"\xf6" * count) == [None] * count


#: RFC 8949, appendix F: what is not well-formed (but of two equal keys, one is another here).
NOT_WELL_FORMED = [
    *("18", "19", "1a", "1b", "1901", "1a0102", "1b01020304050607", "38", "58", "78", "98"),
    *("9a01ff00", "b8", "d8", "f8", "f900", "fa0000", "fb000000", "41", "61", "5affffffff00"),
    *("5bffffffffffffffff010203", "7affffffff00", "7b7fffffffffffffff010203", "81"),
    *("818181818181818181", "8200", "a1", "a20102", "a100", "a2000000", "c0", "5f4100"),
    *("7f6100", "9f", "9f0102", "bf", "bf01020302", "819f", "9f8000", "9f9f9f9f9fffffffff"),
    *("9f819f819f9fffffff", "1c", "1d", "1e", "3c", "3d", "3e", "5c", "5d", "5e", "7c", "7d"),
    *("7e", "9c", "9d", "9e", "bc", "bd", "be", "dc", "dd", "de", "fc", "fd", "fe", "f800"),
    *("f801", "f818", "f81f", "5f00ff", "5f21ff", "5f6100ff", "5f80ff", "5fa0ff", "5fc000ff"),
    *("5fe0ff", "7f4100ff", "5f5f4100ffff", "7f7f6100ffff", "ff", "81ff", "8200ff", "a1ff"),
    *("a1ff00", "a100ff", "a20000ff", "9f81ff", "9f829f819f9fffffffff", "bf00ff", "bf000000ff"),
    *("1f", "3f", "df", "c1ff", "a1ff01", "01ff02", "ff01"),
]


@pytest.mark.parametrize("content", ["63616263", "05", "a10102"], ids=["text", "number", "map"])
def test_a_set_of_what_is_no_array_is_no_set(content: str) -> None:
    """The letters of a text would be its elements."""
    with pytest.raises(Malformed, match="a set must be an array"):
        FMT.read(bytes.fromhex("d90102" + content))


@pytest.mark.parametrize("spelled", NOT_WELL_FORMED)
def test_what_is_not_well_formed_is_refused_with_its_place(spelled: str) -> None:
    for before in (b"", b"\x01\x82\x01\x02"):
        data = before + _hex(spelled)
        with pytest.raises(Malformed) as caught:
            FMT.read(data)
        assert caught.value.at is not None
        assert len(before) <= caught.value.at <= len(data)


def test_the_cut_off_ends_too_early() -> None:
    whole = cbor2.dumps({"a": [1, "text", 2.5, _tag(9, b"x" * 30)], "b": {"c": None}})
    for end in range(1, len(whole)):
        with pytest.raises(Malformed, match="ends too early") as caught:
            FMT.read(whole[:end])
        assert caught.value.at == end


@pytest.mark.parametrize(
    ("spelled", "key"),
    [
        ("a201020103", "1"),
        ("a2616101616102", "'a'"),
        ("bf00010002ff", "0"),
        ("a20102f503", "True"),
        ("a20102f93c0003", "1.0"),
        ("a281010281f503", "(True,)"),
        ("a1a20102f5030a", "True"),
        ("d9010282010ad901028201f5", "True"),
        ("d90102820101", "1"),
        ("81d901028261616161", "'a'"),
    ],
)
def test_what_python_takes_for_one_key_is_no_value(spelled: str, key: str) -> None:
    with pytest.raises(Unheld) as caught:
        FMT.read(b"\x01" + _hex(spelled))
    lost = caught.value.difference
    assert lost.kind == "duplicate-keys"
    assert key in lost.was
    assert lost.record >= 1
    assert isinstance(said(_hex(spelled), "cbor", "json"), ValueRefusedError)


def test_depth() -> None:
    deep: Any = 1 << 70
    for level in range(MAX_DEPTH):
        deep = [deep] if level % 2 else {"a": deep}
    data = FMT.write([deep, deep])
    assert _same(FMT.read(data), [deep, deep])
    with pytest.raises(RecursionError):
        FMT.write([[deep]])
    for opening in (b"\x81", b"\x9f", b"\xa1\x61a", b"\xc9"):
        with pytest.raises(Unheld) as caught:
            FMT.read(b"\x00" + opening * 100_000 + b"\x01")
        assert (caught.value.difference.kind, caught.value.difference.record) == ("depth", 1)


@pytest.mark.parametrize("canonical", [False, True])
def test_deep_values_are_written_as_the_library_writes_flat_ones(canonical: bool) -> None:
    flat = [
        *({"b": 1, "a": [1.5, None], "": {}}, {1: 2, (1, 2): 3}, {(1, frozenset([2])): "x"}),
        *([], [[]], set(), {1, 2}, {"a", 2}, _tag(99, [[], {"a": 1}]), 1 << 80),
        *(list(range(30)), {f"{i}": i for i in range(300)}),
    ]
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    together = write_items([deep, *flat], canonical=canonical)
    alone = write_items(flat, canonical=canonical)
    if canonical:
        assert together.endswith(alone)
    assert _same(read_items(together)[1:], read_items(alone))
    assert len(together) == len(alone) + 301


def test_canonical_items_have_their_keys_sorted() -> None:
    record = {"b": 1, "aa": 2, "a": 1.0}
    assert write_items([record], canonical=True) == _hex("a36161f93c0061620162616102")
    assert write_items([record]).startswith(_hex("a36162"))


def test_its_own_serializer_keeps_the_bytes() -> None:
    data = _hex("9f1800ff", "fa47c35000", "c11a514b67b0", "5f41014102ff")
    packed, unpacked = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), packed, serializer="cbor", format="cbor")
    packed.seek(0)
    serialpack.unpack(packed, unpacked)
    assert unpacked.getvalue() == data


def test_the_examples_of_the_specification(shared_data: Path) -> None:
    """All are read; those that the list gives a JSON value for, as that."""
    vectors = json.loads(
        (shared_data / "conformance" / "cbor" / "appendix_a.part.json").read_text()
    )
    assert len(vectors) > 30
    again = 0
    for vector in vectors:
        data = bytes.fromhex(vector["hex"])
        (value,) = FMT.read(data)
        if "decoded" in vector:
            assert value == vector["decoded"], vector
        packed = io.BytesIO()
        serialpack.pack(io.BytesIO(data), packed, serializer="cbor", format="cbor", threads=1)
        again += FMT.write([value]) == data
        assert _same(FMT.read(FMT.write([value])), [value]), vector
    assert again > len(vectors) // 2


plain = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(1 << 80), 1 << 80), st.text(max_size=5)),
    *(st.binary(max_size=5), st.floats(allow_nan=False), st.uuids(), st.dates()),
    *(st.decimals(allow_nan=False, allow_infinity=False), st.fractions()),
    st.datetimes(timezones=st.just(UTC)).map(lambda value: value.replace(fold=0)),
    st.datetimes().map(lambda value: value.replace(tzinfo=timezone(timedelta(hours=-3)), fold=0)),
)
keys = st.one_of(st.text(max_size=3), st.integers(), st.binary(max_size=3), st.tuples(st.text()))
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
        st.builds(_tag, st.integers(60000, 1 << 64 - 1), plain),
    ),
    max_leaves=10,
)


@given(records=st.lists(values, max_size=3))
def test_values_come_back(records: list[Any]) -> None:
    try:
        data = write_items(records)
    except FAILURES:
        return
    found = read_items(data)
    lost = difference(records, found)
    assert lost is None or lost.kind == "decimal"  # -0 has no sign in CBOR


heads = st.one_of(
    st.binary(min_size=1, max_size=4),
    st.sampled_from([b"\xc0", b"\xc1", b"\xc4\x82", b"\xd9\x01\x02\x82", b"\xd8\x1e\x82", b"\xbf"]),
    st.floats().map(lambda value: b"\xfb" + struct.pack(">d", value)),
    st.text(max_size=4).map(cbor2.dumps),
)


@given(data=st.lists(heads, max_size=8).map(b"".join))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """What is read and written again is read as the same."""
    try:
        records = FMT.read(data)
    except (Malformed, Unheld, RefusedError):
        return
    try:
        again = FMT.write(records)
    except FAILURES:
        return
    lost = difference(records, FMT.read(again))
    # Sign and bits of a NaN are lost, also of one in a set or a tag; the sign of a decimal's zero.
    allowed = ("non-finite", "nan-bits", "set", "decimal", "tag")
    assert lost is None or lost.kind in allowed, (lost, records)


def test_a_syntax_error_is_one() -> None:
    error = said(b"\x01\xff", "cbor", "json")
    assert isinstance(error, SyntaxInputError)
    assert error.offset == 1
