"""Maps whose keys are data: in tables with types they are maps, and cost what they hold."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest

import serialpack
from tests.conversion.tables.test_typed_tables import back, written
from tests.formats.work import lines_run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _sparse(count: int, value: Any = 1) -> list[dict[str, Any]]:
    return [{"m": {f"k{number}": value}} for number in range(count)]


def _kind_of(data: bytes, target: str) -> Any:
    reader = pa.BufferReader(data)
    found = pq.read_table(reader) if target == "parquet" else pa.ipc.open_file(reader).read_all()
    return found.schema.field("m").type


@pytest.mark.parametrize("target", ["parquet", "arrow"])
@pytest.mark.parametrize("count", [257, 5001, 12_000])
def test_maps_of_many_keys_stay_maps(count: int, target: str) -> None:
    """Below and above what is kept of keys, and the latter in one block and over several."""
    records = [{"x": "y" * 200, **each} for each in _sparse(count)]
    data, report = written(records, target)
    assert _kind_of(data, target) == pa.map_(pa.string(), pa.int64())
    assert not report.carried
    assert back(data, target, ()) == records


@pytest.mark.parametrize(
    ("value", "kind", "rules"),
    [
        ([1, 2.5], "list<item: double>", {"numbers"}),
        ({"a": "b"}, "struct<a: string>", set()),
        (None, "string", set()),
    ],
)
def test_what_stands_in_them_has_its_type(value: Any, kind: str, rules: set[str]) -> None:
    records = _sparse(400, value)
    data, report = written(records, "parquet")
    assert str(_kind_of(data, "parquet").item_type).replace("element", "item") == kind
    assert {loss.rule for loss in report.carried} == rules
    assert back(data, "parquet", ()) == records


@pytest.mark.parametrize(
    ("inner", "storage", "value"),
    [
        (pa.uuid(), pa.binary(16), bytes(range(16))),
        (pa.timestamp("ns", "UTC"), pa.timestamp("ns", "UTC"), 1_704_153_600_000_000_001),
        (pa.timestamp("us"), pa.timestamp("us"), 1_704_153_600_000_000),
    ],
)
def test_types_in_maps_of_parquet_come_through(inner: Any, storage: Any, value: Any) -> None:
    maps = [[(f"k{number}", value)] for number in range(300)]
    column = pa.array(maps, pa.map_(pa.string(), storage)).cast(pa.map_(pa.string(), inner))
    source, out = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.table({"m": column}), source)
    serialpack.convert(io.BytesIO(source.getvalue()), out, format="parquet", to="parquet")
    assert pq.read_table(out).column("m").combine_chunks() == column


def test_of_several_types_they_are_json_text() -> None:
    records = [{"m": {f"k{number}": number if number % 2 else "x"}} for number in range(300)]
    data, report = written(records, "parquet")
    assert [(loss.rule, loss.count) for loss in report.carried] == [("mixed", 300)]
    assert back(data, "parquet", ("--nest",)) == records


def test_in_text_tables_they_are_one_column() -> None:
    data, _ = written(_sparse(300), "csv")
    lines = data.decode().splitlines()
    assert lines[:2] == ["m", '"{""k0"":1}"']
    assert len(lines) == 301


def test_few_keys_and_keys_that_recur_are_names() -> None:
    few = [{"m": {f"k{number % 200}": 1}} for number in range(1000)]
    names = [f"k{number}" for number in range(600)]
    dense = [{"m": dict.fromkeys(random.Random(n).sample(names, 12), 1)} for n in range(300)]
    for records in (few, dense):
        data, _ = written(records, "parquet")
        assert pa.types.is_struct(_kind_of(data, "parquet"))


def test_a_map_costs_what_it_holds() -> None:
    """Four times as many maps, each with a key of its own: it was sixteen times the work."""

    def lines(count: int) -> int:
        return lines_run(written, _sparse(count), "parquet")

    few, many = lines(500), lines(2000)
    assert few > 500
    assert many < 6 * few
