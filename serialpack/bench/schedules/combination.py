"""A combination: what bench measures and makes a row of."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.stages.chain import Chain


class Combination(NamedTuple):
    """A chain, and how it is run. ``block_size``: the most bytes of source in a block;
    ``n``: the N of a sweep, else None."""

    chain: Chain
    threads: int
    block_size: int
    n: int | None = None
