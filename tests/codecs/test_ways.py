"""What pieces and samples of numbers tell of how pcodec is to look at all of them."""

from __future__ import annotations

import numpy as np

from serialpack.codecs import CODECS, ways
from serialpack.codecs.chunks import CONVOLVED, NO_OP, ChunkWay
from serialpack.stages.chain import parse_stage


def test_where_samples_join_is_no_difference() -> None:
    """The jump from one to the next would take bins from all others: 1 % more of a walk's samples
    was told than of one piece of it."""
    walk = np.cumsum(np.random.default_rng(1).normal(scale=100, size=500_000)).astype("<i4")
    samples = np.concatenate([walk[start : start + 32_000] for start in (9_000, 240_000, 450_000)])
    spec = parse_stage(CODECS, "pcodec:9@i4")
    told = CODECS.create(*spec).estimated(samples.tobytes(), walk.nbytes, 3) / samples.nbytes
    left = len(CODECS.create(*spec).compress(walk.tobytes())) / walk.nbytes
    assert left <= told < 1.006 * left


def test_what_is_said_once_of_a_chunk_is_not_asked_of_pieces() -> None:
    """How bytes are foretold from 16 before each takes 1 % of what pieces of them take."""
    noise = np.random.default_rng(1).normal(scale=14, size=200_001)
    data = np.round(noise[1:] - 0.55 * noise[:-1]).clip(-127, 127).astype("i1")
    plain, so = (ways._left(data, ChunkWay(delta=delta)) for delta in (NO_OP, (CONVOLVED, 16)))
    assert so < 0.97 * plain
    assert ways.way_of(data, 9).delta == (CONVOLVED, 16)
