"""Records of any shape as Parquet, Arrow and Avro, and back."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping

pytest.importorskip("pyarrow")


def written(records: list[Any], to: str, **how: Any) -> tuple[bytes, Any]:
    out = io.BytesIO()
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    report = serialpack.convert(io.BytesIO(text), out, format="ndjson", to=to, **how)
    return out.getvalue(), report


def back(data: bytes, source: str, words: tuple[str, ...]) -> list[Any]:
    out = io.BytesIO()
    separator = words[words.index("--separator") + 1] if "--separator" in words else "."
    shaping = Shaping(nest=() if "--nest" in words else None, separator=separator)
    serialpack.convert(io.BytesIO(data), out, format=source, to="json", shaping=shaping)
    found: list[Any] = json.loads(out.getvalue())
    return found


def without_null(value: Any) -> Any:
    """Null is what stands for what is missing."""
    if isinstance(value, dict):
        return {k: without_null(v) for k, v in sorted(value.items()) if v is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


RECORDS: dict[str, tuple[list[Any], set[str]]] = {
    "alike": ([{"a": 1, "b": "x"}, {"a": 2, "b": None}], set()),
    "other keys": ([{"a": 1}, {"b": "x"}], {"missing"}),
    "numbers": ([{"v": 1.0}, {"v": 2}], {"numbers"}),
    "numbers in lists": ([{"v": [1, 2.5]}, {"v": []}, {"v": None}], {"numbers"}),
    "several types": ([{"v": 1}, {"v": "1"}, {"v": [1]}, {"v": None}], {"mixed"}),
    "integers that no double holds": ([{"v": 2**53 + 1}, {"v": 0.5}], {"mixed"}),
    "other keys in maps": ([{"m": {"a": 1}}, {"m": {"b": [{"c": 1}]}}], {"missing"}),
    "a map beside text": ([{"m": {"a": 1}}, {"m": "x"}], {"mixed"}),
    "maps without keys": ([{"m": {}}], {"mixed"}),
    "dots": ([{"a.b": 1, "m": {}}], {"mixed"}),
    "no map": ([1, 2], {"shapes"}),
}


@pytest.mark.parametrize("target", ["parquet", "arrow"])
@pytest.mark.parametrize("name", RECORDS)
def test_there_and_back(name: str, target: str) -> None:
    records, rules = RECORDS[name]
    data, report = written(records, target)
    assert {loss.rule for loss in report.carried} == rules
    assert not report.losses
    found = back(data, target, report.back)
    wanted = records if "shapes" not in rules else [{"value": record} for record in records]
    assert without_null(found) == without_null(wanted)
    if rules and rules != {"shapes"}:
        with pytest.raises(serialpack.ValueRefusedError):
            written(records, target, strict=True)


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_blocks_are_one_table(target: str) -> None:
    records = [{"n": n, "late": None if n < 900 else [str(n)]} for n in range(1000)]
    data, report = written(records, target, block_size=2000)
    assert report.records == 1000
    assert back(data, target, report.back) == records
    if target == "parquet":
        import pyarrow.parquet

        assert pyarrow.parquet.ParquetFile(io.BytesIO(data)).num_row_groups > 5


def test_a_column_of_json_is_marked() -> None:
    import pyarrow.parquet

    data, _ = written([{"v": 1}, {"v": "x"}], "parquet")
    assert "JSON" in str(pyarrow.parquet.ParquetFile(io.BytesIO(data)).schema)


def test_maps_are_columns_where_that_is_asked() -> None:
    records = [{"m": {"a": 1, "b": {"c": "x"}}}, {"m": {"a": 2, "b": {"c": "y"}}}]
    data, report = written(records, "parquet", shaping=Shaping(flatten=True))
    assert list(back(data, "parquet", ())[0]) == ["m.a", "m.b.c"]
    assert back(data, "parquet", report.back) == records


def test_avro_has_unions_for_what_comes_later() -> None:
    pytest.importorskip("fastavro")
    records = [{"n": n} for n in range(500)] + [{"n": "x", "late": [1]}]
    data, report = written(records, "avro", block_size=500)
    assert not report.carried
    assert back(data, "avro", ()) == records


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_what_no_column_holds_is_refused_with_its_place(target: str) -> None:
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        written([{"v": 1}, {"v": 1 << 70}], target)
    assert (refused.value.record, refused.value.kind) == (1, "bigint")
