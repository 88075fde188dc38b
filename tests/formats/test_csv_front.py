"""A first line ``sep=;`` of CSV, by which Excel is told the delimiter, is no line of cells."""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from pathlib import Path

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.detection.detect import detect
from serialpack.errors import SerialpackError
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conversion.converting import converted

FRONTS = [b"sep=;\n", b"sep=;\r\n", b"SEP=;\n", b"\xef\xbb\xbfsep=;\n"]
ROWS = b"id;text;more\n" + b"".join(b"%d;a,b%d;%d\n" % (n, n % 7, n * n) for n in range(5000))


@pytest.mark.parametrize("mark", [",", ";", "|", "\t"])
def test_it_names_the_delimiter(mark: str) -> None:
    """One that the rows alone do not tell; it was taken for the header, and nothing was told."""
    text = f"sep={mark}\na{mark}b\n1,2{mark}3;4|5\t6\n".replace(mark * 2, mark).encode()
    names = {",": "csv", ";": "csv:semicolon", "|": "csv:pipe", "\t": "tsv"}
    assert detect("a.csv", text) == names[mark]


@pytest.mark.parametrize("mark", [",", ";", "|", "\t"])
def test_in_quotes_it_names_the_delimiter_and_is_told(mark: str) -> None:
    """It was taken for the name of a table's one column, and nothing was told."""
    text = f'"sep={mark}"\r\na{mark}b\r\n1{mark}3\r\n'.encode()
    names = {",": "csv", ";": "csv:semicolon", "|": "csv:pipe", "\t": "tsv"}
    assert detect("a.csv", text) == names[mark]
    with pytest.raises(SerialpackError, match=r"tail -n \+2 .* above the table: 1 line"):
        converted(text, detect("a.csv", text), "ndjson")
    assert detect("a.csv", f'"sep={mark}"\nx\n'.encode()) == "csv"  # one column of that name


@pytest.mark.parametrize("front", FRONTS)
def test_records_begin_behind_it(front: bytes) -> None:
    lines = converted(front + ROWS, "csv", "ndjson").splitlines()
    assert json.loads(lines[0]) == {"id": "0", "text": "a,b0", "more": "0"}
    assert len(lines) == 5000


@pytest.mark.parametrize("no_header", [False, True])
@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("serializer", ["raw", "columns", "csv", "msgpack"])
def test_it_is_packed_and_comes_back(
    serializer: str, front: bytes, no_header: bool, tmp_path: Path
) -> None:
    """In blocks, of which the first alone has it; rows are counted, and found, without it."""
    source, packed = tmp_path / "a.csv", tmp_path / "a.spk"
    source.write_bytes(front + ROWS)
    report = serialpack.pack(
        source, packed, serializer=serializer, block_size=8 << 10, exact=True, no_header=no_header
    )
    assert report.records == 5000 + no_header
    out = io.BytesIO()
    serialpack.unpack(packed, out)
    assert out.getvalue() == front + ROWS
    row = 4000 - no_header
    part = io.BytesIO()
    serialpack.unpack(packed, part, record_range=(4000, 4001))
    assert part.getvalue().split()[-1] == b"%d;a,b%d;%d" % (row, row % 7, row * row)
    if not no_header:
        fields = io.BytesIO()
        shaping = Shaping(delimiter=";")
        serialpack.convert(packed, fields, to="csv", fields=["id", "more"], shaping=shaping)
        assert fields.getvalue().split()[-1] == b"4999;24990001"
        assert fields.getvalue().removeprefix(BOM_UTF8).startswith(b"id;more")
        with serialpack.open(packed) as records:
            assert records[3000]["id"] == "3000"


@pytest.mark.parametrize(
    "text", [b"sep=;\n", b"sep=;\na;b\n", b"sep=;", b"sep=;\n\n", b"sep=^\n1\n"]
)
@pytest.mark.parametrize("serializer", ["raw", "columns", "auto"])
def test_what_has_no_rows(serializer: str, text: bytes, tmp_path: Path) -> None:
    source, out = tmp_path / "a.csv", io.BytesIO()
    source.write_bytes(text)
    serialpack.pack(source, tmp_path / "a.spk", serializer=serializer)
    serialpack.unpack(tmp_path / "a.spk", out)
    assert out.getvalue() == text


@pytest.mark.parametrize(
    ("row", "told"),
    [(b'3;"4"5\n', "line 4, column 6"), (b"3;4;5\n", "line 4: 3 fields")],
)
def test_a_place_is_told_with_it(row: bytes, told: str) -> None:
    source = io.BytesIO(b"sep=;\na;b\n1;2\n" + row)
    with pytest.raises(SerialpackError) as error:
        serialpack.convert(source, io.BytesIO(), format="csv", to="json", strict=True)
    assert told in str(error.value)


@pytest.mark.parametrize("names", [["sep=;"], ["sep=", ""], ["sep=|", "b"], ["sep=,"]])
@pytest.mark.parametrize("format", ["csv", "csv:semicolon", "tsv"])
def test_names_that_read_so_are_quoted(names: list[str], format: str) -> None:
    source = json.dumps([dict.fromkeys(names, "x")]).encode()
    to, _, semicolon = format.partition(":")
    shaping = Shaping(delimiter=";" if semicolon else None)
    text = converted(source, "json", to, shaping=shaping)
    assert json.loads(converted(text, format, "json")) == json.loads(source)


def test_a_typed_table_keeps_it() -> None:
    text = b"sep=;\r\na;b\r\n1;x\r\n2;y\r\n"
    typed = converted(text, "csv", "parquet", shaping=Shaping(infer=True))
    assert converted(typed, "parquet", "csv") == text


def test_it_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"sep=|\na|b\n1,2|3\n")
    assert b"delimiter |" in run("unpack", "a.csv", "-o", "a.json").stderr
