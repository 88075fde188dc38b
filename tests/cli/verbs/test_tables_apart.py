"""A database of several tables as a file of each, in a folder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines
from tests.docs.test_schemas import check
from tests.formats.test_sqlite import database

_TABLES = (
    "CREATE TABLE users (id INTEGER, name TEXT)",
    "INSERT INTO users VALUES (1, 'a'), (2, 'b')",
    'CREATE TABLE "or/ders" (n INTEGER)',
    'INSERT INTO "or/ders" VALUES (7)',
    "CREATE VIEW names AS SELECT name FROM users",
)
_MADE = {"names.csv": "name\na\nb\n", "or_ders.csv": "n\n7\n", "users.csv": "id,name\n1,a\n2,b\n"}
_APART = ("unpack", "--to", "csv", "app.db", "-o", "out/")


@pytest.fixture(autouse=True)
def app(tmp_path: Path) -> Path:
    """A database of two tables and a view."""
    return database(tmp_path / "app.db", *_TABLES)


def made(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("how", ["plain", "there", "packed", "compressed", "walked"])
def test_each_table_is_a_file_named_as_it(run: Run, tmp_path: Path, app: Path, how: str) -> None:
    """It was refused, with a hint that takes them one at a time."""
    words = list(_APART)
    if how == "there":
        (tmp_path / "out").mkdir()
        words[-1] = "out"
    if how == "packed":
        run("pack", "app.db")
        words[3] = "app.db.spk"
    if how == "compressed":
        (tmp_path / "app.db.gz").write_bytes(gzip.compress(app.read_bytes()))
        words[3] = "app.db.gz"
    if how == "walked":
        (tmp_path / "in").mkdir()
        app.rename(tmp_path / "in/app.db")
        words[3:4] = ["-r", "in"]
    said = run(*words).stderr.decode()
    assert f": or/ders -> {Path(words[-1]) / 'or_ders.csv'}, 4 B, same values" in said
    assert said.count("kept in a temporary file") <= 1
    assert made(tmp_path / "out") == _MADE
    for name in _MADE:
        run("unpack", "--to", "json", "-F", "csv", "--typed", f"out/{name}")


def test_the_hint_names_it(run: Run, tmp_path: Path) -> None:
    for words in (_APART[:-2], (*_APART[:-1], "out")):
        (said,) = lines(run(*words, code=2).stderr)
        assert "the database has 3 tables: users, or/ders, names; --table NAME takes" in said
        assert "one of them, -o FOLDER/ makes a file of each, --to json one of all" in said
        assert not (tmp_path / "out").exists()
    database(tmp_path / "b.db", *_TABLES)
    said = run(*_APART[:-2], "b.db", "-o", "out/", code=2).stderr.decode()
    assert "-o FOLDER/" not in said  # of several it would mix their tables
    said = run("unpack", "app.db", "b.db", "-o", "all.json", code=2).stderr.decode()
    assert "; --table NAME joins one of each, --to json -o FOLDER/ keeps all of each\n" in said
    run("unpack", "app.db", "b.db", "--to", "json", "-o", "out/")


def test_all_of_them_or_none(run: Run, tmp_path: Path, app: Path) -> None:
    """Also where a later one fails, or is there."""
    said = run(*_APART, "--max-size", "25", code=4).stderr.decode()
    assert said.count("would write more than --max-size 25 B") == 1
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/names.csv").write_text("mine")
    said = run(*_APART, code=1).stderr.decode()
    assert "serialpack: out/names.csv: exists already; -f overwrites it\n" in said
    assert made(tmp_path / "out") == {"names.csv": "mine"}
    run(*_APART, "-f")
    assert made(tmp_path / "out") == _MADE
    app.unlink()
    database(app, *_TABLES, "CREATE TABLE none (a)", "INSERT INTO none VALUES (9e999)")
    said = run("unpack", "--to", "ndjson", "app.db", "-o", "out", code=4).stderr.decode()
    assert "the table none: json cannot hold a NaN or an infinity" in said
    assert made(tmp_path / "out") == _MADE


def test_run_again_what_is_there_is_left(run: Run, tmp_path: Path) -> None:
    run(*_APART, "--skip-existing")
    (tmp_path / "out/users.csv").unlink()
    done = run(*_APART, "--skip-existing", "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("left") for line in told] == [True, True, None]
    check("left", told[0])
    check("convert", told[2])
    assert told[2]["table"] == "users"
    assert made(tmp_path / "out") == _MADE
    assert run(*_APART, "--skip-existing").stderr.count(b" is whole and no older, left") == 3


@pytest.mark.parametrize(
    ("tables", "wrong"),
    [
        (("a/b", "a_b"), "the tables a/b and a_b would be one file; --table NAME -o FILE"),
        (("é", "É"), "the tables é and É would be one file; --table NAME -o FILE"),
        (("x", ".."), "a file cannot be called as the table '..'; --table NAME -o FILE"),
        (("x", "nul"), "a file cannot be called as the table 'nul'; --table NAME -o FILE"),
    ],
)
def test_names_that_files_cannot_have(
    run: Run, tmp_path: Path, app: Path, tables: tuple[str, str], wrong: str
) -> None:
    app.unlink()
    database(app, *(f'CREATE TABLE "{name}" (a)' for name in tables))
    for env in {}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}:
        said = run(*_APART, env=env, code=4).stderr.decode()
        assert wrong in said or wrong.encode("ascii", "backslashreplace").decode() in said
    assert not (tmp_path / "out").exists()
    run("unpack", "--to", "csv", "--table", tables[1], "app.db", "-o", "one.csv")


def test_a_plan_names_each(run: Run, tmp_path: Path) -> None:
    """It foretold one file, app.csv, which is never made."""
    said = run(*_APART, "--dry-run").stderr.decode()
    assert lines(said.encode()) == [
        "would convert app.db: users to out/users.csv",
        "would convert app.db: or/ders to out/or_ders.csv",
        "would convert app.db: names to out/names.csv",
    ]
    assert not (tmp_path / "out").exists()
    assert run(*_APART[:-2], "--dry-run", code=2).stderr == run(*_APART[:-2], code=2).stderr
    run(*_APART)
    said = run(*_APART, "--dry-run", code=1).stderr.decode()
    assert "out/users.csv: exists already" in said
    said = run(*_APART, "--dry-run", "--skip-existing").stderr.decode()
    assert said.count(", would be left as it is") == 3


def test_a_view_that_cannot_be_read_is_left_out(run: Run, tmp_path: Path, app: Path) -> None:
    database(app, "CREATE VIEW broken AS SELECT x FROM gone")
    said = run(*_APART).stderr.decode()
    assert "app.db: the view broken is left out: cannot be read: no such table" in said
    assert made(tmp_path / "out") == _MADE
    said = run(*_APART, "-f", "--strict", "--lossy", "cells,null", code=3).stderr.decode()
    assert "app.db: the table broken cannot be read: no such table" in said  # and named once
    assert "cannot be read: no such table" in run("inspect", "app.db").stdout.decode()


_LISTS = '{"users": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "or/ders": [{"n": 7}]}'


@pytest.mark.parametrize("how", ["plain", "packed"])
def test_lists_of_a_map_are_a_file_each(run: Run, tmp_path: Path, how: str) -> None:
    """They were one row, of JSON text."""
    (tmp_path / "a.json").write_text(_LISTS)
    name = "a.json" if how == "plain" else "a.json.spk"
    if how == "packed":
        run("pack", "a.json")
    words = ("unpack", "--to", "csv", name, "-o", "out/")
    one_row = run(*words[:-1], "one.csv").stderr.decode()
    assert "it is one row: -o FOLDER/ makes a file of each; --at users or --at or/ders" in one_row
    assert lines(run(*words, "--dry-run").stderr) == [
        f"would convert {name}: users to out/users.csv",
        f"would convert {name}: or/ders to out/or_ders.csv",
    ]
    done = run(*words, "--json")
    assert made(tmp_path / "out") == {n: _MADE[n] for n in ("users.csv", "or_ders.csv")}
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["table"], each["losses"]) for each in told] == [("users", []), ("or/ders", [])]
    assert "they are several; use -k" in run(*words, "-f", "--rm", code=2).stderr.decode()


def test_an_empty_list_is_a_file_too(run: Run, tmp_path: Path) -> None:
    """They were one row, where one list of a map was empty."""
    (tmp_path / "a.json").write_text('{"a": [{"x": 1}], "e": []}')
    run("unpack", "--to", "csv", "a.json", "-o", "out/")
    assert made(tmp_path / "out") == {"a.csv": "x\n1\n", "e.csv": ""}


@pytest.mark.parametrize("words", [(), ("--at", "r")])
def test_elements_of_xml_are_a_file_each(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """They were one row, as lists below any path."""
    (tmp_path / "a.xml").write_text("<r><a><x>1</x></a><a><x>2</x></a><b><y>3</y></b></r>")
    said = run("unpack", "--to", "csv", *words, "a.xml", "-o", "one.csv").stderr.decode()
    assert "it is one row: -o FOLDER/ makes a file of each" in said
    run("unpack", "--to", "csv", *words, "a.xml", "-o", "out/")
    assert made(tmp_path / "out") == {"a.csv": 'x\n"1"\n"2"\n', "b.csv": 'y\n"3"\n'}
    (tmp_path / "a.xml").write_text("<r><a><x>1</x></a><a><x>2</x></a><e/></r>")
    run("unpack", "--to", "csv", *words, "a.xml", "-o", "one/")
    assert [*made(tmp_path / "one")] == ["a.csv"]
    assert '[{""x"":""1""}' in made(tmp_path / "one")["a.csv"]


def test_of_lists_of_a_map_all_or_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": [{"x": 1}], "b": [{"x": 1e999}]}')
    words = ("unpack", "--to", "parquet", "a.json", "-o", "out/")
    said = run(*words, code=4).stderr.decode()
    assert "a.json: record 0, $.b[0].x: parquet cannot hold" in said
    assert "--lossy digits lets it go" in said
    assert not (tmp_path / "out").exists()
    run(*words, "--lossy", "digits")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.parquet", "b.parquet"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": [{"x": 1}], "b": 5}', ()),
        ('[{"a": [{"x": 1}], "b": [{"x": 2}]}]', ()),
        (_LISTS, ("--at", "users", "--lossy", "around")),
        (_LISTS, ("--to", "sqlite")),
        (_LISTS, ("--to", "ndjson")),
    ],
)
def test_what_is_one_file(run: Run, tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    (tmp_path / "a.json").write_text(text)
    run("unpack", "--to", "csv", *words, "a.json", "-o", "out/")
    (made_one,) = (tmp_path / "out").iterdir()
    assert made_one.stem == "a"


def test_a_database_is_not_removed_for_its_tables(run: Run, tmp_path: Path, app: Path) -> None:
    said = run(*_APART, "--rm", code=2).stderr.decode()
    assert "--rm needs one output: a database is more than its tables; use -k" in said
    assert app.exists()
    assert not (tmp_path / "out").exists()
