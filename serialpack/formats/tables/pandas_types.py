"""Columns for whose items Python has no type, as text: pandas' own types, which are numbers to who
does not know them, as it calls these; times of day, or in a zone, that have nanoseconds; and those
of ``far_times``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from serialpack.errors import RefusedError, UnsupportedError
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.far_times import INTERVAL, far_texts
from serialpack.formats.tables.nested_times import Within, interval_texts, of_texts
from serialpack.values.kinds import ARRAYS, TIMESTAMPS, ZONES

_NAME, _ABOUT = b"ARROW:extension:name", b"ARROW:extension:metadata"
_KNOWN = {"pandas.period": "a period", "pandas.interval": "an interval"}


def spelled_columns(table: Any) -> Iterator[tuple[int, Within, str, str]]:
    """Number and text of each column of periods or intervals, of times of day, or in another zone
    than UTC, with nanoseconds, of ``far_times``, or in which there are intervals of months; what an
    item of it is, and the rule by which it is text.

    UnsupportedError where pandas is not there, RefusedError for a frequency that it does not know.
    """
    for number, texts, what, rule in _whole_columns(table):
        yield number, of_texts(texts), what, rule
    for number, field in enumerate(table.schema):
        found = interval_texts(table.column(number)) if field.type.num_fields else None
        if found is not None:
            yield number, found, INTERVAL, TIMESTAMPS


def _whole_columns(table: Any) -> Iterator[tuple[int, Any, str, str]]:
    """As ``spelled_columns``, those of which each item is text."""
    is_a = tables.arrow().types
    for number, field in enumerate(table.schema):
        found, kind = _extension(field), field.type
        if found is not None:
            name, about = found
            texts = _spelled(field.name, table.column(number), name, about)
            yield number, texts, _KNOWN[name], ARRAYS
            continue
        if (far := far_texts(table.column(number))) is not None:
            yield number, *far
            continue
        is_zoned = is_a.is_timestamp(kind) and tables.is_fine_in_zone(kind)
        if not (is_zoned or (is_a.is_time64(kind) and kind.unit == "ns")):
            continue
        texts = _in_digits(table.column(number))
        if texts is not None:
            what = f"a time in {kind.tz}" if is_zoned else "a time of day in nanoseconds"
            yield number, texts, what, ZONES if is_zoned else TIMESTAMPS


def _in_digits(column: Any) -> Any:
    """The text of times; None where all are of whole microseconds, which Python has a type for, or
    the zone is not known."""
    pa, kind = tables.arrow(), column.type
    import pyarrow.compute as pc

    is_zoned = pa.types.is_timestamp(kind)
    try:
        column.cast(pa.timestamp("us", kind.tz) if is_zoned else pa.time64("us"))
    except pa.ArrowInvalid:
        pass
    else:
        return None
    try:
        if is_zoned:
            texts = pc.strftime(column, format="%Y-%m-%dT%H:%M:%S%Ez")
        else:
            texts = column.cast(pa.string())
    except (pa.ArrowException, ValueError):
        return None
    texts = pc.replace_substring_regex(texts, r"\.000000000", "")
    return pc.replace_substring_regex(texts, r"(\.\d{6})000", r"\1")


def _extension(field: Any) -> tuple[str, bytes] | None:
    """The name of pandas' type that a column has, and what is said of it."""
    if isinstance(field.type, tables.arrow().BaseExtensionType):  # known where pandas is
        name = field.type.extension_name
        about = field.type.__arrow_ext_serialize__() if name in _KNOWN else b""
        return (name, about) if name in _KNOWN else None
    said = field.metadata or {}
    name = said.get(_NAME, b"").decode("utf-8", "replace")
    return (name, said.get(_ABOUT, b"")) if name in _KNOWN else None


def _spelled(column_name: str, column: Any, name: str, about: bytes) -> Any:
    try:
        import pandas
    except ImportError:
        message = f"the column {column_name} is of {name}, which needs pandas"
        raise UnsupportedError(message, hint="pip install pandas") from None
    pa = tables.arrow()
    array = column.combine_chunks()
    array = array.storage if isinstance(array, pa.ExtensionArray) else array
    mask = array.is_null().to_pylist()
    try:
        said = json.loads(about)
        if name == "pandas.period":
            counts = array.fill_null(0).to_numpy()
            index: Any = pandas.PeriodIndex.from_ordinals(counts, freq=said["freq"])
        else:
            ends = (array.field(end).to_pandas() for end in ("left", "right"))
            index = pandas.IntervalIndex.from_arrays(*ends, closed=said["closed"])
        texts = [None if no else str(item) for item, no in zip(index, mask, strict=True)]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        hint = "unpack --fields takes the other columns; pandas.read_parquet may read it"
        message = f"the column {column_name} is of {name}, of which pandas says: {error}"
        raise RefusedError(message, hint=hint) from None
    return pa.array(texts, pa.string())
