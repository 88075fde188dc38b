"""Delta: each integer as its difference from the one before."""

from __future__ import annotations

from serialpack.filters.base import Filter
from serialpack.stages.stage import Buffer, Param


class Delta(Filter):
    """Byte layout: the data is ``n`` little-endian integers of ``k`` bytes (1, 2, 4 or 8) and a
    rest of fewer than ``k`` bytes.

    The first integer stays as it is; every other becomes itself minus the one before it, modulo
    2^(8k), so it does not matter whether they are signed. The rest stays at the end.
    """

    library = "numpy"
    params = (Param("itemsize", 1, 8, 4, only=(1, 2, 4, 8)),)
    about = "differences of integers; for counters, sorted keys, time stamps"

    def forward(self, data: Buffer) -> Buffer:
        import numpy as np

        k = self.values[0]
        n = len(data) // k
        if n < 2:
            return data
        out = bytearray(data)
        numbers = np.frombuffer(data, f"<u{k}", n)
        np.subtract(numbers[1:], numbers[:-1], out=np.frombuffer(out, f"<u{k}", n)[1:])
        return out

    def backward(self, data: Buffer) -> Buffer:
        import numpy as np

        k = self.values[0]
        n = len(data) // k
        if n < 2:
            return data
        out = bytearray(data)
        numbers = np.frombuffer(data, f"<u{k}", n)
        np.add.accumulate(numbers, out=np.frombuffer(out, f"<u{k}", n))
        return out
