"""parquet and arrow: lists of records as tables, and why they are refused."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

import serialpack
from serialpack.errors import MissingLibraryError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.formats.tables.library import arrow
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.values.equality import difference

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = ("parquet", "arrow")
RECORDS: list[dict[str, Any]] = [
    {"id": i, "name": None if i % 3 else f"n{i}", "when": datetime(2020, 1, 1, tzinfo=UTC)}
    for i in range(1000)
]


@pytest.mark.parametrize("name", NAMES)
def test_a_list_of_records_is_a_table(name: str) -> None:
    again = serialpack.loads(serialpack.dumps(RECORDS, name))
    assert difference(RECORDS, again) is None
    assert serialpack.loads(serialpack.dumps([], name)) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("value", "path", "kind"),
    [
        ({"a": 1}, "$", "bare"),
        ([1], "$[0]", "bare"),
        ([{"a": 1}, {"a": 2}, {"b": 2}], "$[2]", "mixed"),
        ([{"a": 1}, {"a": 1.5}], "$[1]", "mixed"),
        ([{"a": [1, "x"]}], "$[0]", "mixed"),
        ([{"a": 1}, {"a": {"b": [0, 2**64]}}], "$[1].a.b[1]", "bigint"),
        ([{"a": 1, "b": {1: 2}}], "$[0].b", "integer-key"),
        ([{"a": [[(1, 2)]]}], "$[0].a[0][0]", "tuple"),
        ([{"a": "x"}, {"a": "\udc80"}], "$[1].a", "surrogates"),
        ([{"a": Decimal("1E+5")}], "$[0].a", "decimal"),
    ],
)
def test_a_refusal_names_the_place(name: str, value: Any, path: str, kind: str) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps(value, name)
    assert (caught.value.value_path, caught.value.kind) == (path, kind)
    with pytest.raises(ValueRefusedError):  # nothing is left to the proof
        serialpack.dumps(value, name, verify=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_records(name: str) -> None:
    source = b"".join(json.dumps({"id": i, "x": [i / 4]}).encode() + b"\n" for i in range(1000))
    packed, back, stored = io.BytesIO(), io.BytesIO(), io.BytesIO()
    report = serialpack.pack(io.BytesIO(source), packed, serializer=name, format="ndjson")
    assert (report.records, report.exact) == (1000, True)
    packed.seek(0)
    serialpack.unpack(packed, back)
    assert back.getvalue() == source
    packed.seek(0)
    serialpack.convert(packed, stored, to=name)
    file = pa.BufferReader(stored.getvalue())
    table = pq.read_table(file) if name == "parquet" else pa.ipc.open_file(file).read_all()
    assert table.column("id").to_pylist() == list(range(1000))
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.pack(
            io.BytesIO(source + b'{"id": 1.5, "x": []}\n'),
            io.BytesIO(),
            serializer=name,
            format="ndjson",
        )
    assert (caught.value.record, caught.value.kind) == (1000, "mixed")


@pytest.mark.parametrize("name", NAMES)
def test_many_blocks_are_as_many_files(name: str) -> None:
    source = b"".join(b'{"a": %d}\n' % i for i in range(2000))
    packed, back = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(
        io.BytesIO(source), packed, serializer=name, format="ndjson", block_size=4000
    )
    assert report.blocks > 3
    packed.seek(0)
    serialpack.unpack(packed, back)
    assert back.getvalue() == source


@pytest.mark.parametrize("name", NAMES)
def test_stored_bytes_that_no_serializer_wrote(name: str) -> None:
    serializer = SERIALIZERS.create(name)
    assert isinstance(serializer, RecordSerializer)
    good = serializer.dump([{"a": 1}])
    for data in (b"", b"PAR1", b"ARROW1\0\0", good[:-1], good + b"x", good[:50] + good[60:]):
        with pytest.raises(ValueError):  # noqa: PT011
            serializer.load(data)
    assert serializer.load(memoryview(good)) == [{"a": 1}]


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [("parquet", "pyarrow", "arrow"), ("arrow", "pyarrow", "arrow"), ("avro", "fastavro", "avro")],
)
def test_a_library_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, name: str, library: str, extra: str
) -> None:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    data = fmt.write_text([{"a": 1}], {}, first=True)
    for module in [m for m in sys.modules if m.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    arrow.cache_clear()
    with pytest.raises(MissingLibraryError) as caught:
        serialpack.pack(io.BytesIO(data), io.BytesIO(), serializer="json", format=name)
    assert f"serialpack[{extra}]" in str(caught.value)
