"""Times with nanoseconds: as ISO 8601 text of nine digits, natively where there are types, whole
microseconds as ever."""

from __future__ import annotations

import io
import json
import pickle
from datetime import UTC, datetime, timedelta
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.values.durations import duration_of, nanoseconds_in, nanoseconds_text
from serialpack.values.equality import difference
from serialpack.values.nanoseconds import DURATION, LOCAL_TIME, UTC_TIME, nanoseconds_of, time_of
from tests.conversion.converting import converted, records_of

COUNTS = [0, 1, -1, 999, 1000, -1001, 1704067200123456789, (1 << 63) - 1, -(1 << 63) + 1]
TIMES = np.array(["2024-01-01T00:00:00.123456789", "2024-01-01T00:00:01", "NaT"], "M8[ns]")
LENGTHS = np.array([1, -1001, 90_000_000_005_000], "m8[ns]")
TEXTS = ["2024-01-01T00:00:00.123456789", "2024-01-01T00:00:01", None]
PERIODS = ["PT0.000000001S", "-PT0.000001001S", "P1DT1H0.000005S"]


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def table() -> Any:
    """Times without a zone, in UTC, durations, and such within others."""
    pa = pytest.importorskip("pyarrow")
    local, length = pa.array(TIMES), pa.array(LENGTHS)
    utc = pa.array([1, 2000, None]).cast(pa.timestamp("ns", "UTC"))
    inner = pa.StructArray.from_arrays([local, utc], names=["local", "utc"])
    lists = pa.ListArray.from_arrays([0, 2, 2, 3], length)
    return pa.table({"t": local, "u": utc, "d": length, "s": inner, "l": lists})


def file_of(table: Any, name: str) -> bytes:
    file = io.BytesIO()
    if name == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, file)
    else:
        import pyarrow as pa

        with pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    return file.getvalue()


def table_in(data: bytes, name: str) -> Any:
    if name == "parquet":
        from pyarrow import parquet

        return parquet.read_table(io.BytesIO(data))
    import pyarrow as pa

    return pa.ipc.open_file(io.BytesIO(data)).read_all()


@pytest.mark.parametrize("kind", [UTC_TIME, LOCAL_TIME, DURATION])
def test_what_holds_a_time_counts_it(kind: str) -> None:
    for count in COUNTS:
        value = time_of(kind, count)
        assert nanoseconds_of(value) == count
        assert (type(value) in (datetime, timedelta)) is (count % 1000 == 0)


@pytest.mark.parametrize("year", [1677, 2263])
def test_beyond_64_bits_none_counts(year: int) -> None:
    with pytest.raises(OverflowError):
        nanoseconds_of(datetime(year, 1, 1, tzinfo=UTC))


def test_a_duration_of_nanoseconds_has_nine_digits() -> None:
    for count in COUNTS:
        text = nanoseconds_text(count)
        assert nanoseconds_in(text) == count, text
        if count % 1000:
            with pytest.raises(ValueError, match="P"):
                duration_of(text)


def test_an_array_of_times_becomes_text() -> None:
    assert json.loads(converted(npy(TIMES), "npy", "json")) == TEXTS
    assert json.loads(converted(npy(LENGTHS), "npy", "json")) == PERIODS
    two = np.array([TIMES[:2], TIMES[1:]]).astype(">M8[ns]")
    assert json.loads(converted(npy(two), "npy", "json")) == [TEXTS[:2], TEXTS[1:]]
    rows = np.zeros(2, [("id", "i4"), ("t", "M8[ns]")])
    rows["t"] = TIMES[:2]
    assert converted(npy(rows), "npy", "csv") == b"id,t\n" + b"".join(
        f"0,{text}\n".encode() for text in TEXTS[:2]
    )


def test_whole_microseconds_are_spelled_as_ever() -> None:
    whole = np.array(["2024-01-01T00:00:00.123456", "2024-01-01"], "M8[ns]")
    again = converted(npy(whole), "npy", "json")
    assert again == converted(npy(whole.astype("M8[us]")), "npy", "json")
    assert json.loads(again) == ["2024-01-01T00:00:00.123456", "2024-01-01T00:00:00"]


@pytest.mark.parametrize("source", ["parquet", "arrow"])
@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_tables_hold_them_by_their_types(source: str, target: str) -> None:
    made = table()
    again = table_in(converted(file_of(made, source), source, target), target)
    assert again.equals(made)
    assert again.schema.equals(made.schema)


def test_a_table_becomes_text() -> None:
    data = file_of(table(), "parquet")
    first, *_ = json.loads(converted(data, "parquet", "json"))
    assert first == {
        "t": TEXTS[0],
        "u": "1970-01-01T00:00:00.000000001+00:00",
        "d": PERIODS[0],
        "s": {"local": TEXTS[0], "utc": "1970-01-01T00:00:00.000000001+00:00"},
        "l": PERIODS[:2],
    }
    with pytest.raises(serialpack.ValueRefusedError):
        converted(data, "parquet", "json", strict=True)


@pytest.mark.parametrize("target", ["json", "ndjson"])
def test_tagged_gives_back_the_very_table(target: str) -> None:
    made = table()
    tagged = converted(file_of(made, "arrow"), "arrow", target, tagged=True)
    assert table_in(converted(tagged, target, "arrow", tagged=True), "arrow").equals(made)


def test_arrays_become_columns_and_columns_arrays() -> None:
    pytest.importorskip("pyarrow")
    rows = np.zeros(3, [("t", "M8[ns]"), ("d", "m8[ns]")])
    rows["t"], rows["d"] = TIMES, LENGTHS
    data = converted(npy(rows), "npy", "parquet")
    assert table_in(data, "parquet").equals(table().select(["t", "d"]))
    again = np.load(io.BytesIO(converted(data, "parquet", "npy")))
    assert again.tobytes() == rows.tobytes()
    assert again.dtype == rows.dtype


def test_what_messagepack_has_becomes_a_column() -> None:
    pa = pytest.importorskip("pyarrow")
    fine = msgpack.Timestamp(1, 2)
    data = msgpack.packb([{"t": fine}, {"t": datetime(2024, 1, 1, tzinfo=UTC)}], datetime=True)
    made = table_in(converted(data, "msgpack", "parquet"), "parquet")
    assert made.schema.field("t").type == pa.timestamp("ns", "UTC")
    assert difference(records_of(data, "msgpack")[0][0], {"t": fine}) is None
    assert converted(file_of(made, "arrow"), "arrow", "msgpack") == b"".join(
        msgpack.packb(record, datetime=True) for record in msgpack.unpackb(data)
    )


@pytest.mark.parametrize("other", [datetime(3000, 1, 1, tzinfo=UTC), datetime(2024, 1, 1), 5])
def test_beside_what_no_such_column_holds_it_is_text(other: Any) -> None:
    pytest.importorskip("pyarrow")
    records = [{"t": msgpack.Timestamp(1, 2)}, {"t": other}]
    data = converted(pickle.dumps(records), "pickle", "parquet")
    assert '"1970-01-01T00:00:01.000000002+00:00"' in table_in(data, "parquet")["t"].to_pylist()


def test_a_frame_becomes_text() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": TIMES, "d": LENGTHS})
    file = io.BytesIO()
    serialpack.convert(io.BytesIO(serialpack.dumps(frame)), file, to="csv")
    assert file.getvalue().decode().splitlines()[1] == f"{TEXTS[0]},{PERIODS[0]}"


@pytest.mark.parametrize("array", [np.array([1], "m8[ps]"), np.array([1], "M8[as]")])
def test_finer_times_are_refused(array: Any) -> None:
    with pytest.raises(serialpack.RefusedError, match="finer than nanoseconds"):
        converted(npy(array), "npy", "json")


def test_times_in_a_zone_with_nanoseconds_are_text_with_their_offset() -> None:
    """They were refused, whatever they were to become, and whatever was let go."""
    pa = pytest.importorskip("pyarrow")
    counts = [1_000_000_000_000_001, 2000, None, 10**9]
    zoned = pa.array(counts, pa.timestamp("ns", "Asia/Kolkata"))
    data = file_of(pa.table({"t": zoned}), "parquet")
    texts = [
        *("1970-01-12T19:16:40.000000001+05:30", "1970-01-01T05:30:00.000002+05:30"),
        *(None, "1970-01-01T05:30:01+05:30"),
    ]
    assert [row["t"] for row in json.loads(converted(data, "parquet", "json"))] == texts
    cells = "".join(f"{text or 'null'}\n" for text in texts)
    assert converted(data, "parquet", "csv") == f"t\n{cells}".encode()
    report = serialpack.convert(io.BytesIO(data), io.BytesIO(), to="sqlite", format="parquet")
    assert [(loss.rule, loss.count) for loss in report.carried] == [("zones", 3)]
    with pytest.raises(serialpack.ValueRefusedError, match="named zone"):
        converted(data, "parquet", "json", strict=True)
    whole = file_of(pa.table({"t": zoned[1:]}), "parquet")
    assert [row["t"] for row in json.loads(converted(whole, "parquet", "json"))] == texts[1:]


def test_times_of_day_with_nanoseconds_are_text() -> None:
    """As of polars, all whose times of day count these."""
    pa = pytest.importorskip("pyarrow")
    made = pa.table({"t": pa.array([2001, None, 3000, 86_399 * 10**9], pa.time64("ns"))})
    texts = ["00:00:00.000002001", None, "00:00:00.000003", "23:59:59"]
    for count, first in ((4, 0), (3, 1)):  # also where all are whole microseconds
        data = file_of(made.slice(first), "arrow")
        out = io.BytesIO()
        report = serialpack.convert(io.BytesIO(data), out, to="json", format="arrow")
        assert [row["t"] for row in json.loads(out.getvalue())] == texts[first:]
        assert [(loss.rule, loss.count) for loss in report.carried] == [("timestamps", count - 1)]
    again = table_in(converted(file_of(made, "arrow"), "arrow", "parquet"), "parquet")
    assert again.equals(made)
