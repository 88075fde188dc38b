"""Transpose: the rows of a matrix as its columns."""

from __future__ import annotations

from serialpack.filters.base import Filter
from serialpack.stages.stage import Buffer, Param


class Transpose(Filter):
    """Byte layout: the data is ``n`` rows of ``m`` items of ``k`` bytes
    (``n = len // (k * m)``) and a rest.

    Item ``j`` of row ``i`` goes from ``i * m + j`` to ``j * n + i``, with its bytes in their order;
    the rest of less than a row stays at the end.
    """

    library = "numpy"
    params = (
        Param("itemsize", 1, 255, 4),
        Param("row", 2, 1 << 31, 0, mark="@"),
    )
    about = "the columns of a matrix one after another; for tables of numbers, channels"

    def _forward(self, data: Buffer) -> Buffer:
        return self._turned(data, back=False)

    def _backward(self, data: Buffer) -> Buffer:
        return self._turned(data, back=True)

    def _turned(self, data: Buffer, *, back: bool) -> Buffer:
        import numpy as np

        k, m = self.values
        n = len(data) // (k * m) if m else 0
        if n < 2:
            return data
        size = n * m * k
        items = np.frombuffer(data, np.uint8)
        out = np.empty_like(items)
        shape = (m, n) if back else (n, m)
        whole = np.dtype(f"V{k}")
        source = items[:size].view(whole).reshape(shape)
        out[:size].view(whole).reshape(shape[::-1])[:] = source.T
        out[size:] = items[size:]
        return out.data
