"""Byteswap: big-endian items as little-endian ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack.filters.integers import IntegerFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ByteSwap(IntegerFilter):
    """Byte layout: the data is ``n`` items of ``k`` bytes (1, 2, 4 or 8) and a rest of fewer.

    The bytes of each item are turned round; the rest stays at the end.
    """

    about = "big-endian numbers as little-endian ones; before filters that count with them"

    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        out[:] = numbers.byteswap()

    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        self.arranged(numbers, out)
