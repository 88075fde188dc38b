"""Scaled: floats that are multiples of a unit as the integers that count it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack.filters.integers import IntegerFilter
from serialpack.stages.stage import Param

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How many units make 1; and whether a count is multiplied by the unit, and not divided by that
#: number.
SCALE = Param("scale", 2, 1 << 30, 0, mark="@")
TIMES = Param("how", 1, 1, 0, mark="/", words=("times",))

#: Bytes of a float -> the limit below which integers, plus or minus, count units. As the bits of a
#: float these are next to zero, or NaN, which are no counts.
_LIMITS = {4: 1 << 22, 8: 1 << 50}

#: Items that are changed at a time, while they are in the processor's cache.
_AT_A_TIME = 1 << 15


class Scaled(IntegerFilter):
    """Byte layout: the data is ``n`` little-endian items of ``k`` bytes (4 or 8), floats of IEEE
    754, and a rest of fewer than ``k`` bytes.

    The integer ``m`` counts ``f(m) = m / s`` with the scale ``s`` (1 where it is not set), or
    ``m * (1 / s)`` by ``times``; ``s``, ``m``, ``1 / s`` and what is made of them are rounded to
    floats of ``k`` bytes. With ``|m| < 2^22`` (4 bytes) or ``2^50`` (8) an item that is ``f(m)``,
    bit for bit, becomes ``m`` in two's complement, and one that is such an ``m`` becomes ``f(m)``:
    no other item becomes either, and all of these stay. So it undoes itself, and any bytes come
    back. The rest stays at the end.
    """

    params = (Param("itemsize", 4, 8, 4, only=(4, 8)), SCALE, TIMES)
    about = "floats that are multiples, such as prices and shades, as integers; before delta"

    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        import numpy as np

        with np.errstate(all="ignore"):
            for start in range(0, len(numbers), _AT_A_TIME):
                some = numbers[start : start + _AT_A_TIME]
                out[start : start + _AT_A_TIME] = self._changed(some)

    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        self.arranged(numbers, out)

    def _changed(self, numbers: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        size = numbers.itemsize
        counts, limit = numbers.view(f"<i{size}"), _LIMITS[size]
        if -limit < counts.min() <= counts.max() < limit:
            return self._counted(counts)
        units = self._in_units(numbers.view(f"<f{size}"))
        np.rint(units, out=units)
        found = units.astype(counts.dtype)
        count = self._counted(found) == numbers
        if count.all() and -limit < units.min() <= units.max() < limit:
            return found.view(numbers.dtype)
        # NaN compares as False: it counts nothing.
        count &= np.abs(units) < limit
        changed: NDArray[Any] = np.where(count, found, counts).view(numbers.dtype)
        counting = (counts > -limit) & (counts < limit)
        changed[counting] = self._counted(counts[counting])
        return changed

    def _counted(self, counts: NDArray[Any]) -> NDArray[Any]:
        """The bits of the float ``f(m)`` for each ``m`` of ``counts``."""
        kind, scale = self._kind
        floats = counts.astype(kind)
        if self.values[2]:
            floats *= kind.type(1) / scale
        else:
            floats /= scale
        return floats.view(f"<u{kind.itemsize}")

    def _in_units(self, floats: NDArray[Any]) -> NDArray[Any]:
        """About how many units each of ``floats`` is: off by less than half a unit."""
        import numpy as np

        kind, scale = self._kind
        wide = floats.astype(np.float64)
        if self.values[2]:
            wide /= np.float64(kind.type(1) / scale)
        else:
            wide *= np.float64(scale)
        return wide

    @property
    def _kind(self) -> Any:
        """The type of the floats, and the scale as a float of that type."""
        import numpy as np

        kind = np.dtype(f"<f{self.values[0]}")
        return kind, kind.type(self.values[1] or 1)
