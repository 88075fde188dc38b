"""Times in text by types that are named: moments in UTC, and all their digits."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

import serialpack
from tests.conversion.types.test_types import by_hand, converted, values


@pytest.mark.parametrize("target", ["parquet", "sqlite", "json"])
def test_moments_of_any_offsets_are_times_in_utc_where_that_is_said(target: str) -> None:
    """By ``timestamp`` those of several offsets are text, in a table with types, too."""
    text = b"t,n\n2024-01-01T00:30:00+01:00,1\n2023-12-31T23:30:00Z,2\n,3\n"
    made, report = converted(text, target, shaping=by_hand(t="utc"))
    assert {loss.rule: loss.count for loss in report.carried}["spellings"] == 1
    rows = json.loads(converted(made, "json", target)[0])
    moment = "2023-12-31T23:30:00"
    assert [row["t"] and row["t"][:19] for row in rows] == [moment, moment, None]
    if target == "parquet":
        assert values(made, target)[0]["t"] == datetime(2023, 12, 31, 23, 30, tzinfo=UTC)
    with pytest.raises(serialpack.ValueRefusedError, match="is no time with an offset, as 2023"):
        converted(b"t\n2024-01-01T00:30:00\n", target, shaping=by_hand(t="utc"))


def test_moments_of_other_formats_become_utc_and_are_told() -> None:
    made, report = converted(
        b"t: 2024-01-01T00:30:00+01:00\n", "json", "yaml:1.1", shaping=by_hand(t="utc")
    )
    assert json.loads(made) == {"t": "2023-12-31T23:30:00+00:00"}
    assert {loss.rule: loss.count for loss in report.carried} == {"timestamps": 1, "spellings": 1}


@pytest.mark.parametrize(
    ("kind", "cell", "shorter"),
    [
        ("timestamp", "2024-01-01T00:00:00.123456789", "2024-01-01 00:00:00.123456"),
        ("time", "12:00:00.1234561", "12:00:00.123456"),
        ("utc", "2024-01-01T00:00:00.0000005Z", "2024-01-01 00:00:00+00:00"),
    ],
)
def test_no_digits_of_a_time_are_dropped_unsaid(kind: str, cell: str, shorter: str) -> None:
    """Those below microseconds went, and it was said that the cell was spelled otherwise."""
    text, shaping = f"t\n{cell}\n".encode(), by_hand(t=kind)
    with pytest.raises(serialpack.ValueRefusedError, match="is finer than microseconds") as lost:
        converted(text, "parquet", shaping=shaping)
    assert lost.value.kind == "digits"
    _, report = converted(text, "parquet", shaping=shaping, lossy=["digits"])
    told = [(loss.rule, loss.was, loss.became) for loss in report.losses]
    assert told == [("digits", cell, shorter)]
    zeros = re.sub(r"\.[0-9]+", ".123456000", text.decode()).encode()
    assert converted(zeros, "parquet", shaping=shaping)[1].losses == []


@pytest.mark.parametrize("target", ["parquet", "sqlite", "json"])
@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("mdy", ["12/31/2023", "2/1/24", "2-1-2024", "2024-02-01", "1/5/69"]),
        ("dmy", ["31/12/2023", "1/2/24", "1.2.2024", "2024-02-01", "5-1-69"]),
    ],
)
def test_dates_are_read_with_the_month_or_the_day_first(
    kind: str, cells: list[str], target: str
) -> None:
    """Nothing read them, and most tables of the United States have them."""
    text = "\n".join(["d,n", *(f"{cell},1" for cell in cells), ""]).encode()
    made, report = converted(text, target, shaping=by_hand(d=kind))
    rows = json.loads(converted(made, "json", target)[0])
    expected = ["2023-12-31", "2024-02-01", "2024-02-01", "2024-02-01", "1969-01-05"]
    assert [row["d"] for row in rows] == expected
    assert {loss.rule: loss.count for loss in report.carried}["spellings"] == 4
    assert converted(b"d,n\n2024-02-01,1\n", target, shaping=by_hand(d=kind))[1].losses == []


@pytest.mark.parametrize(
    "cell", ["13/31/2023", "1/2-2023", "1/2/203", "1/2/2023 10:00", "0/1/2023"]
)
def test_what_is_no_such_date_is_refused(cell: str) -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="no date with the month first, as 12"):
        converted(f"d\n{cell}\n".encode(), "json", shaping=by_hand(d="mdy"))


def test_who_says_date_is_told_both_ways() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="is no date") as refused:
        converted(b"d\n1/2/2023\n", "json", shaping=by_hand(d="date"))
    for kind in ("mdy", "dmy"):
        assert kind in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        ("integer", ["1,234", "-5,678,901", "7"], [1234, -5678901, 7]),
        ("number", ["1,234.50", "-5,678,901", "7"], [1234.5, -5678901.0, 7.0]),
    ],
)
def test_commas_between_thousands_are_read_where_that_is_sure(
    kind: str, cells: list[str], expected: list[float]
) -> None:
    """The hint was decimal-comma, by which 1,234 is 1.234."""
    text = "\n".join(["a,b", *(f'"{cell}",1' for cell in cells), ""]).encode()
    made, report = converted(text, "json", shaping=by_hand(a=kind))
    assert [row["a"] for row in json.loads(made)] == expected
    assert {loss.rule: loss.count for loss in report.carried} == {"spellings": 2}


@pytest.mark.parametrize("kind", ["number", "decimal"])
@pytest.mark.parametrize("cell", ["1,234", "+12,345"])
def test_a_comma_that_may_be_either_is_refused_with_both(cell: str, kind: str) -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="may stand between thousands") as lost:
        converted(f'a\n"{cell}"\n'.encode(), "json", shaping=by_hand(a=kind))
    assert "integer" in (lost.value.hint or "")
    assert "decimal-comma" in (lost.value.hint or "")


@pytest.mark.parametrize("cell", ["1,23,456", "1234,567", ",123", "1,2345", "1,234,56"])
def test_commas_elsewhere_are_no_number(cell: str) -> None:
    for kind in ("integer", "number"):
        with pytest.raises(serialpack.ValueRefusedError, match=f"no {kind}"):
            converted(f'a\n"{cell}"\n'.encode(), "json", shaping=by_hand(a=kind))
