"""Zigzag: signed integers near zero as small unsigned ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack.filters.integers import IntegerFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Zigzag(IntegerFilter):
    """Byte layout: the data is ``n`` little-endian two's complement integers of ``k`` bytes (1, 2,
    4 or 8) and a rest of fewer than ``k`` bytes.

    0, -1, 1, -2, 2 become 0, 1, 2, 3, 4, as in Protocol Buffers: ``x`` becomes
    ``(x << 1) XOR (x >> (8k - 1))`` with an arithmetic shift. The rest stays at the end.
    """

    about = "small signed integers as small unsigned ones; behind delta"

    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        import numpy as np

        signed = numbers.view(numbers.dtype.str.replace("u", "i"))
        np.right_shift(signed, 8 * numbers.itemsize - 1, out=out.view(signed.dtype))
        out ^= numbers + numbers  # twice as fast as a shift, of bytes

    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        import numpy as np

        one = numbers.dtype.type(1)
        np.bitwise_and(numbers, one, out=out)
        np.negative(out, out=out)
        out ^= numbers >> one
