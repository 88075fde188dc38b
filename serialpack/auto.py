"""The choice of a chain, and its reason."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.chain import Chain, StageSpec, parse_stage
from serialpack.codecs import CODECS
from serialpack.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.errors import UsageError
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS


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
    first = parse_stage(SERIALIZERS, serializer)
    if SERIALIZERS.cls(first.name).compresses:
        if serializer == first.name:
            first = first._replace(values=(effort,))
        if codec == "auto":
            codec = "none"
            why.append(f"{first.name} compresses what it writes")
    if codec == "auto":
        chosen = StageSpec("zstd", (step.zstd_level,))
        why.append(f"zstd at the level of effort -{effort}, any zstd tool unpacks it")
    else:
        chosen = parse_stage(CODECS, codec)
    chain = Chain(first, tuple(parse_stage(FILTERS, f) for f in filters), chosen)
    return Choice(chain, step.block_size, "; ".join(why) or "as asked for")
