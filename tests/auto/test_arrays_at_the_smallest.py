"""Arrays where size is all that counts: what takes too long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from serialpack.auto.arrays.for_layout import LayoutChoice
from serialpack.auto.arrays.slower import Slower
from serialpack.auto.arrays.trial import PLAIN, ArrayChain, SampleTrial, Way
from serialpack.codecs import CODECS
from serialpack.codecs.zstd import Zstd
from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.stage import Buffer
from tests.auto.conftest import DRAW
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


@pytest.mark.parametrize(
    ("layout", "aligned"),
    [
        (LAYOUT._replace(size=8, record=0), 8),
        (LAYOUT._replace(size=1, record=40), 4),
        (LAYOUT._replace(size=1, record=23), 1),
        (LAYOUT._replace(size=1, lags=(4, 2000)), 4),
        (LAYOUT._replace(size=1, lags=(3, 1500)), 1),
        (LAYOUT._replace(size=1, lags=(1, 4)), 1),
    ],
)
def test_lzma_tells_apart_the_bytes_of_what_stands_aligned(
    layout: NumbersLayout, aligned: int
) -> None:
    """Records of fields of four bytes and more, and pixels of four channels."""
    assert layout.aligned == aligned


def test_records_of_long_fields_go_through_lzma_by_four_bytes(tmp_path: Path) -> None:
    """Which leaves less than by single bytes where records come again in any order."""
    draw = np.random.default_rng(3)
    rows = draw.integers(0, 1 << 12, (3000, 2), "i4")
    some = rows[draw.integers(0, 3000, 40_000)]
    path = tmp_path / "a.npy"
    np.save(path, np.rec.fromarrays([some[:, 0], some[:, 1].astype("i8")]))
    alone = packed(path, serializer="raw", codec="xz:6@1", block_size=16 << 20)[1]
    assert packed(path, effort=9)[1] < alone


@pytest.mark.parametrize("effort", [3, 9])
def test_what_comes_again_is_packed_as_it_was_chosen(tmp_path: Path, effort: int) -> None:
    """What a middle level makes of it is not taken for what the codec does."""
    path = tmp_path / "a.npy"
    np.save(path, np.tile(np.random.default_rng(3).normal(size=(100, 500)).astype("<f4"), (8, 1)))
    chain, size = packed(path, effort=effort)
    by_hand = packed(path, serializer="raw", codec=chain.split("+")[-1], block_size=16 << 20)[1]
    assert size <= by_hand + 64


def test_differences_of_which_little_repeats_are_told_to_zstd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its highest levels took three times as long for them."""
    told: list[bool] = []

    def zstd(self: Zstd, data: Buffer) -> bytes:
        told.extend([self._differences] if self.values[0] >= 19 else [])
        return own(self, data)

    own = Zstd._compress
    monkeypatch.setattr(Zstd, "_compress", zstd)
    places = np.linspace(0, 20, 64)
    smooth = np.sin(places[:, None, None]) * np.cos(places[:, None]) * np.sin(places + 1)
    several = np.where(smooth > -0.2, 9000 * smooth + DRAW.exponential(3, (64, 64, 64)), 0)
    path = tmp_path / "a.npy"
    np.save(path, several.astype("<i2"))
    assert "delta" in packed(path, effort=9)[0]
    assert told
    assert all(told)


@pytest.mark.parametrize(("few", "hoped"), [(0.27, 0.1914), (0.33, 0.1622)])
def test_lzma_is_tried_by_what_a_part_tells(few: float, hoped: float) -> None:
    """Where as much comes again in a part as in all, LZMA leaves of all what it leaves of that."""
    shares = {9: few, 6: 0.8 * few, 1: 0.9 * few}

    class Few:
        def of(self, _: Way, codec: StageSpec) -> ArrayChain:
            return ArrayChain((), codec, shares[codec.values[0]])

    plain = ArrayChain((), zstd := parse_stage(CODECS, "zstd:22"), 0.26)
    slower = Slower(zstd, Few(), Few(), lzma=True, whole=False)  # type: ignore[arg-type]
    lzma = parse_stage(CODECS, "xz:6@1")
    assert slower.hopes(plain, lzma, PLAIN) == pytest.approx(hoped, rel=1e-3)
