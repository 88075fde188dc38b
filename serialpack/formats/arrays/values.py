"""The items of an array as values of Python, each the very value, or a refusal."""

from __future__ import annotations

from typing import Any

from serialpack.errors import RefusedError


def values_of(array: Any) -> Any:
    """The items of ``array`` in lists, a record of several fields as a dict of them.

    RefusedError for items that Python has no value for.
    """
    names = array.dtype.names
    if names is None:
        return _plain(array)
    if array.ndim == 0:
        return {name: values_of(array[name]) for name in names}
    if array.ndim > 1:
        return [values_of(part) for part in array]
    columns = [values_of(array[name]) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(array: Any) -> Any:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if (kind == "f" and size > 8) or (kind == "c" and size > 16):
        raise _no_value(array, "floats of more than 64 bits")
    if kind in "mM":
        return _moments(array)
    return array.tolist()


def _moments(array: Any) -> Any:
    """Dates, datetimes and timedeltas; null for what is no time (NaT)."""
    import numpy as np

    exact = array.astype(array.dtype.newbyteorder("="))
    if np.datetime_data(array.dtype)[0] in ("ns", "ps", "fs", "as"):
        fine, exact = exact, exact.astype(f"{array.dtype.kind}8[us]")
        # By their bits: what is no time is equal to nothing, itself neither.
        if not np.array_equal(exact.astype(fine.dtype).view("i8"), fine.view("i8")):
            raise _no_value(array, "times finer than microseconds")
    found = exact.tolist()
    if any(type(value) is int for value in np.asarray(exact.astype(object)).ravel()):
        raise _no_value(array, "times without a unit, or beyond Python's years")
    return found


def _no_value(array: Any, what: str) -> RefusedError:
    return RefusedError(
        f"its items ({array.dtype.str}) are {what}, which no value holds",
        hint="pack -s raw keeps the bytes",
    )
