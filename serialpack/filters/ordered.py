"""Ordered: floats as unsigned integers in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack.filters.integers import IntegerFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Ordered(IntegerFilter):
    """Byte layout: the data is ``n`` little-endian items of ``k`` bytes (1, 2, 4 or 8) and a rest
    of fewer than ``k`` bytes.

    An item with its highest bit set becomes the complement of all its bits, any other gets that
    bit: then floats of IEEE 754 are unsigned integers in the order of the numbers, and neighbours
    in value are neighbours as integers (Herf, Radix Tricks, 2001). NaN keeps all its bits. The rest
    stays at the end.
    """

    about = "floats as integers in the same order, whose differences are small; before delta"

    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        self._flipped(numbers, out, numbers)

    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        self._flipped(numbers, out, ~numbers)

    def _flipped(self, numbers: NDArray[Any], out: NDArray[Any], sign: NDArray[Any]) -> None:
        """Write to ``out`` the ``numbers``, all bits flipped where the highest bit of ``sign`` is
        set, else only the highest."""
        import numpy as np

        signed = sign.view(sign.dtype.str.replace("u", "i"))
        np.right_shift(signed, 8 * sign.itemsize - 1, out=out.view(signed.dtype))
        out |= out.dtype.type(1 << (8 * sign.itemsize - 1))
        out ^= numbers
