"""Of a table in a file only the columns are read that were asked for."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import serialpack

pa = pytest.importorskip("pyarrow")


def written(path: Path, table: Any) -> None:
    import pyarrow.feather
    import pyarrow.parquet

    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=2)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed")


def fields_of(source: Any, *fields: str, **how: Any) -> Any:
    out = io.BytesIO()
    serialpack.convert(source, out, to="json", fields=list(fields), **how)
    return json.loads(out.getvalue())


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_what_another_column_holds_is_no_matter(tmp_path: Path, name: str) -> None:
    """The whole table was refused for a column that nobody wanted."""
    path = tmp_path / name
    odd = pa.array([[1], [2], [3]], pa.list_(pa.time64("ns")))  # beyond microseconds
    struct = pa.array([{"x": n, "y": "z"} for n in range(3)])
    columns = [odd, pa.array([1, 2, 3]), struct, pa.array(["p", "q", None])]
    written(path, pa.table(columns, names=["odd", "n", "s", "s.x"]))
    with pytest.raises(serialpack.SerialpackError):
        fields_of(path, "n", "odd")
    assert fields_of(path, "n") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert fields_of(path, "s.y") == [{"s": {"y": "z"}}] * 3
    # A name with a dot may be a column, and a field within one.
    assert fields_of(path, "s.x")[0] == {"s": {"x": 0}, "s.x": "p"}
    packed = tmp_path / "a.spk"
    serialpack.pack(path, packed, serializer="raw")
    assert fields_of(packed, "n") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert fields_of(io.BytesIO(path.read_bytes()), "n", format=path.suffix[1:])[2] == {"n": 3}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_fields_that_no_column_is_are_told_as_ever(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    written(path, pa.table({"a": [1, 2], "b": [3, 4]}))
    with pytest.raises(serialpack.ValueRefusedError, match="no record has a field c"):
        fields_of(path, "a", "c")
    assert fields_of(path, "a", "c", lossy=["fields"]) == [{"a": 1}, {"a": 2}]
    with pytest.raises(serialpack.ValueRefusedError, match="no record has a field c"):
        fields_of(path, "c")


def test_columns_of_one_name_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    two = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with path.open("wb") as file, pa.ipc.new_file(file, two.schema) as writer:
        writer.write_table(two)
    assert [*fields_of(path, "a")[0].values()] == [1]
