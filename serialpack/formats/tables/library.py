"""pyarrow, imported when a table is read or written."""

from __future__ import annotations

from functools import cache
from typing import Any

from serialpack.errors import MissingLibraryError
from serialpack.stages.stage import import_library
from serialpack.without_pandas import spare_pandas


@cache
def arrow() -> Any:
    pyarrow = import_library("pyarrow", "arrow")
    spare_pandas(pyarrow)
    return pyarrow


@cache
def arrow_if_there() -> Any:
    """pyarrow, with what computes with its arrays; None where it is not installed."""
    try:
        found = arrow()
    except MissingLibraryError:
        return None
    import_library("pyarrow.compute", "arrow")
    return found


def scalar(value: float | str | None) -> Any:
    """A value for what computes with arrays, where a word of Python's own would do: of that pyarrow
    asks for the type, for which it imports pandas, where that is installed."""
    pa = arrow()
    kind = {int: pa.int64(), float: pa.float64()}.get(type(value), pa.string())
    return pa.scalar(value, kind)


@cache
def _plain() -> frozenset[int]:
    lib = arrow().lib
    return frozenset(
        getattr(lib, f"Type_{name}") for name in ("BOOL", "INT64", "DOUBLE", "STRING", "BINARY")
    )


def is_plain(kind: Any) -> bool:
    """Whether Python holds values of type ``kind`` as they are, and each has bytes of its own.

    True only for the usual types, told by their number in a tenth of the time that asking for each
    takes.
    """
    return kind.id in _plain()


def is_flat(schema: Any) -> bool:
    """Whether all columns are of usual types whose values hold no others, and have names of their
    own."""
    return len(set(schema.names)) == len(schema) and all(map(_is_flat, schema.types))


def _is_flat(kind: Any) -> bool:
    is_a = arrow().types
    return is_plain(kind) or bool(
        is_a.is_integer(kind)
        or is_a.is_floating(kind)
        or is_a.is_decimal(kind)
        or is_a.is_temporal(kind)
        or is_a.is_large_string(kind)
        or is_a.is_null(kind)
    )


def is_view(kind: Any) -> bool:
    """Whether values of type ``kind`` are views: texts or bytes, many of which may lie in one
    place."""
    return kind in (arrow().string_view(), arrow().binary_view())


def view_lengths(array: Any) -> Any:
    """The bytes of each value in an array of views, as an array of NumPy."""
    import numpy as np

    heads = array.buffers()[1]
    if heads is None:
        return np.zeros(0, "i8")
    # Of the 16 bytes of each, the first four are the length.
    lengths = np.frombuffer(heads, "<i4")[::4][array.offset : array.offset + len(array)]
    return lengths.clip(min=0).astype("i8")
