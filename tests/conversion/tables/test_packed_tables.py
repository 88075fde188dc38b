"""What was found of a table, or said, is in the container, and all that read its records use it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.formats import FORMATS
from tests.cli.conftest import Run
from tests.cli.conftest import run as run

ROWS = [{"name": f'Zoé "{n}"; \\ß', "n": str(n)} for n in range(60)]
NAMELESS = [dict(zip(("column1", "column2"), row.values(), strict=True)) for row in ROWS]


def text_of(*, escaped: bool = False, header: bool = True, mark: str = ";") -> str:
    def quoted(cell: str) -> str:
        if escaped:
            return '"' + cell.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return '"' + cell.replace('"', '""') + '"'

    lines = [mark.join(("name", "n"))] * header
    lines += [mark.join((quoted(row["name"]), row["n"])) for row in ROWS]
    return "\n".join(lines) + "\n"


#: Name -> the bytes of a table, and what must be said of it.
TABLES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "csv:semicolon+utf-16-le": (("\ufeff" + text_of()).encode("utf-16-le"), {}),
    "csv:semicolon+utf-16-be": (("\ufeff" + text_of()).encode("utf-16-be"), {}),
    "csv:utf-32-le": (("\ufeff" + text_of(mark=",")).encode("utf-32-le"), {}),
    "csv:semicolon+cp1252": (text_of().encode("cp1252"), {"encoding": "cp1252"}),
    "csv:semicolon+escaped": (text_of(escaped=True).encode(), {}),
    "csv:pipe+no-header": (text_of(header=False, mark="|").encode(), {"no_header": True}),
    "csv:tab+iso8859-15+escaped+no-header": (
        text_of(escaped=True, header=False, mark="\t").encode("iso8859-15"),
        {"encoding": "latin9", "no_header": True, "delimiter": "tab"},
    ),
    "csv:semicolon+utf-16-le+no-header": (
        ("\ufeff" + text_of(header=False)).encode("utf-16-le"),
        {"no_header": True},
    ),
}
SERIALIZERS = ("raw", "columns", "msgpack", "csv")


def packed(path: Path, name: str, serializer: str, **how: Any) -> tuple[Path, list[Any]]:
    """A container of one of the tables, in several blocks; and its records."""
    data, said = TABLES[name]
    path.write_bytes(data)
    target = path.with_suffix(".csv.spk")
    report = serialpack.pack(path, target, serializer=serializer, block_size=900, **said, **how)
    assert (report.format, report.records) == (name, len(ROWS))
    assert report.blocks > 1
    assert report.exact
    return target, NAMELESS if "no-header" in name else ROWS


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("serializer", SERIALIZERS)
@pytest.mark.parametrize("name", TABLES)
def test_all_that_reads_records_knows_it(name: str, serializer: str, tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    target, records = packed(source, name, serializer)
    out = io.BytesIO()
    serialpack.unpack(target, out)
    assert out.getvalue() == source.read_bytes()
    for start, stop in ((7, 41), (0, 3)):
        out = io.BytesIO()
        serialpack.unpack(target, out, record_range=(start, stop))
        again = io.BytesIO()
        serialpack.convert(
            io.BytesIO(out.getvalue()), again, to="ndjson", format=name
        )  # a slice is a table of the same kind
        assert lines(again.getvalue()) == records[start:stop]
    out = io.BytesIO()
    report = serialpack.convert(target, out, to="ndjson")
    assert (report.format, lines(out.getvalue())) == (name, records)
    last = [*records[0]][1]
    out = io.BytesIO()
    serialpack.convert(target, out, to="ndjson", fields=[last])
    assert lines(out.getvalue()) == [{last: record[last]} for record in records]
    with serialpack.open(target) as opened:
        assert len(opened) == len(records)
        assert [*opened] == records
        assert [opened[n] for n in (0, 1, 30, -1)] == [records[n] for n in (0, 1, 30, -1)]
        assert opened.fields(last)[last].tolist() == [record[last] for record in records]


@pytest.mark.parametrize("name", TABLES)
def test_the_command_line_says_it_and_takes_it(name: str, tmp_path: Path, run: Run) -> None:
    data, said = TABLES[name]
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    options = [
        word
        for key, value in said.items()
        for word in (f"--{key.replace('_', '-')}", *([] if value is True else [value]))
    ]
    closing = run("pack", *options, path).stderr.decode()
    for word, told in {"no-header": "no header", "escaped": "quotes escaped"}.items():
        assert (word in name) == (told in closing)
    spk = str(path) + ".spk"
    (member,) = json.loads(run("inspect", "--json", spk).stdout)["members"]
    assert (member["format"], member["records"]) == (name, len(ROWS))
    shown = run("inspect", "--head", "2", spk).stdout.decode()
    encoding = FORMATS.get(name).parameters.get("c", "utf-8")
    head = data.decode(encoding).removeprefix("\ufeff").split("\n")
    assert shown == "\n".join(head[: 2 + ("no-header" not in name)]) + "\n"
    assert run("inspect", "--head", "2", "-F", name, path).stdout.decode() == shown
    found = json.loads(run("inspect", "--json", "-F", name, path).stdout)
    assert list(found["fields"]) == [*(NAMELESS if "no-header" in name else ROWS)[0]]
    as_csv = run("unpack", "--to", "csv", "-o", "-", spk).stdout
    assert as_csv.startswith(b"column1" if "no-header" in name else b"name")


def test_what_is_said_later_counts(tmp_path: Path) -> None:
    """Of a container of which less was known, or something else, when it was packed."""
    path = tmp_path / "a.csv"
    path.write_bytes(text_of().encode("cp1252"))
    serialpack.pack(path, tmp_path / "plain.spk")
    serialpack.pack(path, tmp_path / "wrong.spk", encoding="cp1251")
    for name in ("plain.spk", "wrong.spk"):
        out = io.BytesIO()
        serialpack.convert(tmp_path / name, out, to="ndjson", encoding="cp1252")
        assert lines(out.getvalue()) == ROWS
    out = io.BytesIO()
    serialpack.convert(tmp_path / "plain.spk", out, to="ndjson", encoding="cp1252", no_header=True)
    assert len(lines(out.getvalue())) == len(ROWS) + 1


def test_a_batch_and_an_archive_take_it(tmp_path: Path, run: Run) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(text_of(header=False).encode("utf-16"))
    run("pack", "--no-header", "--archive", "-o", tmp_path / "x.spk", tmp_path / "a.csv",
        tmp_path / "b.csv")  # fmt: skip
    found = json.loads(run("inspect", "--json", tmp_path / "x.spk").stdout)
    formats = [entry["format"] for m in found["members"] for entry in m["entries"]]
    assert formats == ["csv:semicolon+utf-16-le+no-header"] * 2


def test_columns_take_what_has_the_bytes_of_ascii(tmp_path: Path, run: Run) -> None:
    rows = "".join(f"{n};Zoé {n % 7};{n * n}\n" for n in range(3000))
    path = tmp_path / "a.csv"
    packed_size = {}
    for encoding in ("utf-8", "cp1252", "utf-16"):
        path.write_bytes(("id;name;n\n" + rows).encode(encoding))
        run("pack", "-f", "-s", "columns", "--encoding", encoding, path)
        packed_size[encoding] = Path(f"{path}.spk").stat().st_size
        shown = run("inspect", f"{path}.spk").stdout.decode()
        assert ("as columns" in shown) == (encoding != "utf-16")
        assert ("do not take this format apart" in shown) == (encoding == "utf-16")
    assert packed_size["cp1252"] < 1.2 * packed_size["utf-8"]
    assert b"UTF-8 or alike" in run("pack", "-v", "-f", path).stderr


def test_what_cannot_be_so(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.csv").write_bytes("a,b\nééééééééé,1\n".encode())
    (tmp_path / "a.json").write_bytes(b"[1]")
    for said, name, why in (
        (("--encoding", "cp1252"), "a.csv", b"it is UTF-8, and not cp1252"),
        (("--encoding", "punycode"), "a.csv", b"not known"),
        (("--no-header",), "a.json", b"for CSV"),
    ):
        done = run("pack", *said, tmp_path / name, code=2)
        assert why in done.stderr
        assert not (tmp_path / (name + ".spk")).exists()


def test_bytes_that_are_not_in_the_encoding_are_packed_and_refused(
    tmp_path: Path, run: Run
) -> None:
    """They come back as they were; as values they are not read."""
    path = tmp_path / "a.csv"
    path.write_bytes(text_of().encode("utf-16") + b"\x00\xd8x\x00")
    run("pack", path)
    back = run("unpack", "-o", "-", f"{path}.spk").stdout
    assert back == path.read_bytes()
    assert (
        b"not valid UTF-16"
        in run("unpack", "--to", "json", "-o", "-", f"{path}.spk", code=3).stderr
    )
    done = run("unpack", "--records", "0:2", "-o", "-", f"{path}.spk", code=2)
    assert b"cannot be told apart" in done.stderr
    run("pack", "-f", "-s", "msgpack", path, code=3)
