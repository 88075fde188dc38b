"""A few wide rows of text: their cells cost as much as those of a table of many rows, and are
written the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from serialpack.conversion.tables import rows
from serialpack.conversion.tables.layout import layout_of
from serialpack.conversion.tables.rows import TextTable
from serialpack.conversion.tables.shape import ValueShape
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.table import Written
from tests.formats.work import lines_run

#: Text that is quoted, or looks like something else, or is no text that a file can have.
ODD = ["", "1", "-0.5e3", "true", "null", "NA", 'a"b', "a,b", "a\tb", "a\nb", "\r", "\ufeffa", "é"]
SHAPINGS = [Shaping(), Shaping(null="NA")]


def _table(
    records: list[dict[str, Any]], delimiter: str, shaping: Shaping, *, plain: bool
) -> TextTable:
    shape = ValueShape()
    shape.look(records, within=False)
    layout = layout_of(shape, shaping, "maps")
    return TextTable(layout, shaping, delimiter, verify=True, plain=plain)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("cell", ["", "a", "1", 'a"b'])
def test_a_column_of_few_rows_costs_a_few_lines(cell: str, *, plain: bool) -> None:
    """It was fifty to seventy for each column of a block, and of a wide table that has few rows."""
    wide = 2000
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

    def written() -> list[Written]:
        return [_table(each, delimiter, shaping, plain=plain).write(each, 0) for each in tried]

    few = written()
    monkeypatch.setattr(rows, "_FEW_ROWS", 0)
    assert few == written()
