"""The items of an array as values of Python, each the very value, or a refusal."""

from __future__ import annotations

import math
import sys
from itertools import takewhile
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.shared.document import Malformed
from serialpack.values.nanoseconds import DURATION, LOCAL_TIME, time_of

#: The most lists and items that take no byte: nothing but numbers in the header say how many there
#: are.
_MOST_WEIGHTLESS = 1 << 20


def values_of(array: Any) -> Any:
    """The items of ``array`` in lists, a record of several fields as a dict of them.

    RefusedError for items that Python has no value for, Malformed for text that is none, and for
    more lists or items without a byte than any array is made for.
    """
    if not array.nbytes:
        count = math.prod(takewhile(bool, array.shape))
        if count > _MOST_WEIGHTLESS:
            raise Malformed(f"{count} rows of no bytes", 0)
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
    if (kind == "f" and size < 8) or (kind == "c" and size < 16):
        _check_widened(array)
    if kind in "mM":
        return _moments(array)
    if kind == "U":
        _check_characters(array)
    return array.tolist()


def _check_widened(array: Any) -> None:
    """RefusedError for a NaN that is another one as a double: the processor makes a signalling NaN
    a quiet one."""
    import numpy as np

    part = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    floats = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.byteorder}f{part}")
    if not np.isnan(floats).any():
        return
    with np.errstate(invalid="ignore"):
        again = floats.astype("f8").astype(floats.dtype)
    if again.tobytes() != floats.tobytes():
        raise _no_value(array, "NaN that signals")


def _check_characters(array: Any) -> None:
    """Malformed where a number in the text is no character: NumPy would make a str of it all the
    same."""
    import numpy as np

    if array.size and array.dtype.itemsize:
        codes = np.ascontiguousarray(array).reshape(-1).view(array.dtype.byteorder + "u4")
        if codes.max() > sys.maxunicode:
            raise Malformed(f"its text has a character {codes.max():#x}, which there is not", 0)


def _moments(array: Any) -> Any:
    """Dates, datetimes and timedeltas; null for what is no time (NaT)."""
    import numpy as np

    exact = array.astype(array.dtype.newbyteorder("="))
    unit = np.datetime_data(array.dtype)[0]
    if unit == "generic":  # NumPy makes null of such a time
        raise _no_value(array, "times without a unit")
    if unit in ("ns", "ps", "fs", "as"):
        micro = _coarser(exact, "us")
        if micro is None:
            return _nanoseconds(array, exact)
        exact = micro
    found = exact.tolist()
    if any(type(value) is int for value in np.asarray(exact.astype(object)).ravel()):
        raise _no_value(array, "times beyond Python's years, or of other units")
    return found


def _coarser(array: Any, unit: str) -> Any:
    """``array`` in a coarser unit; None where some time is no whole number of it."""
    import numpy as np

    made = array.astype(f"{array.dtype.kind}8[{unit}]")
    # By their bits: NaT is not equal to itself.
    same = np.array_equal(made.astype(array.dtype).view("i8"), array.view("i8"))
    return made if same else None


def _nanoseconds(array: Any, exact: Any) -> Any:
    """As ``_moments``, of times some of which have nanoseconds. ``exact``: ``array`` in the
    machine's order of bytes."""
    import numpy as np

    fine = _coarser(exact, "ns")
    if fine is None:
        raise _no_value(array, "times finer than nanoseconds")
    kind = LOCAL_TIME if array.dtype.kind == "M" else DURATION
    found = np.full(array.shape, None)
    is_time = ~np.isnat(fine)
    for place, count in zip(np.argwhere(is_time), fine[is_time].view("i8").tolist(), strict=True):
        found[tuple(place)] = time_of(kind, count)
    return found.tolist()


def _no_value(array: Any, what: str) -> RefusedError:
    return RefusedError(
        f"its items ({array.dtype.str}) are {what}, which no value holds",
        hint="pack -s raw keeps the bytes",
    )
