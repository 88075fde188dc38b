"""What serializers store, who reads it, and what damaged or hostile stored bytes get."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from serialpack.depth import MAX_DEPTH
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import ByteSerializer
from serialpack.values.kinds import KINDS
from tests.formats.streams import value_format
from tests.serializers.chains import VALUE_SERIALIZERS, kinds_in, record_serializer, takes, writing

RECORDS: list[Any] = [
    {"a": 1, "b": [None, True, -1.5, "\u00e9/<\x00"]},
    {"a": 2},
    [],
    10**18,
    "x",
    "\n",
]
#: For those that hold tables of text, and nothing else.
TEXTS: list[Any] = [{"a": "x", "b": ""}, {"a": "\n", "b": "\u00e9\x00,\t"}]


@pytest.mark.parametrize("entry", list(SERIALIZERS), ids=lambda entry: entry.name)
def test_declarations(entry: Any) -> None:
    cls = SERIALIZERS.cls(entry.name)
    assert cls.about
    assert cls.cannot <= KINDS.keys()
    assert cls.stored_format is None or cls.stored_format in FORMATS
    assert cls.exact == (not cls.cannot)


def test_raw_passes_the_bytes() -> None:
    raw = SERIALIZERS.create("raw")
    assert isinstance(raw, ByteSerializer)
    for block in FORMATS.get("json").split(io.BytesIO(b"[1, 2]").read, 4):
        assert raw.encode(block.data, "json") is block.data
        assert raw.decode(block.data) is block.data


@pytest.mark.parametrize("name", VALUE_SERIALIZERS)
def test_records_are_dumped_one_after_another(name: str) -> None:
    serializer = record_serializer(name)
    records = [record for record in RECORDS if takes(name, *kinds_in(record))] or TEXTS
    together = serializer.dump(records)
    stored = FORMATS.declaration(serializer.stored_format)
    if stored.joins == b"" and not stored.delimiter:
        assert together == b"".join(serializer.dump([record]) for record in records)
    assert serializer.load(together) == records
    assert serializer.load(memoryview(together)) == records
    assert serializer.load(serializer.dump([])) == []


def test_json_and_ujson_read_each_other() -> None:
    records = [*RECORDS, "\ud800", 10**40]
    both = [record_serializer("json"), record_serializer("ujson")]
    for writer in both:
        data = writer.dump(records)
        assert data.count(b"\n") == len(records)
        for reader in both:
            assert reader.load(data) == records
    assert both[0].dump(RECORDS) == both[1].dump(RECORDS)


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("json", b"1 2\n"),
        ("json", b"[1\n2]\n"),
        ("json", b"NaN\n"),
        ("json", b"1e400\n"),
        ("json", b'"a\nb"\n'),
        ("json", b'"\xff"\n'),
        ("json", b"\n"),
        ("json", b"[" * 100_000),
        ("ujson", b"1 2\n"),
        ("ujson", b"NaN\n"),
        ("ujson", b"[null, -1e400]\n"),
        ("ujson", b'{"a": Infinity, "b": "null"}\n'),
        ("ujson", b'"\xff"\n'),
        ("ujson", b"[" * 100_000),
        ("msgpack", b"\xcb\x7f\xf8" + bytes(6)),
        ("msgpack", b"\x91\xcb\xff\xf0" + bytes(6)),
        ("msgpack", b"\xca\x7f\x80\x00\x00"),
        ("msgpack", b"\x81\x01\x02"),
        ("msgpack", b"\xc4\x01x"),
        ("msgpack", b"\xd6\xff\x00\x00\x00\x00"),
        ("msgpack", b"\xa1\xff"),
        ("msgpack", b"\xc1"),
        ("msgpack", b"\x92\x01"),
        ("msgpack", b"\xdd\xff\xff\xff\xff\x01"),
        ("msgpack", b"\xdf\xff\xff\xff\xff\x01"),
        ("msgpack", b"\xdb\xff\xff\xff\xff\x01"),
        ("msgpack", b"\x91" * 100_000),
        ("cbor", b"\x81"),
        ("cbor", b"\x01\xff"),
        ("cbor", b"\x61\xff"),
        ("cbor", b"\xa2\x01\x02\xf5\x03"),
        ("cbor", b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("cbor", b"\x7b\x00\x00\x00\xff\xff\xff\xff\xff\x01"),
        ("cbor", b"\xd8\x1c\x81\xd8\x1d\x00"),
        ("cbor", b"\x81" * 100_000),
        ("bson", b"\x05\x00\x00\x00"),
        ("bson", b"\xff\xff\xff\x7f\x00"),
        ("bson", b"\x0c\x00\x00\x00\x77a\x00\x00\x00\x00\x00\x00"),
        ("xml", b"<int>1"),
        ("xml", b"<svg/>"),
        ("xml", b"<int>x</int>"),
        ("xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><string>&b;</string>"),
        ("xml", b"<list>" * 100_000),
        ("java", b"\xac\xed\x00\x05t\xff\xff"),
        ("java", b"\xac\xed\x00\x06"),
    ],
)
def test_bytes_that_no_serializer_wrote_are_refused(name: str, stored: bytes) -> None:
    half = writing(name, "json")
    with pytest.raises(ValueError):  # noqa: PT011
        half.decode(stored, {"k": "a"}, first=True, exact=False)


@pytest.mark.parametrize("name", VALUE_SERIALIZERS)
def test_a_hostile_spelling_is_refused_or_harmless(name: str) -> None:
    half = writing(name, "json")
    data = half.serializer.dump([{"a": "1"}])
    spellings: list[dict[str, Any]] = [
        {"s": 5},
        {"s": ["a"]},
        {"n": []},
        {"k": 7, "n": 1 << 40},
        {"x": "y"},
        {"h": 3, "t": None},
    ]
    for style in spellings:
        try:
            text = half.decode(data, style, first=True, exact=False)
        except ValueError:
            continue
        assert len(text) < 1000


def test_records_that_are_none_of_a_map_are_refused() -> None:
    with pytest.raises(ValueError, match="not JSON values"):
        value_format("json").write_text([1, 2], {"k": "m"}, first=True)
    with pytest.raises(ValueError, match="2 records"):
        value_format("json").write_text([1, 2], {}, first=True)


@pytest.mark.parametrize("name", VALUE_SERIALIZERS)
def test_a_piece_of_a_record_is_refused(name: str) -> None:
    from serialpack.errors import RefusedError

    block = SourceBlock(b"[1", 0, 0, records=1, partial=True)
    with pytest.raises(RefusedError, match="larger than 64 MiB"):
        writing(name, "json").encode(block)


@pytest.mark.parametrize("name", VALUE_SERIALIZERS)
def test_what_only_python_holds_is_refused_with_its_path(name: str) -> None:
    serializer = record_serializer(name)
    deep: Any = []
    for _ in range(5 * MAX_DEPTH):
        deep = [deep]
    # Pickle holds objects, but no generator.
    only_here = object() if "object" in serializer.cannot else (n for n in RECORDS)
    values: list[tuple[Any, str]] = [({"a": [1, only_here]}, "$.a[1]"), (only_here, "$")]
    for value, path in values:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            serializer.dump([{"a": "1"}, value])
        lost = serializer.blame([{"a": "1"}, value], ValueError("no"))
        where = path.removesuffix("[1]") if "nested" in serializer.cannot else path
        assert (lost.record, lost.value_path) == (1, where)
    with pytest.raises((ValueError, RecursionError, OverflowError)):
        serializer.dump([{"a": deep}])


def test_stored_json_is_json() -> None:
    data = record_serializer("ujson").dump(RECORDS)
    assert [json.loads(line) for line in data.splitlines()] == RECORDS
