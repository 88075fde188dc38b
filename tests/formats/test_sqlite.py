"""SQLite as a source: which table is read, in which order, as which values; and what is none."""

from __future__ import annotations

import gzip
import io
import json
import math
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack import api
from serialpack.errors import FileError, InputError, RefusedError, SerialpackError, UsageError
from serialpack.formats.sqlite.write import NewDatabase


def database(path: Path, *statements: str, rows: Iterable[tuple[Any, ...]] = ()) -> Path:
    """A database; the last statement is executed for each of ``rows``."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements[: -1 if rows else None]:
            connection.execute(statement)
        connection.executemany(statements[-1], rows)
        connection.commit()
    return path


def records(path: Path, **how: Any) -> list[Any]:
    """What is read of it, by ``convert``."""
    out = io.BytesIO()
    serialpack.convert(path, out, to="ndjson", **how)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def said(source: Any, **how: Any) -> SerialpackError:
    with pytest.raises(SerialpackError) as caught:
        serialpack.convert(source, io.BytesIO(), to="ndjson", **how)
    assert "\n" not in str(caught.value)
    return caught.value


def test_values_have_the_types_that_sqlite_has(tmp_path: Path) -> None:
    """Each value its own, whatever is declared."""
    values = [
        None,
        1,
        -(2**63),
        2**63 - 1,
        1.5,
        1e300,
        math.inf,
        "",
        "1",
        "a\0b",
        "é\u2028",
        b"\xff",
    ]
    path = database(
        *(tmp_path / "a.db", "CREATE TABLE t (v)", "INSERT INTO t VALUES (?)"),
        rows=[(value,) for value in values],
    )
    out = io.BytesIO()
    serialpack.convert(path, out, to="msgpack")
    import msgpack

    assert list(msgpack.Unpacker(io.BytesIO(out.getvalue()))) == [{"v": value} for value in values]


def test_declared_types_turn_booleans_and_json(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.db",
        "CREATE TABLE t (b BOOLEAN, c bool, j JSON, k JSON, n INTEGER)",
        "INSERT INTO t VALUES (?, ?, ?, ?, ?)",
        rows=[(1, 0, '{"a": [1, 2.5]}', "[1]", 1), (0, 2, "null", "no JSON", 0), (None,) * 5],
    )
    assert records(path) == [
        {"b": True, "c": False, "j": {"a": [1, 2.5]}, "k": "[1]", "n": 1},
        {"b": False, "c": 2, "j": None, "k": "no JSON", "n": 0},
        {"b": None, "c": None, "j": None, "k": None, "n": None},
    ]


def test_json_that_would_lose_something_is_refused(tmp_path: Path) -> None:
    for number, (text, kind) in enumerate(
        [("[0.12345678901234567890]", "digits"), ('{"a":1,"a":2}', "duplicate-keys")]
    ):
        path = database(
            *(tmp_path / f"{number}.db", "CREATE TABLE t (j JSON)", "INSERT INTO t VALUES (?)"),
            rows=[("[1]",), (None,), (text,)],
        )
        error = said(path)
        assert isinstance(error, serialpack.ValueRefusedError)
        assert (error.kind, error.record) == (kind, 2)
        assert (error.value_path or "").startswith("$.j")
        allowed = {"digits": "digits", "duplicate-keys": "duplicates"}[kind]
        assert f'lossy=["{allowed}"]' in str(error)
        assert len(records(path, lossy=[allowed])) == 3


def test_rows_come_in_the_order_of_their_keys(tmp_path: Path) -> None:
    """Also where an index has all columns, which SQLite would rather read."""
    with_index = database(
        tmp_path / "a.db",
        "CREATE TABLE t (n)",
        "CREATE INDEX i ON t (n)",
        "INSERT INTO t VALUES (?)",
        rows=[(n,) for n in (3, 1, 2)],
    )
    assert [record["n"] for record in records(with_index)] == [3, 1, 2]
    without_rowid = database(
        tmp_path / "b.db",
        "CREATE TABLE t (k TEXT PRIMARY KEY, n) WITHOUT ROWID",
        "INSERT INTO t VALUES (?, ?)",
        rows=[("b", 1), ("a", 2), ("c", 3)],
    )
    assert [record["k"] for record in records(without_rowid)] == ["a", "b", "c"]
    odd = database(
        tmp_path / "c.db",
        'CREATE TABLE "o ""dd" (rowid, _rowid_, oid, "a.b", "" )',
        'INSERT INTO "o ""dd" VALUES (?, ?, ?, ?, ?)',
        rows=[(9, 8, 7, 6, 5), (1, 2, 3, 4, 5)],
    )
    assert records(odd)[0] == {"rowid": 9, "_rowid_": 8, "oid": 7, "a.b": 6, "": 5}


def test_the_table_is_the_only_one_or_named(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.db",
        "CREATE TABLE Users (n INTEGER PRIMARY KEY AUTOINCREMENT)",
        "CREATE VIEW few AS SELECT n AS m FROM Users LIMIT 1",
        "INSERT INTO Users VALUES (?)",
        rows=[(1,), (2,)],
    )
    error = said(path)
    assert isinstance(error, UsageError)
    assert '2 tables: Users, few; table="NAME" takes one of them, to="json" takes all' in str(error)
    assert records(path, table="Users") == [{"n": 1}, {"n": 2}]
    assert records(path, table="users") == [{"n": 1}, {"n": 2}]
    assert records(path, table="few") == [{"m": 1}]
    error = said(path, table="nobody")
    assert isinstance(error, UsageError)
    assert "no table 'nobody'; table takes one of: Users, few" in str(error)


def test_what_a_virtual_table_keeps_is_no_table(tmp_path: Path) -> None:
    try:
        path = database(
            *(tmp_path / "a.db", "CREATE VIRTUAL TABLE t USING fts5(a)"),
            *("INSERT INTO t VALUES (?)",),
            rows=[("x",)],
        )
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no full-text search")
    assert records(path) == [{"a": "x"}]


def test_a_view_that_cannot_be_read(tmp_path: Path) -> None:
    path = database(
        *(tmp_path / "a.db", "CREATE TABLE t (n)", "CREATE VIEW v AS SELECT * FROM t"),
        *("DROP TABLE t",),
    )
    error = said(path)
    assert isinstance(error, InputError)
    assert "the table v cannot be read: no such table" in str(error)


def _long(path: Path) -> Path:
    return database(
        *(path, "CREATE TABLE t (n, s)", "INSERT INTO t VALUES (?, ?)"),
        rows=[(n, f"text {n}" * 20) for n in range(2000)],
    )


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda data: data[:-4096], "and should have"),
        (lambda data: data[:5000], "and should have"),
        (lambda data: data[:100] + bytes(4096 - 100) + data[4096:], "no sound SQLite database"),
        (lambda data: data[:4096] + b"\x7f" * 4096 + data[8192:], "cannot be read"),
        (lambda data: data[:16] + b"\x00\x03" + data[18:], "no sound SQLite database"),
    ],
    ids=["without its last page", "cut off", "no schema", "a broken page", "a broken head"],
)
def test_a_damaged_database(tmp_path: Path, break_it: Callable[[bytes], bytes], words: str) -> None:
    path = _long(tmp_path / "a.db")
    path.write_bytes(break_it(path.read_bytes()))
    for source in (path, io.BytesIO(path.read_bytes())):
        error = said(source, format="sqlite")
        assert error.exit_code == 3
        assert words in str(error) or "has no table" in str(error)


def test_an_empty_database(tmp_path: Path) -> None:
    empty = database(tmp_path / "a.db", "CREATE TABLE t (n)", "DROP TABLE t")
    nothing = tmp_path / "b.db"
    nothing.touch()
    for path in (empty, nothing):
        error = said(path)
        assert error.exit_code == 3
        assert str(error) == f"{path}: the database has no table"


def test_a_folder_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "a.db"
    folder.mkdir()
    assert "is a folder" in str(said(folder))


def test_a_database_that_is_written_is_not_read(tmp_path: Path) -> None:
    """What is in the file is not all of it then, or only half."""
    path = _long(tmp_path / "a.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        error = said(path)
        assert isinstance(error, FileError)
        assert "it is locked" in str(error)
        connection.execute("INSERT INTO t VALUES (1, 'x')")
        assert "a.db-journal has a change" in str(said(path))
        connection.execute("ROLLBACK")
    assert len(records(path)) == 2000
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO t VALUES (1, 'x')")
        error = said(path)
        assert isinstance(error, FileError)
        assert "a.db-wal has changes that are not in it yet" in str(error)
        copy = tmp_path / "copy.db"
        connection.execute(f"VACUUM INTO '{copy}'")
    assert len(records(path)) == len(records(copy)) == 2001
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.db", "copy.db"]


def test_a_value_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serialpack.formats.sqlite.database.MAX_BLOCK", 1 << 20)
    error = said(database(tmp_path / "a.db", "CREATE TABLE t AS SELECT zeroblob(2 << 20) AS b"))
    assert isinstance(error, RefusedError)
    assert "a value in t is larger than" in str(error)


def test_a_full_disk_is_said_to_be_full(tmp_path: Path) -> None:
    """SQLite's own limit stands for the disk's: both are the same error of it."""
    writer = NewDatabase(tmp_path / "a.db", "t", [("a", "")])
    writer._connection.execute("PRAGMA max_page_count = 4")
    with pytest.raises(FileError, match="cannot be written: database or disk is full"):
        writer.add([("x" * 4096,)] * 9)
    writer.close(keep=False)


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    path = database(
        *(tmp_path / "a.db", "CREATE TABLE t (n, s)"),
        *("INSERT INTO t VALUES (?, CAST(? AS TEXT))",),
        rows=[(n, b"\xff!" if n in (3, 700) else b"ok") for n in range(1000)],
    )
    error = said(path)
    assert isinstance(error, InputError)
    assert 'record 3, $.s: its text is not valid UTF-8; lossy=["utf8"]' in str(error)
    out = io.BytesIO()
    report = serialpack.convert(path, out, to="ndjson", lossy=["utf8"])
    assert [(loss.rule, loss.count, loss.record) for loss in report.losses] == [("utf8", 2, 3)]
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [record["n"] for record in found] == list(range(1000))
    assert found[700] == {"n": 700, "s": "\ufffd!"}
    report = serialpack.convert(path, io.BytesIO(), to="ndjson", skip_bad=True)
    assert [place.record for place in report.places] == [3, 700]
    assert report.records == 998
    head = io.BytesIO()
    api.first_records(path, head, 4)
    assert [json.loads(line) for line in head.getvalue().splitlines()] == found[:4]


def test_through_pipes_compressed_and_packed(tmp_path: Path) -> None:
    """It is kept in a temporary file then, which is said."""
    path = _long(tmp_path / "a.db")
    data = path.read_bytes()
    expected = records(path)
    (tmp_path / "a.db.gz").write_bytes(gzip.compress(data))
    serialpack.pack(path, tmp_path / "a.db.spk")
    for name in ("a.db.gz", "a.db.spk"):
        assert records(tmp_path / name) == expected
        report = serialpack.convert(tmp_path / name, io.BytesIO(), to="csv")
        assert report.kept_pipe
    assert not serialpack.convert(path, io.BytesIO(), to="ndjson").kept_pipe
    command = [sys.executable, "-m", "serialpack", "unpack", "--to", "ndjson", "-o", "-"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected
    assert b"it was kept in a temporary file" in done.stderr


def test_packed_it_is_bytes(tmp_path: Path) -> None:
    path = _long(tmp_path / "a.db")
    out, back = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(path, out)
    assert report.format == "sqlite"
    serialpack.unpack(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == path.read_bytes()
    with pytest.raises(
        UsageError, match=r'has tables of them; convert\(\.\.\., to="ndjson", table="NAME"\)'
    ):
        serialpack.pack(path, io.BytesIO(), serializer="json")


def test_bench_measures_bytes_alone(tmp_path: Path) -> None:
    path = _long(tmp_path / "a.db")
    command = [sys.executable, "-m", "serialpack", "bench", str(path), "-c", "none", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "json+none" not in done.stdout
    assert "it has tables of them" in done.stdout + done.stderr


def test_it_is_told_of_by_inspect(tmp_path: Path) -> None:
    """Also where it has several tables, or none that can be read."""
    path = _long(tmp_path / "a.db")
    several = database(tmp_path / "b.db", "CREATE TABLE t (n)", "CREATE TABLE u (n)")
    damaged = tmp_path / "c.db"
    damaged.write_bytes(path.read_bytes()[:5000])
    for each, code in ((path, 0), (several, 0), (damaged, 3)):
        command = [sys.executable, "-m", "serialpack", "inspect", str(each)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "sqlite" in done.stdout) == (code, True), done
        assert "Traceback" not in done.stderr


def test_a_table_is_for_databases(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    assert "table is for SQLite" in str(said(tmp_path / "a.json", table="t"))
