"""What the golden file of tables of Arrow, frames and series of pandas holds."""

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
