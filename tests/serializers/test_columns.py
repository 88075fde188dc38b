"""columns: records come back byte for byte, small; what has none is text; damage is named."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.auto import choose
from serialpack.bench.samples import parse_sample
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.formats import FORMATS
from serialpack.serializers.columns import COLUMNS, TEXT, Columns

CONTACTS = parse_sample("contacts:3000")[0].make_file(3000)
TABLE = (
    b"id;".replace(b";", b",")
    + b"name\r\n"
    + b"".join(b'%d,"name, %d"\r\n' % (n, n % 7) for n in range(2000))
)


def packed(data: bytes, format: str, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, serializer="columns", format=format, **how)
    return out.getvalue()


def unpacked(data: bytes, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(data), out, **how)
    return out.getvalue()


def encoded(data: bytes, format: str, effort: int = 3) -> bytes:
    fmt = FORMATS.get(format)
    (block,) = fmt.cut(io.BytesIO(data).read, 64 << 20)
    return bytes(Columns("columns", (effort,)).encode(block, fmt)[0])


@pytest.mark.parametrize("effort", [1, 3, 9])
@pytest.mark.parametrize(("data", "format"), [(CONTACTS, "ndjson"), (TABLE, "csv")])
def test_records_are_small_and_come_back(data: bytes, format: str, effort: int) -> None:
    small = packed(data, format, effort=effort)
    assert unpacked(small) == data
    plain = io.BytesIO()
    serialpack.pack(io.BytesIO(data), plain, serializer="raw", format=format, effort=effort)
    assert len(small) < 0.75 * len(plain.getvalue())
    assert encoded(data, format, effort).startswith(COLUMNS)


def test_a_part_is_read_as_of_any_other_container() -> None:
    small = packed(CONTACTS, "ndjson", block_size=100_000)
    lines = CONTACTS.splitlines(keepends=True)
    assert unpacked(small, record_range=(1000, 1010)) == b"".join(lines[1000:1010])
    assert unpacked(small, byte_range=(5000, 6000)) == CONTACTS[5000:6000]
    assert serialpack.inspect(io.BytesIO(small)).members[0].records == 3000


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (b"", "json"),
        (b"just words", "json"),
        (bytes(range(256)) * 40, "bytes"),
        (b'{"a": 1}', "json"),
        (b"<a>text</a>" * 100, "xml"),
    ],
)
def test_what_has_no_records_is_its_text(data: bytes, format: str) -> None:
    assert encoded(data, format).startswith(TEXT)
    assert unpacked(packed(data, format)) == data


def test_one_odd_record_keeps_the_columns_of_the_others() -> None:
    lines = CONTACTS.splitlines(keepends=True)
    lines[1500] = b'{"odd": [1.0, 1.00, 1E5, -0, "\\u00e9\\/"], "odd": {}}\r\n'
    numbers = Random(1).randbytes(12_000).translate(bytes(n & 127 for n in range(256)))
    data = b"".join(b"\x83\xa1a%c\xa1b%c\xa1c%c" % (*numbers[at : at + 3],) for at in range(4000))
    small = encoded(data, "msgpack")
    assert small.startswith(COLUMNS)
    monkeypatch.setattr("serialpack.serializers.columns.MAX_BLOCK", len(data))
    columns = Columns("columns", (3,))
    assert columns.decode(small, FORMATS.get("msgpack"), {}, first=True) == data


@pytest.mark.parametrize(
    ("serializer", "codec", "effort", "chain"),
    [
        ("columns", "auto", 3, "columns:3+none"),
        ("columns", "auto", 9, "columns:9+none"),
        ("columns:5", "auto", 9, "columns:5+none"),
        ("columns", "xz:6", 1, "columns:1+xz:6"),
    ],
)
def test_the_effort_is_its_own(serializer: str, codec: str, effort: int, chain: str) -> None:
    assert str(choose(serializer, (), codec, effort=effort).chain) == chain


def test_it_compresses_and_needs_no_codec(tmp_path: Path) -> None:
    """``serialpack.pack`` leaves the codec out."""
    path = tmp_path / "a.ndjson"
    path.write_bytes(CONTACTS)
    report = serialpack.pack(path, tmp_path / "a.spk", serializer="columns")
    assert report.chain == "columns:3+none"
    assert report.exact
    assert report.proved
    assert json.loads(CONTACTS.splitlines()[0])
