"""A combination: what bench measures, and makes a row of."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.stages.chain import Chain


class Combination(NamedTuple):
    """A chain, and how it is run. ``n``: in a sweep, how many records (or what N counts)."""

    chain: Chain
    threads: int
    block_size: int
    n: int | None = None
