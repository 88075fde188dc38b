"""Arrays where size is all that counts: what takes too long."""

from __future__ import annotations

import numpy as np
import pytest

from serialpack.auto.arrays.for_layout import LayoutChoice
from serialpack.codecs import CODECS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import parse_stage

LAYOUT = NumbersLayout(0, "i", 4, False, (1,))


@pytest.mark.parametrize(("length", "level"), [(400_000, 22), (7_200_000, 19)])
def test_the_highest_level_is_for_few_labels(length: int, level: int) -> None:
    """Of a volume of them it took ten times as long as LZMA."""
    sample = np.repeat(np.arange(1000, dtype="<i4"), 40).tobytes()
    chain = LayoutChoice(LAYOUT, [sample], length, parse_stage(CODECS, "zstd:22"), 9)
    assert chain.of_runs([sample])._codec.values[0] == level
