"""Maps in tables of Arrow that were read of Parquet, which name their entries as the column."""

from __future__ import annotations

import io
from typing import Any

import pytest

import serialpack

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def _read() -> Any:
    kind = pa.map_(pa.string(), pa.map_(pa.string(), pa.int64()))
    file = io.BytesIO()
    parquet.write_table(pa.table({"m": pa.array([[("a", [("b", 1)])], [], None], kind)}), file)
    table = parquet.read_table(file)
    assert "'m'" in str(table.schema.field("m").type)  # Arrow's own readers write 'entries'
    return table


@pytest.mark.parametrize("part", ["table", "column", "array", "scalar", "batch", "schema", "type"])
def test_a_map_read_of_parquet_needs_no_trust(part: str) -> None:
    """Neither objects nor pickle held it: Arrow itself forgets the name, and takes both for one."""
    table = _read()
    value = {
        "table": table,
        "column": table.column(0),
        "array": table.column(0).chunk(0),
        "scalar": table.column(0)[0],
        "batch": table.to_batches()[0],
        "schema": table.schema,
        "type": table.schema.field(0).type,
    }[part]
    back = serialpack.loads(serialpack.dumps({"x": [value]}))
    assert type(back["x"][0]) is type(value)
    assert back["x"][0].equals(value)


def test_what_a_map_holds_is_told_apart() -> None:
    """The values and types within entries count as before."""
    from serialpack.values.equality import difference

    one, other = (pa.array([[("a", n)]], pa.map_(pa.string(), pa.int64())) for n in (1, 2))
    assert difference([pa.table({"m": one})], [pa.table({"m": one})]) is None
    assert difference([pa.table({"m": one})], [pa.table({"m": other})]) is not None
    short = one.cast(pa.map_(pa.string(), pa.int32()))
    assert difference([pa.table({"m": one})], [pa.table({"m": short})]) is not None
