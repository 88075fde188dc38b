"""Xor: the bits in which each item differs from the one before."""

from __future__ import annotations

from typing import Any

from serialpack.filters.integers import LaggedFilter


class Xor(LaggedFilter):
    """Byte layout: the data is ``n`` items of ``k`` bytes (1, 2, 4 or 8) and a rest of fewer.

    The first ``lag`` items (1 where it is not set) stay as they are; every other becomes itself
    XOR the one ``lag`` before it. The rest stays at the end. Floats that change little share their
    sign, exponent and first bits with the one before (Pelkonen et al., Gorilla, 2015).
    """

    about = "bits that differ from the item before; for floats that hardly change"

    @property
    def ufunc(self) -> Any:
        import numpy as np

        return np.bitwise_xor

    @property
    def inverse(self) -> Any:
        return self.ufunc
