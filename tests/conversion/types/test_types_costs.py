"""What it costs to give columns of text their types."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.types import seen, spelling
from serialpack.values.missing import MISSING, each_column


def test_a_cell_that_stands_there_often_is_read_once_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each was read, and written again, wherever it stood, both when it was looked at and when it
    became a value: conversions with --infer took 2.2 times the work of those without."""
    read: list[str] = []

    def counted(text: str) -> date:
        read.append(text)
        return date.fromisoformat(text)

    monkeypatch.setitem(spelling._PARSE, "date", counted)
    days = [f"2024-05-{number % 20 + 1:02}" for number in range(10_000)]
    text = "\n".join(["day,at", *(f"{day},{n}" for n, day in enumerate(days)), ""]).encode()
    made = io.BytesIO()
    how = Shaping(infer=True)
    serialpack.convert(io.BytesIO(text), made, to="parquet", format="csv", shaping=how, threads=1)
    assert 0 < len(read) < 500
    back = io.BytesIO()
    serialpack.convert(io.BytesIO(made.getvalue()), back, to="json", format="parquet")
    assert [record["day"] for record in json.loads(back.getvalue())] == days


@pytest.mark.parametrize("cells", [["1", "2"] * 500, ["1", "02"] * 500, ["7"] * 999 + ["x"]])
def test_of_few_cells_the_values_are_those_of_all(cells: list[str]) -> None:
    values = spelling.values_of(cells, spelling.Spelling("integer"))
    sound = all(cell.isdigit() and str(int(cell)) == cell for cell in cells)
    assert values == ([int(cell) for cell in cells] if sound else None)


def test_columns_of_maps_alike_or_not() -> None:
    assert dict(each_column([])) == {}
    alike = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert {key: list(values) for key, values in each_column(alike)} == {"a": [1, 3], "b": [2, 4]}
    other = [{"a": 1}, {"b": 2, "a": 3}]
    found = {key: list(values) for key, values in each_column(other)}
    assert found == {"a": [1, 3], "b": [MISSING, 2]}


def test_empty_cells_among_typed_ones_are_null(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,t\n1,x\n,y\n3,\n")
    serialpack.convert(tmp_path / "a.csv", tmp_path / "a.json", shaping=Shaping(infer=True))
    records = json.loads((tmp_path / "a.json").read_text())
    assert [[*record.values()] for record in records] == [[1, "x"], [None, "y"], [3, ""]]


def test_times_without_fractions_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as Go and as Python write them, too, which is not to be tried cell by cell."""
    tried: list[int] = []

    def values_of(cells: Sequence[str], like: spelling.Spelling) -> list[Any] | None:
        tried.append(len(cells))
        return all_of(cells, like)

    all_of = spelling.values_of
    monkeypatch.setattr(seen, "values_of", values_of)
    cells = [f"2024-01-01T00:{n // 60:02}:{n % 60:02}" for n in range(1000)]
    look = seen.CellsSeen()
    look.look(cells, empty_is_null=True)
    assert tried.count(1000) == 1
    assert {s.style for s in look.spellings or ()} == {"T0", "Tt", "Tp"}


def test_a_cell_of_a_short_row_stays_missing_among_empty_ones() -> None:
    """In a column with empty cells it became null, silently in JSON, and a warning of Python's."""
    text = b"a,n\n1,2\n2,\n3\n"
    made = io.BytesIO()
    how = Shaping(infer=True)
    serialpack.convert(io.BytesIO(text), made, to="ndjson", format="csv", shaping=how)
    records = [json.loads(line) for line in made.getvalue().splitlines()]
    assert records == [{"a": 1, "n": 2}, {"a": 2, "n": None}, {"a": 3}]
