"""Times in named zones become text with their offset, and are told."""

from __future__ import annotations

import io
import pickle
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

import serialpack

ZONE = ZoneInfo("Europe/Berlin")
TIMES = [
    (datetime(2024, 7, 1, 12, tzinfo=ZONE), "2024-07-01T12:00:00+02:00"),
    # The second of two hours of that name.
    (datetime(2024, 10, 27, 2, 30, tzinfo=ZONE, fold=1), "2024-10-27T02:30:00+01:00"),
    (datetime(1890, 1, 1, tzinfo=ZONE), "1890-01-01T00:00:00+00:53:28"),
]


@pytest.mark.parametrize(("time", "wanted"), TIMES, ids=["summer", "fold", "seconds"])
@pytest.mark.parametrize("to", ["json", "csv", "yaml", "npz", "parquet"])
def test_times_in_a_zone_keep_their_offset(time: datetime, wanted: str, to: str) -> None:
    """They were refused by most formats, though the documentation said that they are carried."""
    if to == "yaml":
        pytest.importorskip("yaml")
    out = io.BytesIO()
    data = io.BytesIO(pickle.dumps([{"t": time}]))
    report = serialpack.convert(data, out, to=to, format="pickle", trust=True, threads=1)
    assert {loss.rule: loss.count for loss in report.carried}["zones"] == 1
    again = io.BytesIO()
    out.seek(0)
    serialpack.convert(out, again, format=to, to="json")
    assert f'"t":"{wanted}"' in again.getvalue().decode()
    with pytest.raises(serialpack.SerialpackError, match="in a named zone"):
        data.seek(0)
        serialpack.convert(data, io.BytesIO(), to=to, format="pickle", trust=True, strict=True)


def test_a_column_in_a_zone_is_text_with_offsets() -> None:
    """Also where two offsets, of winter and summer, are in it."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    stamps = pandas.date_range("2024-03-31", periods=2, freq="D", tz="Europe/Berlin")
    data, out = io.BytesIO(pickle.dumps(pandas.DataFrame({"t": stamps}))), io.BytesIO()
    report = serialpack.convert(data, out, to="ndjson", format="pickle", trust=True)
    assert out.getvalue().decode().split() == [
        '{"t":"2024-03-31T00:00:00+01:00"}',
        '{"t":"2024-04-01T00:00:00+02:00"}',
    ]
    assert {loss.rule: loss.count for loss in report.carried} == {"zones": 2}
