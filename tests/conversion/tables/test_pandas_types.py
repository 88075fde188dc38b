"""Columns of pandas' periods and intervals, which are numbers to who does not know them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.api import first_records
from serialpack.errors import SerialpackError
from tests.conversion.converting import converted

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.feather")
pytest.importorskip("pyarrow.parquet")


def frame() -> Any:
    months = pandas.PeriodIndex([None, "2024-01", "2024-03"], freq="M")
    quarters = pandas.period_range("2024Q1", periods=3, freq="Q-DEC")
    return pandas.DataFrame({"m": months, "q": quarters, "i": pandas.interval_range(0, 3), "x": 1})


WANTED = [
    {"m": None, "q": "2024Q1", "i": "(0, 1]", "x": 1},
    {"m": "2024-01", "q": "2024Q2", "i": "(1, 2]", "x": 1},
    {"m": "2024-03", "q": "2024Q3", "i": "(2, 3]", "x": 1},
]


def table(kind: str) -> bytes:
    out = io.BytesIO()
    frame().to_parquet(out) if kind == "parquet" else frame().to_feather(out)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_they_are_the_text_that_pandas_calls_them(kind: str) -> None:
    """A period was a bare number (648 for 2024-01), and nothing was told."""
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(table(kind)), out, format=kind, to="ndjson")
    assert [*map(json.loads, out.getvalue().splitlines())] == WANTED
    assert {loss.rule: (loss.count, loss.record) for loss in report.carried} == {"arrays": (8, 0)}
    again = converted(converted(table(kind), kind, "parquet"), "parquet", "json")
    assert json.loads(again) == WANTED
    with pytest.raises(SerialpackError, match="a period became"):
        converted(table(kind), kind, "csv", strict=True)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_the_first_records_are_shown_as_they_are_converted(kind: str, tmp_path: Path) -> None:
    """Numbers were shown, and columns of one name were refused."""
    path, packed, twice = (tmp_path / name for name in ("a", "a.spk", "b"))
    path.write_bytes(table(kind))
    serialpack.pack(path, packed, format=kind)
    named_twice = pyarrow.table([[1], [2]], names=["a", "a"])
    if kind == "parquet":
        pyarrow.parquet.write_table(named_twice, twice)
    else:
        pyarrow.feather.write_feather(named_twice, twice)
    for source, wanted in (path, WANTED), (packed, WANTED), (twice, [{"a": 1, "a_2": 2}]):
        out = io.BytesIO()
        first_records(source, out, 3)
        assert [*map(json.loads, out.getvalue().splitlines())] == wanted


def test_also_where_pandas_is_not_there_yet(tmp_path: Path) -> None:
    """pyarrow then reads plain columns, of which only the file says more."""
    (tmp_path / "a.parquet").write_bytes(table("parquet"))
    command = [sys.executable, "-m", "serialpack", "unpack", "--to", "json", "-o", "-"]
    done = subprocess.run([*command, tmp_path / "a.parquet"], capture_output=True, check=True)
    assert json.loads(done.stdout) == WANTED


def test_a_frequency_that_is_not_known_is_told(tmp_path: Path) -> None:
    field = pyarrow.field("p", pyarrow.int64()).with_metadata(
        {
            "ARROW:extension:name": "pandas.period",
            "ARROW:extension:metadata": '{"freq": "no such"}',
        }
    )
    path = tmp_path / "a.arrow"
    made = pyarrow.table({"p": [1], "x": [2]}, schema=pyarrow.schema([field, ("x", "int64")]))
    with pyarrow.ipc.new_file(path, made.schema) as writer:
        writer.write_table(made)
    command = [sys.executable, "-m", "serialpack", "unpack", "--to", "json", "-o", "-"]
    done = subprocess.run([*command, path], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"the column p is of pandas.period" in done.stderr


@pytest.mark.parametrize("serializer", ["raw", "auto"])
def test_packed_they_are_the_same_bytes(serializer: str) -> None:
    out, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(table("parquet")), out, serializer=serializer, format="parquet")
    serialpack.unpack(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == table("parquet")
