"""The least and the greatest item of an array, of its bytes as they come."""

from __future__ import annotations

from typing import Any, NamedTuple

from serialpack.formats.arrays.header import ArrayHeader, missing_bytes
from serialpack.formats.arrays.types import dtype_of
from serialpack.stages.stage import Buffer

#: A number, a boolean, or text: a time (ISO 8601), ``Infinity`` or ``-Infinity``.
Extreme = int | float | bool | str


class NumberRange(NamedTuple):
    """The ``least`` and the ``greatest`` of some items, both None where none is a number; ``nan``:
    how many are none (NaN, or NaT, which is no time)."""

    least: Extreme | None = None
    greatest: Extreme | None = None
    nan: int = 0


class Unordered(Exception):
    """Why items have no least and no greatest, or none that is looked for."""


class RangeFinder:
    """Finds the range of items, whose bytes are given piece by piece from the first item on."""

    def __init__(self, header: ArrayHeader) -> None:
        """Unordered for items that are not in an order of numbers."""
        if not isinstance(header.descr, str):
            raise Unordered("its items are records")
        try:
            self._dtype = dtype_of(header.descr)
        except ValueError:
            raise Unordered("its items are of no type that is read") from None
        if self._dtype.kind not in "biufmM":
            words = {"c": "complex numbers have no order"}
            raise Unordered(words.get(self._dtype.kind, "its items are no numbers"))
        if self._dtype.kind in "mM" and self._dtype.str[-1] != "]":
            raise Unordered("its times have no unit")
        #: Bytes of all the items.
        self.size = header.bytes_of_items
        self._left = self.size
        self._rest = b""
        self._found: tuple[Any, Any] | None = None
        self._nan = 0

    def add(self, data: Buffer) -> None:
        """The next bytes of the items; those behind the last one are passed over."""
        import numpy as np

        view = memoryview(data)[: self._left]
        self._left -= len(view)
        whole = self._rest + bytes(view) if self._rest else view
        count = len(whole) // self._dtype.itemsize
        self._rest = bytes(whole[count * self._dtype.itemsize :])
        if not count:
            return
        items = np.frombuffer(whole, self._dtype, count)
        items = items.astype(self._dtype.newbyteorder("="), copy=False)
        if self._dtype.kind in "fmM":
            none = np.isnan(items) if self._dtype.kind == "f" else np.isnat(items)
            if missing := int(np.count_nonzero(none)):
                self._nan += missing
                items = items[~none]
        if len(items):
            both = items.min(), items.max()
            if self._found is not None:
                both = min(both[0], self._found[0]), max(both[1], self._found[1])
            self._found = both

    def range(self) -> NumberRange:
        """The range of all the items; Unordered where the bytes of some were not given."""
        if self._left:
            raise Unordered(missing_bytes(self._left))
        if self._found is None:
            return NumberRange(nan=self._nan)
        least, greatest = map(_plain, self._found)
        return NumberRange(least, greatest, self._nan)


def _plain(item: Any) -> Extreme:
    if item.dtype.kind in "mM":
        return str(item)
    value: Extreme = item.item() if item.dtype.itemsize <= 8 else float(item)
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value
