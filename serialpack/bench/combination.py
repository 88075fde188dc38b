"""What a row of bench is of."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.stages.chain import Chain


class Combination(NamedTuple):
    """A chain, and how it is run. ``n``: of a sweep, with how much."""

    chain: Chain
    threads: int
    block_size: int
    n: int | None = None
