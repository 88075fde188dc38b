"""The conversions that people come for, through each tool in the way that its manual says."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal, DecimalException
from typing import Any

from tools._peer_reading import clipped
from tools._peer_tools import MADE, PEERS, SERIALPACK, Peer
from tools._peer_values import Case

_LOG = [{"n": 1, "ok": True, "who": "ann"}, {"n": 2, "ok": False}, {"n": 3, "who": "bob"}]
_CITIES = [
    {"name": "Oslo", "at": {"lat": 59.91, "lon": 10.75}, "tags": ["x", "y"]},
    {"name": "Rome", "at": {"lat": 41.9, "lon": 12.5}, "tags": []},
]
_MIXED = [{"v": "00123"}, {"v": 7}]
_CARS = [{"id": "00123", "v": 18.0}, {"id": "7e2", "v": 15}, {"id": "", "v": None}]
_DIGITS = '[{"v": -65.613616999999977, "w": 1.10, "n": 9007199254740993}]'
_STOCK: list[dict[str, Any]] = [
    {"id": 9007199254740993, "v": "00123", "price": 1.0, "tags": ["x", "y"]},
    {"id": 2, "v": 7, "price": None, "tags": None},
]
_FEED = b"""<?xml version="1.0"?>
<feed lang="de"><entry id="1">a<b/></entry><entry id="2"><b> 007 </b></entry></feed>
"""
_CI = """# what runs at each push
on: [push]
day: 2024-02-29
jobs:
  test: {python: 3.10, steps: &steps [lint, test]}
  again: *steps
"""


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(records: list[Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _database() -> bytes:
    """A database of one table, with a column of text and numbers and one of JSON."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE stock (id INTEGER, v, price REAL, tags JSON)")
        rows = [(r["id"], r["v"], r["price"], r["tags"] and json.dumps(r["tags"])) for r in _STOCK]
        connection.executemany("INSERT INTO stock VALUES (?, ?, ?, ?)", rows)
        connection.commit()
        return connection.serialize()


def _rows(target: str, data: bytes) -> list[dict[str, Any]]:
    """The records of an output; any exception where it has none."""
    if target == "parquet":
        import pyarrow.parquet

        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
        return rows
    if target == "sqlite":
        return _table(data)
    if target == "csv":
        table = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
        rows = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
        return [{key: None if c == "null" else c for key, c in row.items()} for row in rows]
    found = json.loads(data, parse_float=_Number)
    return found if isinstance(found, list) else [found]


def _table(data: bytes) -> list[dict[str, Any]]:
    """The rows of the one table of a database; what is declared BOOLEAN as booleans."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        ((name,),) = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        about = list(connection.execute(f'PRAGMA table_info("{name}")'))
        rows = connection.execute(f'SELECT * FROM "{name}"').fetchall()
    are_true = [declared == "BOOLEAN" for _, _, declared, *_ in about]
    return [
        {
            column[1]: bool(cell) if is_true and cell is not None else cell
            for column, is_true, cell in zip(about, are_true, row, strict=True)
        }
        for row in rows
    ]


class _Number(Decimal):
    """A number with its text."""

    text: str

    def __new__(cls, text: str) -> _Number:
        made = super().__new__(cls, text)
        made.text = text
        return made


def _flat(value: Any, path: str = "", first: int = 0) -> dict[str, Any]:
    """What stands under each path; what is missing, null or empty text is left out.

    ``first``: the number of the first item of a list.
    """
    if isinstance(value, list) and value:
        value = {str(number): item for number, item in enumerate(value, first)}
    if isinstance(value, dict):
        named = ((key.replace("/", "."), part) for key, part in value.items())
        parts = [_flat(part, f"{path}.{key}" if path else key, first) for key, part in named]
        return {key: leaf for part in parts for key, leaf in part.items()}
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return _flat(json.loads(value), path, first)
        except ValueError:
            return {path: value}
    return {} if value is None or value == "" else {path: value}


def _like(want: Any, got: Any) -> bool:
    """Whether a cell says what was there: also a number or a boolean by its text."""
    if isinstance(want, list):
        return bool(got == want)
    if isinstance(want, bool):
        return str(got).lower() == str(want).lower()
    if isinstance(want, int | float | Decimal):
        try:
            return not isinstance(got, bool) and Decimal(str(got)) == Decimal(str(want))
        except DecimalException:
            return False
    return type(got) in (str, int, _Number) and getattr(got, "text", str(got)) == want


def unlike_rows(want: list[Any], target: str, data: bytes) -> str | None:
    """What of the records is not in an output of tables or JSON; None where all is."""
    try:
        rows = _rows(target, data)
    except Exception as error:  # a reader says in its own way that it will not have it
        return f"not valid: {clipped(str(error)) or type(error).__name__}"
    if len(rows) != len(want):
        return f"{len(want)} records became {len(rows)}"
    return min((_unlike(want, rows, first) for first in (0, 1)), key=lambda said: said or "")


def _unlike(want: list[Any], rows: list[Any], first: int) -> str | None:
    for record, row in zip(want, rows, strict=True):
        was, became = _flat(record, first=first), _flat(row, first=first)
        for key in [*was, *(key for key in became if key not in was)]:
            if key not in was or key not in became or not _like(was[key], became[key]):
                parts = [clipped(str(part.get(key, "nothing"))) for part in (was, became)]
                return f"{key}: {parts[0]} became {parts[1]}"
    return None


def _case(name: str, source: str, target: str, data: bytes, want: list[Any]) -> Case:
    def check(target: str, output: bytes) -> str | None:
        return unlike_rows(want, target, output)

    return Case(name, "", source, (target,), lambda: data, (), check)


EVERYDAY: tuple[Case, ...] = (
    _case("a JSON array to CSV", "json", "csv", _json(_CARS), _CARS),
    _case("NDJSON with an optional key to CSV", "ndjson", "csv", _lines(_LOG), _LOG),
    _case("the same to Parquet", "ndjson", "parquet", _lines(_LOG), _LOG),
    _case("integers beside floats to Parquet", "json", "parquet", _json(_CARS), _CARS),
    _case("maps and lists to CSV", "json", "csv", _json(_CITIES), _CITIES),
    _case("maps and lists to Parquet", "json", "parquet", _json(_CITIES), _CITIES),
    _case("a column of text and numbers to Parquet", "ndjson", "parquet", _lines(_MIXED), _MIXED),
    _case(
        "CSV to JSON",
        *("csv", "json"),
        b"id,zip,n\n1,00501,1e5\n2,10001,\n",
        [{"id": "1", "zip": "00501", "n": "1e5"}, {"id": "2", "zip": "10001", "n": ""}],
    ),
    _case(
        "CSV with semicolons to JSON",
        *("csv", "json"),
        b"name;price\nx;1,50\ny;2,25\n",
        [{"name": "x", "price": "1,50"}, {"name": "y", "price": "2,25"}],
    ),
    _case(
        "digits of JSON to JSON",
        *("json", "json"),
        _DIGITS.encode(),
        [{"v": Decimal("-65.613616999999977"), "w": Decimal("1.10"), "n": 9007199254740993}],
    ),
    _case(
        "a workflow in YAML to JSON",
        *("yaml", "json"),
        _CI.encode(),
        [
            {
                "on": ["push"],
                "day": "2024-02-29",
                "jobs": {
                    "test": {"python": Decimal("3.10"), "steps": ["lint", "test"]},
                    "again": ["lint", "test"],
                },
            }
        ],
    ),
    _case("NDJSON with an optional key to SQLite", "ndjson", "sqlite", _lines(_LOG), _LOG),
    _case("maps and lists to SQLite", "ndjson", "sqlite", _lines(_CITIES), _CITIES),
    _case("a column of text and numbers to SQLite", "ndjson", "sqlite", _lines(_MIXED), _MIXED),
    _case("a table of SQLite's to JSON", "sqlite", "json", _database(), _STOCK),
    _case("a table of SQLite's to CSV", "sqlite", "csv", _database(), _STOCK),
    _case(
        "XML to JSON",
        *("xml", "json"),
        _FEED,
        [
            {
                "feed": {
                    "@lang": "de",
                    "entry": [{"@id": "1", "b": None, "#text": "a"}, {"@id": "2", "b": " 007 "}],
                }
            }
        ],
    ),
    _case(
        "TOML to JSON",
        *("toml", "json"),
        b'name = "x"\nn = 1\n[tool]\nday = 2024-02-29\nlist = [1, 2]\n',
        [{"name": "x", "n": 1, "tool": {"day": "2024-02-29", "list": [1, 2]}}],
    ),
)


#: jq has no columns: this is what its manual and its users say for tables.
_JQ = "(map(keys) | add | unique) as $keys | $keys, (.[] | [.[$keys[]]]) | @csv"
_PANDAS = {
    "json": "read_json({!r})",
    "ndjson": "read_json({!r}, lines=True)",
    "csv": "read_csv({!r})",
    "sqlite": "read_sql('select * from stock', sqlite3.connect({!r}))",
}
_TO_PANDAS = {
    "csv": "to_csv(sys.stdout, index=False)",
    "parquet": "to_parquet(sys.stdout.buffer)",
    "json": "to_json(sys.stdout, orient='records')",
    "sqlite": f"to_sql('value', sqlite3.connect({MADE!r}), index=False)",
}


def _jq(source: str, target: str, file: str) -> list[str] | None:
    if target == "json" and source == "json":
        return [".", file]
    if target != "csv" or source not in ("json", "ndjson"):
        return None
    return ["-r", *(["-s"] if source == "ndjson" else []), _JQ, file]


def _miller(source: str, target: str, file: str) -> list[str] | None:
    names = {"json": "json", "ndjson": "jsonl", "csv": "csv"}
    if source not in names or target not in ("csv", "json"):
        return None
    verbs = ["flatten", "then", "unsparsify"] if target == "csv" else ["cat"]
    return [f"--i{names[source]}", f"--o{target}", *verbs, file]


def _duckdb(source: str, target: str, file: str) -> list[str] | None:
    reads = {"json": "read_json", "ndjson": "read_json", "csv": "read_csv"}
    writes = {"csv": "CSV", "parquet": "PARQUET", "json": "JSON, ARRAY true"}
    if source not in reads or target not in writes:
        return None
    query = f"COPY (FROM {reads[source]}('{file}')) TO '/dev/stdout' (FORMAT {writes[target]})"
    return ["-c", query]


def _duckdb_module(source: str, target: str, file: str) -> list[str] | None:
    line = _duckdb(source, target, file)
    return line and ["-c", f"import duckdb; duckdb.execute({line[1]!r})"]


def _sqlite(source: str, target: str, file: str) -> list[str] | None:
    if (source, target) == ("ndjson", "sqlite"):
        return ["insert", MADE, "value", file, "--nl"]
    if source == "sqlite" and target in ("csv", "json"):
        return ["rows", file, "stock", *(["--csv"] if target == "csv" else ["--json-cols"])]
    if source not in ("json", "ndjson", "csv") or target not in ("csv", "json"):
        return None
    what = f"{file}:nl" if source == "ndjson" else file
    return ["memory", what, "select * from value", *(["--csv"] if target == "csv" else [])]


def _sqlite_shell(source: str, target: str, file: str) -> list[str] | None:
    how = {"csv": ["-csv", "-header"], "json": ["-json"]}
    if source != "sqlite" or target not in how:
        return None
    return [*how[target], file, "select * from stock"]


def _pandas(source: str, target: str, file: str) -> list[str] | None:
    if source not in _PANDAS or target not in _TO_PANDAS:
        return None
    reads = _PANDAS[source].format(file)
    modules = "sqlite3, sys, pandas" if "sqlite" in (source, target) else "sys, pandas"
    return ["-c", f"import {modules}; pandas.{reads}.{_TO_PANDAS[target]}"]


def _fixed(
    reading: tuple[str, ...], writing: str, words: Callable[[str], list[str]]
) -> Callable[[str, str, str], list[str] | None]:
    return lambda s, t, file: [*words(s), file] if s in reading and t == writing else None


def _known(name: str, line: Callable[[str, str, str], list[str] | None]) -> Peer:
    return next(peer for peer in PEERS if peer.name == name)._replace(line=line)


def _python(name: str, version: str, line: Callable[[str, str, str], list[str] | None]) -> Peer:
    """A library, run by the first Python that has it."""
    about = f"import {name}; print({name!r}, {name}.__version__)"
    return Peer(
        version,
        ("python3",),
        ("-c", about),
        rf"^{name} (\S+)",
        f"`pip install {name}`",
        line,
    )


EVERYDAY_PEERS: tuple[Peer, ...] = (
    SERIALPACK,
    _known("jq", _jq),
    _known("Miller", _miller),
    _python("duckdb", "DuckDB", _duckdb_module),
    _known("sqlite-utils", _sqlite),
    Peer(
        *("csvkit's in2csv", ("in2csv",), ("--version",), r"^in2csv (\S+)", "`pip install csvkit`"),
        _fixed(("json", "ndjson"), "csv", lambda source: ["-f", source]),
    ),
    Peer(
        *("csvkit's csvjson", ("csvjson",), ("--version",), r"^csvjson (\S+)"),
        "`pip install csvkit`",
        _fixed(("csv",), "json", lambda _: []),
    ),
    Peer(
        *("csvkit's sql2csv", ("sql2csv",), ("--version",), r"^sql2csv (\S+)"),
        "`pip install csvkit`",
        lambda s, t, file: (
            ["--db", f"sqlite:///{file}", "--query", "select * from stock"]
            if (s, t) == ("sqlite", "csv")
            else None
        ),
    ),
    Peer(
        *("sqlite3", ("sqlite3",), ("--version",), r"^(3\.\S+)", "Debian's `sqlite3`"),
        _sqlite_shell,
    ),
    _python("pandas", "pandas", _pandas),
    _known("yq (Python)", _fixed(("yaml",), "json", lambda _: ["."])),
    Peer(
        *("yq's xq", ("xq",), ("--version",), r"^xq (\d\S*)", "`pip install yq`"),
        _fixed(("xml",), "json", lambda _: ["."]),
    ),
    _known(
        "yq (Go)",
        _fixed(("json", "ndjson", "yaml", "toml", "csv"), "json", lambda s: ["-p", s, "-o=json"]),
    ),
)
