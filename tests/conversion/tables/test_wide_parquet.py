"""Parquet of very many columns: few groups, each of them proved."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest

import serialpack
from serialpack.conversion.tables.strips import MANY as _MANY
from serialpack.errors import ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.shared.random_access import FileRead
from serialpack.formats.tables.parquet import ParquetFormat
from tests.conversion.tables.test_typed_tables import back, written
from tests.faults.test_memory import peak
from tests.formats.work import lines_run

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
    monkeypatch.setattr("serialpack.conversion.tables.frames.CELLS", most)
    target = _converted(_source(tmp_path, _MANY))
    assert pyarrow.parquet.ParquetFile(target).num_row_groups > 2


def test_one_group_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block was a file of Parquet's, and read again, before its rows waited; and what wrote
    the whole was open beside what wrote a group, each with 2 kB for a column."""
    written: list[int] = []
    write = ParquetFormat.write_table

    def counted(self: ParquetFormat, table: Any, *, stored: bool) -> bytes:
        written.append(table.num_rows)
        return write(self, table, stored=stored)

    monkeypatch.setattr(ParquetFormat, "write_table", counted)
    monkeypatch.setattr(ParquetFormat, "open_writer", lambda *_: pytest.fail("a second writer"))
    _converted(_source(tmp_path, _MANY))
    assert written == [_ROWS]


def _wide_file(folder: Path, rows: int) -> Path:
    """Some types, words that have a dictionary, and nothing, in very many columns."""
    kinds: list[list[Any]] = [
        [n / 4 for n in range(rows)],
        [f"w{n % 3}" for n in range(rows)],
        [None] * rows,
        [Decimal(n) for n in range(rows)],
        [datetime(2026, 1, 1 + n % 28) for n in range(rows)],
    ]
    table = pyarrow.table({f"c{n}": kinds[n % 5] for n in range(600)})
    pyarrow.parquet.write_table(table, folder / "wide.parquet", row_group_size=20)
    return folder / "wide.parquet"


def _pieces(source: Path) -> list[list[Any]]:
    whole = FORMATS.get("parquet")
    with source.open("rb") as file:
        blocks = list(whole.split(FileRead(file.read, str(source)), 160 << 10, for_values=True))
    return [whole.read_block(block) for block in blocks]  # type: ignore[attr-defined]


def test_a_piece_has_several_rows_however_wide(tmp_path: Path) -> None:
    """Each was a row or two, and cost as much as many: 20,000 columns and 25 rows took 25 s."""
    pieces = _pieces(_wide_file(tmp_path, 20))
    assert len(pieces) <= 3
    assert sum(map(len, pieces)) == 20


def test_columns_read_some_at_a_time_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _wide_file(tmp_path, 50)
    rows = pyarrow.parquet.read_table(source).to_pylist()
    for most in (1 << 20, 0):  # where a group is too large for that, batches of all columns
        monkeypatch.setattr("serialpack.formats.tables.parquet._GROUP_BYTES", most)
        assert [row for piece in _pieces(source) for row in piece] == rows
    empty = pyarrow.parquet.read_schema(source).empty_table()
    pyarrow.parquet.write_table(empty, source)
    assert _pieces(source) == [[]]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
def test_memory_is_nine_kilobytes_a_column(tmp_path: Path) -> None:
    """As MEMORY in the manual says; it was 16."""
    few, many = (
        peak(tmp_path, "unpack", "--to", "parquet", "-j", "1", "-o", "-", str(source))
        for source in (_source(tmp_path, columns) for columns in (300, 7300))
    )
    assert (many - few) * 2**20 < 7000 * 9000


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


def test_a_column_of_json_text_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many such columns, what the rules are was found for each, and each was cast three times,
    which took more than all of their values."""
    columns, casts = 500, 0
    cast = pyarrow.compute.cast

    def counted(*args: Any, **how: Any) -> Any:
        nonlocal casts
        casts += 1
        return cast(*args, **how)

    records = [{f"k{number}": [number, {"a": "b"}] for number in range(columns)}]
    written(records[:1], "parquet")  # imports what is missing
    monkeypatch.setattr(pyarrow.compute, "cast", counted)
    assert lines_run(written, records, "parquet") < 1500 * columns
    assert casts == 0
    data, _ = written(records, "parquet")
    assert back(data, "parquet", ("--nest",)) == records
