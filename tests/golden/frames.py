"""What the golden files of tables of Arrow, of frames of pandas and of polars hold."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

#: Extension type 20.
TABLE = pa.table({"n": [1, None], "s": ["x", "é"]})

#: Types 21 and 22: a range and times as the index, texts, numbers and times as columns.
PANDAS = (
    pd.DataFrame({"a": [1.5, float("nan")], "s": ["x", None]}),
    pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2020-01-01", periods=2, tz="UTC")),
    pd.Series(pd.DatetimeIndex(["2020-01-01", None], tz="UTC"), name="when"),
)

#: Type 30: each kind of index, column and scalar that has a word of its own; notes and flags.
_LEVELS = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None])
_COLUMNS = {
    "objects": pd.Series(["x", (1, None)], dtype=object),
    "masked": pd.array([1, None], dtype="Int64"),
    "strings": pd.array(["x", None], dtype=pd.StringDtype("python")),
    "category": pd.Categorical(["x", None], categories=["y", "x"], ordered=True),
    "times": pd.DatetimeIndex(["2020-01-01", None], tz="Europe/Berlin").as_unit("us"),
    "period": pd.PeriodIndex(["2020-01", None], freq="M"),
    "interval": pd.IntervalIndex.from_breaks([0.5, 1, 2], closed="left"),
    "sparse": pd.arrays.SparseArray([0, 1]),
    "arrow": pd.array([1, None], dtype="int64[pyarrow]"),
}
WORDS = (
    pd.DataFrame({name: pd.Series(column, index=_LEVELS) for name, column in _COLUMNS.items()}),
    pd.Series([1, 2], index=pd.date_range("2020-01-01", periods=2, freq="D", unit="us"), name="n"),
    pd.RangeIndex(1, 9, 2, name="r"),
    pd.Timestamp("2020-01-01", tz="UTC"),
    pd.Timedelta(5),
    pd.Period("2020-01", "M"),
    pd.Interval(0, 1),
    pd.NaT,
    pd.NA,
)
WORDS[0].attrs["unit"] = "m"

#: Types 31 and 32.
PIECES = (
    pa.record_batch({"a": [1]}),
    pa.array([1, None]),
    pa.chunked_array([[1], [2]]),
    pa.scalar("x"),
    pa.schema({"a": pa.int8()}),
    pa.list_(pa.int8()),
)
