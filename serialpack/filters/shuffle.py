"""Byte shuffle: the first bytes of all items, then the second bytes, and so on."""

from __future__ import annotations

from serialpack.filters.base import Filter
from serialpack.stages.stage import Buffer, Param

#: Bytes transposed at a time, so that they stay in the processor's cache.
_FORWARD_STEP = 32 << 10
_BACKWARD_STEP = 128 << 10


class Shuffle(Filter):
    """Byte layout: the data is ``n`` whole items of ``k`` bytes (``n = len // k``) and a rest.

    Byte ``j`` of item ``i`` goes from ``i * k + j`` to ``j * n + i``; the rest of fewer than
    ``k`` bytes stays at the end. Item size 1 changes nothing. Blosc's shuffle is the same.
    """

    library = "numpy"
    params = (Param("itemsize", 1, 255, 4),)
    about = "bytes of equal weight side by side; for numbers of fixed size"

    def _forward(self, data: Buffer) -> Buffer:
        import numpy as np

        k = self.values[0]
        n = len(data) // k
        if k == 1 or n < 2:
            return data
        items = np.frombuffer(data, np.uint8)
        out = np.empty_like(items)
        source, target = items[: n * k].reshape(n, k), out[: n * k].reshape(k, n)
        step = _FORWARD_STEP // k
        for start in range(0, n, step):
            target[:, start : start + step] = source[start : start + step].T
        out[n * k :] = items[n * k :]
        return out.data

    def _backward(self, data: Buffer) -> Buffer:
        import numpy as np

        k = self.values[0]
        n = len(data) // k
        if k == 1 or n < 2:
            return data
        items = np.frombuffer(data, np.uint8)
        out = np.empty_like(items)
        source, target = items[: n * k].reshape(k, n), out[: n * k].reshape(n, k)
        step = _BACKWARD_STEP // k
        for start in range(0, n, step):
            # Byte by byte: a transposed assignment writes k bytes at a time, which is slower.
            for j in range(k):
                target[start : start + step, j] = source[j, start : start + step]
        out[n * k :] = items[n * k :]
        return out.data
