"""Rows of a table of text below a line of names that has others as well."""

from __future__ import annotations

import io
import json

import pytest

import serialpack
from serialpack.conversion.tables.survey_result import Below
from tests.conversion.converting import converted


def below(data: bytes, names: tuple[str, ...], source: str) -> bytes:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format=source, to="csv", below=Below(names))
    return out.getvalue()


def test_cells_stand_below_their_names() -> None:
    assert below(b"a,b\n1,2\n", ("b", "c", "a"), "csv") == b"b,c,a\n2,,1\n"
    assert below(b'a\n""\nx\n', ("a", "b"), "csv") == b"a,b\n,\nx,\n"


@pytest.mark.parametrize("names", [("t",), ("t", "t.y"), ("t.y", "t")])
def test_so_do_those_of_maps(names: tuple[str, ...]) -> None:
    """Also where others have no map under the key."""
    records = [{"t": {"x": 1}, "u": "é"}, {"t": {"x": 2}, "u": "1"}]
    data = below(json.dumps(records).encode(), (*names, "u", "t.x"), "json")
    rows = [
        dict(zip(data.decode().splitlines()[0].split(","), line.split(","), strict=True))
        for line in data.decode().splitlines()[1:]
    ]
    assert [(row["t.x"], row["u"]) for row in rows] == [("1", "é"), ("2", '"1"')]
    assert {row[name] for row in rows for name in names} == {""}


def test_a_column_that_is_not_among_them_is_refused() -> None:
    with pytest.raises(serialpack.RefusedError, match=r"1 column that the line .* has not: 'b'"):
        below(b"a,b\n1,2\n", ("a", "c"), "csv")
    with pytest.raises(serialpack.RefusedError, match="rows without names"):
        below(b"[[1,2]]", ("a", "b"), "json")


@pytest.mark.parametrize("rows", [1, 40_000])
def test_of_many_blocks(rows: int) -> None:
    data = b"b,a\n" + b"".join(b"%d,x%d\n" % (n, n) for n in range(rows))
    made = below(data, ("a", "b", "c"), "csv")
    back = [json.loads(line) for line in converted(made, "csv", "ndjson").splitlines()]
    assert back == [{"a": f"x{n}", "b": f"{n}", "c": ""} for n in range(rows)]
