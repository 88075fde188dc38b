"""The effort dial as one table, from fastest to smallest.

What a step means for a codec is declared on the codec, with its level (``stage.Param.efforts``).
"""

from typing import NamedTuple

MIB = 1 << 20


class ColumnEffort(NamedTuple):
    """What a step of the dial means inside of columns."""

    text: int
    """zstd level for texts."""
    numbers: int
    """zstd level for arrays: short, hardly repeating; level 1 is often the smaller of the fast."""
    pco: int
    """Level of pcodec."""
    last: int
    """zstd level at which what was chosen is compressed again in the end; 0 for none."""
    lower: tuple[int, ...]
    """Levels of the steps before, at which frames are compressed again: some are smaller so, and
    no step of the dial shall be larger than the one before."""
    lzma: bool
    """Whether LZMA is tried then: smaller by a twentieth, at a tenth of the speed to read."""
    thorough: bool
    """Whether all that may be smaller is tried on the whole column, not on samples."""


class Effort(NamedTuple):
    """One step of the dial.

    ``min_saving``: the share of a block that the codec must save, or the block is stored. It is
    next to nothing: what is packed must not be larger than what zstd makes at that level, and
    little is saved by reading a block as it is (zstd reads what hardly shrank at 0.9 to 1.2 GB/s).
    ``least_gain``: what a filter must save beside the codec alone. Whoever reads a block back
    pays for it: a tenth saved pays on the way from what gives less than about 120 MB/s, a
    twentieth 60, a fiftieth 24. A fifth of that is asked of columns, which are read faster.
    ``columns``: how records are taken apart; ``by_itself``: whether ``auto`` does so. ``shared``:
    the step at which the codec takes small files that are packed together, in an archive or with a
    dictionary: to open them takes as long as that adds. What a dictionary holds levels below zstd:6
    hardly find: of seven kinds of small files, packed with one trained from others, zstd:8 leaves
    0.86 to 0.96 of what zstd:3 does, zstd:12 0.83 to 0.91; without one that leaves 0.91 to 0.97.
    ``slow``: codecs tried beside zstd for what has neither records nor numbers; none of the extras,
    which are not everywhere.
    """

    block_size: int
    min_saving: float
    least_gain: float
    columns: ColumnEffort
    shared: int
    by_itself: bool = True
    slow: tuple[str, ...] = ()


EFFORTS = {
    1: Effort(4 * MIB, 0.005, 0.1, ColumnEffort(1, 1, 4, 0, (), False, False), 1, by_itself=False),
    2: Effort(4 * MIB, 0.005, 0.1, ColumnEffort(2, 1, 5, 0, (), False, False), 2, by_itself=False),
    3: Effort(4 * MIB, 0.005, 0.1, ColumnEffort(3, 1, 6, 0, (), False, False), 6),
    4: Effort(4 * MIB, 0.005, 0.05, ColumnEffort(6, 1, 8, 0, (3,), False, False), 6),
    5: Effort(8 * MIB, 0.005, 0.05, ColumnEffort(8, 5, 8, 0, (3, 6), False, False), 7),
    6: Effort(8 * MIB, 0.005, 0.05, ColumnEffort(9, 5, 8, 12, (8,), False, True), 8),
    7: Effort(16 * MIB, 0.005, 0.02, ColumnEffort(11, 7, 9, 15, (12,), False, True), 8),
    8: Effort(16 * MIB, 0.005, 0.02, ColumnEffort(11, 7, 10, 19, (15,), False, True), 9),
    9: Effort(
        16 * MIB,
        0.0,
        0.0,
        ColumnEffort(15, 17, 12, 19, (15,), True, True),
        9,
        slow=("xz:9@1", "bz2:9"),
    ),
}
DEFAULT_EFFORT = 3
