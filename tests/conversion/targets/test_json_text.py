"""``--to json`` and ``ndjson``: the same values are the same text, in UTF-8, whoever writes it.

What writes a block is chosen by its size, its place and by what else it holds.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.conversion.blocks import writing
from serialpack.conversion.targets.writers import writers
from serialpack.formats.json.write import compact_lines
from serialpack.pipeline import line, workers
from tests.conversion.converting import converted
from tests.formats.test_json_writing import SCALARS, TREES

#: Values and their text.
TEXTS: list[tuple[Any, str]] = [
    ("Zoë", '"Zoë"'),
    ("mostly ascii, and one \u20ac", '"mostly ascii, and one \u20ac"'),
    ("\u4e2d\u6587 \U0001f600", '"\u4e2d\u6587 \U0001f600"'),
    ("\u2028\u2029\ufeff\uffff\x85", '"\u2028\u2029\ufeff\uffff\x85"'),
    ("/<>&'", '"/<>&\'"'),
    ('"\\', '"\\"\\\\"'),
    ("\x7f", '"\x7f"'),
    ("\b\t\n\f\r\x00\x0b\x1b\x1f", '"\\b\\t\\n\\f\\r\\u0000\\u000b\\u001b\\u001f"'),
    ("1e+16, e-05", '"1e+16, e-05"'),
    ('"1e+16', '"\\"1e+16"'),
    (1e16, "1e16"),
    (-1.5e17, "-1.5e17"),
    (1e22, "1e22"),
    (1e15, "1000000000000000.0"),
    (123456789012345680.0, "1.2345678901234568e17"),
    (1e300, "1e300"),
    (1.7976931348623157e308, "1.7976931348623157e308"),
    (0.0001, "0.0001"),
    (1e-5, "0.00001"),
    (-1.25e-5, "-0.0000125"),
    (1e-6, "1e-6"),
    (9.5e-9, "9.5e-9"),
    (1e-10, "1e-10"),
    (5e-324, "5e-324"),
    (1.0, "1.0"),
    (-0.0, "-0.0"),
    (0.1, "0.1"),
    (0, "0"),
    (-(1 << 63), "-9223372036854775808"),
    ((1 << 64) - 1, "18446744073709551615"),
    ([], "[]"),
    ({}, "{}"),
    ([None, True, {"k": [1, "a"]}], '[null,true,{"k":[1,"a"]}]'),
    ({"ë 1e-05": 1e-5, "": ""}, '{"ë 1e-05":0.00001,"":""}'),
]
VALUES = {"v": [value for value, _ in TEXTS]}
LINE = '{"v":[' + ",".join(text for _, text in TEXTS) + "]}"

#: Above what the library, the thread and the process are chosen by, and what a block holds.
LARGE = max(workers.INLINE, writing._SMALL, 64 << 10)
BLOCK = 2 * LARGE
COUNTS = {
    "one": 1,
    "two": 2,
    "small": (writing._SMALL // len(LINE.encode())) * 3 // 4,
    "large": writing._SMALL * 2 // len(LINE.encode()),
    "threads": BLOCK * 2 // len(LINE.encode()),
    "a small last block": (BLOCK + 50_000) // len(LINE.encode()),
}


def _escaped(character: str) -> str:
    return character if character.isascii() else json.dumps(character)[1:-1]


def _surrogate(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def source(name: str, count: int) -> bytes:
    if name == "msgpack":
        return bytes(msgpack.packb(VALUES)) * count
    escaped = name == "escaped ndjson"
    # Escapes are the source's; the text of a number is kept.
    line = "".join(map(_escaped, LINE)) if escaped else LINE
    return (line + "\n").encode() * count


@pytest.mark.parametrize("target", ["json", "ndjson"])
@pytest.mark.parametrize("name", ["ndjson", "escaped ndjson", "msgpack"])
@pytest.mark.parametrize("size", COUNTS)
def test_the_text_is_the_same_at_every_size(size: str, name: str, target: str) -> None:
    count = COUNTS[size]
    data = converted(source(name, count), name.split()[-1], target, threads=2, block_size=BLOCK)
    lines = data.decode().split("\n")
    rows = [line.removesuffix(",") for line in lines if line not in ("[", "]", "")]
    assert len(rows) == count
    assert set(rows) == {LINE}


@pytest.mark.parametrize("verify", [True, False])
def test_the_text_is_the_same_out_of_other_processes(
    verify: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "PROCESSES_FROM", 1)
    count = 3 * (256 << 10) // len(LINE.encode())
    data = converted(
        source("msgpack", count), "msgpack", "ndjson", threads=2, block_size=1 << 17, verify=verify
    )
    assert set(data.decode().split("\n")) == {LINE, ""}


@pytest.mark.parametrize("record", [{"a": "Zo\u00eb"}, {"a": "Zo\u00eb", "b": 1.5}])
@pytest.mark.parametrize("count", [1, 499, 500, 501, 1000, 5000])
def test_records_that_are_alike(record: Any, count: int) -> None:
    """They have a writer of their own, from the second block on."""
    text = json.dumps(record) + "\n"
    out = converted(text.encode() * count, "ndjson", "ndjson", block_size=len(text) * 700)
    assert set(out.split(b"\n")) == {msgspec.json.encode(record), b""}


@pytest.mark.parametrize("count", [1, 5_000])
def test_a_lone_surrogate_changes_nothing_beside_it(count: int) -> None:
    """No UTF-8 has it, so that it alone is an escape."""
    records = [{"a": "Zo\u00eb", "x": 1e16}] * count + [{"a": "\ud83d \u00eb\udc00", "x": 1e-5}]
    text = "".join(json.dumps(record) + "\n" for record in records)
    text = text.replace("1e+16", "1e16").replace("1e-05", "0.00001")
    lines = converted(text.encode(), "ndjson", "ndjson").decode().split("\n")
    assert set(lines[:count]) == {'{"a":"Zo\u00eb","x":1e16}'}
    assert lines[count:] == ['{"a":"\\ud83d \u00eb\\udc00","x":0.00001}', ""]


@given(st.lists(TREES, max_size=3))
def test_both_writers_write_the_same(records: list[Any]) -> None:
    fast, slow = writers("ndjson", {})
    try:
        expected = fast.dump(records)
    except UnicodeEncodeError:  # a lone surrogate, which msgspec does not write
        assert [json.loads(line) for line in compact_lines(records).splitlines()] == records
        return
    assert slow.dump(records) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_all_doubles_are_written_the_same(value: float) -> None:
    fast, slow = writers("json", {})
    assert slow.dump([value]) == fast.dump([value])


@given(st.dictionaries(st.text(), SCALARS))
def test_escapes_of_the_source_are_not_those_of_the_target(record: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        text = json.dumps(record, ensure_ascii=ascii_only)
        if ascii_only or not re.search("[\ud800-\udfff]", text):  # else it is not UTF-8
            out = converted(text.encode(), "json", "json")
            line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
            assert out == re.sub("[\ud800-\udfff]", _surrogate, line).encode()


@pytest.mark.parametrize("value", [float("nan"), {"x": float("inf")}])
@pytest.mark.parametrize("count", [1, 80])
def test_what_is_not_json_is_refused_unproved_too(value: Any, count: int) -> None:
    """Not made into some other value by the one library, and refused by the other."""
    data = msgpack.packb("x" * 1000) * count + msgpack.packb({"v": value})
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        converted(data, "msgpack", "ndjson", verify=False)
    assert caught.value.record == count
    assert (caught.value.value_path or "").startswith("$")


def test_packed_bytes_come_back_with_their_escapes() -> None:
    data = b'{"a": "Zo\\u00eb", "b": 1e+16, "c": 1E-05}\n' * 50
    for serializer in ("json", "ujson", "msgspec-json", "columns", "raw"):
        packed, out = io.BytesIO(), io.BytesIO()
        serialpack.pack(io.BytesIO(data), packed, format="ndjson", serializer=serializer)
        packed.seek(0)
        report = serialpack.unpack(packed, out)
        if report.exact:
            assert out.getvalue() == data
        assert b"\\u00eb" in out.getvalue()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("json", b'[{"a": NaN, "b": 1.10},\n{"a": -Infinity, "b": 12345678901234567890123}]'),
        ("ndjson", b'{"a": NaN, "b": 1.10}\n{"a": -Infinity, "b": 12345678901234567890123}'),
    ],
)
@pytest.mark.parametrize("block_size", [10, None])
def test_nan_in_json_is_read_where_it_may_be_lost(
    source: str, text: bytes, block_size: int | None
) -> None:
    """Else it is refused, with the option that reads it; all other numbers keep their text."""
    with pytest.raises(serialpack.InputError, match="NaN is not JSON") as caught:
        serialpack.convert(io.BytesIO(text), io.BytesIO(), format=source, to="ndjson")
    assert "--lossy nan" in caught.value.said
    made = {}
    for target in ("ndjson", "csv"):
        out = io.BytesIO()
        report = serialpack.convert(
            *(io.BytesIO(text), out), format=source, to=target, lossy=["nan"], block_size=block_size
        )
        made[target] = out.getvalue()
        lost = [(loss.rule, loss.count) for loss in report.losses]
        assert lost == ([("nan", 2)] if target == "ndjson" else [])
    first, second = made["ndjson"].splitlines()
    assert first == b'{"a":null,"b":1.10}'
    assert second == b'{"a":null,"b":12345678901234567890123}'
    assert made["csv"] == b"a,b\nNaN,1.10\n-Infinity,12345678901234567890123\n"


@pytest.mark.parametrize(
    ("target", "nan"),
    [
        ("csv", b"NaN,-Infinity"),
        ("yaml", b".nan"),
        ("msgpack", b"\xcb\x7f\xf8" + bytes(6)),
        ("pickle", b"G\x7f\xf8" + bytes(6)),
        ("npz", bytes(6) + b"\xf8\x7f"),
    ],
)
def test_nan_in_json_is_read_where_the_target_has_it(target: str, nan: bytes) -> None:
    """Nothing is lost then, and it was refused all the same."""
    source = b'{"a": NaN, "b": -Infinity}'
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(source), out, format="json", to=target)
    assert report.losses == []
    assert nan in out.getvalue()
    with pytest.raises(serialpack.InputError, match="lossy"):
        serialpack.convert(io.BytesIO(source), io.BytesIO(), format="json", to="sqlite")


def test_nan_in_json_is_a_float_in_a_typed_table(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    source = io.BytesIO(b'[{"a": NaN}, {"a": 1.5}, {"a": null}]')
    target = tmp_path / "a.parquet"
    report = serialpack.convert(source, target, format="json", lossy=["nan"])
    assert report.losses == []
    first, *others = parquet.read_table(target)["a"].to_pylist()
    assert first != first
    assert others == [1.5, None]
