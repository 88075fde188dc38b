"""What is stored when values are measured in a store, of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from serialpack.bench.results import Results
from serialpack.bench.stores import StoreQuestion, measure_stores
from serialpack.errors import UsageError
from tests.bench.found import PLENTY


def measured(source: Path, budget: float = PLENTY) -> Results:
    asked = StoreQuestion("sqlite-kv", str(source), False, None, ["json"], ["none"], budget, ())
    return measure_stores(asked, lambda _share, _chain: None)


@pytest.mark.parametrize(
    ("name", "text", "values", "size"),
    [
        ("array.json", '[{"a": 1}, {"a": 2}, {"a": 3}]', 3, 3 * len('{"a":1}')),
        ("map.json", '{"a": [1, 2, 3]}', 1, len('{"a":[1,2,3]}')),
        ("lists.ndjson", "[1, 2]\n[3]\n", 2, len("[1,2][3]")),
        ("table.csv", "a,b\n1,x\n2,y\n", 2, 2 * len('{"a":"1","b":"x"}')),
    ],
)
def test_each_record_is_a_value(
    tmp_path: Path, name: str, text: str, values: int, size: int
) -> None:
    """The items of an array are; a list that is one of several records is one."""
    path = tmp_path / name
    path.write_text(text)
    found = measured(path)
    (row,) = found.rows
    assert (found.records, found.size, found.sampled) == (values, size, size)
    assert row.status == "measured"
    assert row.size is not None
    assert row.size >= size


def test_a_source_without_values_is_told(tmp_path: Path) -> None:
    """The ratio of nothing was an internal error."""
    path = tmp_path / "a.json"
    path.write_text("[]")
    with pytest.raises(UsageError, match="no values"):
        measured(path)


def test_without_time_left_nothing_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1, 2]")
    (row,) = measured(path, budget=1e-12).rows
    assert row.status == "skipped"
