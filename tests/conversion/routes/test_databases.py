"""Records as a table of an SQLite database, and what comes back; others read it too."""

from __future__ import annotations

import io
import json
import math
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import InputError, RefusedError, SerialpackError, UsageError
from serialpack.reports import ConvertReport
from tests.conversion.documents import documents
from tests.faults.test_memory import ndjson, peak
from tests.formats.test_sqlite import database


def written(records: list[Any], **how: Any) -> tuple[bytes, ConvertReport]:
    """The database that ``records``, lines of NDJSON, become."""
    text = "".join(json.dumps(record) + "\n" for record in records)
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(text.encode()), out, format="ndjson", to="sqlite", **how)
    return out.getvalue(), report


def refused(records: list[Any], **how: Any) -> SerialpackError:
    with pytest.raises(SerialpackError) as caught:
        written(records, **how)
    assert "\n" not in str(caught.value)
    return caught.value


def read(data: bytes, **how: Any) -> list[Any]:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format="sqlite", to="ndjson", **how)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def declared(data: bytes) -> dict[str, str]:
    """The columns, with their declared types."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        (table,) = connection.execute("SELECT name FROM sqlite_master").fetchone()
        found = connection.execute(f'PRAGMA table_info("{table}")')
        return {row[1]: row[2] for row in found}


#: Values of a column, what it is declared, and what others read.
COLUMNS: list[tuple[list[Any], str, list[Any]]] = [
    ([1, -(2**63), 2**63 - 1], "INTEGER", [1, -(2**63), 2**63 - 1]),
    ([1.0, 2.5, 1e300], "REAL", [1.0, 2.5, 1e300]),
    ([1.0, -0.0, 0.0], "", [1.0, -0.0, 0.0]),
    (["1", "1.50", "", "é", " 7 ", "a\0b"], "TEXT", ["1", "1.50", "", "é", " 7 ", "a\0b"]),
    ([True, False, None], "BOOLEAN", [1, 0, None]),
    ([1, "1", 1.5, "1.50"], "", [1, "1", 1.5, "1.50"]),
    ([1, 1.0], "", [1, 1.0]),
    ([None, None], "", [None, None]),
    ([[1, "a"], [], None], "JSON", ['[1,"a"]', "[]", None]),
    ([["a"], "a", "1", True], "JSON", ['["a"]', '"a"', '"1"', "true"]),
    ([[1], 1, 1.0, 2**70, "x"], "JSON TEXT", ["[1]", "1", "1.0", str(2**70), '"x"']),
    ([True, 1, 1.0], "JSON TEXT", ["true", "1", "1.0"]),
    ([True, "1"], "JSON", ["true", '"1"']),
    ([{"a": 1}, {}, None], "JSON", ['{"a":1}', "{}", None]),
]


@pytest.mark.parametrize(("values", "kind", "others"), COLUMNS, ids=str)
def test_each_column_has_the_type_of_all_its_values(
    values: list[Any], kind: str, others: list[Any]
) -> None:
    records = [{"v": value} for value in values]
    data, report = written(records)
    assert declared(data) == {"v": kind}
    rows = [row["v"] for row in documents(data, "sqlite")]
    assert repr(rows) == repr(others)
    assert repr(read(data)) == repr(records)
    assert report.back == ()


def test_maps_are_columns_and_maps_again() -> None:
    records = [{"id": 1, "m": {"a": 1, "b": {"c": "x"}}}, {"id": 2, "m": {"a": 2}}, {"id": 3}]
    data, report = written(records)
    assert declared(data) == {"id": "INTEGER", "m.a": "INTEGER", "m.b.c": "TEXT"}
    assert report.back == ("-F", "sqlite", "--nest")
    assert {loss.rule for loss in report.carried} == {"nested", "missing"}
    again = read(data, shaping=Shaping(nest=()))
    assert again == records


def test_what_other_formats_have() -> None:
    """Bytes are bytes, times text, as everywhere."""
    import pickle
    from datetime import date
    from decimal import Decimal

    records = [
        {"b": b"\0\xff", "d": date(2020, 1, 2), "x": Decimal("1.50"), "f": math.inf, "t": (1, 2)}
    ]
    out = io.BytesIO()
    source = io.BytesIO(pickle.dumps(records))
    report = serialpack.convert(source, out, format="pickle", to="sqlite", trust=True)
    assert declared(out.getvalue()) == {
        "b": "BLOB",
        "d": "TEXT",
        "x": "TEXT",
        "f": "REAL",
        "t": "JSON",
    }
    assert {loss.rule for loss in report.carried} == {
        *("timestamps", "decimals", "sequences", "mixed"),
    }
    (row,) = documents(out.getvalue(), "sqlite")
    assert row == {"b": b"\0\xff", "d": "2020-01-02", "x": "1.50", "f": math.inf, "t": "[1,2]"}


@pytest.mark.parametrize(
    ("value", "rule", "became"),
    [(2**63, "bigint", str(2**63)), (2**70, "bigint", str(2**70)), ("\ud800", "utf8", "\ufffd")],
)
def test_what_is_lost_is_named(value: Any, rule: str, became: Any) -> None:
    records = [{"v": 1}, {"v": value}]
    error = refused(records)
    assert isinstance(error, serialpack.ValueRefusedError)
    assert (error.record, error.value_path) == (1, "$.v")
    assert f'lossy=["{rule}"]' in str(error)
    data, report = written(records, lossy=[rule])
    assert [(loss.rule, loss.count) for loss in report.losses] == [(rule, 1)]
    assert documents(data, "sqlite") == [{"v": 1}, {"v": became}]


def test_nan_is_null() -> None:
    import msgpack

    source = msgpack.packb({"v": 1.5}) + msgpack.packb({"v": math.nan})
    how: dict[str, Any] = {"format": "msgpack", "to": "sqlite"}
    with pytest.raises(serialpack.ValueRefusedError, match=r'lossy=\["nan"\]') as caught:
        serialpack.convert(io.BytesIO(source), io.BytesIO(), **how)
    assert (caught.value.record, caught.value.value_path) == (1, "$.v")
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(source), out, lossy=["nan"], **how)
    assert documents(out.getvalue(), "sqlite") == [{"v": 1.5}, {"v": None}]


def test_names_that_sqlite_has_not() -> None:
    error = refused([{"Name": 1, "name": 2}])
    assert "the columns 'Name' and 'name' are one to SQLite" in str(error)
    assert error.exit_code == 4
    assert "a NUL in the key" in str(refused([{"a\0b": 1}]))
    many = {f"c{n}": n for n in range(2001)}
    error = refused([many])
    assert isinstance(error, RefusedError)
    assert "2,001 columns are more than the 2,000" in str(error)
    del many["c2000"]
    assert read(written([many])[0]) == [many]
    odd = {'a"b': 1, "é": 2, "É": 3, "": 4, "select": 5, "a;--": 6, "[x]": 7}
    assert read(written([odd])[0]) == [odd]


def test_no_records_are_a_table_without_rows() -> None:
    """It was refused, though an empty list is one to every other format."""
    data, report = written([])
    assert (declared(data), read(data)) == ({"value": ""}, [])
    (told,) = report.carried
    assert (told.rule, told.value_path, report.records) == ("empty-lists", "$", 0)
    assert "only in another shape (empty list as an empty table)" in str(refused([], strict=True))
    for text, name in ((b"[]", "json"), (b"", "csv"), (b"[]", "yaml")):
        serialpack.convert(io.BytesIO(text), out := io.BytesIO(), format=name, to="sqlite")
        assert read(out.getvalue()) == []


def test_no_field_has_no_table() -> None:
    assert "a map without keys" in str(refused([{}]))


def test_the_name_of_the_table(tmp_path: Path) -> None:
    """It is the file's, as who has several files expects; or what is said."""

    def tables(path: Path) -> list[str]:
        with closing(sqlite3.connect(path)) as connection:
            return [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]

    for name, table in (
        *(("my data.ndjson", "my data"), ("a.b.ndjson", "a"), ("sqlite_x.ndjson", "data")),
        *(("ё.ndjson", "ё"), (".ndjson", "data")),
    ):
        source, target = tmp_path / name, tmp_path / f"{len(name)}.db"
        source.write_text('{"a":1}\n')
        serialpack.convert(source, target, to="sqlite", format="ndjson", force=True)
        assert tables(target) == [table]
    serialpack.convert(source, target, to="sqlite", format="ndjson", force=True, table='a "b"')
    assert tables(target) == ['a "b"']
    again = tmp_path / "again.db"
    serialpack.convert(target, again, to="sqlite")
    assert tables(again) == ['a "b"']
    for bad in ("", "sqlite_a", "a\0"):
        with pytest.raises(UsageError, match="no name that a table can have"):
            serialpack.convert(source, io.BytesIO(), to="sqlite", format="ndjson", table=bad)


WITH_KEYS = (
    "CREATE TABLE b (k)",
    "CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT NOT NULL UNIQUE DEFAULT 'q', z REFERENCES b(k))",
    "CREATE INDEX i ON a (z)",
    "INSERT INTO a VALUES (1, 'q', 2)",
    "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END",
)


@pytest.mark.parametrize("how", ["file", "pipe", "packed"])
@pytest.mark.parametrize("tables", [1, 2])
def test_a_database_to_a_database_is_copied(tmp_path: Path, how: str, tables: int) -> None:
    """One of several tables was refused, one of a table lost its keys and indexes, silently."""
    path = database(tmp_path / "a.db", *WITH_KEYS, *(() if tables > 1 else ("DROP TABLE b",)))
    source: Any = path
    if how == "pipe":
        source = io.BytesIO(path.read_bytes())
    elif how == "packed":
        source = tmp_path / "a.db.spk"
        serialpack.pack(path, source)
    report = serialpack.convert(source, tmp_path / "b.db", to="sqlite", strict=True)
    assert (tmp_path / "b.db").read_bytes() == path.read_bytes()
    assert (report.exact, report.losses, report.carried) == (True, [], [])
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="no sound SQLite database"):
        serialpack.convert(path, io.BytesIO(), to="sqlite")


def test_what_a_table_loses_in_another_database_is_told(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", *WITH_KEYS)
    report = serialpack.convert(path, tmp_path / "b.db", to="sqlite", table="a")
    assert [(loss.rule, loss.count) for loss in report.carried] == [("schema", 7)]
    assert report.carried[0].was.startswith("PRIMARY KEY, NOT NULL of y, DEFAULT of y, index i,")
    with pytest.raises(serialpack.ValueRefusedError, match="no place for keys, indexes"):
        serialpack.convert(path, io.BytesIO(), to="sqlite", table="a", strict=True)
    report = serialpack.convert(path, io.BytesIO(), to="json", table="a")
    assert report.carried == []


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("a CHECK (a > 0))", "CHECK"),
        ("a TEXT COLLATE nocase)", "COLLATE"),
        ("a INTEGER PRIMARY KEY AUTOINCREMENT)", "PRIMARY KEY, AUTOINCREMENT"),
        ("a, b AS (a * 2))", "GENERATED b"),
        ("a INTEGER) STRICT", "STRICT"),
        ("a, \"check\", [strict] DEFAULT 'COLLATE' /* CHECK */)", "DEFAULT of strict"),
    ],
)
def test_what_only_its_sql_says_is_told_too(tmp_path: Path, columns: str, told: str) -> None:
    path = database(tmp_path / "a.db", f"CREATE TABLE a ({columns}", "INSERT INTO a (a) VALUES (1)")
    report = serialpack.convert(path, io.BytesIO(), to="sqlite", table="a")
    assert [loss.was for loss in report.carried] == [told]


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ndjson", tmp_path / "a.db"
    source.write_text('{"a":1}\n' * 1000 + f'{{"a":{2**64}}}\n')
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.convert(source, target, to="sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["a.ndjson"]
    source.write_text('{"a":1}\n')
    serialpack.convert(source, target, to="sqlite")
    before = target.read_bytes()
    with pytest.raises(FileExistsError):
        serialpack.convert(source, target, to="sqlite")
    assert target.read_bytes() == before


def test_blocks_are_one_table_in_order() -> None:
    records = [{"n": n, "s": None if n % 3 else f"x{n}", "l": [n, True]} for n in range(3000)]
    data, report = written(records, block_size=500, threads=2)
    assert report.records == 3000
    assert read(data) == records
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_database_that_has_other_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof looks at what is in the file."""
    from serialpack.formats.sqlite.write import NewDatabase

    add = NewDatabase.add

    def other(self: NewDatabase, rows: Any) -> None:
        add(self, [[value if value != 7 else 8 for value in row] for row in rows])

    monkeypatch.setattr(NewDatabase, "add", other)
    assert "not those that were proved" in str(refused([{"n": n} for n in range(10)]))
    data, _ = written([{"n": 7}], verify=False)
    assert documents(data, "sqlite") == [{"n": 8}]


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "log.ndjson").write_text('{"a":1,"ok":true}\n{"a":2,"ok":false}\n')

    def run(*args: str) -> str:
        command = [sys.executable, "-m", "serialpack", "unpack", *args]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
        )
        return done.stdout + done.stderr

    assert "2 booleans as 0 and 1" in run("--to", "sqlite", "log.ndjson")
    assert (tmp_path / "log.db").exists()
    text = (tmp_path / "log.ndjson").read_text()
    assert run("--to", "ndjson", "-q", "-o", "-", "log.db") == text
    assert run("--to", "ndjson", "-q", "-o", "-", "--table", "LOG", "log.db") == text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
def test_memory_is_flat(tmp_path: Path) -> None:
    """Whatever the size, both ways: rows are streamed."""
    into, out = [], []
    for size in (16 << 20, 48 << 20):
        source, target = tmp_path / f"{size}.ndjson", tmp_path / f"{size}.db"
        with source.open("wb") as file:
            file.writelines(ndjson(size))
        into.append(peak(tmp_path, "unpack", "-j", "1", "--to", "sqlite", str(source)))
        out.append(peak(tmp_path, "unpack", "-j", "1", "--to", "ndjson", str(target), "-o", "-"))
    for small, large in (into, out):
        assert large < 1.2 * small
        assert large < 250


def test_a_table_of_text_comes_back_from_a_database(tmp_path: Path) -> None:
    """Its spellings stand in a comment, which no text in it ends."""
    text = b'k,"p */ q",on,day\r\n007,1.50,TRUE,2020-01-01\r\n8,2.00,FALSE,\r\n'
    (tmp_path / "t.csv").write_bytes(text)
    report = serialpack.convert(
        tmp_path / "t.csv", tmp_path / "t.db", to="sqlite", shaping=Shaping(infer=True)
    )
    assert report.comes_back == "bytes"
    assert {loss.rule for loss in report.carried} == {"booleans"}
    serialpack.convert(tmp_path / "t.db", tmp_path / "back.csv", to="csv")
    assert (tmp_path / "back.csv").read_bytes() == text
    with closing(sqlite3.connect(tmp_path / "t.db")) as database:
        rows = database.execute("SELECT * FROM t").fetchall()
        assert rows == [("007", 1.5, 1, "2020-01-01"), ("8", 2.0, 0, "")]
        database.execute("INSERT INTO t VALUES ('9', 1.234, 1, 'later')")
        database.commit()
        database.execute("PRAGMA journal_mode = DELETE").close()
    serialpack.convert(tmp_path / "t.db", tmp_path / "more.csv", to="csv")
    lines = (tmp_path / "more.csv").read_bytes().splitlines()
    assert lines[1:3] == [b"007,1.5,TRUE,2020-01-01", b"8,2.0,FALSE,"]
    assert lines[3] == b"9,1.234,TRUE,later"


def test_a_database_with_a_damaged_page_is_not_copied(tmp_path: Path) -> None:
    """Its bytes were, as if it were sound; a row that breaks a rule of its table is no damage."""
    path = database(
        *(tmp_path / "a.db", "CREATE TABLE t (n, s)", "INSERT INTO t VALUES (?, ?)"),
        rows=[(n, f"text {n}" * 20) for n in range(2000)],
    )
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE t (n CHECK (n > 9), s)'")
        connection.commit()
    serialpack.convert(path, tmp_path / "b.db", to="sqlite")
    data = bytearray(path.read_bytes())
    assert (tmp_path / "b.db").read_bytes() == data
    data[-4096:] = b"\x7f" * 4096
    path.write_bytes(data)
    with pytest.raises(InputError, match="no sound SQLite database"):
        serialpack.convert(path, tmp_path / "c.db", to="sqlite")
    assert not (tmp_path / "c.db").exists()


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_what_is_marked_as_json_is_declared_so(to: str, tmp_path: Path) -> None:
    """Without --nest it was declared TEXT, as if nobody had marked it. Numbers stay text."""
    pytest.importorskip("pyarrow")
    source = b'{"a":[1,2],"t":"[1]"}\n{"a":1.0,"t":"x"}\n{"a":null,"t":null}\n'
    marked, target = io.BytesIO(), tmp_path / "a.db"
    serialpack.convert(io.BytesIO(source), marked, format="ndjson", to=to)
    marked.seek(0)
    serialpack.convert(marked, target, format=to, to="sqlite")
    with closing(sqlite3.connect(target)) as opened:
        assert (
            'JSON TEXT, "t" TEXT' in opened.execute("select sql from sqlite_master").fetchone()[0]
        )
        rows = opened.execute("select a, typeof(a) from data").fetchall()
    assert rows == [("[1,2]", "text"), ("1.0", "text"), (None, "null")]
    again = io.BytesIO()
    serialpack.convert(target, again, to="ndjson")
    assert again.getvalue() == source
