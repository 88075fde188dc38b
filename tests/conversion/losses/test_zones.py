"""Times in named zones become text with their offset, and are told."""

from __future__ import annotations

import io
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import serialpack
from serialpack.conversion.tables.arrow_types import arrow_type
from serialpack.conversion.tables.shape import ValueShape
from serialpack.conversion.tables.shaping import Shaping
from serialpack.values.equality import difference
from tests.conversion.converting import converted

ZONE = ZoneInfo("Europe/Berlin")
TIMES = [
    (datetime(2024, 7, 1, 12, tzinfo=ZONE), "2024-07-01T12:00:00+02:00"),
    # The second of two hours of that name.
    (datetime(2024, 10, 27, 2, 30, tzinfo=ZONE, fold=1), "2024-10-27T02:30:00+01:00"),
    (datetime(1890, 1, 1, tzinfo=ZONE), "1890-01-01T00:00:00+00:53:28"),
]


@pytest.mark.parametrize(("time", "wanted"), TIMES, ids=["summer", "fold", "seconds"])
@pytest.mark.parametrize("to", ["json", "csv", "yaml", "npz", "sqlite"])
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


OFFSET = timezone(timedelta(hours=-3, minutes=-30))
#: A column, and the type that it gets; none: text.
COLUMNS: dict[str, tuple[list[Any], str]] = {
    "summer and winter": ([*[time for time, _ in TIMES], None], "timestamp[us, tz=Europe/Berlin]"),
    "one offset": ([datetime(2024, 1, 1, tzinfo=OFFSET), None], "timestamp[us, tz=-03:30]"),
    "two zones": ([TIMES[0][0], datetime(2024, 1, 1, tzinfo=OFFSET)], ""),
    "an hour that is left out": ([datetime(2024, 3, 31, 2, 30, tzinfo=ZONE)], ""),
    "before all of UTC": ([datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2)))], ""),
    "seconds": ([datetime(2024, 1, 1, tzinfo=timezone(timedelta(seconds=7)))], ""),
    "beside text": ([TIMES[0][0], "x"], ""),
    "UTC by name": ([datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC"))], ""),
}


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_in_one_zone_keeps_it(name: str, to: str) -> None:
    """It became text, though the table has a type for it: what another program reads is times."""
    values, kind = COLUMNS[name]
    records = [{"t": value, "n": n} for n, value in enumerate(values)]
    table = converted(pickle.dumps(records), "pickle", to, threads=1)
    assert _types_of(table, to)["t"] == (kind or "string")
    stream = io.BytesIO(converted(table, to, "pickle"))
    again = [pickle.load(stream) for _ in records]
    wanted = [
        {**r, "t": r["t"].isoformat()} if isinstance(r["t"], datetime) and not kind else r
        for r in records
    ]
    assert difference(wanted, again) is None
    folds = [getattr(r["t"], "fold", None) for r in wanted]
    assert folds == [getattr(r["t"], "fold", None) for r in again]


@pytest.mark.parametrize("name", ["one offset", "two zones"])
def test_blocks_agree_on_a_zone(name: str) -> None:
    """Each block is in one zone, but not all are in the same."""
    pyarrow = pytest.importorskip("pyarrow")
    shape = ValueShape()
    for value in COLUMNS[name][0]:
        block = ValueShape()
        block.look([value], within=True)
        shape.merge(block)
    assert arrow_type(shape) == (
        pyarrow.string() if name == "two zones" else pyarrow.timestamp("us", "-03:30")
    )


def test_a_block_with_utc_beside_is_known_as_such() -> None:
    """Its times in UTC are no text, so that the column is not."""
    pytest.importorskip("pyarrow")
    utc = datetime(2024, 1, 1, tzinfo=UTC)
    shape, other = ValueShape(), ValueShape()
    shape.look([TIMES[0][0]], within=True)
    other.look([TIMES[0][0], utc], within=True)
    shape.merge(other)
    assert arrow_type(shape) is None


def test_beside_utc_they_are_json_text() -> None:
    """As any column of several types."""
    records = [{"t": TIMES[0][0]}, {"t": datetime(2024, 1, 1, tzinfo=UTC)}]
    table = converted(pickle.dumps(records), "pickle", "arrow", threads=1)
    assert _types_of(table, "arrow")["t"] == "extension<arrow.json>"


def test_a_zone_goes_from_table_to_table() -> None:
    """Of a pandas frame, as its users write it."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": pandas.date_range("2024-03-30", periods=3, tz="Europe/Berlin")})
    out = io.BytesIO()
    frame.to_parquet(out)
    for to in ("parquet", "arrow"):
        table = converted(out.getvalue(), "parquet", to)
        assert _types_of(table, to)["t"] == "timestamp[us, tz=Europe/Berlin]"
    again = pandas.read_parquet(io.BytesIO(converted(table, "arrow", "parquet")))
    assert (again["t"] == frame["t"]).all()


ONE = "timestamp[us, tz=+02:00]"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (
            ["2024-01-01T00:00:00+02:00", "", "2024-06-01T12:30:00+02:00"],
            "timestamp[us, tz=+02:00]",
        ),
        (["2024-01-01 00:00-11:30"], "timestamp[us, tz=-11:30]"),
        (["2024-01-01T00:00:00+02:00", "2024-01-01T00:00:00+01:00"], "string"),
        (["2024-01-01T00:00:00-00:00"], "string"),
        (["2024-01-01T00:00:00+24:00"], "string"),
        (["0001-01-01T00:00:00+02:00"], "string"),
    ],
)
def test_text_with_one_offset_is_a_time(cells: list[str], kind: str) -> None:
    """It was left as text by ``--infer``; and comes back as the same bytes."""
    text = "\n".join(["t,n", *(f"{cell},x" for cell in cells), ""]).encode()
    table = converted(text, "csv", "parquet", shaping=Shaping(infer=True))
    assert _types_of(table, "parquet")["t"] == kind
    assert converted(table, "parquet", "csv") == text
    assert converted(text, "csv", "msgpack", shaping=Shaping(infer=True))


def _types_of(table: bytes, to: str) -> dict[str, str]:
    pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    read = parquet.read_table if to == "parquet" else feather.read_table
    return {field.name: str(field.type) for field in read(io.BytesIO(table)).schema}


@pytest.mark.parametrize("zone", ["Europe/Berlin", "+02:00"])
def test_what_is_said_of_nanoseconds_in_a_zone_is_a_way(zone: str) -> None:
    """It was said that no format can hold them; that is known of no value that was not read."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"t": pa.array([1577836800000000001], pa.timestamp("ns", zone))})
    parquet.write_table(table, file := io.BytesIO())
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        converted(file.getvalue(), "parquet", "json", strict=True)
    assert caught.value.hint == "--lossy zones lets it go"
    text = converted(file.getvalue(), "parquet", "json", strict=True, lossy=["zones"])
    assert b".000000001+0" in text
