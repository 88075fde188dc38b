"""The effort dial as one table, from fastest to smallest."""

from __future__ import annotations

from typing import NamedTuple

MIB = 1 << 20


class Effort(NamedTuple):
    """One step of the dial."""

    zstd_level: int
    block_size: int


EFFORTS = {
    1: Effort(1, 4 * MIB),
    2: Effort(2, 4 * MIB),
    3: Effort(3, 4 * MIB),
    4: Effort(5, 4 * MIB),
    5: Effort(8, 8 * MIB),
    6: Effort(12, 8 * MIB),
    7: Effort(15, 16 * MIB),
    8: Effort(19, 16 * MIB),
    9: Effort(22, 16 * MIB),
}
DEFAULT_EFFORT = 3
