"""avro: a user's schema, reading with another one, and what blocks of a file are."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.errors import (
    DamagedError,
    FileError,
    UnsupportedError,
    UsageError,
    ValueRefusedError,
)
from serialpack.serializers import SERIALIZERS
from serialpack.values.equality import difference

fastavro = pytest.importorskip("fastavro")

ITEM = {
    "type": "record",
    "name": "Item",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "price", "type": ["null", "float"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}
RECORD: dict[str, Any] = {"id": 1, "price": 0.5, "tags": ["a"]}


def _options(tmp_path: Path, schema: Any, name: str = "item.avsc") -> dict[str, Any]:
    (tmp_path / name).write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return {"schema": tmp_path / name}


def test_records_under_a_schema(tmp_path: Path) -> None:
    options = _options(tmp_path, ITEM)
    records: list[dict[str, Any]] = [RECORD, {"id": -(2**31), "price": None, "tags": []}]
    for record in records:
        again = serialpack.loads(serialpack.dumps(record, "avro", options=options))
        assert difference(record, again) is None
    source = b"".join(json.dumps({**RECORD, "id": i}).encode() + b"\n" for i in range(100))
    packed, back, stored = io.BytesIO(), io.BytesIO(), io.BytesIO()
    report = serialpack.pack(
        io.BytesIO(source), packed, serializer="avro", format="ndjson", options=options
    )
    assert (report.records, report.exact) == (100, True)
    packed.seek(0)
    serialpack.unpack(packed, back)
    assert back.getvalue() == source
    packed.seek(0)
    serialpack.convert(packed, stored, to="avro")
    reader = fastavro.reader(io.BytesIO(stored.getvalue()))
    assert [record["id"] for record in reader] == list(range(100))
    assert reader.writer_schema["fields"][0]["type"] == "int"


@pytest.mark.parametrize(
    ("part", "path", "kind"),
    [
        ({"id": "x"}, "$.id", "text"),
        ({"id": 2**31}, "$.id", "integer"),
        ({"price": 0.1}, "$.price", "float"),
        ({"price": 1}, "$.price", "integer"),
        ({"tags": [1]}, "$.tags", "integer"),
        ({"tags": ("a",)}, "$.tags", "tuple"),
        ({"more": 1}, "$", "value"),
    ],
)
def test_what_the_schema_does_not_hold(
    tmp_path: Path, part: dict[str, Any], path: str, kind: str
) -> None:
    options = _options(tmp_path, ITEM)
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({**RECORD, **part}, "avro", options=options)
    assert caught.value.kind == kind
    assert caught.value.value_path.startswith(path)


def test_an_absent_field_is_refused(tmp_path: Path) -> None:
    """Even where the schema has a default, which would come back as a value."""
    schema = {**ITEM, "fields": [*ITEM["fields"], {"name": "n", "type": "int", "default": 0}]}
    with pytest.raises(ValueRefusedError):
        serialpack.dumps(RECORD, "avro", options=_options(tmp_path, schema))


def test_a_deep_value_of_a_recursive_schema(tmp_path: Path) -> None:
    schema = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "next", "type": ["null", "Node"]}],
    }
    options = _options(tmp_path, schema)
    deep: dict[str, Any] = {"next": None}
    for _ in range(100):
        deep = {"next": deep}
    assert serialpack.loads(serialpack.dumps(deep, "avro", options=options)) == deep
    for _ in range(100_000):
        deep = {"next": deep}
    with pytest.raises(ValueRefusedError, match="nested too deeply"):
        serialpack.dumps(deep, "avro", options=options)


def test_another_schema_reads_it(tmp_path: Path) -> None:
    """A field more with a default, one less, and wider numbers, as Avro's rules allow."""
    data = serialpack.dumps(RECORD, "avro", options=_options(tmp_path, ITEM))
    newer = {
        "type": "record",
        "name": "Item",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "price", "type": ["null", "double"]},
            {"name": "stock", "type": "int", "default": 7},
        ],
    }
    read = serialpack.loads(data, options=_options(tmp_path, newer, "newer.avsc"))
    assert read == {"id": 1, "price": 0.5, "stock": 7}
    assert serialpack.loads(data) == RECORD
    assert serialpack.loads(data, options=_options(tmp_path, ITEM)) == RECORD
    for other in (
        {**ITEM, "fields": [{"name": "id", "type": "string"}]},
        {**ITEM, "fields": [{"name": "none", "type": "int"}]},
        '"long"',
    ):
        with pytest.raises(DamagedError, match="the schema does not read it"):
            serialpack.loads(data, options=_options(tmp_path, other, "other.avsc"))


def test_each_block_is_a_file() -> None:
    source = b"".join(b'{"a": %d}\n' % i for i in range(1000))
    packed, back = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(
        io.BytesIO(source), packed, serializer="avro", format="ndjson", block_size=2000
    )
    assert report.blocks > 3
    packed.seek(0)
    serialpack.unpack(packed, back)
    assert back.getvalue() == source


@pytest.mark.parametrize(
    ("text", "options", "error", "words"),
    [
        (None, {"schema": "gone.avsc"}, FileError, "no such file"),
        ("{", {}, UsageError, "cannot be used"),
        ('"nope"', {}, UsageError, "cannot be used"),
        ('"long"', {"message": "A"}, UsageError, "no message"),
        ('"long"', {"schema": {"type": "long"}}, UsageError, "path of its file"),
        (
            json.dumps({"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(9000)]}),
            {},
            UsageError,
            r"takes \d+ bytes in the header",
        ),
    ],
)
def test_options_that_are_wrong(
    tmp_path: Path, text: str | None, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    named = _options(tmp_path, text) if text else {}
    if isinstance(options.get("schema"), str):
        options = {"schema": tmp_path / options["schema"]}
    with pytest.raises(error, match=words):
        serialpack.dumps(1, "avro", options={**named, **options})


@pytest.mark.parametrize("settings", [{"schema": 5}, {"schema": "{"}, {"x": 1}])
def test_settings_that_no_header_has(settings: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match="Avro schema"):
        SERIALIZERS.create("avro").configure(settings)


def test_a_refusal_names_the_record_and_the_place() -> None:
    source = b'{"a": 1}\n' * 70 + b'{"a": [1, {"b": 18446744073709551616}]}\n' + b'{"a": 1}\n' * 50
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.pack(io.BytesIO(source), io.BytesIO(), serializer="avro", format="ndjson")
    assert (caught.value.record, caught.value.value_path) == (70, "$.a[1].b")
    assert caught.value.kind == "bigint"
