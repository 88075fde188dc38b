"""Arrays where size is all that counts: what samples hardly tell, and what takes too long."""

from __future__ import annotations

import numpy as np
import pytest

from serialpack.auto.arrays.for_layout import LayoutChoice
from serialpack.auto.arrays.trial import ArrayChain, of_all
from serialpack.codecs import CODECS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import parse_stage

LAYOUT = NumbersLayout(0, "i", 4, False, (1,))


@pytest.mark.parametrize(("share", "changes"), [(0.102, True), (0.104, False)])
def test_all_numbers_tell_where_samples_hardly_do(share: float, *, changes: bool) -> None:
    """pcodec was taken for an image whose samples said that it leaves 0.6 % less than zstd, which
    left 3 % less of all."""
    data = np.tile(np.random.default_rng(1).integers(0, 1 << 30, 999), 200).astype("<i4").tobytes()
    zstd = parse_stage(CODECS, "zstd:3")
    chain = LayoutChoice(LAYOUT, [data[:4000]], len(data), zstd, 9, data)
    numbers = ArrayChain((), parse_stage(CODECS, "pcodec@i4"), 0.1)
    matches = ArrayChain((), zstd, share)
    found = chain._of_all(numbers, [numbers, matches])
    assert found.codec == (matches if changes else numbers).codec
    assert found.payload == (of_all(data, matches).payload if changes else None)


@pytest.mark.parametrize(("length", "level"), [(400_000, 22), (7_200_000, 19)])
def test_the_highest_level_is_for_few_labels(length: int, level: int) -> None:
    """Of a volume of them it took ten times as long as LZMA."""
    sample = np.repeat(np.arange(1000, dtype="<i4"), 40).tobytes()
    chain = LayoutChoice(LAYOUT, [sample], length, parse_stage(CODECS, "zstd:22"), 9)
    assert chain.of_runs([sample])._codec.values[0] == level
