"""Times of Arrow that Python has no type for are ISO 8601 text: intervals of months, and times
beyond Python's years."""

from __future__ import annotations

import io
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import SerialpackError
from serialpack.values.durations import interval_text
from tests.conversion.converting import converted

pa = pytest.importorskip("pyarrow")


def file_of(**columns: Any) -> bytes:
    made, file = pa.table(columns), io.BytesIO()
    with pa.ipc.new_file(file, made.schema) as writer:
        writer.write_table(made)
    return file.getvalue()


def read(data: bytes) -> tuple[Any, dict[str, int]]:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, format="arrow", to="json")
    return json.loads(out.getvalue()), {loss.rule: loss.count for loss in report.carried}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((0, 0, 0), "PT0S"),
        ((14, 3, 14_706_789_000_000), "P1Y2M3DT4H5M6.789S"),
        ((12, 0, 0), "P1Y"),
        ((1, 0, 60 * 10**9), "P1MT1M"),
        ((-14, 0, 0), "P-1Y-2M"),
        ((-1, 40, -5), "P-1M40DT-0.000000005S"),
        ((0, 0, -3_600_500_000_000), "PT-1H-0.5S"),
        ((0, 0, 100 * 3600 * 10**9), "PT100H"),
    ],
)
def test_the_text_of_an_interval(parts: tuple[int, int, int], text: str) -> None:
    """As PostgreSQL (intervalstyle iso_8601) writes it; what is no multiple stays apart."""
    assert interval_text(*parts) == text


def test_intervals_are_carried_as_text() -> None:
    """They were objects of a class, which --lossy objects made lists of numbers."""
    items = [pa.MonthDayNano([14, 3, 5 * 10**8]), None, pa.MonthDayNano([0, -1, 0])]
    data = file_of(i=pa.array(items, pa.month_day_nano_interval()), n=[1, 2, 3])
    texts = ["P1Y2M3DT0.5S", None, "P-1D"]
    records, carried = read(data)
    assert [record["i"] for record in records] == texts
    assert carried == {"timestamps": 2}
    for to in "csv", "parquet", "sqlite", "msgpack", "yaml":
        again = json.loads(converted(converted(data, "arrow", to), to, "json"))
        assert [record["i"] or None for record in again] == texts
    with pytest.raises(SerialpackError, match="an interval of months became"):
        converted(data, "arrow", "json", strict=True)
    table = pa.ipc.open_file(converted(data, "arrow", "arrow")).read_all()
    assert table.column("i").to_pylist() == items


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_times_beyond_the_years_of_python_are_text(zone: str | None) -> None:
    """They were refused: no format here can."""
    seconds = [253402300800, 0, -62135596801, -62167219201, None]
    records, carried = read(file_of(t=pa.array(seconds, pa.timestamp("s", zone))))
    offset = "+00:00" if zone else ""
    near = {None: "1970-01-01T00:00:00", "UTC": "1970-01-01T00:00:00+00:00"}
    assert [record["t"] for record in records] == [
        f"+010000-01-01T00:00:00{offset}",
        near.get(zone, "1970-01-01T01:00:00+01:00"),
        f"0000-12-31T23:59:59{offset}",
        f"-000001-12-31T23:59:59{offset}",
        None,
    ]
    assert carried == {"zones" if zone == "Europe/Berlin" else "timestamps": 4}


def test_of_such_a_time_each_digit_is_there() -> None:
    count = 2**62 + 1
    records, _ = read(file_of(t=pa.array([count, 2**60 - 2**60 % 1000], pa.timestamp("us"))))
    assert records[0]["t"] == "+" + str(np.datetime64(count, "us"))
    records, _ = read(file_of(t=pa.array([2**58, 999], pa.timestamp("ms"))))
    assert [record["t"][-7:] for record in records] == ["711.744000"[-7:], ".999000"]


@pytest.mark.parametrize("kind", ["date32", "date64"])
def test_dates_and_durations_beyond_those_of_python(kind: str) -> None:
    days = 10**7 * (86_400_000 if kind == "date64" else 1)
    width = pa.int64() if kind == "date64" else pa.int32()
    dates = pa.array([days, 0], width).cast(kind)
    lengths = pa.array([86400 * 10**9, -1], pa.duration("s"))
    records, carried = read(file_of(d=dates, l=lengths))
    assert records == [
        {"d": "+029349-01-26", "l": "P1000000000D"},
        {"d": "1970-01-01", "l": "-PT1S"},
    ]
    assert carried == {"timestamps": 4}


def test_the_last_hour_of_the_year_9999_in_a_zone_ahead() -> None:
    """Python has the instant, and not the time of day there."""
    column = pa.array([253402300799], pa.timestamp("s", "Europe/Berlin"))
    assert read(file_of(t=column))[0] == [{"t": "9999-12-31T23:59:59+00:00"}]


def test_intervals_in_structs_and_lists_are_text() -> None:
    """They were refused, or lists of numbers with --lossy objects."""
    some = [pa.MonthDayNano([0, n, 0]) for n in range(4)]
    items = pa.array([None, *some[1:]], pa.month_day_nano_interval())
    lists = pa.ListArray.from_arrays(pa.array([0, 0, 3, None, 4], pa.int32()), items)
    fixed = pa.FixedSizeListArray.from_arrays(items, 2).take(pa.array([0, None, 1, 1]))
    below = pa.StructArray.from_arrays(
        [lists, pa.array(range(4), pa.int8())], ["l", "n"], mask=pa.array([False] * 3 + [True])
    )
    texts = [[], [None, "P1D", "P2D"], ["P3D"], None]
    for first in 0, 1:  # a slice has its own offsets
        kind = pa.list_(items.type) if first else pa.large_list(items.type)
        columns = {"s": below, "l": lists.cast(kind), "f": fixed}
        data = file_of(**{name: column.slice(first) for name, column in columns.items()})
        records, carried = read(data)
        s = [{"l": text, "n": n} for n, text in enumerate(texts[:3])]
        assert [record["s"] for record in records] == [*s, None][first:]
        assert [record["l"] for record in records] == texts[first:]
        pairs = [[None, "P1D"], None, ["P2D", "P3D"], ["P2D", "P3D"]]
        assert [record["f"] for record in records] == pairs[first:]
        assert carried == {"timestamps": 3 + 3 + (4 if first else 5)}
    with pytest.raises(SerialpackError, match=r"record 1, \$\.s\.l\[1\].*an interval of months"):
        converted(file_of(s=below), "arrow", "json", strict=True)
    assert converted(file_of(l=lists[:1]), "arrow", "json", strict=True).split() == [
        *(b"[", b'{"l":[]}', b"]")
    ]
    for to in "csv", "parquet", "sqlite", "yaml":
        assert b"P2D" in converted(file_of(s=below), "arrow", to)


#: What DuckDB 2.0 wrote of [interval '1 month', null], {'a': interval '3 days', 'b': 1},
#: map {'x': interval '2 hours'} and interval '13 months 5 days 1.5 seconds', and a row of nulls.
PARQUET = (
    "UEFSMRUAFewBFUosFQYVABUGFQYAAHYYIQAAAEECAHYBAABBASUAC3YkAIIBACwBAAAAAAAAAAAAAAAVABWiARUu"
    "LBUEFQAVBhUGAABRGEEAAABBAgDuAQAJARwDAAAAAAAAABUAFZIBFSIsFQQVABUGFQYAAEkYQQAAAEECAPYBAAwB"
    "AAAAFQAVoAEVMCwVBBUAFQYVBgAAUDACAAAABABBAAAAQQIA9gEAEAEAAAB4FQAVrgEVMCwVBBUAFQYVBgAAVzAC"
    "AAAABABBAAAAQQMA/gEADQEI3W0AFQAVYhUyLBUEFQAVBhUGAAAxGCEAAABBAQB2AQAsDQAAAAUAAADcBQAAFQIZ"
    "zDUAGA1kdWNrZGJfc2NoZW1hFQgANQIYAWwVAhUGADUEGARsaXN0FQIAFQ4VGBUCGAdlbGVtZW50JSoANQIYAXMV"
    "BAAVDhUYFQIYAWElKgAVAiUCGAFiJSIANQIYAW0VAhUCADUEGAlrZXlfdmFsdWUVBAAVDCUAGANrZXklAAAVDhUY"
    "FQIYBXZhbHVlJSoAFQ4VGBUCGAFpJSoAFgQZHBlsJgAcFQ4ZFQAZOAFsBGxpc3QHZWxlbWVudBUCFgYWkAIWbiYI"
    "SRwVABUAFQIAAAAmABwVDhkVABkoAXMBYRUCFgQWxgEWUiZ2SRwVABUAFQIAAAAmABwVAhkVABkoAXMBYhUCFgQW"
    "tgEWRibIATwYBAEAAAAYBAEAAAAWAigEAQAAABgEAQAAABERABkcFQAVABUCAAAAJgAcFQwZFQAZOAFtCWtleV92"
    "YWx1ZQNrZXkVAhYEFsQBFlQmjgI8GAF4GAF4FgIoAXgYAXgREQAZHBUAFQAVAgAAACYAHBUOGRUAGTgBbQlrZXlf"
    "dmFsdWUFdmFsdWUVAhYEFtIBFlQm4gJJHBUAFQAVAgAAACYAHBUOGRUAGRgBaRUCFgQWhAEWVCa2A0kcFQAVABUC"
    "AAAAFqYJFgQmCBaCBAAZHBgcZHVja2RiLmludGVydmFsX2Jsb29tX2ZpbHRlchgNbm9ybWFsaXplZC12MQAYKER1"
    "Y2tEQiB2ZXJzaW9uIHYyLjAuMCAoYnVpbGQgZDU0Y2JiZTNkZikZbBwAABwAABwAABwAABwAABwAAABOAgAAUEFS"
    "MQ=="
)


@pytest.mark.parametrize("from_path", [False, True])
def test_intervals_of_parquet_have_their_name(from_path: bool, tmp_path: Path) -> None:
    """They were twelve bytes, as pyarrow reads them, and told as bytes."""
    path = tmp_path / "data.parquet"
    path.write_bytes(b64decode(PARQUET))
    source = path if from_path else io.BytesIO(path.read_bytes())
    out = io.BytesIO()
    report = serialpack.convert(source, out, format="parquet", to="ndjson")
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first == {
        "l": ["P1M", None],
        "s": {"a": "P3D", "b": 1},
        "m": {"x": "PT2H"},
        "i": "P1Y1M5DT1.5S",
    }
    assert set(second.values()) == {None}
    assert {loss.rule: loss.count for loss in report.carried} == {"timestamps": 4}


def test_intervals_of_parquet_have_their_type_in_arrow() -> None:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(b64decode(PARQUET)), out, format="parquet", to="arrow")
    table = pa.ipc.open_file(out.getvalue()).read_all()
    assert table.schema.field("i").type == pa.month_day_nano_interval()
    assert table["i"].to_pylist() == [pa.MonthDayNano([13, 5, 1_500_000_000]), None]


def test_intervals_in_maps_are_text() -> None:
    """They were objects of a class, as Python has no type for them."""
    items = pa.array(
        [pa.MonthDayNano([1, 2, 3]), None, pa.MonthDayNano([0, 1, 0])], pa.month_day_nano_interval()
    )
    maps = pa.MapArray.from_arrays([0, 0, 2, 3], pa.array(["a", "b", "c"]), items)
    lists = pa.ListArray.from_arrays([0, 1, 1, 3], maps)
    records, carried = read(file_of(m=maps, l=lists))
    assert [record["m"] for record in records] == [
        {},
        {"a": "P1M2DT0.000000003S", "b": None},
        {"c": "P1D"},
    ]
    assert [record["l"] for record in records][::2] == [[{}], [m["m"] for m in records[1:]]]
    assert carried == {"timestamps": 4}
    sliced, _ = read(file_of(m=maps[1:]))
    assert sliced == [{"m": record["m"]} for record in records[1:]]
