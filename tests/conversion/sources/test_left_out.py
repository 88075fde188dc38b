"""What ``skip_bad`` leaves out, and what becomes of odd sources: all of it is told."""

from __future__ import annotations

import io
import json
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.reports import ConvertReport
from tests.conversion.converting import converted
from tests.conversion.documents import documents


def without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_null(v) for k, v in value.items() if v is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


def skipping(data: bytes, source: str, target: str, **how: Any) -> tuple[bytes, ConvertReport]:
    out = io.BytesIO()
    how = {"skip_bad": True, **how}
    report = serialpack.convert(io.BytesIO(data), out, format=source, to=target, trust=True, **how)
    return out.getvalue(), report


@pytest.mark.parametrize("target", ["ndjson", "msgpack", "yaml", "avro"])
@pytest.mark.parametrize(
    ("source", "data", "kept"),
    [
        ("json", b"[1,2,", [1, 2]),
        ("json", b"[1,2 3,4]", [1, 4]),
        ("json", b'{"a":[1,', None),
        ("msgpack", b"\x01\x02\xc1" + b"\x03" * 1000, [1, 2]),
        ("msgpack", b"\x01\x92\x02", [1]),
        ("ndjson", b"1\n{bad\n3\n", [1, 3]),
        ("ndjson", b"1\n2\n{bad", [1, 2]),
        ("csv", b"a\r\n1\r\n2,3\r\n4\r\n", [{"a": "1"}, {"a": "4"}]),
        ("csv", b'a\r\n1\r\n"2"x\r\n4\r\n', [{"a": "1"}, {"a": "4"}]),
        ("yaml", b"a: 1\n---\n[\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("cbor", b"\x01\x02\x1c", [1, 2]),
        ("bson", b"\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00\x05", [{"a": 1}]),
    ],
)
def test_nothing_is_left_out_unsaid(
    source: str, data: bytes, kept: list[Any] | None, target: str
) -> None:
    if kept is None:
        with pytest.raises(serialpack.InputError, match="no record is left"):
            skipping(data, source, target)
        return
    out, report = skipping(data, source, target)
    found = documents(out, target)
    if source == "json" and target in ("msgpack", "yaml"):
        (found,) = found
    if target == "avro":  # null is what stands for what is missing
        found, kept = without_null(found), without_null(kept)
    assert found == kept
    assert report.left_out == len(report.places) >= 1


@pytest.mark.parametrize(
    "target",
    ["avro", "xml", "typed-xml", "pickle", "marshal", "parquet", "arrow", "csv", "sqlite"],
)
def test_a_source_without_a_good_record_is_refused(target: str) -> None:
    with pytest.raises(serialpack.InputError, match="no record is left"):
        skipping(b"{bad\n", "ndjson", target)


@pytest.mark.parametrize("target", ["csv", "sqlite", "parquet", "avro", "msgpack", "xml"])
def test_a_source_of_which_all_is_refused_is_not_called_broken(target: str) -> None:
    """It ended with 3, as where the input is damaged; the same without skip_bad with 4."""
    lines = b'{"a":{"b":"\\ud800"}}\n' * 3
    with pytest.raises(serialpack.RefusedError):
        skipping(lines, "ndjson", target, skip_bad=False)
    with pytest.raises(serialpack.RefusedError, match="no record is left") as left:
        skipping(lines, "ndjson", target)
    assert left.value.exit_code == 4
    with pytest.raises(serialpack.InputError, match="no record is left"):
        skipping(lines + b"{bad\n", "ndjson", target)


@pytest.mark.parametrize("target", ["parquet", "arrow", "pickle", "msgpack", "csv", "sqlite"])
def test_records_are_counted_and_numbered_as_in_the_source(target: str) -> None:
    lines = [b'{"a":"%d"}' % n for n in range(40)]
    lines[3] = b"{bad"
    lines[7] = b'{"a":"x","a":"y"}'
    lines[30] = b"["
    out, report = skipping(b"\n".join(lines), "ndjson", target)
    assert [place.record for place in report.places] == [3, 7, 30]
    assert report.records == len(documents(out, target)) == 37


def test_records_that_no_column_holds_are_left_out_of_tables() -> None:
    text = b'{"a":1}\n{bad\n{"a":2}\n{"a":%d}\n{"a":3}\n'
    out, report = skipping(text % (1 << 70), "ndjson", "parquet")
    assert documents(out, "parquet") == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert report.records == 3
    assert [place.record for place in report.places] == [1, 3]


@pytest.mark.parametrize(
    "serializer", ["csv", "tsv", "parquet", "arrow", "avro", "json", "msgpack"]
)
def test_an_object_is_one_document(serializer: str) -> None:
    value = [{"a": "1"}]
    packed = io.BytesIO(serialpack.dumps(value, serializer))
    out = io.BytesIO()
    serialpack.convert(packed, out, to="json")
    assert json.loads(out.getvalue()) == value
    packed.seek(0)
    lines = io.BytesIO()
    serialpack.convert(packed, lines, to="ndjson")
    assert lines.getvalue() == b'{"a":"1"}\n'


@pytest.mark.parametrize(
    ("source", "data", "how", "said"),
    [
        ("csv", b"a,b\n1,2\n3,4,5\n6,7\n", {"strict": True}, "different lengths"),
        ("csv", b"a\n1\nx\n2\n", {"shaping": Shaping(types=(("a", "integer"),))}, "is no integer"),
        (
            "msgpack",
            msgpack.dumps({"a": b"\xff"}),
            {"shaping": Shaping(types=(("a", "text"),))},
            "no text in UTF-8",
        ),
    ],
    ids=["a long row", "a cell", "bytes"],
)
def test_what_is_told_of_a_record_left_out_does_not_ask_to_leave_it_out(
    source: str, data: bytes, how: dict[str, Any], said: str
) -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="skip_bad=True leaves") as refused:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), format=source, to="ndjson", **how)
    assert refused.value.ways is not None
    assert refused.value.ways.skip_bad
    if source == "msgpack":  # its one record: a good one stands behind it
        data += msgpack.dumps({"a": "x"})
    _, report = skipping(data, source, "ndjson", **how)
    (place,) = report.places
    assert said in place.error
    assert "skip" not in place.error


def test_several_containers_in_one_file_are_refused() -> None:
    packed = io.BytesIO()
    for _ in range(2):
        serialpack.pack(io.BytesIO(b"a: 1\n---\nb: 2\n"), packed, format="yaml")
    for to in ("json", "yaml"):
        packed.seek(0)
        with pytest.raises(serialpack.RefusedError, match="several files"):
            serialpack.convert(packed, io.BytesIO(), to=to)


@pytest.mark.parametrize("target", ["yaml", "json", "ndjson"])
def test_the_columns_of_a_table_without_rows_are_not_lost_unsaid(target: str) -> None:
    with pytest.raises(serialpack.ValueRefusedError, match=r'lossy=\["columns"\]'):
        converted(b"a,b\r\n", "csv", target)
    out = io.BytesIO()
    report = serialpack.convert(
        io.BytesIO(b"a,b\r\n"), out, format="csv", to=target, lossy=["columns"]
    )
    assert [loss.rule for loss in report.losses] == ["columns"]
    assert report.records == 0


def test_a_large_map_whose_keys_are_no_text_is_not_called_twice() -> None:
    data = msgpack.packb(dict.fromkeys(range(2000), "x" * 9))
    with pytest.raises(serialpack.RefusedError, match="keys that are no text"):
        converted(data, "msgpack", "json", tagged=True, block_size=1000)


def test_what_was_done_is_not_advised() -> None:
    data = b"a,b\n1,2\n3,4,5\n4,5\n"
    report = serialpack.convert(
        io.BytesIO(data), io.BytesIO(), format="csv", to="ndjson", skip_bad=True
    )
    (place,) = report.places
    assert "3 fields, not 2" in place.error
    assert "--skip-bad" not in place.error


@pytest.mark.parametrize("target", ["json", "csv", "parquet"])
@pytest.mark.parametrize(
    ("source", "data", "count"),
    [
        ("ndjson", b'{"a":1}\n{"a"}\n{"a":2}\n', 2),
        ("ndjson", b'# more\n{"a":1}\n', 1),
        ("json", b'[{"a":1},{"a":},{"a":3}]', 2),
        ("csv", b'a,b\n"x"y,1\nz,2\n', 1),
        ("ndjson", b'{"a"}\n', 0),
        ("json", b'{"a"}\n', 0),
        ("csv", b'a,b\n"x"y,1\n', 0),
    ],
)
def test_what_leaves_out_broken_records_is_told_where_others_are_left(
    source: str, data: bytes, count: int, target: str
) -> None:
    """Of a line that is no JSON, nobody was told how the rest is had."""
    with pytest.raises(serialpack.InputError) as broken:
        skipping(data, source, target, skip_bad=False)
    hint = "--skip-bad leaves out what is broken"
    assert broken.value.hint == (hint if count else None)
    if count:
        assert skipping(data, source, target)[1].records == count
