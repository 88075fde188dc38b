"""Several inputs become one file of a format that has no way to be written on."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import pickle
import sqlite3
import tomllib
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest

from tests.cli.conftest import FIRST, SECOND, Run


def _ndjson(run: Run, name: str) -> list[Any]:
    lines = run("unpack", name, "--to", "ndjson", "-o", "-").stdout.splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", ["x.json", "x.toml", "x.avro", "x.pkl", "x.parquet", "x.db"])
def test_they_are_one_file(run: Run, tmp_path: Path, inputs: list[str], name: str) -> None:
    """It was refused, with the pipe of two commands that does it; to standard output as well."""
    if name == "x.parquet":
        pytest.importorskip("pyarrow")
    done = run("unpack", *inputs, "-o", name)
    assert f"2 files -> {name}, ".encode() in done.stderr
    data = (tmp_path / name).read_bytes()
    read: dict[str, Any] = {
        "x.json": json.loads,
        "x.toml": lambda data: tomllib.loads(data.decode())["item"],
        "x.avro": lambda data: list(fastavro.reader(io.BytesIO(data))),
        "x.pkl": _pickles,
    }
    got = read[name](data) if name in read else _ndjson(run, name)
    assert got == FIRST + SECOND
    if name != "x.db":
        to = {"x.pkl": "pickle"}.get(name, name[2:])
        assert run("unpack", "--to", to, *inputs, "-o", "-").stdout[:4] == data[:4]


def _pickles(data: bytes) -> list[Any]:
    stream, found = io.BytesIO(data), []
    while stream.tell() < len(data):
        found.append(pickle.load(stream))
    return found


def test_tables_get_types_together_where_they_are_joined(run: Run, tmp_path: Path) -> None:
    """Each by itself a column would be of integers in one and of text in the next; the columns of
    rows that pass as a table are those of all."""
    (tmp_path / "in").mkdir()
    for name, rows in (("a.csv", b"n,s\n2,1\nNA,2"), ("b.csv", b"s,n,t\nx,3,7\n")):
        (tmp_path / "in" / name).write_bytes(rows)
    run("unpack", "-r", "in", "--infer", "--null", "NA", "-o", "all.avro")
    assert _ndjson(run, "all.avro") == [
        {"n": 2, "s": "1", "t": None},
        {"n": None, "s": "2", "t": None},
        {"n": 3, "s": "x", "t": 7},
    ]
    run("unpack", "-r", "in", "--typed", "--null", "NA", "-o", "typed.avro")
    assert [record["n"] for record in _ndjson(run, "typed.avro")] == [2, None, 3]
    (tmp_path / "c.ndjson").write_bytes(b"{}")
    mixed = ["in/a.csv", "c.ndjson", "-o", "mixed.avro"]
    done = run("unpack", *mixed, "--infer", "--null", "NA", code=2)
    assert b"--typed --null in place of --infer" in done.stderr
    run("unpack", *mixed, "--typed", "--null", "NA")


def test_types_are_those_of_all_in_what_is_written_on_too(run: Run, tmp_path: Path) -> None:
    """In NDJSON a column was of integers where one input ended, and of text from there on."""
    for name, rows in (("a.csv", b"n\n2\n"), ("b.csv", b"n\nx\n")):
        (tmp_path / name).write_bytes(rows)
    done = run("unpack", "a.csv", "b.csv", "a.csv", "--infer", "--to", "ndjson", "-o", "-")
    assert done.stdout.split() == [b'{"n":"2"}', b'{"n":"x"}', b'{"n":"2"}']


def test_what_a_table_lacks_is_no_empty_text(run: Run, tmp_path: Path) -> None:
    """It was, in what is not written on: a cell is text, also that which was not there."""
    for name, rows in (("a.csv", b"n,s\n2,\n"), ("b.csv", b"n\n3\n")):
        (tmp_path / name).write_bytes(rows)
    run("unpack", "a.csv", "b.csv", "-o", "all.json")
    assert json.loads((tmp_path / "all.json").read_bytes()) == [{"n": "2", "s": ""}, {"n": "3"}]
    run("unpack", "a.csv", "b.csv", "-o", "all.db")
    assert _ndjson(run, "all.db")[1] == {"n": "3", "s": None}


def test_a_table_of_databases_is_joined_with_others(run: Run, tmp_path: Path) -> None:
    """``--table`` was refused for the others, which have no tables."""
    (tmp_path / "a.csv").write_bytes(b"n\n2\n")
    run("unpack", "a.csv", "--table", "t", "-o", "a.db")
    run("unpack", "a.db", "a.csv", "--table", "t", "-o", "all.json")
    assert json.loads((tmp_path / "all.json").read_bytes()) == [{"n": "2"}] * 2
    done = run("unpack", "a.db", "a.csv", "--table", "t", "--to", "csv", "-o", "-")
    assert done.stdout == b'n\n"2"\n2\n'
    done = run("unpack", "a.csv", "a.csv", "--table", "t", "--to", "csv", "-o", "-", code=2)
    assert b"--table is for SQLite" in done.stderr


def test_the_table_that_is_named_is_joined(run: Run, tmp_path: Path) -> None:
    """Of a database that has others."""
    (tmp_path / "a.csv").write_bytes(b"n\n2\n")
    with closing(sqlite3.connect(tmp_path / "two.db")) as database:
        database.executescript("create table s (n); create table t (n); insert into t values (7)")
    run("unpack", "two.db", "a.csv", "--table", "t", "-o", "all.json")
    assert json.loads((tmp_path / "all.json").read_bytes()) == [{"n": 7}, {"n": "2"}]


def test_times_bytes_and_decimals_stay_what_they_are(run: Run, tmp_path: Path) -> None:
    """They are text and base64 where they pass as plain JSON, as in a pipe by hand."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    day = dt.date(2020, 1, 2)
    values = [Decimal("1.20"), dt.time(1, 2), dt.datetime(2020, 1, 2, 3), day, b"x"]
    table = pa.table({str(n): [value] for n, value in enumerate(values)})
    pq.write_table(table, tmp_path / "a.parquet")
    done = run("unpack", "a.parquet", "a.parquet", "-o", "all.arrow")
    assert b"it was read as text of all inputs, in which numbers have no width" in done.stderr
    run("unpack", "all.arrow", "-o", "all.parquet")
    back = pq.read_table(tmp_path / "all.parquet").to_pylist()
    assert back == table.to_pylist() * 2
    done = run("unpack", "a.parquet", "a.parquet", "-o", "all.json")
    assert b"width" not in done.stderr
    assert json.loads((tmp_path / "all.json").read_bytes())[1]["3"] == "2020-01-02"


def test_what_looks_like_a_tag_stays_what_it_is(run: Run, tmp_path: Path) -> None:
    for name in "a.json", "a.yaml":
        (tmp_path / name).write_bytes(b'{"m": {"$numberLong": "1"}}')
        run("unpack", name, name, "-o", "all.avro", "-f")
        assert _ndjson(run, "all.avro") == [{"m": {"$numberLong": "1"}}] * 2


def test_the_file_is_there_with_all_or_not_at_all(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    (tmp_path / "all.avro").write_bytes(b"before")
    assert b"exists already" in run("unpack", *inputs, "-o", "all.avro", code=1).stderr
    done = run("unpack", "-f", *inputs, "none.ndjson", "-o", "all.avro", code=1)
    assert b"serialpack: none.ndjson: cannot read" in done.stderr
    assert b"serialpack: all.avro: not written, as it would not have all inputs\n" in done.stderr
    assert run("unpack", *inputs, "none.ndjson", "--to", "avro", "-o", "-", code=1).stdout == b""
    (tmp_path / "big.ndjson").write_bytes(b'{"n":1}\n{"n":100000000000000000000}')
    done = run("unpack", "-f", *inputs, "big.ndjson", "-o", "all.avro", code=4)
    assert b"all.avro: record 6, $.n: avro cannot hold an integer beyond 64 bits" in done.stderr
    assert b"(record 1 of big.ndjson)" in done.stderr
    assert (tmp_path / "all.avro").read_bytes() == b"before"
    run("unpack", "-f", *inputs, "big.ndjson", "-o", "all.avro", "--dry-run")
    assert {path.name for path in tmp_path.iterdir()} == {*inputs, "all.avro", "big.ndjson", "home"}


def test_options_of_either_side_reach_it(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    run("unpack", *inputs, "--fields", "s", "--indent", "2", "-o", "all.json.gz")
    text = gzip.decompress((tmp_path / "all.json.gz").read_bytes())
    assert b'\n    "s"' in text
    assert json.loads(text) == [{"s": record["s"]} for record in FIRST + SECOND]
    (tmp_path / "bad.csv").write_bytes(b"n,s\n1,2,3\n4,5\n")
    run("unpack", "bad.csv", "bad.csv", "--skip-bad", "--types", "n=integer", "-o", "good.avro")
    assert _ndjson(run, "good.avro") == [{"n": 4, "s": "5"}] * 2
    run("unpack", *inputs, "--table", "t", "-o", "all.db")
    assert len(run("unpack", "all.db", "--table", "t", "--to", "ndjson", "-o", "-").stdout) > 9
    done = run("unpack", *inputs, "--max-size", "10", "-o", "small.avro", code=4)
    assert b"--max-size" in done.stderr


def test_lines_add_up(run: Run, inputs: list[str]) -> None:
    """Those of inputs tell what was read, the last one what was written."""
    done = run("unpack", *inputs, "-o", "all.avro", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["source"] for line in lines] == [*inputs, "all.avro"]
    assert {(line["target"], line["to"]) for line in lines} == {("all.avro", "avro")}
    assert [line["read"] > 0 for line in lines] == [True, True, False]
    assert [line["size"] > 0 for line in lines] == [False, False, True]
    assert [line["records"] for line in lines] == [3, 2, 5]


def test_pipes_are_joined_too(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    lines = b"".join(json.dumps(r).encode() + b"\n" for r in SECOND)
    run("unpack", inputs[0], "-", "-o", "all.json", stdin=lines)
    assert json.loads((tmp_path / "all.json").read_bytes()) == FIRST + SECOND


def test_entries_of_archives_are_joined_too(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    for name in "one", "two":
        run("pack", "--archive", *inputs, "-o", f"{name}.spk")
    run("unpack", "--include", "a.ndjson", "one.spk", "two.spk", "-o", "all.json")
    assert json.loads((tmp_path / "all.json").read_bytes()) == FIRST * 2
