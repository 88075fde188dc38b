"""The MessagePack serializers: each reads what any other wrote; what is held, and what refused."""

from __future__ import annotations

import importlib
import io
import math
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.formats.msgpack.heads import head, without_head
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.serializers.chains import object_and_records, record_serializer, writing
from tests.serializers.depths import tried_on_a_small_stack

NAMES = ["msgpack", "umsgpack", "ormsgpack", "msgspec-msgpack"]
HERE = [name for name in NAMES if SERIALIZERS.cls(name).missing(name) is None]


@pytest.mark.parametrize("name", NAMES)
def test_which_are_here(name: str) -> None:
    cls = SERIALIZERS.cls(name)
    if name not in HERE:
        pytest.skip(f"{name}: {cls.missing(name)}")
    assert cls.stored_format == "msgpack"
    assert cls.portable
    assert not cls.text


def _double(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


HELD: list[Any] = [
    *(None, True, False, 0, -1, 127, 128, 1 << 53, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1),
    *(0.1, -0.0, 1.0, 1e300, 5e-324, math.nan, math.inf, -math.inf),
    *(_double(0x7FF8000000000001), _double(0x7FF4000000000000)),
    *(
        "",
        "a",
        "é\0\n\x7f",
        "\U0001f600",
        "x" * 70_000,
        b"",
        b"a",
        bytes(range(256)),
        b"x" * 70_000,
    ),
    *([], {}, [[], {}, [None]], list(range(70_000)), {str(n): n for n in range(70_000)}),
    *([True, 1, 1.0], {"a": [{"b": b"c"}]}, {"": ""}, {"a\0b": 1}),
    *({1: "a", "1": "b"}, {-1: 2}, {None: 1}, {True: 1}, {1.5: 1}, {b"a": 1, "a": 2}),
    *({(1, 2): 3}, {(): 1}, {(1, ("a", b"b", None, 1.5)): [1]}),
    datetime(2023, 10, 25, 0, 44, 28, tzinfo=UTC),
    datetime(2023, 10, 25, 0, 44, 28, 123456, tzinfo=UTC),
    datetime(1900, 1, 1, 12, 30, 0, 1, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    {"t": [datetime(2023, 1, 1, tzinfo=UTC)]},
]


@pytest.mark.parametrize("reader", HERE)
@pytest.mark.parametrize("writer", HERE)
def test_every_one_reads_every_other(writer: str, reader: str) -> None:
    data = record_serializer(writer).dump(HELD)
    assert data == b"".join(record_serializer(writer).dump([value]) for value in HELD)
    assert difference(HELD, record_serializer(reader).load(data)) is None
    assert difference(HELD, record_serializer(reader).load(memoryview(data))) is None


objects = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats(),
        st.text(st.characters(exclude_categories=["Cs"])), st.binary(max_size=20),
        st.datetimes(timezones=st.just(UTC)).map(lambda found: found.replace(fold=0)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(st.characters(exclude_categories=["Cs"])),
                                  st.integers(-9, 1 << 64 - 1), st.binary()), inner, max_size=4),
    ),
    max_leaves=8,
)  # fmt: skip


@given(records=st.lists(objects, max_size=20))
def test_any_values_are_the_same_by_all_pairs(records: list[Any]) -> None:
    serializers = [record_serializer(name) for name in HERE]
    for data in {serializer.dump(records) for serializer in serializers}:
        for serializer in serializers:
            assert difference(records, serializer.load(data)) is None


class _Colour(Enum):
    RED = "red"


class _Level(IntEnum):
    LOW = 1


class _Text(str):
    pass


@dataclass
class _Point:
    x: int


def _extension(name: str) -> Any:
    module, cls = {
        "msgpack": ("msgpack", "ExtType"),
        "umsgpack": ("umsgpack", "Ext"),
        "ormsgpack": ("msgpack", "ExtType"),
        "msgspec-msgpack": ("msgspec.msgpack", "Ext"),
    }[name]
    return getattr(importlib.import_module(module), cls)


#: The kinds of these are in ``cannot``.
REFUSED: list[Any] = [
    *(1 << 64, -(1 << 63) - 1, 10**40, "\ud800", {"\udfff": 1}, bytearray(b"a"), memoryview(b"a")),
    *((), (1,), [(1,)], {"a": (1, 2)}, {1}, frozenset(), 1j, Decimal("1.5"), UUID(int=5)),
    *(_Colour.RED, _Level.LOW, _Text("a"), {_Text("a"): 1}, _Point(1), object(), len, iter([])),
    *(datetime(2023, 1, 1), date(2023, 1, 1), time(1), timedelta(1)),
    datetime(2023, 1, 1, tzinfo=timezone(timedelta(hours=2))),
    datetime(2023, 1, 1, tzinfo=timezone(timedelta(0), "zero")),
    datetime(2023, 1, 1, tzinfo=ZoneInfo("UTC")),
    {frozenset([1]): 1},
    {_Colour.RED: 1},
    {(1, frozenset()): 1},
    msgpack.Timestamp(1, 5000),
]


@pytest.mark.parametrize("name", HERE)
def test_what_is_not_held_is_refused(name: str) -> None:
    cls = SERIALIZERS.cls(name)
    for value in REFUSED:
        for inside in (value, [value], {"a": {"b": [0, value]}}):
            with pytest.raises(ValueRefusedError) as caught:
                serialpack.dumps(inside, name)
            assert caught.value.kind in cls.cannot | cls.partly, value


@pytest.mark.parametrize("name", HERE)
def test_strict_options_are_on(name: str) -> None:
    """With the proof off, too, these are not silently changed."""
    strict = {
        "msgpack": [(1,), _Text("a"), datetime(2023, 1, 1), REFUSED[-7]],
        "umsgpack": [bytearray(b"a"), date(2023, 1, 1), UUID(int=5), {1}],
        "ormsgpack": [(1,), _Text("a"), _Colour.RED, _Point(1), UUID(int=5), date(2023, 1, 1)],
        "msgspec-msgpack": [_Text("a"), object()],
    }
    for value in strict[name]:
        with pytest.raises(FAILURES):
            record_serializer(name).dump([[value]])


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("code", [0, 5, 127])
@pytest.mark.parametrize("size", [0, 1, 2, 4, 5, 8, 16, 300, 70_000])
def test_extension_types_are_kept_whole(name: str, code: int, size: int) -> None:
    value = _extension(name)(code, b"\xc1" * size)
    for inside in (value, [value], {"a": value}):
        found = serialpack.loads(serialpack.dumps(inside, name))
        assert difference(inside, found) is None


def test_an_extension_type_that_shows_nothing_is_refused() -> None:
    """ormsgpack's own: nobody could say whether it came back the same."""
    ormsgpack = pytest.importorskip("ormsgpack")
    with pytest.raises(ValueRefusedError):
        serialpack.dumps([ormsgpack.Ext(5, b"x")], "ormsgpack")


@pytest.mark.parametrize("name", HERE)
def test_a_time_that_comes_twice_is_not_taken_for_one_in_utc(name: str) -> None:
    with pytest.raises(ValueRefusedError):
        serialpack.dumps(datetime(2023, 1, 1, tzinfo=UTC, fold=1), name)


def test_an_extension_type_of_the_format_is_an_own_type_for_each() -> None:
    data = record_serializer("msgpack").dump(
        [msgpack.ExtType(5, b"x"), msgpack.ExtType._make((-5, b"x"))]
    )
    for name in HERE:
        found = record_serializer(name).load(data)
        assert [type(value) for value in found] == [_extension(name)] * 2
        assert [value.data for value in found] == [b"x"] * 2


@pytest.mark.parametrize("name", HERE)
def test_a_time_that_no_datetime_holds_is_no_other_time(name: str) -> None:
    for seconds in (-(1 << 62), 1 << 62):
        data = b"\x91\xc7\x0c\xff" + struct.pack(">Iq", 0, seconds)
        try:
            ((found,),) = record_serializer(name).load(data)
            assert type(found) in (msgpack.Timestamp, _extension(name))
            assert record_serializer(name).dump([[found]]) == data
        except (ValueError, TypeError):  # refused
            continue


BROKEN = [
    b"\xc1",
    b"\x01\xc1",
    b"\x92\x01",
    b"\x01\x92\x01",
    b"\x81\xa1a",
    b"\xa2a",
    b"\xa1\xff",
    b"\x81\xa2\xc3\x28\x01",
    b"\x81\x80\x01",
    b"\xcb\x00",
    b"\xd5\xff\x00\x00",
    b"\xd7\xff" + b"\xff" * 8,
    b"\xdd\xff\xff\xff\xff\x01",
    b"\xdf\xff\xff\xff\xff\x01",
    b"\xdb\xff\xff\xff\xff\x01",
    b"\xc6\xff\xff\xff\xff\x01",
    b"\xc9\xff\xff\xff\xff\x05\x01",
    b"\xdd\x0f\xff\xff\xff" * 1000,
    b"\x91" * 100_000,
    b"\x81\xa1a" * 100_000,
    b"\x91" * 100_000 + b"\x01",
]


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("data", BROKEN, ids=lambda data: f"{data[:8].hex()}-{len(data)}")
def test_broken_messages_are_value_errors(name: str, data: bytes) -> None:
    for before in (b"", b"\x01", b"\x81\xa1a\x01" * 20):
        with pytest.raises(ValueError):  # noqa: PT011
            record_serializer(name).load(before + data)


@given(st.one_of(st.binary(max_size=40), st.sampled_from(BROKEN)))
@example(b"\x81\x92\x01\x91\x02\x03")  # keys of parts
@example(b"\x82\xa1a\x01\xa1a\x02")
@example(b"\x93\xc7\x0c\xff" + bytes(12) + b"\xd6\xff\0\0\0\1\xd7\xff" + bytes(8))
@example(b"\xc7\x0c\xff\0\0\0\1" + bytes(8))  # a nanosecond
@example(b"\x94\xd4\x05\x01\xd4\x80\x01\xc7\x00\x7f\xca\x7f\xc0\x00\x01")
@example(b"\xd9\x01a\xc0")
def test_msgpack_reads_an_object_as_its_records(data: bytes) -> None:
    """By another library, which does not take all."""
    found, records = object_and_records(record_serializer("msgpack"), data)
    assert difference(records, found) is None


@pytest.mark.parametrize("name", HERE)
@given(data=st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    try:
        found = record_serializer(name).load(data)
    except ValueError:
        return
    assert len(found) <= len(data)


NO_JSON = [
    b"\x81\x01\x02",
    b"\x81\xc0\x02",
    b"\x81\xc4\x01a\x02",
    b"\x81\x91\x01\x02",
    b"\xc4\x01x",
    b"\x91\x81\xa1a\xc4\x00",
    b"\xd4\x05x",
    b"\xd6\xff\x00\x00\x00\x00",
    b"\x91\xc7\x0c\xff" + bytes(12),
    b"\xcb\x7f\xf8" + bytes(6),
    b"\x81\xa1a\xcb\xff\xf0" + bytes(6),
    b"\xca\x7f\x80\x00\x00",
]


@pytest.mark.parametrize("fmt_name", ["json", "ndjson"])
@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("data", NO_JSON, ids=lambda data: data.hex())
def test_stored_bytes_that_are_no_json_are_not_spelled_as_json(
    name: str, data: bytes, fmt_name: str
) -> None:
    """The writer of JSON would find words for all of these."""
    half = writing(name, fmt_name)
    style = {"k": "a"} if fmt_name == "json" else {}
    assert half.decode(b"\x01\x02", style, first=True, exact=False)
    for before in (b"", b"\x01", b"\xa1x" * 20):
        with pytest.raises(ValueError):  # noqa: PT011
            half.decode(before + data, style, first=True, exact=False)


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize(
    "wrap", [lambda value: [value], lambda value: {1: datetime(2023, 1, 1, tzinfo=UTC), "a": value}]
)
def test_deep_values_in_a_thread_with_a_small_stack(name: str, wrap: Callable[[Any], Any]) -> None:
    limit = sys.getrecursionlimit()
    found = tried_on_a_small_stack(lambda: record_serializer(name), wrap, b"x")
    assert found == [None] * 5 + ["refused"] * 3
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("name", HERE)
def test_a_value_beyond_4_gb_is_refused_by_its_length(name: str) -> None:
    """None of its pages is touched, so that this takes no memory."""
    if sys.maxsize < 1 << 32:
        pytest.skip("no such values on 32 bits")
    try:
        huge = bytes(1 << 32)
    except MemoryError:
        pytest.skip("no address space for it")
    with pytest.raises(FAILURES):
        record_serializer(name).dump([huge])


@pytest.mark.parametrize("count", [0, 15, 16, 65535, 65536])
def test_heads(count: int) -> None:
    packer = msgpack.Packer()
    assert head(0x90, count) == packer.pack_array_header(count)
    assert head(0x80, count) == packer.pack_map_header(count)
    assert without_head(msgpack.packb([1] * count), count) == b"\x01" * count


@pytest.mark.parametrize("name", HERE)
def test_old_containers_of_json_are_read(name: str) -> None:
    """What the msgpack of before wrote, which held JSON values only, is what all write now."""
    source = b'[{"a": 1.5, "b": [null, true, "x"]}, {"a": -1, "b": {}}]'
    target, restored = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), target, serializer=name)
    target.seek(0)
    serialpack.unpack(target, restored)
    assert restored.getvalue() == source
    assert record_serializer(name).dump([{"a": 1.5}]) == b"\x81\xa1a\xcb\x3f\xf8" + bytes(6)
