"""Delta: each integer as its difference from the one before."""

from __future__ import annotations

from typing import Any

from serialpack.filters.integers import LaggedFilter


class Delta(LaggedFilter):
    """Byte layout: the data is ``n`` little-endian integers of ``k`` bytes (1, 2, 4 or 8) and a
    rest of fewer than ``k`` bytes.

    The first ``lag`` integers (1 where it is not set) stay as they are; every other becomes itself
    minus the one ``lag`` before it, modulo 2^(8k), so it does not matter whether they are signed.
    The rest stays at the end. One after another with the lags 1, the length of a row and the size
    of a plane they are the Lorenzo predictor: each item less what its neighbours in one, two or
    three dimensions foretell (Ibarria, Lindstrom, Rossignac, Szymczak, 2003).
    """

    about = "differences of integers, also of those rows apart; for counters, images, fields"

    @property
    def ufunc(self) -> Any:
        import numpy as np

        return np.subtract

    @property
    def inverse(self) -> Any:
        import numpy as np

        return np.add
