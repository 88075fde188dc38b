"""Bit shuffle: the lowest bits of all items, then the next bits, and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serialpack.filters.base import Filter
from serialpack.stages.stage import Buffer, Param

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Bytes transposed at a time, so that they stay in the processor's cache.
_STEP = 128 << 10


class BitShuffle(Filter):
    """Byte layout: the data is ``g`` groups of 8 items of ``k`` bytes and a rest shorter than one.

    Bit ``b`` of byte ``j`` of item ``i`` (bit 0 is the lowest; ``g = len // (8 * k)``,
    ``i < 8 * g``) becomes bit ``i % 8`` of byte ``(8 * j + b) * g + i // 8``. So the output is
    ``8 * k`` rows of ``g`` bytes, the lowest bits of the items' first bytes first. The rest of
    fewer than ``8 * k`` bytes stays at the end. It is the layout of the bitshuffle library
    for one block that holds it all, and Blosc's.
    """

    library = "numpy"
    params = (Param("itemsize", 1, 255, 4),)
    about = "bits of equal weight side by side; for numbers that use few of their bits"

    def _forward(self, data: Buffer) -> Buffer:
        import numpy as np

        k = self.values[0]
        g = len(data) // (8 * k)
        if not g:
            return data
        whole = g * 8 * k
        items = np.frombuffer(data, np.uint8)
        out = np.empty_like(items)
        source, target = items[:whole].reshape(g, 8, k), out[:whole].reshape(k, 8, g)
        step = _STEP // (8 * k)
        for start in range(0, g, step):
            octets = source[start : start + step].transpose(2, 0, 1).copy()
            _transpose_bits(octets.view("<u8"))
            target[:, :, start : start + step] = octets.transpose(0, 2, 1)
        out[whole:] = items[whole:]
        return out.data

    def _backward(self, data: Buffer) -> Buffer:
        import numpy as np

        k = self.values[0]
        g = len(data) // (8 * k)
        if not g:
            return data
        whole = g * 8 * k
        items = np.frombuffer(data, np.uint8)
        out = np.empty_like(items)
        source, target = items[:whole].reshape(k, 8, g), out[:whole].reshape(g, 8, k)
        step = _STEP // (8 * k)
        for start in range(0, g, step):
            octets = source[:, :, start : start + step].transpose(0, 2, 1).copy()
            _transpose_bits(octets.view("<u8"))
            # Byte by byte: a transposed assignment writes k bytes at a time, which is slower.
            for j in range(k):
                target[start : start + step, :, j] = octets[j]
        out[whole:] = items[whole:]
        return out.data


def _transpose_bits(octets: NDArray[np.uint64]) -> None:
    """Transpose each u64 in place as 8 by 8 bits: bit ``b`` of byte ``i`` and bit ``i`` of ``b``.

    Three rounds that swap the off-diagonal 1x1, 2x2 and 4x4 squares (Hacker's Delight, 7-3).
    """
    import numpy as np

    swap = np.empty_like(octets)
    for shift, mask in (
        (7, 0x00AA00AA00AA00AA),
        (14, 0x0000CCCC0000CCCC),
        (28, 0x00000000F0F0F0F0),
    ):
        np.right_shift(octets, shift, out=swap)
        swap ^= octets
        swap &= mask
        octets ^= swap
        swap <<= shift
        octets ^= swap
