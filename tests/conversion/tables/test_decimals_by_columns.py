"""Columns that are named decimals become such of a table with types at once: as cell by cell."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.by_columns import ColumnConverter
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.types import arrow_cells
from serialpack.formats.shared.column_types import column_of
from tests.conversion.tables.test_by_columns import go_by_records

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

#: So many rows with such a text beside each decimal are a block and more.
_ROWS, _TEXT = 1300, "x" * 930

CELLS = {
    "prices": [f"{n % 997}.{n % 100:02}" for n in range(_ROWS)],
    "below 1": [f"0.{n % 1000:03}" for n in range(_ROWS)],
    "some below 0": [f"{n - _ROWS // 2}.50" for n in range(_ROWS)],
    "some empty": ["" if n % 3 else f"{n}.5" for n in range(_ROWS)],
    "all empty": [""] * _ROWS,
    "whole": [str(n) for n in range(_ROWS)],
    "many digits": [f"{10**30 + n}.{n % 10_000:04}" for n in range(_ROWS)],
    "too many digits": [f"{10**30 + n}.{n:020}" for n in range(_ROWS)],
    "zero below 0": [*["1.00"] * _ROWS, "-0.00"],
    "several places": ["1.5", "1.50"] * _ROWS,
    "other places in a later block": [*["1.5"] * 2 * _ROWS, *["1.50"] * _ROWS],
    "signs": ["+1.50", "1.50"] * _ROWS,
    "zeros in front": ["01.50", "1.50"] * _ROWS,
    "exponents": ["1e2", "1.5e-3"] * _ROWS,
    "no numbers": [*["1.50"] * _ROWS, "x"],
    "NaN": [*["1.50"] * _ROWS, "NaN"],
}


def _converted(cells: list[str], to: str, *, infer: bool) -> tuple[Any, Any]:
    """What a table becomes whose column ``d`` has ``cells``, and what is said of that; or why it
    does not."""
    lines = (f"{n},{cell},{_TEXT}" for n, cell in enumerate(cells))
    text = "\n".join(["i,d,t", *lines, ""])
    made = io.BytesIO()
    how: dict[str, Any] = {"shaping": Shaping(infer=infer, types=(("d", "decimal"),))}
    try:
        done = serialpack.convert(
            io.BytesIO(text.encode()), made, format="csv", to=to, threads=1, **how
        )
    except serialpack.SerialpackError as error:
        return str(error), None
    return made.getvalue(), done._replace(seconds={})


@pytest.mark.parametrize("name", CELLS)
def test_the_same_comes_of_columns_as_of_records(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    infer = name in ("prices", "some empty")
    to = "arrow" if name in ("some below 0", "several places") else "parquet"
    found = _converted(CELLS[name], to, infer=infer)
    go_by_records(monkeypatch)
    assert _converted(CELLS[name], to, infer=infer) == found


def test_no_records_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """They took ten times as long."""

    def by_records(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("serialpack.formats.csv.text.CsvText.parse", by_records)
    for name in ("prices", "below 1", "some below 0", "some empty", "whole", "many digits"):
        made, done = _converted(CELLS[name], "parquet", infer=False)
        assert done.types == {"d": "decimal"}
        column = pa.parquet.read_table(io.BytesIO(made))["d"].to_pylist()
        assert column == [Decimal(cell) if cell else None for cell in CELLS[name]]


def _drawn() -> Iterator[list[str]]:
    draw = random.Random(3)
    for _ in range(2000):
        places, whole = draw.choice([0, 1, 2, 2, 5, 20]), draw.choice([1, 1, 3, 12, 19])
        point = "." if places else ""
        yield [
            f"{draw.choice(['', '', '-'])}{draw.randrange(10 ** draw.randint(0, whole))}{point}"
            + "".join(draw.choices("059", k=places))
            for _ in range(draw.randint(1, 4))
        ]


def test_digits_and_places_are_those_of_the_values() -> None:
    known = 0
    for cells in _drawn():
        found = arrow_cells.digits_and_places(pa.array(cells))
        if found is None:
            continue
        known += 1
        values = [Decimal(cell) for cell in cells]
        assert column_of(values, as_map=lambda _: False).decimals == found, cells
        assert [format(value, "f") for value in values] == cells
    assert known > 1000


def test_blocks_with_fewer_places_than_others_go_by_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    went = []
    convert = ColumnConverter.convert

    def noted(self: ColumnConverter, *given: Any) -> Any:
        went.append(convert(self, *given))
        return went[-1]

    monkeypatch.setattr(ColumnConverter, "convert", noted)
    _, done = _converted(CELLS["other places in a later block"], "parquet", infer=False)
    assert went[0] is None
    assert any(went)
    assert {loss.rule: loss.count for loss in done.carried} == {"places": 2 * _ROWS}
