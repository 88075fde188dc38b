"""A combination: what bench measures and makes a row of."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.stages.chain import Chain


class Combination(NamedTuple):
    """A chain, and how it is run. ``block_size``: the most bytes of source in a block;
    ``n``: the N of a sweep, else None. ``effort``: it is measured as ``pack -EFFORT`` packs, which
    chose the chain; None where the stages are named."""

    chain: Chain
    threads: int
    block_size: int
    n: int | None = None
    effort: int | None = None
