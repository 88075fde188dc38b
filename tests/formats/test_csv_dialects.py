"""CSV as it is found: with semicolons, vertical bars or tabs between its fields."""

from __future__ import annotations

import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import serialpack
from serialpack.detection.detect import detect, told
from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.formats.csv.dialects import _fits_plain, _plain_rows
from serialpack.formats.csv.widths import fits
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conversion.converting import converted

MARKS = {",": "csv", ";": "csv:semicolon", "|": "csv:pipe", "\t": "tsv"}


def table(mark: str, rows: int = 3) -> bytes:
    """One of which each row has all other marks in it, and quotes where those are needed."""
    others = "".join(other for other in MARKS if other != mark)
    lines = [f"id{mark}text{mark}more", *(f'{n}{mark}"a{mark}""b"{mark}' for n in range(rows))]
    return ("\n".join(lines) + f"\n9{mark}x{others}{mark}\n").encode()


@pytest.mark.parametrize("mark", MARKS)
def test_a_delimiter_is_found(mark: str) -> None:
    data = table(mark)
    assert detect("a.csv", data) == MARKS[mark]
    assert told("csv", None, data) == MARKS[mark]
    lines = converted(data, "csv", "ndjson").splitlines()
    assert json.loads(lines[1]) == {"id": "1", "text": f'a{mark}"b', "more": ""}


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("a;b\n1,5;2,5\n", "csv:semicolon"),
        ("a,b;c\n1,2;3\n", "csv"),  # both do: the comma in doubt
        ("a;b|c\n1;2|3\n", "csv"),  # both do
        ("a;b\n1;2;3\n", "csv"),
        ("a\n1;2\n", "csv"),
        ("a;b;c\n1;2;3\n4;5\n6;7;8\n", "csv:semicolon"),  # a row that ends early
        ("a|b|c\n1|x, y|3\n4|5\n6|7|8\n", "csv:pipe"),
        ("a;b;c\n1;2;3\n4;5;6;7\n6;7;8\n", "csv:semicolon"),  # which is refused, and was not
        ("a;b\n1;2\n3\n4;5\n", "csv"),
        ("a,b;c\n1,2;3\n4,5\n6;7\n", "csv"),
        ("", "csv"),
        ("a;b", "csv:semicolon"),
        ("\ufeffa;b\n1;2\n", "csv:semicolon"),
        ('a;b\n"1\n,,";2\n', "csv:semicolon"),
        ('a;b\n\n1;"2\n', "csv:semicolon"),  # which is told where it is read
        ("a;b\n" + "1;2\n" * 5000 + "1;2", "csv:semicolon"),
        ("a;b\n" + "1;2\n" * 5000 + "1", "csv:semicolon"),  # a row that is cut off
    ],
)
def test_what_fits_the_first_rows(text: str, format: str) -> None:
    assert detect("a.csv", text.encode()[: 16 << 10]) == format


@given(st.text("ab,;\n\r ", max_size=40), st.sampled_from(",;"))
@example("a,b\n" * 99 + "a,b,c\n", ",")
@example("a,b\n" * 100 + "a,b,c\n", ",")
def test_text_without_quotes_fits_as_its_fields_do(text: str, mark: str) -> None:
    """They are counted, and not taken apart, which took most of the time of packing small files."""
    rows = _plain_rows(text)
    if rows is None:
        assert "\r" in text
    else:
        assert 2 * _fits_plain(rows, mark) == fits(text, mark)


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("serializer", ["raw", "columns", "csv", "msgpack", "auto"])
def test_it_is_packed_and_comes_back(mark: str, serializer: str, tmp_path: Path) -> None:
    source, packed = tmp_path / "a.csv", tmp_path / "a.spk"
    source.write_bytes(table(mark, 2000).replace(b"\n", b"\r\n"))
    report = serialpack.pack(source, packed, serializer=serializer, block_size=8 << 10)
    assert (report.format, report.exact) == (MARKS[mark], True)
    out = io.BytesIO()
    serialpack.unpack(packed, out)
    assert out.getvalue() == source.read_bytes()
    part = io.BytesIO()
    serialpack.unpack(packed, part, record_range=(1500, 1501))
    assert part.getvalue().decode().split("\r\n")[1] == f'1500{mark}"a{mark}""b"{mark}'
    fields = io.BytesIO()
    serialpack.convert(packed, fields, to="ndjson", fields=["text"])
    assert json.loads(fields.getvalue().splitlines()[7]) == {"text": f'a{mark}"b'}
    with serialpack.open(packed) as records:
        assert records[1999]["id"] == "1999"


@pytest.mark.parametrize("mark", MARKS)
def test_columns_take_it_apart(mark: str) -> None:
    data = f"id{mark}name\n".encode() + b"".join(
        b"%d%b%d\n" % (n, mark.encode(), n * 7) for n in range(20_000)
    )
    packed = io.BytesIO()
    report = serialpack.pack(io.BytesIO(data), packed, format="csv", serializer="columns")
    assert report.packed < len(data) / 20


@pytest.mark.parametrize("mark", MARKS)
def test_csv_becomes_csv_as_it_was(mark: str) -> None:
    """Where all of it is asked for, and where fields are; tabs are a format of their own."""
    data = table(mark)
    out = converted(data, "csv", "csv", fields=["id", "text"])
    between = "," if mark == "\t" else mark
    assert out.decode().split("\n")[:2] == [f"id{between}text", f'0{between}"a{mark}""b"']


def test_a_delimiter_that_is_said(tmp_path: Path, run: Run) -> None:
    data = b"a,b;c\n1,2;3\n"
    assert converted(data, "csv", "ndjson", delimiter=";") == b'{"a,b":"1,2","c":"3"}\n'
    assert converted(b"a;b\n1;2\n", "csv", "ndjson", delimiter=",") == b'{"a;b":"1;2"}\n'
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    out = run("unpack", "--to", "ndjson", "--delimiter", ";", path, "-o", "-").stdout
    assert out == b'{"a,b":"1,2","c":"3"}\n'
    run("pack", "--delimiter", ";", path)
    found = run("inspect", f"{path}.spk").stdout
    assert b"csv:semicolon" in found
    assert (
        b"one of , ; | and tab"
        in run("unpack", "--to", "json", "-f", "--delimiter", "x", path, code=2).stderr
    )
    assert (
        b"for CSV"
        in run(
            "unpack", "--to", "json", "-f", "-F", "json", "--delimiter", ";", path, code=2
        ).stderr
    )


def test_the_closing_line_says_which(tmp_path: Path, run: Run) -> None:
    for mark, said in ((";", b"delimiter ;"), ("\t", b"delimiter tab"), ("|", b"delimiter |")):
        path = tmp_path / "a.csv"
        path.write_bytes(table(mark))
        assert said in run("unpack", "-f", "--to", "json", path).stderr
        assert said in run("pack", "-f", path).stderr
    path.write_bytes(table(","))
    assert b"delimiter" not in run("unpack", "-f", "--to", "json", path).stderr
    path = tmp_path / "a.tsv"
    path.write_bytes(table("\t"))
    assert b"delimiter" not in run("pack", "-f", path).stderr


def test_dialects_are_known_to_the_registry() -> None:
    dialects = {d.delimiter.decode(): d.name for d in FORMATS if "csv" in (d.name, d.dialect_of)}
    assert dialects == MARKS


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"a,b\r1,2\r\n", "ends no line"), (b"by x\n\na;b\n1;2\n", "different lengths")],
    ids=["carriage returns", "a title"],
)
def test_the_command_that_is_named_makes_a_table(tmp_path: Path, data: bytes, why: str) -> None:
    """The refusals named no way to read such a file, or one that left out all rows."""
    path = tmp_path / "FILE"
    path.write_bytes(data)
    with pytest.raises(SerialpackError, match=why) as caught:
        serialpack.convert(path, io.BytesIO(), to="json", format="csv")
    command = re.split(" makes| leaves", str(caught.value.hint))[0]
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    out = io.BytesIO()
    serialpack.convert(tmp_path / "NEW.csv", out, to="ndjson")
    assert out.getvalue() == b'{"a":"1","b":"2"}\n'
