"""The values that every serializer is tried with: name, value, and the kind that makes it hard.

A record of the file is a map with the value under one key; the Python API gets the value itself.
"""

from __future__ import annotations

import array
import collections
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np

from tests.fidelity import things


class Case(NamedTuple):
    """``make`` makes the value anew: some are changed by those who look at them."""

    name: str
    kind: str
    make: Callable[[], Any]


def _bits(pattern: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", pattern))[0])


def _cycle_list() -> Any:
    value: list[Any] = [1]
    value.append(value)
    return value


def _cycle_map() -> Any:
    value: dict[str, Any] = {"a": 1}
    value["self"] = value
    return value


def _shared() -> Any:
    inner = [1, 2]
    return {"a": inner, "b": inner}


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _deep_map(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"k": value}
    return value


def _plain(kind: str, **values: Any) -> list[Case]:
    return [Case(f"{kind}: {name}", kind, partial(_given, value)) for name, value in values.items()]


def _given(value: Any) -> Any:
    return value


CASES: list[Case] = [
    *_plain("null", none=None, in_list=[None], in_map={"a": None}),
    *_plain("boolean", true=True, false=False, beside_one=[True, 1, False, 0]),
    *_plain(
        "integer",
        zero=0,
        one=1,
        minus_one=-1,
        int8=-128,
        uint8=255,
        int16=-32768,
        uint16=65535,
        int32=-(1 << 31),
        uint32=(1 << 32) - 1,
        double_limit=1 << 53,
    ),
    *_plain(
        "inexact-integer",
        double_limit_and_one=(1 << 53) + 1,
        minus_double_limit_and_one=-(1 << 53) - 1,
        int64_max=(1 << 63) - 1,
        int64_min=-(1 << 63),
    ),
    *_plain("uint64", int64_and_one=1 << 63, uint64_max=(1 << 64) - 1),
    *_plain("bigint", below_int64=-(1 << 63) - 1, uint64_and_one=1 << 64, digits_40=10**40),
    *_plain("huge-integer", digits_5000=10**5000),
    *_plain(
        "float",
        half=0.5,
        third=1 / 3,
        tenth=0.1,
        digits_17=0.30000000000000004,
        minus=-2.5,
        tiny=5e-324,
        small=2.2250738585072014e-308,
        fixed=123456.789,
    ),
    *_plain(
        "integral-float",
        zero=0.0,
        minus_zero=-0.0,
        one=1.0,
        ten=10.0,
        e16=1e16,
        e22=1e22,
        e23=1e23,
        largest=1.7976931348623157e308,
        beside_integers=[1, 1.0, 0, 0.0, -0.0],
    ),
    *_plain("non-finite", nan=float("nan"), infinity=float("inf"), minus=float("-inf")),
    *_plain("nan-bits", payload=_bits(0x7FF8000000000001), signalling=_bits(0x7FF4000000000000)),
    *_plain("nan-bits", negative=_bits(0xFFF8000000000000)),
    *_plain(
        "text",
        empty="",
        ascii="hello",
        spaces="  a  b  ",
        lines="a\nb\n",
        tab="a\tb",
        quotes="\"'`",
        backslashes="\\n\\\\",
        slash="</script>",
        latin="é",
        combining="é",
        greek="αβγ",
        hebrew="שלום",
        cjk="漢字",
        emoji="😀",
        family="👩‍👩‍👧",
        last_plane="\U0010ffff",
        private="\ue000",
        line_separators="a\u2028b\u2029c",
        byte_order_mark="\ufeffa",
        long="x" * 70_000,
        long_unicode="é" * 70_000,
        looks_like_null="null",
        looks_like_no="no",
        looks_like_on="on",
        looks_like_y="y",
        looks_like_true="true",
        looks_like_number="1e3",
        looks_like_octal="0777",
        looks_like_zip="00123",
        looks_like_sexagesimal="1:30",
        looks_like_date="2023-10-25",
        looks_like_datetime="2023-10-25T00:44:28Z",
        looks_like_tilde="~",
        looks_like_merge="<<",
        looks_like_yaml="a: [b, c] # d",
        looks_like_document="---",
        looks_like_xml="<a>&amp;]]></a>",
        looks_like_csv='a,"b"\r\nc',
        looks_like_dollar="$date",
    ),
    *_plain(
        "control",
        nul="a\0b",
        escape="\x1b[0m",
        delete="\x7f",
        c1="\x85\x9f",
        carriage_return="a\rb\r\nc",
        not_a_character="\uffff",
    ),
    *_plain("surrogates", high="\ud800", low="a\udc80b", reversed_pair="\udc00\ud800"),
    *_plain(
        "array",
        empty=[],
        one=[1],
        nested=[[1, [2, []]], []],
        mixed=[1, "a", 2.5, True, {"b": []}],
        long=list(range(70_000)),
    ),
    *_plain(
        "nested",
        empty_map={},
        map_in_map={"a": {"b": {"c": 1}}},
        order={"b": 1, "a": 2, "c": 3},
        empty_key={"": 1},
        odd_keys={"a b": 1, "a.b": 2, "$ref": 3, "é": 4, "#": 5, "-1": 6},
        many_keys={f"key {i}": i for i in range(2000)},
        maps_in_list=[{"a": 1}, {"a": 2}],
        levels_100=_deep_map(100),
    ),
    *_plain("nul", key={"a\0b": 1}),
    *_plain("mixed", shapes=[{"a": 1}, {"b": 2}], types=[{"a": 1}, {"a": "x"}]),
    *_plain("integer-key", one={1: "a"}, mixed={1: "a", "1": "b"}, negative={-1: 2}),
    *_plain(
        "key",
        null={None: 1},
        true={True: 1},
        float={1.5: 1},
        bytes={b"a": 1},
        tuple={(1, 2): 3},
        frozenset={frozenset([1]): 2},
    ),
    Case("array: levels_400", "array", lambda: _deep(400)),
    Case("depth: levels_5000", "depth", lambda: _deep(5000)),
    Case("depth: levels_100000", "depth", lambda: _deep(100_000)),
    *_plain(
        "bytes",
        empty=b"",
        ascii=b"abc",
        all=bytes(range(256)),
        byte_255=b"x" * 255,
        byte_256=b"x" * 256,
        byte_70000=b"\xff" * 70_000,
        like_text=[b"a", "a"],
    ),
    Case("bytearray: some", "bytearray", lambda: bytearray(b"abc")),
    Case("number-array: memoryview", "number-array", lambda: memoryview(b"abc")),
    *_plain(
        "utc-datetime",
        seconds=datetime(2023, 10, 25, 0, 44, 28, tzinfo=UTC),
        milliseconds=datetime(2023, 10, 25, 0, 44, 28, 123000, tzinfo=UTC),
        microseconds=datetime(2023, 10, 25, 0, 44, 28, 123456, tzinfo=UTC),
        before_1970=datetime(1900, 1, 1, 12, 30, 0, 1, tzinfo=UTC),
        first=datetime(1, 1, 1, tzinfo=UTC),
        last=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ),
    *_plain(
        "offset-datetime",
        east=datetime(2023, 10, 25, 0, 44, 28, tzinfo=timezone(timedelta(hours=2))),
        west=datetime(2023, 10, 25, 0, 44, 28, 5, tzinfo=timezone(-timedelta(hours=3, minutes=30))),
        zero=datetime(2023, 10, 25, tzinfo=timezone(timedelta(0), "zero")),
    ),
    *_plain(
        "zoned-datetime",
        vienna=datetime(2023, 10, 25, 0, 44, 28, tzinfo=ZoneInfo("Europe/Vienna")),
        fold=datetime(2023, 10, 29, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Vienna")),
    ),
    *_plain(
        "local-datetime",
        seconds=datetime(2023, 10, 25, 0, 44, 28),
        microseconds=datetime(2023, 10, 25, 0, 44, 28, 123456),
        midnight=datetime(2023, 10, 25),
    ),
    *_plain("date", day=date(2023, 10, 25), first=date(1, 1, 1)),
    *_plain("time", of_day=time(12, 30, 1), microseconds=time(0, 0, 0, 1)),
    *_plain("timedelta", day=timedelta(days=1), negative=timedelta(microseconds=-1)),
    *_plain(
        "decimal",
        plain=Decimal("1.5"),
        trailing_zero=Decimal("1.50"),
        digits_30=Decimal("0.123456789012345678901234567890"),
        exponent=Decimal("1E+400"),
        negative_zero=Decimal("-0"),
        nan=Decimal("NaN"),
    ),
    *_plain("fraction", third=Fraction(1, 3)),
    *_plain("uuid", four=UUID("12345678-1234-4678-9234-567812345678")),
    *_plain("tuple", empty=(), two=(1, 2), in_list=[(1,)], nested=((1, (2,)), [])),
    Case("set: some", "set", lambda: {1, 2, 3}),
    Case("set: empty", "set", lambda: set()),
    *_plain("frozenset", some=frozenset("abc")),
    *_plain("complex", some=1.5 - 2j, minus_zero=complex(-0.0, 0.0)),
    Case("number-array: float64", "number-array", lambda: np.arange(6.0).reshape(2, 3)),
    Case("number-array: fortran", "number-array", lambda: np.asfortranarray(np.ones((3, 4), "f4"))),
    Case("number-array: numpy_scalar", "number-array", lambda: np.float32(1.5)),
    Case("number-array: nanoseconds", "number-array", lambda: np.datetime64(1, "ns")),
    Case("number-array: array", "number-array", lambda: array.array("i", [1, -2])),
    *_plain(
        "object",
        dataclass=things.Point(1, 2.5, ["a"]),
        frozen=things.Frozen("a"),
        attributes=things.Plain(a=1, b=[2]),
        slots=things.Slotted(3),
        enum=things.Colour.RED,
        int_enum=things.Level.LOW,
        namedtuple=things.Pair(1, 2),
        text=things.Text("a"),
        number=things.Number(1),
        map=things.Keyed(a=1),
        ordered=collections.OrderedDict(b=1, a=2),
        defaultdict=collections.defaultdict(list, a=[1]),
        deque=collections.deque([1, 2], maxlen=3),
        range=range(3),
        slice=slice(1, 2),
        ellipsis=...,
        exception=ValueError("a"),
        forgetful=things.Forgetful(),
    ),
    *_plain("function", function=things.function, builtin=len, class_=things.Point),
    Case("cycle: list", "cycle", _cycle_list),
    Case("cycle: map", "cycle", _cycle_map),
    Case("nested: shared", "nested", _shared),
]

#: Without what is as long, or as deep, as to take most of the time of tests that try each value in
#: many ways: each writer and reader is tried with those alone.
USUAL = [case for case in CASES if case.name not in {"array: long", "depth: levels_100000"}]
