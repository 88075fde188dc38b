"""CSV in other encodings, without a header, and with rows that do not fit."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.compressed.pieces import Pieces
from serialpack.conversion.sources import normalizing
from serialpack.detection.detect import AsFound
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conversion.converting import converted

TEXT = 'name;n\n"Zoë; the ""first""";1\nŁódź;2\n' + "".join(f"ë{n};{n}\n" for n in range(9))
ROWS = [json.loads(line) for line in converted(TEXT.encode(), "csv", "ndjson").splitlines()]


def refused(data: bytes, source: str = "csv", **how: Any) -> str:
    with pytest.raises(serialpack.SerialpackError) as caught:
        converted(data, source, "ndjson", **how)
    return caught.value.said


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_says_it(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode(encoding))
    for source in (path, io.BytesIO(path.read_bytes())):
        out = io.BytesIO()
        said = {} if isinstance(source, Path) else {"format": "csv"}
        serialpack.convert(source, out, to="ndjson", **said)  # type: ignore[arg-type]
        assert [json.loads(line) for line in out.getvalue().splitlines()] == ROWS
    assert "UTF" in refused(path.read_bytes(), encoding="cp1252")


@pytest.mark.parametrize(
    "encoding", ["iso8859-2", "cp1250", "utf-16-le", "utf-16-be", "mac-latin2"]
)
def test_an_encoding_that_is_said(encoding: str) -> None:
    text = TEXT.replace("ë", "é")
    lines = converted(text.encode(encoding), "csv", "ndjson", encoding=encoding).splitlines()
    assert [row["name"] for row in map(json.loads, lines)][1] == "Łódź"
    assert len(lines) == len(ROWS)


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
)
@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", '[{"a": "Zoë"},\n{"a": 2}]\n'), ("a.jsonl", '{"a": "Zoë"}\r\n{"a": 2}\n')],
)
def test_json_in_another_encoding(encoding: str, name: str, text: str, tmp_path: Path) -> None:
    path, other = tmp_path / name, tmp_path / "no-name"
    for each in (path, other):
        each.write_bytes(text.encode(encoding))
    for source, how in [
        (path, {}),
        (other, {}),
        (other, {"format": "json" if name == "a.json" else "ndjson"}),
        (path, {"encoding": encoding}),
    ]:
        out = io.BytesIO()
        serialpack.convert(source, out, to="ndjson", **how)  # type: ignore[arg-type]
        assert list(map(json.loads, out.getvalue().splitlines())) == [{"a": "Zoë"}, {"a": 2}]


TEXTS = {
    "a.json": '[{"a": "Zoë"}]',
    "a.jsonl": '{"a": "Zoë"}\n',
    "a.yaml": "a: Zoë\n",
    "a.toml": 'a = "Zoë"\n',
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_is_no_table_in_an_encoding_that_is_said(
    run: Run, tmp_path: Path, name: str
) -> None:
    """It was refused, and JSON without a hint; which names what reads it."""
    (tmp_path / name).write_bytes(TEXTS[name].encode("cp1252"))
    (line,) = run("unpack", "--to", "ndjson", name, code=3).stderr.decode().splitlines()
    assert line.endswith(
        "not UTF-8; pack and conversions take --encoding, which says what it is, such as cp1252"
    )
    said = ("--encoding", "cp1252", "--to", "ndjson", "-o", "-")
    assert json.loads(run("unpack", *said, name).stdout) == {"a": "Zoë"}
    run("pack", name)
    assert json.loads(run("unpack", *said, f"{name}.spk").stdout) == {"a": "Zoë"}
    (tmp_path / name).write_bytes(TEXTS[name].replace("ë", "ë" * 9).encode())
    assert b"it is UTF-8, and not cp1252" in run("unpack", *said, name, code=2).stderr


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["a.yaml", "a.toml"])
def test_other_text_with_a_mark_of_another_encoding(
    tmp_path: Path, name: str, encoding: str
) -> None:
    """The message named iconv, and for XML that made what no reader takes."""
    path, out = tmp_path / name, io.BytesIO()
    path.write_bytes(TEXTS[name].encode(encoding))
    report = serialpack.convert(path, out, to="json")
    assert json.loads(out.getvalue()) == {"a": "Zoë"}
    assert not report.by_content


@pytest.mark.parametrize("name", ["a.xml", "no-name"])
def test_xml_in_utf_16(run: Run, tmp_path: Path, name: str) -> None:
    text = '<?xml version="1.0" encoding="utf-16"?>\n<a b="1">Zoë</a>\n'
    (tmp_path / name).write_bytes(text.encode("utf-16"))
    said = ("--to", "json", "-o", "-")
    assert json.loads(run("unpack", *said, name).stdout) == {"a": {"@b": "1", "#text": "Zoë"}}
    run("pack", name)
    done = run("unpack", *said, f"{name}.spk")
    assert json.loads(done.stdout) == {"a": {"@b": "1", "#text": "Zoë"}}


def test_what_is_in_a_container_is_told_as_the_file_is(run: Run, tmp_path: Path) -> None:
    """``pack`` goes by names and first bytes; what was packed was refused, or read as those say."""
    (tmp_path / "a.dat").write_bytes(b"id,name\n1,Ann\n2,Bob\n")
    (tmp_path / "b.json").write_bytes(b"id,name\n1,Ann\n2,Bob\n")
    (tmp_path / "c.csv").write_bytes(b'{"id":"1","name":"Ann"}\n{"id":"2","name":"Bob"}\n')
    run("pack", "a.dat", "b.json", "c.csv")
    for name, found in [("a.dat", "csv"), ("b.json", "csv"), ("c.csv", "ndjson")]:
        for to in ("json", "csv"):
            done = run("unpack", "--to", to, f"{name}.spk", "-o", "-")
            assert done.stdout == run("unpack", "--to", to, name, "-o", "-").stdout
            assert f"it was read as {found}, by its content".encode() in done.stderr
        packed = (tmp_path / f"{name}.spk").read_bytes()
        again = run("unpack", "-", "-o", "-", stdin=packed).stdout
        assert again == (tmp_path / name).read_bytes()


def test_other_text_in_utf_16_is_none_of_json(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("a: 1\n".encode("utf-16"))
    with pytest.raises(
        serialpack.InputError, match="iconv --from-code=UTF-16 --to-code=UTF-8 FILE"
    ):
        serialpack.convert(path, io.BytesIO(), to="json")
    path.write_bytes("[1, 2".encode("utf-16-le") + b"\0")
    with pytest.raises(serialpack.InputError, match="not valid UTF-16-LE"):
        serialpack.convert(path, io.BytesIO(), to="json")
    path.write_bytes("[1]".encode("utf-16"))
    with pytest.raises(serialpack.UsageError, match="it is UTF-16, and not utf-32"):
        serialpack.convert(path, io.BytesIO(), to="json", encoding="utf-32")


def test_encodings_that_lie() -> None:
    assert "line 2, column 2 (byte 3)" in (said := refused(b"a\n1\xeb\n"))
    assert "--encoding" in said
    assert "byte 3: not valid ASCII" in refused(b"a\n1\xeb\n", encoding="ascii")
    assert "it is UTF-8, and not cp1252" in refused(TEXT.encode(), encoding="cp1252")
    assert "not known" in refused(b"a\n1\n", encoding="latin-99")
    assert "not known" in refused(b"a\n1\n", encoding="base64")
    assert "for CSV" in refused(b"[1]", "json", no_header=True)


def test_a_piece_may_end_within_a_character() -> None:
    data = ("a;b\n" + "é€😀;x\n" * 200_000).encode("utf-16")
    lines = converted(data, "csv", "ndjson").splitlines()
    assert len(lines) == 200_000
    assert set(lines) == {'{"a":"é€😀","b":"x"}'.encode()}
    said = refused(data[:-1] + b"\xd8", "csv")
    assert said.startswith(f"byte {len(data) - 2}: ")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_columns_without_names(mark: str) -> None:
    data = (mark + '"1,5";x\n2;y\n').encode()
    assert converted(data, "csv", "ndjson", no_header=True).decode().splitlines() == [
        '{"column1":"1,5","column2":"x"}',
        '{"column1":"2","column2":"y"}',
    ]
    assert converted(b"", "csv", "ndjson", no_header=True) == b""
    assert converted(b"x", "csv", "ndjson", no_header=True) == b'{"column1":"x"}\n'


def test_places_are_those_in_the_file_without_names() -> None:
    rows = [b"%d,x" % n for n in range(3000)]
    rows[2500] = b'2500,"x"y'
    data = b"\n".join(rows) + b"\n"
    for size in (1 << 10, 1 << 20):
        said = refused(data, no_header=True, block_size=size)
        assert said.startswith(f"line 2501, column 9 (byte {data.index(b'y')})")
    rows[2500] = b"2500,x,y"
    data = b"\n".join(rows) + b"\n"
    said = refused(data, no_header=True, block_size=1 << 10, strict=True)
    assert "record 2500" in said
    assert "line 2501: 3 fields, not 2; unpack --to FORMAT carries it (without --strict)" in said
    out = io.BytesIO()
    report = serialpack.convert(
        io.BytesIO(data), out, to="ndjson", format="csv", no_header=True, skip_bad=True
    )
    assert [(place.record, place.offset) for place in report.places] == [
        (2500, data.index(b"\n2500,x,y\n") + 1)
    ]
    assert out.getvalue().count(b"\n") == 2999


def test_a_row_that_does_not_fit_has_its_line() -> None:
    said = refused(b'a,b\n"1\n\n",2\n\n3,4,5\n4,5\n', strict=True)
    assert "record 1, $" in said
    assert "line 6: 3 fields, not 2; unpack --to FORMAT carries it (without --strict)" in said


def test_of_a_container_too() -> None:
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO("é;1\nö;2\n".encode("cp1252")), packed, format="csv")
    out = converted(packed.getvalue(), "csv", "ndjson", no_header=True, encoding="cp1252")
    assert json.loads(out.splitlines()[1]) == {"column1": "ö", "column2": "2"}


def test_the_command_line(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("é;1\n".encode("cp1252"))
    args = ("unpack", "--to", "ndjson", "--no-header", "--encoding", "cp1252", "-o", "-")
    line = '{"column1":"é","column2":"1"}\n'.encode()
    assert run(*args, path).stdout == line
    assert b"not UTF-8" in run("unpack", "-f", "--to", "ndjson", path, code=3).stderr


@pytest.mark.parametrize("mark", [",", ";"])
def test_quotes_that_are_escaped(mark: str) -> None:
    rows = [r'1{m}"a \"b\" c{m} \\"', r'2{m}"C:\\d\n"', r"3{m}C:\d"]
    data = "\n".join(["n{m}t", *rows, ""]).replace("{m}", mark).encode()
    texts = [json.loads(line)["t"] for line in converted(data, "csv", "ndjson").splitlines()]
    assert texts == [f'a "b" c{mark} \\', r"C:\d\n", r"C:\d"]
    many = b"n,t\n" + b'1,"\\"\\\\"\n' * 300_000
    lines = converted(many, "csv", "ndjson").splitlines()
    assert (len(lines), {*lines}) == (300_000, {b'{"n":"1","t":"\\"\\\\"}'})


def test_backslashes_that_escape_nothing() -> None:
    data = b'a,b\n"C:\\","x\\\\y"\n"\\""",1\n'
    out = [json.loads(line) for line in converted(data, "csv", "ndjson").splitlines()]
    assert out == [{"a": "C:\\", "b": "x\\\\y"}, {"a": '\\"', "b": "1"}]


@pytest.mark.parametrize(("data", "found"), [("a;é\n1;2\n", ""), ('a;b\n1;"\\"é"\n', "+escaped")])
def test_what_is_read_as_another_text_passes_one_buffer(
    data: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    class Counted(Pieces):
        def __init__(self, pieces: Iterator[Any]) -> None:
            made.append(self)
            super().__init__(pieces)

    monkeypatch.setattr(normalizing, "Pieces", Counted)
    encoded = data.encode("cp1252")
    asked = AsFound(encoding="cp1252")
    found_as = normalizing.normalized(io.BytesIO(encoded).read, encoded, "csv", None, asked)
    assert found_as.found == f"csv:semicolon+cp1252{found}"
    assert found_as.read(100).decode() == data.replace('\\"', '""')
    assert len(made) == 1
