"""The effort dial as one table, from fastest to smallest."""

from __future__ import annotations

from typing import NamedTuple

MIB = 1 << 20


class Effort(NamedTuple):
    """One step of the dial.

    ``least_saving``: the share of a block that a stage must save, or the block is kept as it was.
    Whoever reads a block back pays for its stage: zstd reads what hardly shrank (an electron
    microscope's picture, noisy doubles) at 0.9 to 1.2 GB/s, whatever its level. So a tenth saved
    pays on the way from what gives less than about 120 MB/s, a twentieth 60, a fiftieth 24.
    ``columns``: whether ``auto`` takes records apart.
    """

    zstd_level: int
    block_size: int
    least_saving: float
    columns: bool = True


EFFORTS = {
    1: Effort(1, 4 * MIB, 0.1, columns=False),
    2: Effort(2, 4 * MIB, 0.1, columns=False),
    3: Effort(3, 4 * MIB, 0.1),
    4: Effort(5, 4 * MIB, 0.05),
    5: Effort(8, 8 * MIB, 0.05),
    6: Effort(12, 8 * MIB, 0.05),
    7: Effort(15, 16 * MIB, 0.02),
    8: Effort(19, 16 * MIB, 0.02),
    9: Effort(22, 16 * MIB, 0.0),
}
DEFAULT_EFFORT = 3
