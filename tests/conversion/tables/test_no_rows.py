"""Tables without rows: the names of columns, and their types, go from table to table."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping

pa = pytest.importorskip("pyarrow")
fastavro = pytest.importorskip("fastavro")

SCHEMA = pa.schema([("n", pa.int64()), ("some text", pa.string()), ("f", pa.float64())])


def _csv(path: Path) -> None:
    path.write_bytes(b"n,some text,f\n")


def _utf16(path: Path) -> None:
    path.write_bytes("n;some text;f\r\n".encode("utf-16"))


def _parquet(path: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(SCHEMA.empty_table(), path)


def _arrow(path: Path) -> None:
    with pa.ipc.new_file(path, SCHEMA) as writer:
        writer.write_table(SCHEMA.empty_table())


def _database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE t (n INTEGER, "some text" VARCHAR(9), f DOUBLE)')
    connection.commit()
    connection.close()


def _npy(path: Path) -> None:
    import numpy as np

    np.save(path, np.zeros(0, [("n", "<i8"), ("some text", "<U9"), ("f", "<f8")]))


SOURCES: dict[str, Callable[[Path], None]] = {
    "a.csv": _csv,
    "b.csv": _utf16,
    "a.parquet": _parquet,
    "a.arrow": _arrow,
    "a.db": _database,
    "a.npy": _npy,
}


def _types(path: Path) -> dict[str, str]:
    """The columns of a table, and what each is called there."""
    import pyarrow.parquet

    if path.suffix == ".parquet":
        return {field.name: str(field.type) for field in pyarrow.parquet.read_schema(path)}
    if path.suffix == ".arrow":
        return {field.name: str(field.type) for field in pa.ipc.open_file(path).schema}
    if path.suffix == ".db":
        connection = sqlite3.connect(path)
        ((table,),) = connection.execute("SELECT name FROM sqlite_master").fetchall()
        found = connection.execute(f"PRAGMA table_info({table})").fetchall()
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        connection.close()
        return {row[1]: row[2] for row in found}
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        assert list(reader) == []
        return {field["name"]: field["type"] for field in reader.writer_schema["fields"]}


@pytest.mark.parametrize("name", SOURCES)
def test_the_columns_stay(name: str, tmp_path: Path) -> None:
    source = tmp_path / name
    SOURCES[name](source)
    made = {}
    for ending in ("csv", "tsv", "parquet", "arrow", "db"):
        made[ending] = tmp_path / f"out.{ending}"
        # Of a database alone, a database is a copy.
        fields = list(SCHEMA.names) if name == "a.db" else []
        report = serialpack.convert(source, made[ending], fields=fields)
        assert (report.records, report.losses, report.carried) == (0, [], [])
    comma = b"n;some text;f\r\n" if name == "b.csv" else b"n,some text,f\n"
    assert made["csv"].read_bytes() == comma
    assert made["tsv"].read_bytes() == b"n\tsome text\tf\n"
    for ending, of_text, types in [
        ("parquet", "string", ["int64", "string", "double"]),
        ("arrow", "string", ["int64", "string", "double"]),
        ("db", "TEXT", ["INTEGER", "TEXT", "REAL"]),
    ]:
        expected = [of_text] * 3 if name.endswith("csv") else types
        assert _types(made[ending]) == dict(zip(SCHEMA.names, expected, strict=True))


def test_avro(tmp_path: Path) -> None:
    """From it and to it, where its names are those of the columns."""
    source, made = tmp_path / "a.csv", tmp_path / "a.avro"
    source.write_bytes(b"a,b\n")
    serialpack.convert(source, made)
    assert _types(made) == {"a": "string", "b": "string"}
    _database(tmp_path / "a.db")
    serialpack.convert(tmp_path / "a.db", made, fields=["n", "f"], force=True)
    assert _types(made) == {"n": "long", "f": "double"}
    serialpack.convert(made, tmp_path / "b.avro")
    assert _types(tmp_path / "b.avro") == _types(made)
    serialpack.convert(made, tmp_path / "b.parquet")
    assert _types(tmp_path / "b.parquet") == {"n": "int64", "f": "double"}
    report = serialpack.convert(made, tmp_path / "a.json")
    assert [(loss.rule, loss.count) for loss in report.carried] == [("no-rows", 2)]


def test_types_of_avro_s(tmp_path: Path) -> None:
    """One beside null is that one; what has no value to know it by is null."""
    enum = {"type": "enum", "name": "e", "symbols": ["x"]}
    moment = {"type": "long", "logicalType": "timestamp-micros"}
    types: list[Any] = [["null", "int"], enum, {"type": "string"}, ["int", "string"], moment]
    fields = [{"name": f"f{n}", "type": kind} for n, kind in enumerate(types)]
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, [])
    serialpack.convert(tmp_path / "a.avro", tmp_path / "a.parquet")
    expected = ["int64", "string", "string", "null", "null"]
    assert list(_types(tmp_path / "a.parquet").values()) == expected


def test_types_of_arrow_s(tmp_path: Path) -> None:
    """All of them stay, also where maps are to be columns."""
    schema = pa.schema(
        [
            ("when", pa.timestamp("us", "UTC")),
            ("day", pa.date32()),
            ("price", pa.decimal128(9, 2)),
            ("inside", pa.struct([("list", pa.list_(pa.int64())), ("yes", pa.bool_())])),
            ("word", pa.dictionary(pa.int32(), pa.string())),
            ("odd", pa.map_(pa.string(), pa.int64())),
        ]
    )
    source, made = tmp_path / "a.arrow", tmp_path / "a.parquet"
    with pa.ipc.new_file(source, schema) as writer:
        writer.write_table(schema.empty_table())
    serialpack.convert(source, made)
    found = _types(made)
    assert list(found) == schema.names
    assert found["when"] == "timestamp[us, tz=UTC]"
    assert found["day"] == "date32[day]"
    assert found["price"] == "decimal128(9, 2)"
    assert found["inside"].startswith("struct<list: list<")
    for shaping in (Shaping(), Shaping(flatten=True)):
        serialpack.convert(source, made, shaping=shaping, force=True)
        found = _types(made)
        assert found["word"].startswith("dictionary<values=string, indices=int32")
        assert found["odd"].startswith("map<string, int64")


@pytest.mark.parametrize("ending", ["parquet", "arrow", "db"])
@pytest.mark.parametrize("head", [b"a,b\r\n", b'"a",b', b"a\n"])
def test_the_same_bytes_come_back(ending: str, head: bytes, tmp_path: Path) -> None:
    source, made = tmp_path / "a.csv", tmp_path / f"b.{ending}"
    source.write_bytes(head)
    serialpack.convert(source, made, shaping=Shaping(infer=True))
    serialpack.convert(made, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == head


def test_a_table_without_columns_is_empty(tmp_path: Path) -> None:
    with pa.ipc.new_file(tmp_path / "a.arrow", pa.schema([])):
        pass
    for ending in ("csv", "ndjson", "parquet"):
        report = serialpack.convert(tmp_path / "a.arrow", tmp_path / f"a.{ending}")
        assert (report.records, report.losses) == (0, [])
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "a.ndjson").read_bytes() == b""


def test_types_that_are_named(tmp_path: Path) -> None:
    source, made = tmp_path / "a.csv", tmp_path / "a.parquet"
    source.write_bytes(b"a,b,c,d\n")
    types = (("a", "integer"), ("b", "timestamp"), ("c", "decimal"))
    serialpack.convert(source, made, shaping=Shaping(types=types))
    assert list(_types(made).values()) == ["int64", "timestamp[us]", "null", "string"]
    with pytest.raises(serialpack.UsageError, match="no record has a field z"):
        serialpack.convert(
            source, tmp_path / "z.parquet", shaping=Shaping(types=(("z", "integer"),))
        )


def test_a_column_without_text_has_times() -> None:
    """It was an internal error."""
    source, made = io.BytesIO(b"a,b\n,1\n"), io.BytesIO()
    shaping = Shaping(types=(("a", "timestamp"),))
    serialpack.convert(source, made, format="csv", to="json", shaping=shaping)
    assert json.loads(made.getvalue()) == [{"a": None, "b": "1"}]


def _tsv(source: bytes, **how: Any) -> tuple[bytes, serialpack.ConvertReport]:
    made = io.BytesIO()
    report = serialpack.convert(io.BytesIO(source), made, format="csv", to="tsv", **how)
    return made.getvalue(), report


def test_some_fields() -> None:
    text, report = _tsv(b"a,b,c\n", fields=["c", "a"])
    assert text == b"a\tc\n"
    assert not report.missing
    with pytest.raises(serialpack.ValueRefusedError, match="no record has a field z"):
        _tsv(b"a,b\n", fields=["z"])


def test_a_name_twice_is_renamed_all_the_same() -> None:
    text, report = _tsv(b"a,a\n")
    assert text == b"a\ta_2\n"
    assert [loss.rule for loss in report.carried] == ["renamed"]
    with pytest.raises(serialpack.ValueRefusedError, match="twice"):
        _tsv(b"a,a\n", strict=True)


def test_dotted_columns_are_maps_where_that_is_asked_for(tmp_path: Path) -> None:
    source = io.BytesIO(b"a.b,a.c,d\n")
    serialpack.convert(source, tmp_path / "a.parquet", format="csv", shaping=Shaping(nest=()))
    assert _types(tmp_path / "a.parquet") == {
        "a": "struct<b: string, c: string>",
        "d": "string",
    }


def test_a_line_alone_may_be_a_record(tmp_path: Path) -> None:
    """What is said of it names the option that reads it as one, which works."""
    path, made = tmp_path / "a.csv", tmp_path / "a.json"
    path.write_bytes(b"2019-06-05,x\n")
    with pytest.raises(serialpack.ValueRefusedError, match="names of its columns") as refused:
        serialpack.convert(path, made)
    assert "no_header=True takes its line as a record" in str(refused.value)
    serialpack.convert(path, made, no_header=True)
    assert json.loads(made.read_bytes()) == [{"column1": "2019-06-05", "column2": "x"}]


def test_maps_of_odd_types_are_told_of_without_rows(tmp_path: Path) -> None:
    """It was an internal error, of a map with such a list in it."""
    kind = pa.struct([("p", pa.large_list(pa.list_(pa.int64(), 1))), ("q", pa.string())])
    schema = pa.schema([("a", kind), ("b", pa.list_(kind))])
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(path, schema) as writer:
        writer.write_table(schema.empty_table())
    with pytest.raises(serialpack.ValueRefusedError, match="no place for column names of tables"):
        serialpack.convert(path, io.BytesIO(), to="ndjson", strict=True)
    serialpack.convert(path, out := io.BytesIO(), to="csv")
    assert out.getvalue() == b"a.p,a.q,b\n"


def test_a_field_of_many_items_is_told_of_without_rows(tmp_path: Path) -> None:
    """None of them need be made for that."""
    import numpy as np

    np.save(tmp_path / "a.npy", np.zeros(0, [("n", "<i8"), ("many", "<f8", (1 << 20,))]))
    serialpack.convert(tmp_path / "a.npy", out := io.BytesIO(), to="csv")
    assert out.getvalue() == b"n,many\n"


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.db", "a.npy"])
def test_names_without_rows_are_dropped_and_told(name: str, tmp_path: Path) -> None:
    """One such table was refused, and of several tables of a database told. That of text is
    refused as before: its line may be a record."""
    SOURCES[name](tmp_path / name)
    report = serialpack.convert(tmp_path / name, made := io.BytesIO(), to="json")
    assert json.loads(made.getvalue()) == []
    told = [(loss.rule, loss.count, loss.was) for loss in report.carried]
    assert told == [("no-rows", 3, "n, some text, f")]


@pytest.mark.parametrize(("to", "made"), [("csv", b"a,a_2\n"), ("json", b"[]")])
def test_columns_of_one_name_are_renamed_without_rows(to: str, made: bytes, tmp_path: Path) -> None:
    """It was an internal error."""
    path, schema = tmp_path / "a.arrow", pa.schema([("a", pa.int64()), ("a", pa.string())])
    with pa.ipc.new_file(path, schema) as writer:
        writer.write_table(schema.empty_table())
    report = serialpack.convert(path, out := io.BytesIO(), to=to)
    assert out.getvalue().strip() == made.strip()
    assert "renamed" in {loss.rule for loss in report.carried}
