"""Arrays where size is all that counts: what takes too long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from serialpack.auto.arrays.for_layout import LayoutChoice
from serialpack.auto.arrays.slower import Slower
from serialpack.auto.arrays.trial import ArrayChain, SampleTrial
from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import parse_stage
from serialpack.stages.stage import Buffer
from tests.auto.test_arrays import packed

LAYOUT = NumbersLayout(0, "i", 4, False, (1,))


@pytest.mark.parametrize(("length", "level"), [(400_000, 22), (7_200_000, 19)])
def test_the_highest_level_is_for_few_labels(length: int, level: int) -> None:
    """Of a volume of them it took ten times as long as LZMA."""
    sample = np.repeat(np.arange(1000, dtype="<i4"), 40).tobytes()
    chain = LayoutChoice(LAYOUT, [sample], length, parse_stage(CODECS, "zstd:22"), 9)
    assert chain.of_runs([sample])._codec.values[0] == level


@pytest.mark.parametrize(
    ("size", "best", "plain", "middle", "made"),
    [
        (1, ("bitshuffle:1", 0.006), 0.01, 0.01, [19, 9, 19]),
        (1, ("bitshuffle:1", 0.006), 0.01, 0.016, [19, 9]),
        (1, ("bitshuffle:1", 0.006), 0.011, 0.01, []),
        (1, ("", 0.006), 0.01, 0.01, []),
        (4, ("shuffle:4", 0.006), 0.01, 0.01, []),
        (4, ("shuffle:4", 0.006), 0.007, 0.01, [19, 9, 19]),
    ],
)
def test_all_labels_are_compressed_for_the_choice_where_that_may_tell(
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    best: tuple[str, float],
    plain: float,
    middle: float,
    made: list[int],
) -> None:
    """By two chains, not by the same twice; and of numbers longer than bytes hardly ever. A middle
    level, which takes a tenth of the time, tells first what plain ones may leave."""

    def chain(name: str, share: float) -> ArrayChain:
        filters = (parse_stage(FILTERS, name),) if name else ()
        return ArrayChain(filters, parse_stage(CODECS, "zstd:19"), share)

    head = bytes(100_000)
    trial = SampleTrial(LAYOUT._replace(size=size), [head], 1000, {})
    slower = Slower(parse_stage(CODECS, "zstd:19"), trial, trial, lzma=True, whole=False)
    tried: list[int] = []

    def of_all(_: Buffer, each: ArrayChain) -> ArrayChain:
        tried.append(level := each.codec.values[0])
        return each._replace(share=middle) if level == 9 else each

    monkeypatch.setattr("serialpack.auto.arrays.slower.of_all", of_all)
    assert slower.by_all(chain(*best), chain("", plain), head) == chain(*best)
    assert tried == made


def test_what_is_near_by_samples_is_told_by_all(tmp_path: Path) -> None:
    """A higher effort leaves no more than a lower one of columns that wander apart."""
    steps = np.random.default_rng(42).normal(scale=0.1, size=(20_000, 12))
    path = tmp_path / "a.npy"
    np.save(path, np.round(20 + np.cumsum(steps, axis=0), 1).astype("<f4"))
    assert packed(path, effort=9)[1] <= packed(path, effort=3)[1]
