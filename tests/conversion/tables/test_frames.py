"""What becomes of frames of pandas whose columns no column of Arrow holds as they are."""

from __future__ import annotations

import io
import json
import pickle
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import serialpack

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def converted(obj: Any, to: str = "json") -> tuple[Any, dict[str, int]]:
    """What a pickle of ``obj`` becomes, and what was carried."""
    out = io.BytesIO()
    data = io.BytesIO(pickle.dumps(obj))
    report = serialpack.convert(data, out, to=to, format="pickle", trust=True, threads=1)
    made = out.getvalue().decode()
    told = {loss.rule: loss.count for loss in report.carried}
    return json.loads(made) if to == "json" else made, told


COLUMNS = [
    # Doubles, of integers beside them; the same maps with all keys of any; dates of times.
    ([1, 2.5], [1, 2.5], {}),
    ([{"a": 1}, {"b": 2}], [{"a": 1}, {"b": 2}], {}),
    (
        [date(2024, 1, 1), datetime(2024, 1, 1, 5)],
        ["2024-01-01", "2024-01-01T05:00:00"],
        {"timestamps": 2},
    ),
    ([Decimal("1.1"), Decimal("1.10")], ["1.1", "1.10"], {"decimals": 2}),
    ([(1, 2), (3,)], [[1, 2], [3]], {"sequences": 2}),
    ([np.arange(2), None], [[0, 1], None], {"arrays": 1}),
    # Refused, though each value is one that JSON has; and an internal error.
    ([1, "a", float("nan")], [1, "a", None], {"arrays": 1}),
    ([1 << 70, 1], [1 << 70, 1], {}),
]


@pytest.mark.parametrize(
    ("items", "wanted", "carried"), COLUMNS, ids=lambda value: repr(value)[:40]
)
def test_columns_of_objects_are_their_items(
    items: list[Any], wanted: Any, carried: dict[str, int]
) -> None:
    """They became what Arrow made of them, and nobody was told; or were refused."""
    frame = pandas.DataFrame({"n": range(len(items)), "o": pandas.Series(items, dtype=object)})
    rows, told = converted(frame)
    assert [row["n"] for row in rows] == [*range(len(items))]
    assert repr([row["o"] for row in rows]) == repr(wanted)
    assert told == carried
    assert repr(converted({"in": frame})[0]["in"]) == repr(rows)
    lines, _ = converted(frame, "ndjson")
    assert repr([json.loads(line) for line in lines.splitlines()]) == repr(rows)


MONTHS = pandas.period_range("2024-01", periods=2, freq="M")
SPANS = pandas.cut([1, 5], [0, 3, 6])


@pytest.mark.parametrize(
    ("items", "wanted"),
    [(MONTHS, ["2024-01", "2024-02"]), (SPANS, ["(0, 3]", "(3, 6]"])],
    ids=["periods", "intervals"],
)
def test_periods_and_intervals_are_text(items: Any, wanted: list[str]) -> None:
    """A month was the number 648, unsaid, and an interval an internal error."""
    rows = [{"p": text} for text in wanted]
    frame = pandas.DataFrame({"p": items})
    assert converted(frame) == (rows, {"arrays": 2})
    indexed = frame.assign(v=0).set_index("p")
    assert converted(indexed) == ([{**row, "v": 0} for row in rows], {"arrays": 2})
    assert converted([frame["p"][1]]) == (wanted[1:], {"arrays": 1})
    assert converted([frame]) == ([rows], {"arrays": 3})
    missing = pandas.concat([frame, pandas.DataFrame({"p": [None]})], ignore_index=True)
    assert [row["p"] for row in converted(missing)[0]] == [*wanted, None]


def test_columns_of_one_name_are_numbered() -> None:
    """As those of a CSV file are; they were refused, and an index of a column's name was an error
    of another library."""
    assert converted(pandas.DataFrame([[1, 2]], columns=["a", "a"])) == (
        [{"a": 1, "a_2": 2}],
        {"renamed": 1},
    )
    frame = pandas.DataFrame({"a": [1], "b": [3]}).set_index("a", drop=False)
    assert converted(frame, "csv")[0] == "a,a_2,b\n1,1,3\n"
    assert converted([frame])[0] == [[{"a": 1, "a_2": 1, "b": 3}]]


def test_a_frame_has_tags() -> None:
    """It was refused with --tagged, which the message of the refusal without it named."""
    frame = pandas.DataFrame({"y": [0.5, float("nan")]})
    with pytest.raises(serialpack.SerialpackError, match="tagged"):
        converted(frame)
    out = io.BytesIO()
    data = io.BytesIO(pickle.dumps(frame))
    serialpack.convert(data, out, to="json", format="pickle", trust=True, tagged=True)
    assert json.loads(out.getvalue()) == [{"y": 0.5}, {"y": {"$numberDouble": "NaN"}}]
