"""The choice of a chain, and its reason. The effort dial is one table."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.chain import Chain, StageSpec, parse_stage
from serialpack.codecs import CODECS
from serialpack.errors import UsageError
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS

MIB = 1 << 20


class Effort(NamedTuple):
    """One step of the dial from fastest to smallest."""

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


class Choice(NamedTuple):
    """A chain, the size of its blocks in bytes, and why these."""

    chain: Chain
    block_size: int
    why: str


def choose(
    serializer: str = "auto",
    filters: tuple[str, ...] = (),
    codec: str = "auto",
    *,
    effort: int = DEFAULT_EFFORT,
) -> Choice:
    """Fill in what the user left to ``auto``. UsageError for an unknown stage or effort."""
    if effort not in EFFORTS:
        raise UsageError(f"effort {effort} is not one of {min(EFFORTS)} to {max(EFFORTS)}")
    step = EFFORTS[effort]
    why = []
    if serializer == "auto":
        serializer = "raw"
        why.append("raw keeps the very bytes")
    if codec == "auto":
        chosen = StageSpec("zstd", (step.zstd_level,))
        why.append(f"zstd at the level of effort -{effort}, any zstd tool unpacks it")
    else:
        chosen = parse_stage(CODECS, codec)
    chain = Chain(
        parse_stage(SERIALIZERS, serializer),
        tuple(parse_stage(FILTERS, f) for f in filters),
        chosen,
    )
    return Choice(chain, step.block_size, "; ".join(why) or "as asked for")
