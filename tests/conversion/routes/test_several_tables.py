"""A database of several tables becomes one map of them, and such a map a database."""

from __future__ import annotations

import io
import json
import math
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import RefusedError, SerialpackError
from tests.formats.test_sqlite import database

SEVERAL = (
    "CREATE TABLE users (id INTEGER, ok BOOLEAN, tags JSON)",
    """INSERT INTO users VALUES (1, 1, '[1, {"a": 2.5}]'), (2, 0, NULL)""",
    "CREATE TABLE posts (body BLOB, x)",
    "INSERT INTO posts VALUES (x'00ff', 1.5), (NULL, 9e999)",
    "CREATE VIEW names AS SELECT id AS n FROM users",
)
ALL_OF_THEM = {
    "users": [
        {"id": 1, "ok": True, "tags": [1, {"a": 2.5}]},
        {"id": 2, "ok": False, "tags": None},
    ],
    "posts": [{"body": b"\x00\xff", "x": 1.5}, {"body": None, "x": math.inf}],
    "names": [{"n": 1}, {"n": 2}],
}


@pytest.mark.parametrize("target", ["msgpack", "cbor", "yaml", "pickle", "bson"])
@pytest.mark.parametrize("by_pipe", [False, True])
def test_several_tables_are_one_map(tmp_path: Path, target: str, *, by_pipe: bool) -> None:
    """One had to be named, and there was no way to have all of them."""
    path = database(tmp_path / "a.db", *SEVERAL)
    out, back = io.BytesIO(), io.BytesIO()
    source: Any = io.BytesIO(path.read_bytes()) if by_pipe else path
    report = serialpack.convert(source, out, to=target)
    told = [(loss.rule, loss.count) for loss in report.carried if loss.rule != "bson"]
    assert (told, report.format, report.losses) == ([("by-table", 3)], "sqlite", [])
    out.seek(0)
    serialpack.convert(out, back, format=target, to="pickle", trust=True)
    (found,) = [pickle.loads(back.getvalue())]
    assert (found[0] if type(found) is list else found) == ALL_OF_THEM


def test_of_several_tables_what_is_lost_is_said(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", *SEVERAL, "CREATE TABLE none (a)")

    def told(**how: Any) -> str:
        with pytest.raises(SerialpackError) as caught:
            serialpack.convert(path, io.BytesIO(), to="json", **how)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "$.posts[1].x: json cannot hold a NaN or an infinity" in told()
    assert "would be lists by name" in told(strict=True, lossy=["no-rows"])
    said = told(strict=True)
    assert "json has no place for column names of tables without rows: a" in said
    out = io.BytesIO()
    report = serialpack.convert(path, out, to="json", lossy=["nan"])
    assert {loss.rule for loss in report.losses} == {"nan"}
    dropped = [loss for loss in report.carried if loss.rule == "no-rows"]
    assert [(loss.count, loss.value_path, loss.was) for loss in dropped] == [(1, "$.none", "a")]
    wanted = {**ALL_OF_THEM, "none": []}
    wanted["posts"] = [{"body": "AP8=", "x": 1.5}, {"body": None, "x": None}]
    assert json.loads(out.getvalue()) == wanted
    out = io.BytesIO()
    serialpack.convert(path, out, to="json", shaping=Shaping(at="users"), lossy=["all"])
    assert json.loads(out.getvalue()) == ALL_OF_THEM["users"]


def test_tables_too_large_for_one_map_are_taken_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serialpack.conversion.routes.databases.MAX_BLOCK", 200)
    path = database(tmp_path / "a.db", *SEVERAL)
    with pytest.raises(RefusedError) as caught:
        serialpack.convert(path, io.BytesIO(), to="yaml")
    assert "the table names: with those before it, it is too large for one map" in str(caught.value)
    assert 'to="ndjson", table="NAME" takes one' in str(caught.value)


def test_json_in_one_of_several_tables_says_which(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.db",
        "CREATE TABLE a (b JSON)",
        "CREATE TABLE c (d JSON)",
        """INSERT INTO c VALUES ('{"a": 1, "a": 2}')""",
        "INSERT INTO a VALUES (1)",
    )
    with pytest.raises(SerialpackError) as caught:
        serialpack.convert(path, io.BytesIO(), to="yaml")
    assert "record 0, $.d.a: the table c: " in str(caught.value)
    report = serialpack.convert(path, out := io.BytesIO(), to="yaml", lossy=["duplicates"])
    assert [(loss.record, loss.value_path) for loss in report.losses] == [(0, "$.c[0].d.a")]
    assert out.getvalue() == b"a:\n- b: 1\nc:\n- d:\n    a: 2\n"


def test_a_view_of_nothing_is_left_out_and_named(tmp_path: Path) -> None:
    """It kept all the others from being read."""
    view = "CREATE VIEW v AS SELECT x FROM gone"
    path = database(tmp_path / "a.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", view)
    report = serialpack.convert(path, out := io.BytesIO(), to="json")
    assert json.loads(out.getvalue()) == {"t": [{"a": 1}]}
    told = {loss.rule: (loss.count, loss.value_path, loss.became) for loss in report.carried}
    assert told["views"] == (1, "$.v", "v: cannot be read: no such table: main.gone")
    for how in ({"strict": True}, {"table": "v"}):
        with pytest.raises(SerialpackError, match="cannot be read"):
            serialpack.convert(path, io.BytesIO(), to="json", **how)
    database(path, "DROP TABLE t", "CREATE VIEW w AS SELECT y FROM gone")
    with pytest.raises(SerialpackError, match="the database has 2 tables: v, w"):
        serialpack.convert(path, io.BytesIO(), to="json")


LISTS = {
    "users": [{"id": 1, "tags": [1, "x"], "m": {"n": 1}}, {"id": 2, "tags": [], "m": {"n": 2}}],
    "a.b": [{"t": True, "u": 1.5}, {"t": None, "u": 2.5}],
    'odd "name"': [{"x": "\x00"}],
}


@pytest.mark.parametrize("source", ["json", "yaml", "msgpack", "typed-xml"])
def test_a_map_of_lists_of_records_is_a_table_for_each(tmp_path: Path, source: str) -> None:
    """It was one row, of JSON text."""
    given = io.BytesIO()
    serialpack.convert(io.BytesIO(json.dumps(LISTS).encode()), given, format="json", to=source)
    path = tmp_path / "a.sqlite"
    given.seek(0)
    report = serialpack.convert(given, path, format=source)
    told = {loss.rule: loss.count for loss in report.carried}
    assert told == {"by-table": 3, "nested": 2, "mixed": 2, "booleans": 1}
    assert (report.records, report.losses, report.inside.lists) == (5, [], ())
    assert report.size == path.stat().st_size
    with closing(sqlite3.connect(path)) as made:
        names = [name for (name,) in made.execute("SELECT name FROM sqlite_master")]
        assert names == list(LISTS)
        assert made.execute('SELECT * FROM "a.b"').fetchall() == [(1, 1.5), (None, 2.5)]
    back = io.BytesIO()
    serialpack.convert(path, back, to="json", shaping=Shaping(nest=()))
    assert json.loads(back.getvalue()) == LISTS


@pytest.mark.parametrize(
    ("data", "how"),
    [
        (b'{"a": [{"x": 1}]}', {}),  # which would be the list, when it is read again
        (b'{"a": [{"x": 1}], "b": 5}', {}),
        (b'{"a": [], "b": []}', {}),
        (b'[{"a": [{"x": 1}], "b": [{"y": 1}]}]', {}),  # whose list came back from no table
        (b'- a: [{"x": 1}]\n  b: [{"y": 1}]\n', {"format": "yaml"}),
        (b'{"a": [{"x": 1}], "b": [1]}', {}),
        (b'{"r": {"a": [{"x": 1}], "b": [{"y": 1}]}}', {}),
        (b'{"sqlite_a": [{"x": 1}], "b": [{"y": 1}]}', {}),
        (json.dumps({f"t{n}": [{"x": 1}] for n in range(65)}).encode(), {}),
        (b'{"a": [{"x": 1}], "b": [{"y": 1}]}', {"format": "ndjson"}),
        (b'{"a": [{"x": 1}], "b": [{"y": 1}]}', {"table": "mine"}),
    ],
)
def test_what_is_more_than_such_lists_is_a_row(data: bytes, how: dict[str, Any]) -> None:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, to="sqlite", **{"format": "json", **how})
    assert report.records == 1
    assert "by-table" not in {loss.rule for loss in report.carried}


def test_an_empty_list_is_a_table_without_rows() -> None:
    """The map of a database with an empty table was one row, of JSON text."""
    text = b'{"a": [{"x": 1}], "b": [], "c": [{"y": 2}]}'
    report = serialpack.convert(io.BytesIO(text), made := io.BytesIO(), format="json", to="sqlite")
    told = {loss.rule: (loss.count, loss.value_path) for loss in report.carried}
    assert told == {"by-table": (3, "$"), "empty-lists": (1, "$.b")}
    made.seek(0)
    serialpack.convert(made, back := io.BytesIO(), format="sqlite", to="json")
    assert json.loads(back.getvalue()) == json.loads(text)


@pytest.mark.parametrize("at", [None, "root"])
def test_tables_come_back_from_xml(tmp_path: Path, at: str | None) -> None:
    """They were one row, also ``--at root``, which the closing line names."""
    path = database(tmp_path / "a.db", *SEVERAL[:2], "CREATE TABLE b (c, d)", "CREATE TABLE e (f)")
    database(path, "INSERT INTO b VALUES (1, 2)")
    serialpack.convert(path, tmp_path / "a.xml")
    report = serialpack.convert(tmp_path / "a.xml", tmp_path / "b.db", shaping=Shaping(at=at))
    told = {loss.rule: (loss.count, loss.value_path) for loss in report.carried}
    assert told["by-table"] == (3, "$.root")
    assert told["empty-lists"] == (1, "$.root.e")
    assert report.inside.lists == ()
    serialpack.convert(tmp_path / "b.db", tmp_path / "b.json")
    found = json.loads((tmp_path / "b.json").read_bytes())
    assert [*found] == ["users", "b", "e"]
    assert [found["b"], found["e"]] == [[{"c": "1", "d": "2"}], []]
    assert [user["id"] for user in found["users"]] == ["1", "2"]


@pytest.mark.parametrize(
    "text",
    [
        "<r><a><x>1</x></a><b><y>2</y></b></r>",  # one map in another
        '<r n="1"><a><x>1</x></a><a><x>2</x></a></r>',
        "<r><a><x>1</x></a><a><x>2</x></a><b>text</b></r>",
        "<r><a><x>1</x></a><a><x>2</x></a></r>",
    ],
)
def test_other_xml_is_a_row(text: str) -> None:
    report = serialpack.convert(io.BytesIO(text.encode()), io.BytesIO(), format="xml", to="sqlite")
    assert report.records == 1
    assert "by-table" not in {loss.rule for loss in report.carried}


def test_lists_at_a_path_are_tables() -> None:
    """Types are named below the path. What stands around it is told, of one row."""
    text = b'{"d": {"a": [{"x": "1"}], "b": [{"y": 2}]}}'
    shaping = Shaping(at="d", types=(("a.x", "integer"),))
    how: dict[str, Any] = {"format": "json", "to": "sqlite", "shaping": shaping}
    report = serialpack.convert(io.BytesIO(text), made := io.BytesIO(), **how)
    assert (report.records, report.types) == (2, {"a.x": "integer"})
    made.seek(0)
    serialpack.convert(made, back := io.BytesIO(), format="sqlite", to="json")
    assert json.loads(back.getvalue()) == {"a": [{"x": 1}], "b": [{"y": 2}]}
    more = text.replace(b'{"d"', b'{"z": 1, "d"')
    how["shaping"] = Shaping(at="d")
    report = serialpack.convert(io.BytesIO(more), io.BytesIO(), lossy=["around"], **how)
    assert [loss.rule for loss in report.losses] == ["around"]
    assert report.records == 1


def test_what_is_told_of_several_tables_is_told_once_and_with_its_place(tmp_path: Path) -> None:
    """The map is read for each table: its comments and keys were counted as often."""
    data = b"""// c
        {"a": [{"x": 1, "x": 2}, {"x": {"y": 3}}], "b": [{"d": "2020-01-02", "n": "5"}]}"""
    shaping = Shaping(types=(("b.d", "date"), ("b.n", "integer")))
    report = serialpack.convert(
        io.BytesIO(data),
        tmp_path / "a.db",
        format="json",
        lossy=["duplicates"],
        shaping=shaping,
    )
    told = {loss.rule: (loss.count, loss.value_path) for loss in report.carried}
    assert told == {
        "by-table": (2, "$"),
        "comments": (1, "line 1"),
        "mixed": (2, "$.a[0].x"),
        "timestamps": (1, "$.b[0].d"),
    }
    assert [(loss.count, loss.value_path) for loss in report.losses] == [(1, "$.a[0].x")]
    assert report.types == {"b.d": "date", "b.n": "integer"}
    with closing(sqlite3.connect(tmp_path / "a.db")) as made:
        assert made.execute("SELECT * FROM b").fetchall() == [("2020-01-02", 5)]


def test_a_table_that_is_refused_leaves_no_database(tmp_path: Path) -> None:
    """Of several none is written, and nothing is left in the temporary folder."""
    data = b'{"a": [{"x": 1}], "b": [{"x": 1, "X": 2}]}'
    one_row = 'table="NAME" makes one row of all'
    with pytest.raises(
        SerialpackError, match=rf"\$\.b: the columns 'x' and 'X' are one to SQLite; {one_row}"
    ):
        serialpack.convert(io.BytesIO(data), tmp_path / "a.db", format="json")
    empty = b'{"a": [{"x": 1}], "b": [{}]}'
    with pytest.raises(SerialpackError, match=rf"a map without keys; .* can, {one_row}"):
        serialpack.convert(io.BytesIO(empty), tmp_path / "a.db", format="json")
    assert list(tmp_path.iterdir()) == []
    for each in (data, empty):
        serialpack.convert(io.BytesIO(each), io.BytesIO(), to="sqlite", table="t", format="json")
    data = b'{"a": [{"x": 0.12345678901234567890123}], "b": [{"x": 1}]}'
    with pytest.raises(SerialpackError, match=r'lossy=\["digits"\]'):
        serialpack.convert(io.BytesIO(data), tmp_path / "a.db", format="json")
    report = serialpack.convert(
        io.BytesIO(data), tmp_path / "a.db", format="json", lossy=["digits"]
    )
    assert [loss.rule for loss in report.losses] == ["digits"]
