"""CSV whose lines end in carriage returns alone, as old Macs wrote it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.api import first_records
from serialpack.errors import SerialpackError
from tests.conversion.converting import converted

ROWS = [{"a": "1", "b": 'x\ry,;"\n'}, {"a": "3", "b": "4"}]


def table(mark: str, end: str = "\r") -> bytes:
    return f'a{mark}b\r1{mark}"x\ry,;""\n"\r3{mark}4{end}'.encode()


def as_lines(data: bytes) -> bytes:
    """A part of such a table with line feeds."""
    return data.replace(b"x\r", b"x\0").replace(b"\r", b"\n").replace(b"\0", b"\r")


def read(data: bytes, format: str, **how: Any) -> tuple[list[Any], str]:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, format=format, to="json", **how)
    return json.loads(out.getvalue()), report.read_as


@pytest.mark.parametrize("end", ["\r", "", "\n"])
@pytest.mark.parametrize(("mark", "format"), [(",", "csv"), (";", "csv"), ("\t", "tsv")])
def test_its_lines_are_records(mark: str, format: str, end: str) -> None:
    """It was refused, though nothing but the ends of its lines is another way of writing."""
    assert read(table(mark, end), format) == (ROWS, "lines that end in carriage returns")


def test_in_another_encoding() -> None:
    data = b"\xff\xfe" + table(",").decode().encode("utf-16-le")
    assert read(data, "csv")[0] == ROWS


def test_out_of_a_container() -> None:
    for serializer in ("raw", "auto"):
        packed, back = io.BytesIO(), io.BytesIO()
        serialpack.pack(io.BytesIO(table(";")), packed, format="csv", serializer=serializer)
        out = io.BytesIO()
        serialpack.convert(io.BytesIO(packed.getvalue()), out, to="json")
        assert json.loads(out.getvalue()) == ROWS
        serialpack.unpack(io.BytesIO(packed.getvalue()), back)
        assert back.getvalue() == table(";")


@pytest.mark.parametrize(("mark", "format"), [(",", "csv"), (";", "csv"), ("\t", "tsv")])
def test_its_records_are_seen_without_a_conversion(mark: str, format: str) -> None:
    """There were none, and all of it was shown as its header."""
    data = table(mark)
    shape = serialpack.inspect(io.BytesIO(data), format=format).shape
    assert shape is not None
    assert (shape.records_seen, shape.whole) == (2, True)
    assert shape.fields == {"a": ("string",), "b": ("string",)}
    for count, end in (1, data.index(b"\r3") + 1), (9, len(data)):
        out = io.BytesIO()
        first_records(io.BytesIO(data), out, count, format=format)
        assert out.getvalue() == as_lines(data[:end])


def test_to_look_at_two_kinds_of_ends_is_refused_too() -> None:
    with pytest.raises(SerialpackError, match="a line feed behind lines that end in"):
        data = b"a,b\r" + b"1,2\r" * 50_000 + b"3,4\n5,6"
        first_records(io.BytesIO(data), io.BytesIO(), 9**9, format="csv")


@pytest.mark.parametrize("rows", [1, 50_000, 1 << 18])
def test_the_last_line_may_end_in_a_line_feed(rows: int) -> None:
    """As editors leave such a file: it was refused. Where a piece ends is no other end."""
    data = b"a,b\r" + b"1,2\r" * (rows - 1) + b"3,4\n"
    assert read(data, "csv") == (
        [{"a": "1", "b": "2"}] * (rows - 1) + [{"a": "3", "b": "4"}],
        "lines that end in carriage returns",
    )
    assert read(b"name\rx\ry\n", "csv")[0] == [{"name": "x"}, {"name": "y"}]


def test_of_many_pieces() -> None:
    text = "a,b\r" + "".join(f'{n},"x\r{n}"\r' for n in range(200_000))
    lines = converted(text.encode(), "csv", "ndjson").splitlines()
    assert (len(lines), json.loads(lines[-1])) == (200_000, {"a": "199999", "b": "x\r199999"})


@pytest.mark.parametrize(
    "text",
    [
        "a,b\r1,2\n3,4\n",
        "a,b\n1,2\r3,4\n",
        "a,b\r" + "1,2\r" * 50_000 + "3,4\n5,6\r",
        "a,b\r" + "1,2\r" * 262_143 + "\n3,4\r",
        "a,b\r" + "1,2\r" * 262_143 + "\n",
        "a,b\r" + "1,2\r" * 50_000 + "3,4\r\n",
        'a,b\r5" x,1\r6" y,2\r',
    ],
)
def test_two_kinds_of_ends_are_refused(text: str) -> None:
    with pytest.raises(SerialpackError, match="not valid CSV"):
        read(text.encode(), "csv")
