"""Parquet of very many columns: few groups, each of them proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import serialpack
from serialpack.conversion.tables.frames import _MANY
from serialpack.errors import ValueRefusedError
from serialpack.formats.tables.parquet import ParquetFormat

_ROWS = 20


def _source(folder: Path, columns: int) -> Path:
    path = folder / f"{columns}.ndjson"
    lines = (
        json.dumps(
            {f"k{c}": [row, row / 4, f"t{row}", None, row % 2 > 0][c % 5] for c in range(columns)}
        )
        for row in range(_ROWS)
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def _converted(source: Path, **how: Any) -> Path:
    """The source as Parquet, a few rows of it at a time."""
    target = source.with_suffix(".parquet")
    serialpack.convert(source, target, to="parquet", block_size=8 << 10, threads=1, **how)
    return target


@pytest.mark.parametrize("columns", [_MANY - 1, _MANY])
def test_rows_of_many_columns_wait_for_others(tmp_path: Path, columns: int) -> None:
    """20,000 columns had a group for three rows each, and took 8 minutes for 4 million cells."""
    source = _source(tmp_path, columns)
    target = _converted(source)
    groups = pyarrow.parquet.ParquetFile(target).num_row_groups
    assert (groups == 1) == (columns >= _MANY)
    serialpack.convert(target, tmp_path / "again.ndjson", to="ndjson")
    again = (tmp_path / "again.ndjson").read_text().splitlines()
    assert [json.loads(line) for line in again] == [
        json.loads(line) for line in source.read_text().splitlines()
    ]


def test_with_very_many_columns_none_has_a_dictionary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes 20 kB until its group is written: 60,000 took 1.3 GB."""
    name = "serialpack.formats.tables.parquet._NO_WORDS"
    for most in 9, 5:
        monkeypatch.setattr(name, most)
        group = pyarrow.parquet.ParquetFile(_converted(_source(tmp_path, 8), force=True)).metadata
        column = group.row_group(0).column(2)
        assert column.has_dictionary_page == (most == 9)


@pytest.mark.parametrize("most", [1, 3 * _MANY])
def test_a_group_has_so_many_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("serialpack.conversion.tables.frames._CELLS", most)
    target = _converted(_source(tmp_path, _MANY))
    assert pyarrow.parquet.ParquetFile(target).num_row_groups > 2


def test_rows_put_together_are_proved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ParquetFormat.columns_written

    def lost(self: ParquetFormat, data: bytes) -> Any:
        for number, column in enumerate(whole(self, data)):
            swapped = number == 5 and len(column) == _ROWS
            yield [*column[:-1], column[0]] if swapped else column

    monkeypatch.setattr(ParquetFormat, "columns_written", lost)
    with pytest.raises(ValueRefusedError, match="not those that were proved"):
        _converted(_source(tmp_path, _MANY))
    assert not (tmp_path / f"{_MANY}.parquet").exists()
