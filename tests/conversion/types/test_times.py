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
