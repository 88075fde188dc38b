"""Blank lines and white space around records: of any length, in little memory, and no records."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest

import serialpack
from serialpack.errors import SyntaxInputError

# Of work and memory: the same under every Python.
pytestmark = pytest.mark.slow

MIB = 1 << 20

RECORD = b'{"a":1}'
#: More than a spelling holds around records.
LONG = 5000


def _there_and_back(source: bytes, name: str, serializer: str = "msgpack") -> bytes:
    packed, restored = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, serializer=serializer, format=name)
    serialpack.unpack(io.BytesIO(packed.getvalue()), restored)
    return restored.getvalue()


def _converted(source: bytes, name: str, to: str) -> bytes:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(source), out, format=name, to=to)
    return out.getvalue()


def _values(lines: bytes) -> list[object]:
    return [json.loads(line) for line in lines.splitlines() if line.strip()]


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b" \t\n", b" "])
@pytest.mark.parametrize("around", [b"%b", b"%b1\n", b"1\n%b", b"1\n%b\n2", b"\n1\n\n%b\n 2\n"])
@pytest.mark.parametrize("to", ["msgpack", "json"])
def test_blank_lines_are_no_records(blank: bytes, around: bytes, to: str) -> None:
    source = around % (blank * LONG)
    assert _values(_there_and_back(source, "ndjson", to)) == _values(source)
    again = _converted(_converted(source, "ndjson", "msgpack"), "msgpack", "ndjson")
    assert _values(again) == _values(source)


@pytest.mark.parametrize(
    "source",
    [
        *(b"%b1", b"1%b", b"%b[1,%b2]", b"[1,2%b]", b"[1,2]%b", b"[%b]", b"[]%b"),
        *(b'{"a":1%b}', b'{"a":1}%b', b"{%b}%b"),
    ],
)
def test_white_space_around_json(source: bytes) -> None:
    for size in (1, LONG):
        for blank in (b"\n", b" ", b"\r\n\t"):
            text = source.replace(b"%b", blank * size)
            assert json.loads(_there_and_back(text, "json")) == json.loads(text)


@pytest.mark.slow
@pytest.mark.parametrize("source", [b"%b", RECORD + b"\n%b" + RECORD])
def test_millions_of_blank_lines_take_little_memory(source: bytes) -> None:
    text = source % (b"\n" * (8 * MIB))
    tracemalloc.start()
    try:
        assert _values(_there_and_back(text, "ndjson")) == [{"a": 1}] * source.count(RECORD)
        assert tracemalloc.get_traced_memory()[1] < 100 * MIB
    finally:
        tracemalloc.stop()


def test_the_place_of_an_error_behind_blank_lines() -> None:
    source = b"1\n" + b" \n" * LONG + b'\n {"a":}\n'
    with pytest.raises(SyntaxInputError) as caught:
        _there_and_back(source, "ndjson")
    assert caught.value.offset == source.index(b"}")
    assert (caught.value.line, caught.value.column) == (LONG + 3, 7)
