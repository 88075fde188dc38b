"""columns: records come back byte for byte, small; what has none is text; damage is named."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import serialpack
from serialpack.auto.choice import choose
from serialpack.bench.samples import parse_sample
from serialpack.columns.stored.block import Form
from serialpack.container.reader import is_container
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.formats import FORMATS
from serialpack.serializers.columns import ColumnsSerializer

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
    kind = FORMATS.declaration(format).columns
    return bytes(ColumnsSerializer("columns", (effort,)).encode(data, kind))


@pytest.mark.parametrize("effort", [1, 3, 9])
@pytest.mark.parametrize(("data", "format"), [(CONTACTS, "ndjson"), (TABLE, "csv")])
def test_records_are_small_and_come_back(data: bytes, format: str, effort: int) -> None:
    small = packed(data, format, effort=effort)
    assert unpacked(small) == data
    plain = io.BytesIO()
    serialpack.pack(io.BytesIO(data), plain, serializer="raw", format=format, effort=effort)
    assert len(small) < 0.75 * len(plain.getvalue())
    assert encoded(data, format, effort)[0] == Form.COLUMNS


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
    assert encoded(data, format)[0] in (Form.SHAPELESS, Form.LARGER)
    assert unpacked(packed(data, format)) == data


@given(st.binary(max_size=300), st.sampled_from(["json", "ndjson", "csv", "tsv"]))
def test_any_bytes_come_back(data: bytes, format: str) -> None:
    assume(not is_container(data))  # which is not packed again
    assert unpacked(packed(data, format, verify=False)) == data


def test_a_block_that_would_not_come_back_is_kept_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong with the columns: the proof finds it, and the bytes are kept."""

    def wrong(self: ColumnsSerializer, source: bytes, kind: str) -> bytes:
        return (good(self, source, kind) or b"")[:-1]

    good = ColumnsSerializer.apart
    monkeypatch.setattr(ColumnsSerializer, "apart", wrong)
    small = packed(CONTACTS, "ndjson")
    report = serialpack.inspect(io.BytesIO(small)).members[0]
    assert report.exact
    monkeypatch.undo()
    assert unpacked(small) == CONTACTS
    assert len(small) > 1.5 * len(packed(CONTACTS, "ndjson"))


def test_damage_is_named_whatever_it_is() -> None:
    """The serialized bytes are under a checksum; who forges that gets an error all the same."""
    data = encoded(CONTACTS[:40_000], "ndjson")
    for at in range(0, len(data), 97):
        forged = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        try:
            ColumnsSerializer("columns", (3,)).decode(forged)
        except (ValueError, UnsupportedError):
            continue
    forms = [bytes([form]) for form in (*Form, max(Form) + 1)]
    for forged in (b"", *forms, *(form + b"\xff" * 30 for form in forms), data[:-1]):
        with pytest.raises((ValueError, UnsupportedError)):
            ColumnsSerializer("columns", (3,)).decode(forged)
    small = bytearray(packed(CONTACTS, "ndjson"))
    small[len(small) // 2] ^= 1
    with pytest.raises(DamagedError, match="block 0"):
        unpacked(bytes(small))


def test_a_later_layout_is_unsupported_not_damaged() -> None:
    data = encoded(CONTACTS, "ndjson")
    at = 3 if data[1] & 128 else 2
    later = data[:at] + b"\x09" + data[at + 1 :]
    with pytest.raises(UnsupportedError, match="update serialpack"):
        ColumnsSerializer("columns", (3,)).decode(later)


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


@pytest.mark.parametrize(("sample", "bits"), [("dna", 2.0), ("protein", 4.3219)])
def test_letters_take_what_they_are(sample: str, bits: float) -> None:
    """Of a small alphabet: log2 of its size for each, also where zstd is not far from that."""
    letters = 200_000
    data = b"".join(parse_sample(f"{sample}:{letters}")[0].chunks(letters))
    assert len(packed(data, "ndjson")) < 1.02 * letters * bits / 8
