"""Values and the tags they are written as; what else is read as a tag; and what is none."""

from __future__ import annotations

import ipaddress
import math
import re
import struct
from array import array
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgpack
import numpy as np
import pytest


def _bits(pattern: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(pattern))[0])


VIENNA = ZoneInfo("Europe/Vienna")
CEST = timezone(timedelta(hours=2), "CEST")
MOMENT = datetime(2023, 10, 25, 0, 44, 28)
NO_NUMBER = {"$numberDouble": "-Infinity"}
NAN_BITS = {"$nan": "7ff8000000000001"}

#: Values, and how each is written: the table of ``extended_json``.
WRITTEN: list[tuple[Any, Any]] = [
    (b"\0\x01", {"$binary": {"base64": "AAE=", "subType": "00"}}),
    (MOMENT.replace(tzinfo=UTC, microsecond=123000), {"$date": {"$numberLong": "1698194668123"}}),
    (datetime(1969, 12, 31, 23, 59, 59, 999000, UTC), {"$date": {"$numberLong": "-1"}}),
    (math.nan, {"$numberDouble": "NaN"}),
    (-math.inf, {"$numberDouble": "-Infinity"}),
    (_bits("fff8000000000000"), {"$nan": "fff8000000000000"}),
    (Decimal("1.50"), {"$numberDecimal": "1.50"}),
    (Decimal("-sNaN12"), {"$numberDecimal": "-sNaN12"}),
    (Decimal("-Infinity"), {"$numberDecimal": "-Infinity"}),
    (Decimal("0E-1000000"), {"$numberDecimal": "0E-1000000"}),
    (UUID(int=1), {"$uuid": "00000000-0000-0000-0000-000000000001"}),
    (1 << 14280, {"$integer": hex(1 << 14280)}),
    (-(1 << 14280), {"$integer": hex(-(1 << 14280))}),
    ((1 << 14280) - 1, (1 << 14280) - 1),
    (MOMENT.replace(tzinfo=UTC, microsecond=1), {"$datetime": "2023-10-25T00:44:28.000001Z"}),
    (MOMENT, {"$datetime": "2023-10-25T00:44:28"}),
    (MOMENT.replace(fold=1), {"$datetime": {"text": "2023-10-25T00:44:28", "fold": 1}}),
    (
        MOMENT.replace(tzinfo=timezone(-timedelta(seconds=1, microseconds=1))),
        {"$datetime": "2023-10-25T00:44:28-00:00:01.000001"},
    ),
    (
        MOMENT.replace(tzinfo=CEST),
        {"$datetime": {"text": "2023-10-25T00:44:28+02:00", "name": "CEST"}},
    ),
    (MOMENT.replace(tzinfo=VIENNA), {"$datetime": "2023-10-25T00:44:28+02:00[Europe/Vienna]"}),
    (
        datetime(2023, 10, 29, 2, 30, fold=1, tzinfo=VIENNA),
        {"$datetime": {"text": "2023-10-29T02:30:00+01:00[Europe/Vienna]", "fold": 1}},
    ),
    (date(1, 2, 3), {"$dateOnly": "0001-02-03"}),
    (time(1, 2, 3, 4), {"$time": "01:02:03.000004"}),
    (time(1, 2, tzinfo=UTC), {"$time": "01:02:00Z"}),
    (time(1, 2, tzinfo=CEST), {"$time": {"text": "01:02:00+02:00", "name": "CEST"}}),
    (time(1, 2, tzinfo=VIENNA), {"$time": "01:02:00[Europe/Vienna]"}),
    (
        timedelta(microseconds=-1),
        {"$timedelta": {"days": -1, "seconds": 86399, "microseconds": 999999}},
    ),
    (Fraction(-1, 3), {"$fraction": [-1, 3]}),
    (Fraction(1, 1 << 14280), {"$fraction": [1, {"$integer": hex(1 << 14280)}]}),
    (1.5 - 2j, {"$complex": [1.5, -2.0]}),
    (complex(-0.0, math.inf), {"$complex": [-0.0, {"$numberDouble": "Infinity"}]}),
    ((1, (b"",)), {"$tuple": [1, {"$tuple": [{"$binary": {"base64": "", "subType": "00"}}]}]}),
    ({"b", "a"}, {"$set": ["a", "b"]}),
    (frozenset({(1, 2)}), {"$frozenset": [{"$tuple": [1, 2]}]}),
    ({1: "a", "1": "b"}, {"$map": [[1, "a"], ["1", "b"]]}),
    ({(1, (2,)): {None: 3}}, {"$map": [[{"$tuple": [1, {"$tuple": [2]}]}, {"$map": [[None, 3]]}]]}),
    (bytearray(b"\0\x01"), {"$bytearray": "AAE="}),
    (memoryview(b"\0"), {"$memoryview": {"readonly": True, "base64": "AA=="}}),
    (memoryview(bytearray(1)), {"$memoryview": {"readonly": False, "base64": "AA=="}}),
    (array("i", [1, -2]), {"$array": {"typecode": "i", "items": [1, -2]}}),
    (array("f", [0.5, -math.inf]), {"$array": {"typecode": "f", "items": [0.5, NO_NUMBER]}}),
    (array("d", [_bits("7ff8000000000001")]), {"$array": {"typecode": "d", "items": [NAN_BITS]}}),
    (np.float32(1.5), {"$numpyScalar": {"dtype": "<f4", "base64": "AADAPw=="}}),
    (
        np.asfortranarray(np.array([[1, 2], [3, 4]], "u1")),
        {"$numpyArray": {"dtype": "|u1", "shape": [2, 2], "order": "F", "base64": "AQMCBA=="}},
    ),
    (
        np.array("2023-10-25", "M8[D]"),
        {"$numpyArray": {"dtype": "<M8[D]", "shape": [], "order": "C", "base64": "x0wAAAAAAAA="}},
    ),
    (
        np.zeros((0, 3)),
        {"$numpyArray": {"dtype": "<f8", "shape": [0, 3], "order": "C", "base64": ""}},
    ),
    (ipaddress.ip_address("::1"), {"$ipAddress": "::1"}),
    (ipaddress.ip_network("10.0.0.0/8"), {"$ipNetwork": "10.0.0.0/8"}),
    (ipaddress.ip_interface("10.0.0.1/8"), {"$ipInterface": "10.0.0.1/8"}),
    (msgpack.ExtType(5, b"a"), {"$msgpackExt": {"code": 5, "base64": "YQ=="}}),
    (msgpack.ExtType._make((-2, b"")), {"$msgpackExt": {"code": -2, "base64": ""}}),
    (msgpack.Timestamp(-1, 2), {"$msgpackTimestamp": {"seconds": -1, "nanoseconds": 2}}),
    ({"$date": 1, "$$a": 2, "$": 3, "a$": 4}, {"$$date": 1, "$$$a": 2, "$$": 3, "a$": 4}),
    ({"$binary": {"base64": "", "subType": "00"}}, {"$$binary": {"base64": "", "subType": "00"}}),
    ({"$tuple": [(1,)]}, {"$$tuple": [{"$tuple": [1]}]}),
]


def bson_values() -> list[tuple[Any, Any]]:
    bson = pytest.importorskip("bson")
    from bson.datetime_ms import DatetimeMS
    from bson.int64 import Int64

    oid = "65386d2c0123456789abcdef"
    no_year = 253402300800000
    return [
        (bson.ObjectId(oid), {"$oid": oid}),
        (bson.Timestamp(1, 2), {"$timestamp": {"t": 1, "i": 2}}),
        (bson.Regex("^a", 10), {"$regularExpression": {"pattern": "^a", "options": "im"}}),
        (bson.Regex("b", 126), {"$regularExpression": {"pattern": "b", "options": "ilmsux"}}),
        (
            bson.Regex("^a", "mi"),
            {"$bson": {"$regularExpression": {"pattern": "^a", "options": "im"}}},
        ),
        (
            bson.Regex("", re.NOFLAG),
            {"$bson": {"$regularExpression": {"pattern": "", "options": ""}}},
        ),
        (bson.Regex("", 0), {"$regularExpression": {"pattern": "", "options": ""}}),
        (bson.Binary(b"a", 128), {"$binary": {"base64": "YQ==", "subType": "80"}}),
        (bson.Binary(bytes(16), 3), {"$binary": {"base64": "A" * 22 + "==", "subType": "03"}}),
        (bson.Binary(b"", 4), {"$binary": {"base64": "", "subType": "04"}}),
        (bson.Binary(b"a"), {"$bson": {"$binary": {"base64": "YQ==", "subType": "00"}}}),
        (
            bson.Binary(bytes(16), 4),
            {"$bson": {"$binary": {"base64": "A" * 22 + "==", "subType": "04"}}},
        ),
        (bson.Code("f()"), {"$code": "f()"}),
        (bson.Code("f()", {}), {"$code": "f()", "$scope": {}}),
        (
            bson.Code("f()", {"$a": (1,), "b": bson.Code("g()", {"c": b""})}),
            {
                "$code": "f()",
                "$scope": {
                    "$$a": {"$tuple": [1]},
                    "b": {
                        "$code": "g()",
                        "$scope": {"c": {"$binary": {"base64": "", "subType": "00"}}},
                    },
                },
            },
        ),
        (bson.MinKey(), {"$minKey": 1}),
        (bson.MaxKey(), {"$maxKey": 1}),
        (bson.DBRef("c", 1), {"$ref": "c", "$id": 1}),
        (
            bson.DBRef("c", bson.ObjectId(oid), "d", {"x": (1,), "$id": 2}),
            {"$ref": "c", "$id": {"$oid": oid}, "$db": "d", "x": {"$tuple": [1]}, "$$id": 2},
        ),
        (bson.DBRef("c", (1,)), {"$ref": "c", "$id": {"$tuple": [1]}}),
        (DatetimeMS(no_year), {"$date": {"$numberLong": str(no_year)}}),
        (DatetimeMS(0), {"$bson": {"$date": {"$numberLong": "0"}}}),
        (Int64(5), {"$bson": {"$numberLong": "5"}}),
        (bson.Decimal128("1.50"), {"$bson": {"$numberDecimal": "1.50"}}),
    ]


def cbor_values() -> list[tuple[Any, Any]]:
    cbor2 = pytest.importorskip("cbor2")
    frozen = cbor2.frozendict({"a": 1})
    return [
        (cbor2.undefined, {"$undefined": True}),
        (cbor2.CBORSimpleValue(59), {"$cborSimple": 59}),
        (cbor2.CBORTag(6, [(1,)]), {"$cborTag": [6, [{"$tuple": [1]}]]}),
        (cbor2.CBORTag(6, cbor2.CBORTag(7, 8)), {"$cborTag": [6, {"$cborTag": [7, 8]}]}),
        ({frozen: 2}, {"$map": [[{"$frozenMap": [["a", 1]]}, 2]]}),
    ]


#: Other spellings of the specification, and what they are.
READ: list[tuple[Any, Any]] = [
    ({"$numberInt": "-1"}, -1),
    ({"$numberLong": "9223372036854775807"}, (1 << 63) - 1),
    ({"$numberDouble": "1.0"}, 1.0),
    ({"$numberDouble": "-0.0"}, -0.0),
    ({"$numberDouble": "1.0E10"}, 1e10),
    ({"$date": "2023-10-25T00:44:28Z"}, MOMENT.replace(tzinfo=UTC)),
    ({"$date": "2023-10-25T02:44:28.120+0200"}, MOMENT.replace(tzinfo=UTC, microsecond=120000)),
    ({"$date": "2023-10-25T02:44:28+02:00"}, MOMENT.replace(tzinfo=UTC)),
    ({"$uuid": "12345678123446789234567812345678"}, UUID("12345678-1234-4678-9234-567812345678")),
    ({"$binary": {"subType": "4", "base64": "A" * 22 + "=="}}, UUID(int=0)),
    ({"$binary": {"subType": "0", "base64": "AA=="}}, b"\0"),
    ({"$numberDecimal": "1e3"}, Decimal("1E+3")),
    ({"$decimal": "1.5"}, Decimal("1.5")),
    ({"$datetime": "2023-10-25T00:44:28.000001+00:00"}, MOMENT.replace(tzinfo=UTC, microsecond=1)),
    ({"$map": [["a", 1]]}, {"a": 1}),
    ({"$set": []}, set()),
]


BAD: list[Any] = [
    {"$unknown": 1},
    {"$": 1},
    {"$date": 1, "a": 2},
    {"a": 2, "$date": {"$numberLong": "1"}},
    {"$$a": 2, "$tuple": []},
    {"$date": {"$numberLong": "1"}, "$oid": "0" * 24},
    {"$date": 1},
    {"$date": {"$numberLong": 1}},
    {"$date": {"$numberLong": "1.5"}},
    {"$date": {"$numberLong": "1" * 19 + "0"}},
    {"$date": {"$numberLong": "9223372036854775808"}},
    {"$date": "2023-10-25"},
    {"$date": "2023-10-25T00:44:28"},
    {"$date": "2023-13-25T00:44:28Z"},
    {"$date": "2023-10-25T00:44:60Z"},
    {"$date": "0001-01-01T00:00:00+01:00"},
    {"$date": "2023-10-25T00:44:28.1234567Z"},
    {"$binary": "AA=="},
    {"$binary": {"base64": "AA=="}},
    {"$binary": {"base64": "AA", "subType": "00"}},
    {"$binary": {"base64": "AA==\n", "subType": "00"}},
    {"$binary": {"base64": "AA==AA==", "subType": "00"}},
    {"$binary": {"base64": "A*==", "subType": "00"}},
    {"$binary": {"base64": "é===", "subType": "00"}},
    {"$binary": {"base64": "", "subType": "000"}},
    {"$binary": {"base64": "", "subType": 0}},
    {"$binary": {"base64": "", "subType": "00", "x": 1}},
    {"$numberInt": 1},
    {"$numberInt": "2147483648"},
    {"$numberInt": "+1"},
    {"$numberInt": "1_0"},
    {"$numberInt": "\u0661"},
    {"$numberLong": "9223372036854775808"},
    {"$numberDouble": 1.5},
    {"$numberDouble": "nan"},
    {"$numberDouble": "1_0.0"},
    {"$numberDouble": "1e999"},
    {"$numberDouble": "0.1000000000000000000001"},
    {"$numberDecimal": "1_0"},
    {"$numberDecimal": " 1"},
    {"$numberDecimal": "x"},
    {"$numberDecimal": "1E+99999999999999999999"},
    {"$uuid": "1234"},
    {"$uuid": "{12345678-1234-4678-9234-567812345678}"},
    {"$integer": "1"},
    {"$integer": 1},
    {"$nan": "3ff0000000000000"},
    {"$nan": "7ff0000000000000"},
    {"$nan": "7FF8000000000001"},
    {"$complex": [1, 2]},
    {"$complex": [1.5]},
    {"$fraction": [2, 6]},
    {"$fraction": [1, 0]},
    {"$fraction": [1, -3]},
    {"$fraction": [True, 3]},
    {"$fraction": "1/3"},
    {"$datetime": 1},
    {"$datetime": "2023-10-25"},
    {"$datetime": "2023-W43-3T00:00:00"},
    {"$datetime": "2023-10-25T00:44"},
    {"$datetime": "2023-10-25T00:44:28.1"},
    {"$datetime": "2023-10-25T00:44:28+02:00[]"},
    {"$datetime": "2023-10-25T00:44:28+02:00[Europe/Vienna"},
    {"$datetime": "2023-10-25T00:44:28+03:00[Europe/Vienna]"},
    {"$datetime": "2023-10-25T00:44:28[Europe/Vienna]"},
    {"$datetime": "2023-10-25T00:44:28+02:00[No/Such]"},
    {"$datetime": "2023-10-25T00:44:28+02:00[../../../etc/passwd]"},
    {"$datetime": {"text": "2023-10-25T00:44:28", "name": "x"}},
    {"$datetime": {"text": "2023-10-25T00:44:28+02:00", "name": 1}},
    {"$datetime": {"text": "2023-10-25T00:44:28", "fold": 2}},
    {"$datetime": {"text": "2023-10-25T00:44:28", "zone": "x"}},
    {"$datetime": {"fold": 1}},
    {"$dateOnly": "20231025"},
    {"$dateOnly": "2023-10-32"},
    {"$time": "25:00:00"},
    {"$timedelta": {"days": 1}},
    {"$timedelta": {"days": 1, "seconds": 86400, "microseconds": 0}},
    {"$timedelta": {"days": 1.0, "seconds": 0, "microseconds": 0}},
    {"$timedelta": {"days": 10**10, "seconds": 0, "microseconds": 0}},
    {"$bytearray": 1},
    {"$memoryview": "AA=="},
    {"$memoryview": {"readonly": 1, "base64": ""}},
    {"$array": {"typecode": "u", "items": ["a"]}},
    {"$array": {"typecode": "b", "items": [128]}},
    {"$array": {"typecode": "b", "items": [1.0]}},
    {"$array": {"typecode": "d", "items": [1]}},
    {"$array": {"typecode": "f", "items": [0.1]}},
    {"$array": {"typecode": "b", "items": "a"}},
    {"$array": {"typecode": "b", "items": {}}},
    {"$ipAddress": 1},
    {"$ipAddress": "10.0.0.256"},
    {"$ipAddress": "0::1"},
    {"$ipNetwork": "10.0.0.1/8"},
    {"$tuple": 1},
    {"$tuple": {"$tuple": []}},
    {"$set": [1, 1]},
    {"$set": [1, True]},
    {"$set": [[]]},
    {"$frozenset": [{"$set": []}]},
    {"$map": {"a": 1}},
    {"$map": [[1, 2], [1, 3]]},
    {"$map": [[1, 2], [True, 3]]},
    {"$map": [[[], 2]]},
    {"$map": [[1]]},
    {"$map": [[1, 2, 3]]},
    {"$map": [{"$tuple": [1, 2]}]},
    {"$ref": "c"},
    {"$ref": "c", "$oid": "0" * 24},
    {"$msgpackExt": {"code": 128, "base64": ""}},
    {"$msgpackTimestamp": {"seconds": 1, "nanoseconds": 10**9}},
    {"$bson": {"$oid": "0" * 24}},
    {"$bson": 1},
    {"$oid": "0" * 23},
    {"$oid": 1},
    {"$timestamp": {"t": 1}},
    {"$timestamp": {"t": 1, "i": 1 << 32}},
    {"$timestamp": {"t": True, "i": 1}},
    {"$regularExpression": {"pattern": "a"}},
    {"$regularExpression": {"pattern": 1, "options": ""}},
    {"$regularExpression": {"pattern": "a", "options": "ii"}},
    {"$regularExpression": {"pattern": "a", "options": "g"}},
    {"$code": 1},
    {"$code": 1, "$scope": {}},
    {"$code": "", "$scope": []},
    {"$code": "", "$scope": {"$oid": "0" * 24}},
    {"$scope": {}},
    {"$minKey": True},
    {"$maxKey": 2},
    {"$ref": 1, "$id": 1},
    {"$ref": "c", "$id": 1, "$db": None},
    {"$ref": "c", "$id": 1, "$x": 1},
    {"$undefined": 1},
    {"$symbol": "a"},
    {"$dbPointer": {}},
    {"$regex": "a", "$options": ""},
    {"$cborSimple": 256},
    {"$cborTag": [1]},
    {"$cborTag": [-1, 1]},
    {"$yamlTag": ["!a"]},
    {"$yamlTag": ["!", "b"]},
    {"$yamlTag": ["!a", 1]},
    {"$numpyScalar": {"dtype": "<f4", "base64": ""}},
    {"$numpyScalar": {"dtype": "|O8", "base64": "AAAAAAAAAAA="}},
    {"$numpyScalar": {"dtype": "f4", "base64": "AAAAAA=="}},
    {"$numpyScalar": {"dtype": "i4,i4", "base64": "AAAAAAAAAAA="}},
    {"$numpyArray": {"dtype": "<f4", "shape": [1 << 62, 1 << 62], "order": "C", "base64": ""}},
    {"$numpyArray": {"dtype": "<f4", "shape": [-1], "order": "C", "base64": ""}},
    {"$numpyArray": {"dtype": "<f4", "shape": 1, "order": "C", "base64": "AAAAAA=="}},
    {"$numpyArray": {"dtype": "<f4", "shape": [1], "order": "A", "base64": "AAAAAA=="}},
    {"$numpyArray": {"dtype": "<f4", "shape": [1] * 100, "order": "C", "base64": "AAAAAA=="}},
    {"$numpyArray": {"dtype": "<U0", "shape": [1 << 60], "order": "C", "base64": ""}},
]
