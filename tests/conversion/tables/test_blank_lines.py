"""Blank lines in tables of text of one column, which are empty fields there; and in others."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping

TEXT = b"name\n\nx\n\n\ny\n\n"
NAMES = ["", "x", "", "", "y"]


def converted(data: bytes, to: str, **how: Any) -> tuple[bytes, Any]:
    made = io.BytesIO()
    how = {"format": "csv", **how}
    report = serialpack.convert(io.BytesIO(data), made, to=to, **how)
    return made.getvalue(), report


def rules(report: Any) -> dict[str, int]:
    return {loss.rule: loss.count for loss in report.carried}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("to", ["json", "ndjson", "yaml", "msgpack", "csv", "parquet", "sqlite"])
def test_they_are_empty_fields_in_one_column(to: str, end: bytes) -> None:
    """They were refused, and with them the file; DuckDB and polars take them for rows."""
    data, report = converted(TEXT.replace(b"\n", end), to)
    assert rules(report) == {"blank-lines": 3}
    assert report.carried[0].record == 0
    back, _ = converted(data, "json", format=to)
    assert [record["name"] for record in json.loads(back)] == NAMES


def test_where_cells_are_values_they_are_null() -> None:
    """With --typed they were left out without a word."""
    data, report = converted(b"n\n1\n\n2\n", "json", shaping=Shaping(typed=True))
    assert json.loads(data) == [{"n": 1}, {"n": None}, {"n": 2}]
    assert rules(report) == {"blank-lines": 1}


@pytest.mark.parametrize("text", [b"n\n1\n\n2\n", b'n\n"1"\n\n2\n'])
def test_with_types_they_are_null_and_cells_again(text: bytes) -> None:
    table, report = converted(text, "parquet", shaping=Shaping(infer=True))
    assert rules(report) == {"blank-lines": 1}
    data, _ = converted(table, "json", format="parquet")
    assert json.loads(data) == [{"n": 1}, {"n": None}, {"n": 2}]
    assert converted(table, "csv", format="parquet")[0] == b'n\n1\n""\n2\n'


@pytest.mark.parametrize("shaping", [Shaping(), Shaping(typed=True), Shaping(infer=True)])
def test_in_a_later_block_they_are_counted_on(shaping: Shaping) -> None:
    rows = [b"x%d" % number for number in range(60_000)]
    rows[50_000] = b""
    text = b"\n".join([b"name", *rows, b""])
    data, report = converted(text, "ndjson", shaping=shaping, block_size=64 << 10)
    (told,) = report.carried
    assert (told.rule, told.count, told.record) == ("blank-lines", 1, 50_000)
    records = [json.loads(line)["name"] for line in data.splitlines()]
    assert [record or "" for record in records] == [row.decode() for row in rows]


def test_strictly_they_are_refused_or_left_out() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="line 2: a blank line") as refused:
        converted(TEXT, "json", strict=True)
    assert "without --strict" in str(refused.value.hint)
    data, report = converted(TEXT, "json", strict=True, skip_bad=True)
    assert [record["name"] for record in json.loads(data)] == ["x", "y"]
    assert report.left_out == 3


def test_beside_records_left_out_they_stay() -> None:
    """Which are looked for one by one."""
    data, report = converted(b'name\n\n1\n"x"y\n\n2\n\n', "ndjson", skip_bad=True)
    assert [json.loads(line)["name"] for line in data.splitlines()] == ["", "1", "", "2"]
    assert (report.left_out, [place.record for place in report.places]) == (1, [2])
    assert rules(report) == {"blank-lines": 2}


def test_between_rows_of_several_fields_they_are_none() -> None:
    data, report = converted(b"a,b\n\n1,2\n\n\n3,4\n\n", "json")
    assert json.loads(data) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert not report.carried


@pytest.mark.parametrize("to", ["parquet", "sqlite", "arrow", "json"])
def test_rows_of_other_lengths_get_types_beside_quotes(to: str) -> None:
    """Whoever looked how the cells are quoted, for tables that keep it, took all rows for whole:
    an internal error, by which other files were not converted either."""
    text = b'a,b\n"x, y",1\nz\n"w",2,3\n'
    data, report = converted(text, to, shaping=Shaping(infer=True))
    assert {"short-rows": 1, "long-rows": 1}.items() <= rules(report).items()
    back, _ = converted(data, "json", format=to)
    records = json.loads(back)
    assert [record["a"] for record in records] == ["x, y", "z", "w"]
    assert [record.get("b") for record in records] == [1, None, 2]


@pytest.mark.parametrize("text", [b"", b" \n"])
def test_a_document_without_a_value_is_told_so(text: bytes) -> None:
    """It was said that a value was expected, which did not say that the file is empty."""
    with pytest.raises(serialpack.InputError, match="not valid JSON: there is nothing in it"):
        converted(text, "csv", format="json")


def test_in_python_they_are_told_as_python_has_it(tmp_path: Path) -> None:
    """The hint said convert(..., to="without", strict=True)."""
    (tmp_path / "a.csv").write_bytes(TEXT)
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        serialpack.pack(tmp_path / "a.csv", tmp_path / "a.spk", serializer="msgpack")
    assert 'convert(..., to="FORMAT") carries it (without strict=True)' in str(refused.value)
