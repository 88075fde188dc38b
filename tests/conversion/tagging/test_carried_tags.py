"""Tags of CBOR, extension types of MessagePack, and types of BSON with others in them: they were
refused by every format but their own, with no way out but ``--tagged``, and for most not even that.
"""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tagging.untagger import Untagger
from serialpack.errors import SerialpackError
from tests.conversion.converting import converted

pytest.importorskip("cbor2")
pytest.importorskip("msgpack")

CBOR = bytes.fromhex(
    "a4"  # a map of
    "6175 d820 6361 3a62"  # u: URI (tag 32) a:b
    "6165 d818 41f6"  # e: an encoded item (tag 24), one byte
    "6178 f7"  # x: undefined
    "6173 f0"  # s: simple value 16
)
CBOR_MAPS = {
    "u": {"$cborTag": [32, "a:b"]},
    "e": {"$cborTag": [24, "9g=="]},
    "x": {"$undefined": True},
    "s": {"$cborSimple": 16},
}
MSGPACK = bytes.fromhex(
    "82"  # a map of
    "a165 d501 0203"  # e: extension type 1, two bytes
    "a174 c70cff 00000000 0000010000000000"  # t: a time beyond the years of datetime
)
MSGPACK_MAPS = {
    "e": {"$msgpackExt": {"code": 1, "base64": "AgM="}},
    "t": {"$msgpackTimestamp": {"seconds": 1 << 40, "nanoseconds": 0}},
}


@pytest.mark.parametrize(
    ("source", "data", "maps"), [("cbor", CBOR, CBOR_MAPS), ("msgpack", MSGPACK, MSGPACK_MAPS)]
)
def test_they_are_what_tagged_writes_and_told(source: str, data: bytes, maps: Any) -> None:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, format=source, to="json")
    assert json.loads(out.getvalue()) == maps
    carried = {loss.rule: loss.count for loss in report.carried}
    assert carried.pop("tags") == len(maps)
    assert set(carried) <= {"bytes"}
    with pytest.raises(SerialpackError, match="tagged"):
        converted(data, source, "json", strict=True)


@pytest.mark.parametrize(("source", "data"), [("cbor", CBOR), ("msgpack", MSGPACK)])
def test_tagged_reads_them_back(source: str, data: bytes) -> None:
    text = converted(data, source, "json")
    assert b"$cborTag" in text or b"$msgpackExt" in text
    if source == "msgpack":  # in CBOR bytes within a tag are base64, which is told
        assert converted(text, "json", source, tagged=True) == data


@pytest.mark.parametrize("to", ["yaml", "csv", "bson", "parquet", "sqlite", "toml", "pickle"])
def test_no_target_refuses_them(to: str) -> None:
    for source, data in (("cbor", CBOR), ("msgpack", MSGPACK)):
        assert converted(data, source, to)


def test_types_of_bson_with_others_in_them_are_extended_json() -> None:
    bson = pytest.importorskip("bson")
    from bson.datetime_ms import DatetimeMS

    far = bson.ObjectId("0123456789abcdef01234567")
    more = {"of": far, "since": datetime(2020, 1, 2, tzinfo=UTC)}
    document = {
        "r": bson.DBRef("c", far),
        "m": bson.DBRef("c", 1, "db", more),
        "c": bson.Code("f()", {"a": far}),
        "y": DatetimeMS(253402300800000),  # the year 10000
    }
    oid = {"$oid": "0123456789abcdef01234567"}
    since = {"$date": "2020-01-02T00:00:00Z"}
    text = converted(bson.encode(document), "bson", "ndjson")
    assert json.loads(text) == {
        "r": {"$ref": "c", "$id": oid},
        "m": {"$ref": "c", "$id": 1, "$db": "db", "of": oid, "since": since},
        "c": {"$code": "f()", "$scope": {"a": oid}},
        "y": {"$date": {"$numberLong": "253402300800000"}},
    }


def test_a_tag_that_is_read_as_another_value_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is tagged is proved by the values that its tags are read as."""
    a_second_past_1970 = bytes.fromhex("d6ff 00000001")
    assert b"$date" in converted(a_second_past_1970, "msgpack", "json", tagged=True)
    monkeypatch.setattr(Untagger, "run", lambda _, records: [datetime.now(UTC) for _ in records])
    with pytest.raises(serialpack.ValueRefusedError, match="a date and time in UTC"):
        converted(a_second_past_1970, "msgpack", "json", tagged=True)
