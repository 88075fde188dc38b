"""Columns of times that Python has no type for, as ISO 8601 text: those beyond its years (1 to
9999), by expanded years of six digits as ECMAScript has them, and intervals of months."""

from __future__ import annotations

from typing import Any

from serialpack.formats.tables.library import arrow
from serialpack.values.durations import interval_text, nanoseconds_text
from serialpack.values.kinds import TIMESTAMPS, ZONES

#: What an item of such a column is.
INTERVAL = "an interval of months"

_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
_UTC = {"UTC", "+00:00"}


def far_texts(column: Any) -> tuple[Any, str, str] | None:
    """The text of such a column, what an item of it is, and the rule by which it is text; None
    where Python has a type for all that is in it."""
    pa = arrow()
    is_a, kind = pa.types, column.type
    if is_a.is_interval(kind):
        return texts_of_intervals(column), INTERVAL, TIMESTAMPS
    is_time = is_a.is_timestamp(kind) or is_a.is_date(kind)
    if not (is_time or is_a.is_duration(kind)) or _is_near(column):
        return None
    if is_a.is_duration(kind):
        times = _NANOSECONDS[kind.unit]
        made = [None if n is None else nanoseconds_text(n * times) for n in _counts(column)]
        return pa.array(made, pa.string()), "a duration beyond 292,000 years", TIMESTAMPS
    texts = _expanded(column)
    zone = getattr(kind, "tz", None)
    rule = TIMESTAMPS if zone is None or zone in _UTC else ZONES
    return texts, "a time beyond the year 9999 or before 1", rule


def texts_of_intervals(intervals: Any) -> Any:
    """The text of each interval of months in an array or a column."""
    items = intervals.to_pylist()
    return arrow().array(
        [None if i is None else interval_text(*i) for i in items], arrow().string()
    )


def _is_near(column: Any) -> bool:
    """Whether Python has values for the first and the last of the times in a column; for durations
    of 64 bits of microseconds it has."""
    import pyarrow.compute as pc

    kind = column.type
    if getattr(kind, "unit", "") == "ns":
        return True
    if arrow().types.is_duration(kind):
        try:
            column.cast(arrow().duration("us"))
        except arrow().ArrowInvalid:
            return False
        return True
    try:
        for end in pc.min_max(column).values():
            end.as_py()
    except (arrow().ArrowException, LookupError):  # a zone that is not known: that is said later
        return True
    except (ValueError, OverflowError):
        return False
    return True


def _counts(column: Any) -> list[int | None]:
    kind = column.type
    wide = arrow().int32() if arrow().types.is_date32(kind) else arrow().int64()
    counts: list[int | None] = column.cast(wide).to_pylist()
    return counts


def _expanded(column: Any) -> Any:
    """Each time as Python writes it, those beyond its years by the date in UTC."""
    import numpy as np

    kind, is_a = column.type, arrow().types
    unit: Any = "D" if is_a.is_date32(kind) else "ms" if is_a.is_date64(kind) else kind.unit
    offset = "+00:00" if getattr(kind, "tz", None) else ""
    made: list[str | None] = []
    for item, count in zip((i for c in column.chunks for i in c), _counts(column), strict=True):
        if count is None:
            made.append(None)
            continue
        try:
            made.append(item.as_py().isoformat())
        except (ValueError, OverflowError):
            text = str(
                np.datetime64(count, unit).astype("M8[D]")
                if is_a.is_date(kind)
                else np.datetime64(count, unit)
            )
            dash = text.index("-", 1)
            year = int(text[:dash])
            whole = text[:dash].zfill(4) if 0 <= year <= 9999 else f"{year:+07}"
            made.append(f"{whole}{_fraction(text[dash:])}{offset}")
    return arrow().array(made, arrow().string())


def _fraction(text: str) -> str:
    """The fraction of a second as Python writes it: of six digits, none where it is zero."""
    whole, _, digits = text.partition(".")
    return f"{whole}.{digits.ljust(6, '0')}" if digits.strip("0") else whole
