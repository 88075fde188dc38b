"""Avro container files that are damaged or hostile: refused before fastavro sees them."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import Malformed
from tests.formats.avro_files import (
    CODECS,
    FMT,
    RECURSIVE,
    SYNC,
    container,
    deflate,
    doubling,
    record,
    z,
)
from tests.formats.hostile import on_the_command_line, said


@pytest.mark.parametrize("codec", [c for c in CODECS if c != b"null"])
def test_a_block_restores_to_no_more_than_a_block(codec: bytes) -> None:
    if codec == b"snappy":
        pytest.importorskip("cramjam")
        bomb = b"\x80\x80\x80\x80\x0f" + bytes(100)
    else:
        bomb = CODECS[codec](bytes(65 << 20))
    with pytest.raises(RefusedError, match="64 MiB"):
        FMT.read(container("bytes", [(1, bomb)], codec))


def test_the_checksum_of_a_block_that_snappy_compressed_is_looked_at() -> None:
    pytest.importorskip("cramjam")
    stored = CODECS[b"snappy"](z(1))
    assert FMT.read(container("long", [(1, stored)], b"snappy")) == [1]
    for damaged in (stored[:-1] + bytes([stored[-1] ^ 1]), stored[:-4]):
        with pytest.raises(Malformed, match="a block that snappy does not decompress"):
            FMT.read(container("long", [(1, damaged)], b"snappy"))


ONE = container("long", [(1, z(1))])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not begin as Avro"),
        (b"\xef\xbb\xbf" + ONE, "does not begin as Avro"),
        (ONE.decode("latin-1").encode("utf-16"), "does not begin as Avro"),
        (b"Obj\x02" + ONE[4:], "does not begin as Avro"),
        (ONE[:10], "announced"),
        (ONE[:4], "ends too early"),
        (ONE[:-1], "are there"),
        (ONE + b"x", "a block of -|ends too early"),
        (ONE + ONE, "a block of -40 values"),
        (ONE[:-1] + b"?", "no sync marker"),
        (container("long", [(-1, z(1))]), "a block of -1 values"),
        (container("long", [(2, z(1))]), "2 values are announced in 1 bytes"),
        (container("long", [(1, z(1) + z(2))]), "more than its values"),
        (container("long", [(2, b"\x80\x80")]), "ends within a value"),
        (container("long", [(1, b"\xff" * 10 + b"\1")]), "more than 64 bits"),
        (container("int", [(1, z(1 << 40))]), "is not an int"),
        (container("boolean", [(1, b"\7")]), "not a boolean"),
        (container("double", [(1, b"\0\0")]), "ends within a value"),
        (container("string", [(1, z(-5) + b"abc")]), "-5 bytes are announced"),
        (container("string", [(1, z(1 << 40) + b"abc")]), "bytes are announced, 3 are there"),
        (container("string", [(1, z(1) + b"\xff")]), "not UTF-8"),
        (container(["null", "long"], [(1, z(7))]), "no place in a union"),
        (container(["null", "long"], [(1, z(-1) + z(0))]), "no place in a union"),
        (container({"type": "enum", "name": "E", "symbols": ["A"]}, [(1, z(1))]), "1 symbols"),
        (container({"type": "enum", "name": "E", "symbols": ["A"]}, [(1, z(-1))]), "1 symbols"),
        (container({"type": "array", "items": "int"}, [(1, z(1 << 32) + z(1))]), "announced"),
        (
            container({"type": "array", "items": "int"}, [(1, z(-1) + z(9) + z(1) + z(0))]),
            "do not end",
        ),
        (container({"type": "map", "values": "int"}, [(1, z(1 << 32) + z(1))]), "announced"),
        (container({"type": "int", "logicalType": "time-millis"}, [(1, z(-1))]), "beyond the day"),
        (
            container(
                {"type": "bytes", "logicalType": "decimal", "precision": 2}, [(1, z(1) + b"\x70")]
            ),
            "more than 2 digits",
        ),
        (container(b"{", []), "its schema is none"),
        (container("nope", []), "its schema is none"),
        (container(b"\xff", []), "its schema is none"),
        (container(b"[" * 100_000, []), "its schema is none"),
        (container(b'{"type":"array","items":' * 800 + b'"int"' + b"}" * 800, []), "levels|deep"),
        (container({"type": "fixed", "name": "F", "size": -1}, []), "fixed type"),
        (container({"type": "fixed", "name": "F", "size": 1 << 50}, [(1, b"a")]), "within a value"),
        (
            container({**record("int", "int"), "fields": [{"name": "a", "type": "int"}] * 2}, []),
            "two fields",
        ),
        (container("long", [(1, z(1))], b"lzma9"), "which is not in the specification"),
        (b"Obj\x01" + z(0) + SYNC, "no schema"),
        (b"Obj\x01" + z(1 << 32), "entries are announced"),
    ],
)
def test_bad_files_are_told(data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words) as caught:
        FMT.read(data)
    assert caught.value.at is not None
    error = said(data, "avro")
    assert isinstance(error, SyntaxInputError)
    assert 0 <= error.offset <= len(data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (
            container(
                {"type": "map", "values": "int"},
                [(0, b""), (1, z(2) + (z(1) + b"k" + z(1)) * 2 + z(0))],
            ),
            "duplicate-keys",
        ),
        (
            container({"type": "long", "logicalType": "timestamp-micros"}, [(1, z(1 << 60))]),
            "value",
        ),
        (container({"type": "int", "logicalType": "date"}, [(1, z(1 << 30))]), "value"),
        (container({"type": "string", "logicalType": "uuid"}, [(1, z(1) + b"x")]), "value"),
        (container(RECURSIVE, [(1, z(1) * 100_000 + z(0))]), "depth"),
    ],
)
def test_values_that_python_does_not_hold(data: bytes, kind: str) -> None:
    with pytest.raises(Unheld) as caught:
        FMT.read(data)
    assert caught.value.difference.kind == kind
    for serializer in ("avro", "json"):
        error = said(data, "avro", serializer)
        assert isinstance(error, ValueRefusedError)
        assert error.kind == kind


@pytest.mark.parametrize(
    "data",
    [
        container("null", [(1 << 40, b"")]),
        container(record("null"), [(1 << 40, b"")]),
        container({"type": "array", "items": "null"}, [(1, z(1 << 40) + z(0))]),
        container({"type": "array", "items": record()}, [(1, z(1 << 40) + z(0))]),
        container(doubling(60), [(1, b"")]),
    ],
)
def test_values_of_no_bytes_are_counted(data: bytes) -> None:
    with pytest.raises((RefusedError, Malformed), match="take no bytes"):
        FMT.read(data)


def test_few_values_of_no_bytes_are_read() -> None:
    assert FMT.read(container("null", [(3, b"")])) == [None] * 3
    nulls = {"type": "array", "items": "null"}
    assert FMT.read(container(nulls, [(1, z(3) + z(0))])) == [[None] * 3]
    nested: Any = {"n": None}
    for _ in range(100):
        nested = {"n": nested}
    assert FMT.read(container(RECURSIVE, [(1, z(1) * 100 + z(0))])) == [nested]


@pytest.mark.parametrize(
    ("data", "exit_code"),
    [
        (container(RECURSIVE, [(1, z(1) * 100_000 + z(0))]), 4),
        (container(b"[" * 100_000, []), 3),
        (container({"type": "array", "items": "null"}, [(1, z(1 << 32) + z(0))]), 4),
        (container({"type": "array", "items": "int"}, [(1, z(1 << 32) + z(0))]), 3),
        (container("bytes", [(1, deflate(bytes(65 << 20)))], b"deflate"), 4),
        (container("bytes", [(1, zstandard.compress(bytes(65 << 20)))], b"zstandard"), 4),
        (container(doubling(60), [(1, b"")]), 3),
    ],
)
def test_hostile_bytes(tmp_path: Path, data: bytes, exit_code: int) -> None:
    code, message = on_the_command_line(tmp_path, data, "avro")
    assert code == exit_code, message
    assert message.count("\n") == 1


@given(st.data())
def test_changed_bytes_are_read_or_refused(data: st.DataObject) -> None:
    records = [
        {"a": [1, None, "x"], "b": {"": 1.5}, "c": Decimal("1.5"), "e": [{"x": 1}, {"y": []}]}
    ]
    source = bytearray(FMT.write(records))
    for _ in range(data.draw(st.integers(1, 4))):
        source[data.draw(st.integers(0, len(source) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(Malformed, Unheld, RefusedError):
        FMT.read(bytes(source))
