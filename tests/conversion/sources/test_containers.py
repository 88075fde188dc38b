"""Records of other sources as JSON: the same values, or a refusal with the record and its path."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.errors import InputError, RefusedError, ValueRefusedError


def as_json(format: str, source: bytes, **how: Any) -> tuple[bytes, Any]:
    packed, out = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, format=format, **how)
    packed.seek(0)
    report = serialpack.convert(packed, out, to="json")
    assert (report.format, report.to) == (format, "json")
    assert report.size == len(out.getvalue())
    return out.getvalue(), report


@pytest.mark.parametrize(
    ("format", "source", "wanted"),
    [
        ("ndjson", b"", []),
        ("ndjson", b'{"a": 1}\n', [{"a": 1}]),
        ("ndjson", b'1\n\n"x"\n[1.50, -0.0]\n', [1, "x", [1.5, -0.0]]),
        (
            "csv",
            b'id,name\n1,00123\n2,"a ""b"""\n',
            [{"id": "1", "name": "00123"}, {"id": "2", "name": 'a "b"'}],
        ),
        ("yaml", b"a: no\nb: [0777, x]\n", {"a": "no", "b": [777, "x"]}),
        ("yaml", b"a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("toml", b'a = 1\n[b]\nc = "d"\n', {"a": 1, "b": {"c": "d"}}),
        ("msgpack", b"\x81\xa1a\x01", {"a": 1}),
        ("msgpack", b"\x01\x02\x03", [1, 2, 3]),
        ("cbor", bytes.fromhex("a16161f4"), {"a": False}),
    ],
)
@pytest.mark.parametrize("serializer", ["raw", "json"])
def test_the_values(format: str, source: bytes, wanted: Any, serializer: str) -> None:
    text, report = as_json(format, source, serializer=serializer)
    assert json.loads(text) == wanted
    assert report.records == (len(wanted) if isinstance(wanted, list) else 1)
    assert not report.exact


def test_many_blocks_are_one_array() -> None:
    rows = [{"n": n, "text": f"line {n}"} for n in range(100_000)]
    source = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    text, _ = as_json("ndjson", source, block_size=1 << 16)
    assert json.loads(text) == rows


def test_what_one_writer_would_change_another_one_writes() -> None:
    """A lone surrogate and an integer of 40 digits come out as they are."""
    text, _ = as_json("ndjson", b'["\\ud800", ' + b"1" * 40 + b", 1e22]\n")
    assert json.loads(text) == [["\ud800", int("1" * 40), 1e22]]


@pytest.mark.parametrize(
    ("format", "source", "path", "kind"),
    [
        ("msgpack", b"\x81\xa1a\xcb\x7f\xf0" + bytes(6), "$.a", "non-finite"),
        ("yaml", b"a: .nan\n", "$.a", "non-finite"),
    ],
)
def test_what_json_cannot_hold_is_refused(format: str, source: bytes, path: str, kind: str) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        as_json(format, source)
    assert (caught.value.record, caught.value.value_path, caught.value.kind) == (0, path, kind)


@pytest.mark.parametrize(
    ("format", "source", "rule", "wanted"),
    [
        (
            "yaml",
            b"a: 1\nb: [!!timestamp 2023-10-25]\n",
            "timestamps",
            {"a": 1, "b": ["2023-10-25"]},
        ),
        ("msgpack", b"\x81\xa1a\xc4\x01x", "bytes", {"a": "eA=="}),
        ("msgpack", b"\x81\x01\x02", "keys", {"1": 2}),
    ],
)
def test_what_json_holds_as_text_is_carried(
    format: str, source: bytes, rule: str, wanted: Any
) -> None:
    text, report = as_json(format, source)
    assert json.loads(text) == wanted
    assert [(loss.rule, loss.count) for loss in report.carried] == [(rule, 1)]
    assert not report.losses


def test_what_has_no_records_or_may_run_code_is_not_read() -> None:
    with pytest.raises(InputError):
        as_json("bytes", b"abc")
    with pytest.raises(RefusedError, match="trust"):
        as_json("pickle", b"I1\n.")


#: What is not valid in a format whose name, or first bytes, it has.
BAD = {
    "json": b'{"a":1,,}',
    "ndjson": b'{"a":1}\n{"a"\n',
    "yaml": b"a: [1,\n",
    "toml": b"a = \n",
    "xml": b"<a><b></a>",
    "msgpack": b"\x92\x01",
    "cbor": b"\x82\x01",
    "bson": b"\x20\0\0\0abc",
    "csv": b'a,b\n"1\n',
    "npy": b"\x93NUMPY\x01\0v\0abc",
    "avro": b"Obj\x01abc",
    "parquet": b"PAR1abcdPAR1",
    "sqlite": b"SQLite format 3\0abc",
    "npz": b"PK\3\4abc",
}


@pytest.mark.parametrize("format", BAD)
def test_what_is_not_valid_in_its_format_is_not_given_as_such(format: str) -> None:
    """A container keeps any bytes; ``--to`` its format gave them back as if they were valid."""
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO(BAD[format]), packed, format=format)
    packed.seek(0)
    with pytest.raises(InputError, match=r"not valid|no sound"):
        serialpack.convert(packed, io.BytesIO(), to=format)
    if format not in ("csv", "parquet", "sqlite"):  # which are looked at in any case
        packed.seek(0)
        copy = io.BytesIO()
        serialpack.convert(packed, copy, to=format, verify=False)
        assert copy.getvalue() == BAD[format]


@pytest.mark.parametrize("source", [b'{"a":1, "a":2}', b"[" * 600 + b"]" * 600, b" [1,\n2] "])
def test_what_is_valid_but_no_value_here_is_given_as_it_is(source: bytes) -> None:
    packed, copy = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, format="json")
    packed.seek(0)
    report = serialpack.convert(packed, copy, to="json")
    assert copy.getvalue() == source
    assert report.exact
