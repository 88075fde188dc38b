"""Columns of pandas' own types, which are numbers to who does not know them: as the text by which
pandas calls their items."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from serialpack.errors import RefusedError, UnsupportedError
from serialpack.formats.tables import records as tables

_NAME, _ABOUT = b"ARROW:extension:name", b"ARROW:extension:metadata"
_KNOWN = {"pandas.period": "a period", "pandas.interval": "an interval"}


def spelled_columns(table: Any) -> Iterator[tuple[int, Any, str]]:
    """Number and text of each column of periods or intervals, and what an item of it is.

    UnsupportedError where pandas is not there, RefusedError for a frequency that it does not know.
    """
    for number, field in enumerate(table.schema):
        found = _extension(field)
        if found is not None:
            name, about = found
            yield number, _spelled(field.name, table.column(number), name, about), _KNOWN[name]


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
