"""A few wide rows: their cells cost as much as those of a table of many rows, and are written the
same.
"""

from __future__ import annotations

from typing import Any

import pytest

from serialpack.conversion.tables import to_text
from serialpack.conversion.tables.layout import layout_of
from serialpack.conversion.tables.shape import ValueShape
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.to_text import TextTable
from serialpack.literal import Literal
from tests.formats.work import lines_run

#: Text that is quoted, or looks like something else, or is no text that a file can have.
ODD = ["", "1", "-0.5e3", "true", "null", "NA", 'a"b', "a,b", "a\tb", "a\nb", "\r", "\ufeffa", "é"]
SHAPINGS = [Shaping(), Shaping(null="NA")]
#: Values of other types, some of which have no cell of their own.
TYPED = [
    1,
    -0.0,
    0.1,
    float("nan"),
    True,
    None,
    10**30,
    "1",
    "",
    "NA",
    "a,b",
    Literal("1e0", 1.0),
]


def _table(
    records: list[dict[str, Any]], delimiter: str, shaping: Shaping, *, plain: bool
) -> TextTable:
    shape = ValueShape()
    shape.look(records, within=False)
    layout = layout_of(shape, shaping, "maps")
    return TextTable(layout, shaping, delimiter, verify=True, lossy=((), ()), plain=plain)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("cell", ["", "a", "1", 'a"b', 1, 2.5, None, True])
def test_a_column_of_few_rows_costs_a_few_lines(cell: Any, *, plain: bool) -> None:
    """It was fifty to seventy for each column of a block, and of a wide table that has few rows."""
    wide = 2000
    plain = plain and type(cell) is str
    records = [{f"c{number}": cell for number in range(wide)}] * 2
    table = _table(records, ",", Shaping(), plain=plain)
    table.write(records, 0)
    assert lines_run(table.write, records, 0) < 16 * wide


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("shaping", SHAPINGS)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_few_rows_are_written_as_many_are(
    monkeypatch: pytest.MonkeyPatch, delimiter: str, shaping: Shaping, *, plain: bool
) -> None:
    tried: list[list[dict[str, Any]]] = [[{"a": odd}] for odd in ODD]
    tried += [[{"a": "x", "b": odd}, {"a": odd, "b": "y"}] for odd in ODD]
    tried += [[dict(zip("abcdefghijklm", ODD, strict=True))] * 3]
    tried += [[{"a": "x", "b": odd}] for odd in (None, 1, "\ud800", {"k": "v"}, ["x"])]
    tried += [[{"a": "x", "b": "[1]"}, {"a": "y", "b": [1]}], [{"a": "x"}, {"b": "y"}]]
    if not plain:
        tried += [[{"a": one, "b": two}, {"a": two, "b": one}] for one in TYPED for two in TYPED]
        tried += [[{"a": one}, {"b": 2, "a": one}, {"b": "x"}] for one in TYPED]
        tried += [[{f"c{n}": value for n, value in enumerate(TYPED)}] * 2]

    def written() -> list[str]:
        """What is written and told; of NaN, the words."""
        tables = (_table(each, delimiter, shaping, plain=plain) for each in tried)
        found = [table.write(each, 3) for table, each in zip(tables, tried, strict=True)]
        return [repr(each._replace(told=sorted(each.told))) for each in found]

    few = written()
    monkeypatch.setattr(to_text, "_FEW_ROWS", 0)
    for one, other, records in zip(few, written(), tried, strict=True):
        assert one == other, records
