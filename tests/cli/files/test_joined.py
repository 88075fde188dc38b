"""Several inputs to standard output: one file of their format, or one clear line."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import bson
import cbor2
import msgpack
import pytest
import yaml

from tests.cli.conftest import FIRST, SECOND, Run


def _read(format: str, data: bytes) -> list[Any]:
    """The records, by a library that is not ours."""
    if format == "ndjson":
        return [json.loads(line) for line in data.splitlines()]
    if format in ("csv", "tsv"):
        text = io.StringIO(data.decode(), newline="")
        rows = csv.DictReader(text, delimiter="," if format == "csv" else "\t")
        return [{"n": int(row["n"]), "s": row["s"]} for row in rows]
    if format == "yaml":
        return list(yaml.safe_load_all(data))
    if format == "bson":
        return list(bson.decode_all(data))
    if format == "cbor":
        stream = io.BytesIO(data)
        found = []
        while stream.tell() < len(data):
            found.append(cbor2.load(stream))
        return found
    return list(msgpack.Unpacker(io.BytesIO(data)))


@pytest.mark.parametrize("format", ["ndjson", "csv", "tsv", "yaml", "msgpack", "cbor", "bson"])
def test_joined_they_are_one_file(run: Run, inputs: list[str], format: str) -> None:
    """Which another library reads as the records of both; in either order, a pipe among them."""
    done = run("unpack", "--to", format, *inputs, "-o", "-")
    assert _read(format, done.stdout) == FIRST + SECOND
    lines = b"".join(json.dumps(r).encode() + b"\n" for r in FIRST)
    done = run("unpack", "--to", format, inputs[1], "-", inputs[1], "-o", "-", stdin=lines)
    assert _read(format, done.stdout) == SECOND + FIRST + SECOND


def test_rows_of_tables_are_joined_by_the_names_of_their_columns(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    """Whatever their order, and where some have more; what was done is told. They could be joined
    as NDJSON only. A line of names over several lines is one; an empty table has none."""
    (tmp_path / "other.csv").write_bytes(b's,n,"t\nu"\n"a,""b""",7,x\n')
    (tmp_path / "empty.json").write_bytes(b"[]")
    args = ["unpack", "--to", "csv", "empty.json", inputs[0], "other.csv", inputs[1], "-o", "-"]
    done = run(*args)
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))
    other = {"n": "7", "s": 'a,"b"', "t\nu": "x"}
    as_text = [{"n": str(r["n"]), "s": r["s"], "t\nu": ""} for r in FIRST + SECOND]
    assert rows == [*as_text[:3], other, *as_text[3:]]
    told = done.stderr.decode()
    assert "5 missing fields as empty cells" in told
    assert "1 order of keys as that of columns" in told


def test_what_has_no_file_is_joined_by_name_too(run: Run, tmp_path: Path) -> None:
    """Where it comes first, and has a column more; what comes twice is read twice."""
    (tmp_path / "a.csv").write_bytes(b"b,a\n1,2\n")
    done = run("unpack", "-", "a.csv", "a.csv", "--to", "csv", "-o", "-", stdin=b"a,b,c\n3,4,5\n")
    assert done.stdout == b"a,b,c\n3,4,5\n2,1,\n2,1,\n"


def test_maps_that_are_other_columns_are_joined_and_read_again(run: Run, tmp_path: Path) -> None:
    """A key may have a map in one, that is a column for each of its keys, and a list in others."""
    records: list[dict[str, Any]] = [{"t": {"x": 1}}, {"t": [1], "u": "7"}, {"t": {"y": 2, "x": 3}}]
    for number, record in enumerate(records):
        (tmp_path / f"{number}.json").write_text(json.dumps([record]))
    done = run("unpack", "0.json", "1.json", "2.json", "--to", "csv", "-o", "-")
    assert done.stdout == b't.x,t,u,t.y\n1,,,\n,[1],"7",\n3,,,2\n'
    back = "-F", "csv", "--typed", "--nest", "--to", "ndjson"
    again = run("unpack", "-", *back, "-o", "-", stdin=done.stdout)
    found = [json.loads(line) for line in again.stdout.splitlines()]
    assert [{k: v for k, v in each.items() if v is not None} for each in found] == records


def test_a_column_that_is_json_in_one_is_so_in_all(run: Run, tmp_path: Path) -> None:
    """The text ``[1,2]`` of the second was a list, read by the options that were told."""
    for name, value in {"a.json": [1], "b.json": "[1]"}.items():
        (tmp_path / name).write_text(json.dumps([{"t": value}, {"t": None}]))
    done = run("unpack", "a.json", "b.json", "--to", "csv", "--null", "null", "-o", "all.csv")
    assert b"(back: -F csv --typed --nest --null null)" in done.stderr
    back = "--typed", "--nest", "--null", "null", "--to", "json", "-o", "-"
    again = json.loads(run("unpack", "all.csv", *back).stdout)
    assert again == [{"t": [1]}, {"t": None}, {"t": "[1]"}, {"t": None}]


def test_with_strict_no_row_is_put_below_other_names(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "b.csv").write_bytes(b"b,a\n3,4\n")
    done = run("unpack", "--to", "csv", "--strict", "a.csv", "b.csv", "-o", "-", code=4)
    assert done.stdout == b"a,b\n1,2\n"
    assert b"b.csv: record 0" in done.stderr
    assert b"without --strict it is carried" in done.stderr


def test_what_is_wrong_with_one_is_told_once(run: Run, tmp_path: Path) -> None:
    """What is wrong with one of them is told once, and the others go on."""
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "bad.csv").write_bytes(b"a,c\n1,2,3\n")
    done = run("unpack", "--to", "csv", "bad.csv", "a.csv", "none.csv", "-o", "-", code=4)
    assert done.stdout == b"a,b\n1,2\n"
    assert done.stderr.count(b"bad.csv: ") == 1
    assert done.stderr.count(b"none.csv: ") == 1


def test_tables_with_another_delimiter_get_that_of_the_first(run: Run, tmp_path: Path) -> None:
    """It was said that --to tsv joins them, which it does as well."""
    (tmp_path / "a.csv").write_bytes(b"n;s\n1;a\n")
    (tmp_path / "b.csv").write_bytes(b"s,n\nb;c,2\n")
    done = run("unpack", "--to", "csv", "a.csv", "b.csv", "-o", "-")
    assert done.stdout == b'n;s\n1;a\n2;"b;c"\n'
    done = run("unpack", "--to", "csv", "a.csv", "b.csv", "-o", "-", "--out-delimiter", "|")
    assert done.stdout == b"n|s\n1|a\n2|b;c\n"
    done = run("unpack", "--to", "tsv", "b.csv", "a.csv", "-o", "-")
    assert done.stdout == b"s\tn\nb;c\t2\na\t1\n"


def test_a_table_that_keeps_how_it_was_written_is_joined_so(run: Run, tmp_path: Path) -> None:
    """Its numbers have the digits that they had, in the other order, between other delimiters."""
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_bytes(b"a;b\n1.50;x\n")
    run("unpack", "a.csv", "--infer", "-o", "a.parquet")
    (tmp_path / "b.csv").write_bytes(b"b,a,c\ny,2,3\n")
    done = run("unpack", "--to", "csv", "b.csv", "a.parquet", "-o", "-")
    assert done.stdout == b"b,a,c\ny,2,3\nx,1.50,\n"


def test_rows_without_names_are_not_taken_for_names(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_bytes(b"[[1,2],[3,4]]")
    done = run("unpack", "--to", "csv", "rows.json", "rows.json", "-o", "-", code=4)
    assert done.stdout == b"1,2\n3,4\n"
    assert b"rows without names are not joined; --to ndjson" in done.stderr


@pytest.mark.parametrize(("first", "second"), [("rows.json", "maps.json"), ("maps.json", "-")])
def test_rows_with_names_and_without_are_not_joined(
    run: Run, tmp_path: Path, first: str, second: str
) -> None:
    """Neither are those without names taken for names, nor names for a row."""
    rows = b"[[1,2],[3,4]]"
    (tmp_path / "rows.json").write_bytes(rows)
    (tmp_path / "maps.json").write_bytes(b'[{"1":5,"2":6}]')
    done = run("unpack", "--to", "csv", first, second, "-o", "-", stdin=rows, code=4)
    assert done.stdout == (b"1,2\n3,4\n" if first == "rows.json" else b"1,2\n5,6\n")
    assert b"rows without names are not joined" in done.stderr


def test_containers_give_their_bytes_one_after_another(run: Run, tmp_path: Path) -> None:
    """As zcat does; lines stay lines. What would be another file then is refused by name."""
    for name, data in {
        "a.ndjson": b'{"a":1}\n{"a":2}',
        "b.ndjson": b'{"a": 3}\n',
        "c.json": b"[1]",
        "d.log": b"no end",
        "e.csv": b"a\n1\n",
    }.items():
        (tmp_path / name).write_bytes(data)
    run("pack", "a.ndjson", "b.ndjson", "c.json", "d.log", "e.csv")
    done = run("unpack", "a.ndjson.spk", "b.ndjson.spk", "a.ndjson.spk", "-o", "-")
    assert done.stdout == b'{"a":1}\n{"a":2}\n{"a": 3}\n{"a":1}\n{"a":2}'
    assert run("unpack", "d.log.spk", "d.log.spk", "-o", "-").stdout == b"no endno end"
    for name in ("c.json", "e.csv"):
        done = run("unpack", f"{name}.spk", f"{name}.spk", "-o", "-", code=2)
        assert (b"--to ndjson joins any" in done.stderr) == (name == "c.json")
    assert b"e.csv.spk: csv files one after another are no csv file; --to csv joins" in done.stderr
    done = run("unpack", "d.log.spk", "a.ndjson.spk", "-o", "-", code=4)
    assert b"a.ndjson.spk: it is ndjson, d.log.spk is bytes" in done.stderr
    assert run("unpack", "--to", "csv", "e.csv.spk", "e.csv.spk", "-o", "-").stdout == b"a\n1\n1\n"


def test_each_keeps_its_format_where_that_is_the_same(run: Run, inputs: list[str]) -> None:
    done = run("unpack", "--fields", "n", inputs[0], inputs[0], "-o", "-")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"n": r["n"]} for r in FIRST * 2
    ]
    done = run("unpack", "--fields", "n", *inputs, "-o", "-", code=4)
    assert b"b.msgpack: it is msgpack, a.ndjson is ndjson; --to FORMAT" in done.stderr


def test_a_bad_input_is_named_and_the_rest_go_on(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    (tmp_path / "bad.json").write_bytes(b"{bad")
    done = run("unpack", "--to", "ndjson", inputs[0], "bad.json", inputs[1], "-o", "-", code=3)
    assert _read("ndjson", done.stdout) == FIRST + SECOND
    assert b"bad.json: " in done.stderr


def test_several_containers_are_not_packed_into_one_stream(run: Run, inputs: list[str]) -> None:
    done = run("pack", *inputs, "-o", "-", code=2)
    assert b"several inputs cannot go to standard output" in done.stderr


def test_several_that_become_one_have_no_mark_between_them(run: Run, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    windows = mark + b'a;b\r\n1;x\r\n2;"y\nz"\r\n'
    (tmp_path / "one.csv").write_bytes(windows)
    (tmp_path / "two.csv").write_bytes(b"a;b\n3;c\n")
    for names in (("one.csv", "two.csv"), ("two.csv", "one.csv")):
        joined = run("unpack", *names, "--to", "csv", "-o", "-").stdout
        assert joined.startswith(b"a;b\n")
        assert mark not in joined
        assert b"\r" not in joined
        assert joined.count(b"a;b") == 1


def test_several_become_the_file_that_is_named(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    """It was refused, with the redirection that does it: half a file where one fails."""
    run("unpack", *inputs, "-o", "all.csv")
    assert _read("csv", (tmp_path / "all.csv").read_bytes()) == FIRST + SECOND
    run("unpack", *inputs, "-o", "all.ndjson.gz")
    data = gzip.decompress((tmp_path / "all.ndjson.gz").read_bytes())
    assert _read("ndjson", data) == FIRST + SECOND
    (tmp_path / "folder").mkdir()
    for name in inputs:
        (tmp_path / name).rename(tmp_path / "folder" / name)
    done = run("unpack", "--json", "-r", "folder", "-o", "all.yaml")
    assert _read("yaml", (tmp_path / "all.yaml").read_bytes()) == FIRST + SECOND
    assert [json.loads(line)["target"] for line in done.stdout.splitlines()] == ["all.yaml"] * 2


def test_a_joined_file_is_there_with_all_or_not_at_all(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    (tmp_path / "all.csv").write_bytes(b"before")
    assert b"exists already" in run("unpack", *inputs, "-o", "all.csv", code=1).stderr
    done = run("unpack", "-f", *inputs, "none.ndjson", "-o", "all.csv", code=1)
    assert b"serialpack: all.csv: not written, as it would not have all inputs\n" in done.stderr
    assert (tmp_path / "all.csv").read_bytes() == b"before"
    assert (
        b"is the input itself"
        in run("unpack", "-f", *inputs, "all.csv", "-o", "all.csv", code=1).stderr
    )
    run("unpack", "-f", "--dry-run", *inputs, "-o", "all.csv")
    assert (
        b"--rm needs an output for each input"
        in run("unpack", "-f", "--rm", *inputs, "-o", "all.csv", code=2).stderr
    )
    assert (tmp_path / "all.csv").read_bytes() == b"before"
    assert {path.name for path in tmp_path.iterdir()} == {*inputs, "all.csv", "home"}
