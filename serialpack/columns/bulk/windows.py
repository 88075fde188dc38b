"""Windows: the eight bytes at any place of the data as one integer, the first byte the lowest.

Through them a short value is one integer or two, and needs no loop over its bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The type of a window.
U64 = np.dtype("<u8")

#: The integer with all 64 bits set.
ALL_BITS = (1 << 64) - 1


def windows_of(data: NDArray[np.uint8], before: int, after: int) -> NDArray[Any]:
    """An array whose element i is the eight bytes of ``data`` from place i - ``before`` on.

    i goes from 0 to the size of ``data`` + ``after``; zeros stand before and behind ``data``.
    """
    room = np.zeros(before + len(data) + after + 8, np.uint8)
    room[before : before + len(data)] = data
    return np.ndarray((len(data) + after + 1,), U64, room, strides=(1,))
