"""The first records of formats whose bytes are no lines for people."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.api import first_records
from serialpack.cli.reporting.shapes import array_rows
from serialpack.errors import SyntaxInputError, ValueRefusedError
from tests.conversion.converting import converted

RECORDS = [{"a": n, "b": "é" * n, "many": list(range(20))} for n in range(50)]
SHOWN = [{**record, "many": [*range(10), "..."]} for record in RECORDS]


def head(path: Path, count: int) -> list[Any]:
    out = io.BytesIO()
    first_records(path, out, count)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.avro"])
def test_the_first_rows_of_a_table_packed_or_not(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(RECORDS))
    path, packed = tmp_path / name, tmp_path / f"{name}.spk"
    serialpack.convert(tmp_path / "a.json", path)
    serialpack.pack(path, packed)
    for source in (path, packed):
        assert head(source, 3) == SHOWN[:3]
        assert head(source, 100) == SHOWN
        assert head(source, 0) == []


def test_a_torn_table_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + bytes(30))
    with pytest.raises(SyntaxInputError, match="not valid Parquet"):
        head(path, 3)


def test_what_no_value_holds_is_one_line(tmp_path: Path) -> None:
    """A key twice in YAML was an internal error."""
    pytest.importorskip("yaml")
    (tmp_path / "a.yaml").write_text("b: 1\n---\na: 1\na: 2\n")
    twice = r"record 1, \$\.a: an object with a key twice is not"
    with pytest.raises(ValueRefusedError, match=twice):
        head(tmp_path / "a.yaml", 2)


def test_times_and_keys_that_json_has_no_words_for(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    kind = pa.map_(pa.binary(), pa.timestamp("s", "UTC"))
    table = pa.table({"m": pa.array([[(b"k", 0)]], kind)})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    assert head(tmp_path / "a.arrow", 1) == [{"m": {"b'k'": "1970-01-01T00:00:00+00:00"}}]


def test_what_json_has_no_word_for_is_as_conversions_write_it(tmp_path: Path) -> None:
    """Bytes and times were as Python has them: b'ab', 2020-01-02 03:04:05, -1 day, 19:00:00."""
    kinds = [("b", "S3"), ("t", "M8[s]"), ("d", "M8[D]"), ("h", "m8[h]")]
    rows = np.array([(b"ab", "2020-01-02T03:04:05", "2020-01-02", -5)], dtype=kinds)
    np.save(tmp_path / "a.npy", rows)
    out = io.BytesIO()
    serialpack.convert(tmp_path / "a.npy", out, to="ndjson")
    assert head(tmp_path / "a.npy", 1) == [json.loads(out.getvalue())]
    shape = serialpack.inspect(tmp_path / "a.npy").shape
    assert shape is not None
    types = {name: types for name, (types,) in shape.fields.items()}
    assert types == {"b": "bytes", "t": "timestamp", "d": "date", "h": "duration"}


def test_times_that_are_none_are_counted_as_such(tmp_path: Path) -> None:
    for name, items, told in (("t", np.array(["NaT"], "M8[s]"), "NaT"), ("f", [np.nan], "NaN")):
        np.save(tmp_path / f"{name}.npy", items)
        shape = serialpack.inspect(tmp_path / f"{name}.npy").shape
        assert shape is not None
        assert shape.array is not None
        assert array_rows(shape.array) == [("range", f"none, 1 {told}")]


@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("a.yaml", b"a: 1\nb: [x]\n---\na: 2\n---\na: 3\n", [{"a": 1, "b": ["x"]}, {"a": 2}]),
        ("a.toml", b"a = 1\n[t]\nb = 2020-01-02\n", [{"a": 1, "t": {"b": "2020-01-02"}}]),
        ("a.xml", b"<a><b>1</b><b>2</b></a>", [{"a": {"b": ["1", "2"]}}]),
        ("a.yaml.gz", gzip.compress(b"a: 1\n---\na: 2\n", mtime=0), [{"a": 1}, {"a": 2}]),
    ],
)
def test_the_first_documents_packed_or_not(
    tmp_path: Path, name: str, data: bytes, shown: list[Any]
) -> None:
    path, packed = tmp_path / name, tmp_path / "a.spk"
    path.write_bytes(data)
    assert head(path, 2) == shown
    assert head(path, 1) == shown[:1]
    if not name.endswith(".gz"):
        serialpack.pack(path, packed)
        assert head(packed, 2) == shown


def test_the_first_rows_of_a_database(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.db", tmp_path / "a.spk"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a INTEGER, b BLOB)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, b"x") for n in range(9)])
    connection.commit()
    serialpack.pack(path, packed)
    for source in (path, packed):
        assert head(source, 2) == [{"a": 0, "b": "eA=="}, {"a": 1, "b": "eA=="}]
    connection.execute("CREATE TABLE u (a)")
    connection.close()
    with pytest.raises(serialpack.UsageError, match="has 2 tables: t, u") as caught:
        head(path, 2)
    assert caught.value.said.endswith("--to ndjson --table NAME one of them")


def test_nothing_is_run_to_show_it(tmp_path: Path) -> None:
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(serialpack.SerialpackError, match="showing pickle can run any code"):
        head(path, 2)


def test_lone_surrogates_are_shown_as_json_spells_them(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array(["\ud800x", "\xe9"]))
    assert head(tmp_path / "a.npy", 2) == ["\ud800x", "\xe9"]


@pytest.mark.parametrize("source", ["bson", "cbor", "msgpack", "protobuf"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_first_records_of_binary_formats_are_lines(source: str, packed: bool) -> None:
    """Of BSON and CBOR they could not be told apart, and of MessagePack they were its own bytes."""
    data = converted(b'{"a":1}\n{"a":"x"}\n{"a":3}\n', "ndjson", source)
    out, file = io.BytesIO(), io.BytesIO(data)
    if packed:
        serialpack.pack(io.BytesIO(data), file := io.BytesIO(), format=source)
        file.seek(0)
    first_records(file, out, 2, format=None if packed else source)
    assert [json.loads(line)["a"] for line in out.getvalue().splitlines()] == [1, "x"]
