"""CSV with columns of one name, whose cells are read as values, or get types."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import SerialpackError
from tests.conversion.converting import converted

TYPED = Shaping(typed=True)
TEXT = b"a,a,b\n1,x,true\n2,,false\n"
SHORT = TEXT + b"3\n"
ROWS = [{"a": 1, "a_2": "x", "b": True}, {"a": 2, "a_2": None, "b": False}]


@pytest.mark.parametrize("shaping", [TYPED, Shaping(typed=True, nest=())])
def test_they_are_renamed_as_without_typed(shaping: Shaping) -> None:
    """With ``--typed`` they were refused, and without it not."""
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(TEXT), out, format="csv", to="json", shaping=shaping)
    assert json.loads(out.getvalue()) == ROWS
    assert {loss.rule: (loss.count, loss.became) for loss in report.carried} == {
        "renamed": (1, "'a_2'")
    }
    with pytest.raises(SerialpackError):
        converted(TEXT, "csv", "json", shaping=shaping, strict=True)


def test_beside_rows_that_end_early() -> None:
    assert json.loads(converted(SHORT, "csv", "json", shaping=TYPED)) == [*ROWS, {"a": 3}]


def test_the_last_one_wins_where_that_is_asked_for() -> None:
    out = io.BytesIO()
    how: dict[str, Any] = {"shaping": TYPED, "lossy": ["duplicates"]}
    report = serialpack.convert(io.BytesIO(TEXT), out, format="csv", to="json", **how)
    assert json.loads(out.getvalue()) == [{"a": "x", "b": True}, {"a": None, "b": False}]
    told = {loss.rule: (loss.count, loss.was, loss.became) for loss in report.losses}
    assert told["duplicates"] == (2, "'1'", "'x'")
    # Where rows end early, the last one is not there in each.
    assert json.loads(converted(SHORT, "csv", "json", **how)) == [*ROWS, {"a": 3}]


def test_named_types_are_written_as_csv() -> None:
    """A column that ``--types`` names as integers was refused by CSV, from which it came."""
    shaping = Shaping(types=(("a", "integer"),))
    assert converted(b"a,b\n1,x\n", "csv", "csv", shaping=shaping) == b"a,b\n1,x\n"
