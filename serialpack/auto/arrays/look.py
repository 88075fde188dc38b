"""A quick look at numbers: which differences and filters are worth being tried on more."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from serialpack.auto.arrays.samples import Lags, near_lags
from serialpack.auto.arrays.trial import PLAIN, SampleTrial, Way, shuffled
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec

#: So many kinds of differences are compressed that seem to have the fewest bits, or hardly more.
_FEWEST, _ALIKE, _ALIKE_BITS = 2, 1.03, 0.05

#: Of the second best filters, too, more is compressed where they leave so much more at most.
_NEAR = 1.03


class Seen(NamedTuple):
    """What a quick look tells: the ``ways`` worth being tried on more, the share that is left of
    the best of them, of the best without differences (``still``), and that which zstd alone leaves;
    the differences that leave fewer bits than those which pcodec takes by itself, if any do, and
    how many fewer, as a share of all."""

    ways: list[Way]
    least: float
    still: float
    plain: float
    far: Lags
    fewer: float


def looked(little: SampleTrial, quick: StageSpec) -> Seen:
    """What few bits and a quick level of zstd tell of differences and filters, on ``little``."""
    layout = little.layout
    size, item = layout.size, layout.item
    shuffle, bitshuffle = (shuffled(item).after if item > 1 else ()), (f"bitshuffle:{size}",)
    bits = {lags: little.bits(lags) for lags in _differences(layout)}
    few = _ALIKE * min(bits.values()) + _ALIKE_BITS
    likely = [*sorted(bits, key=bits.__getitem__)[:_FEWEST], *list(bits)[:1]]
    fewest = [(), *(lags for lags in likely if bits[lags] <= few)]
    bytewise = {lags: Way(lags, (*_small(lags, layout), *shuffle)) for lags in fewest}
    found = {lags: little.of(way, quick).share for lags, way in bytewise.items()}
    best = min(found, key=found.__getitem__)
    others = [Way(lags, (*_small(lags, layout), *bitshuffle)) for lags in {(): 0, best: 0}]
    if layout.kind != "f" and not layout.big:
        others.append(Way((1,), bitshuffle))
    changed = _changed(layout)
    if layout.record:
        others = [changed] if changed.after else []
    shares = {bytewise[lags]: share for lags, share in found.items()}
    shares |= {way: little.of(way, quick).share for way in others}
    ways = sorted(shares, key=shares.__getitem__)
    least = shares[ways[0]]
    near = [way for way in ways if shares[way] <= _NEAR * least][:_FEWEST]
    far, fewer = _far(bits)
    plain = little.of(PLAIN, quick).share
    alike = [way for way in shares if not way.lags and way != changed]
    still = min([plain, *(shares[way] for way in alike)])
    # Of records how much is left differs with where the blocks of zstd end: all are tried on more.
    return Seen(ways if layout.record else near, least, still, plain, far, fewer / (8 * size))


def as_they_are(layout: NumbersLayout) -> list[Way]:
    """Numbers without differences, their bytes of equal weight together, and their bits."""
    ways = [PLAIN, shuffled(layout.item)] if layout.item > 1 else [PLAIN]
    return ways if layout.record else [*ways, Way((), (f"bitshuffle:{layout.size}",))]


def _differences(layout: NumbersLayout) -> list[Lags]:
    """Those of neighbours in a row, of others, in several dimensions at once."""
    lags = near_lags(layout)
    return [each for count in range(len(lags)) for each in combinations(lags, count + 1)]


def _far(bits: dict[Lags, float]) -> tuple[Lags, float]:
    """The differences before pcodec, which takes those in a row by itself, and how many ``bits``
    they leave less; none where they do not."""
    fewest = {
        lags: min(bits[lags], bits.get((1, *lags), bits[lags])) for lags in bits if lags[0] > 1
    }
    far = min(fewest, key=fewest.__getitem__, default=())
    fewer = bits.get((1,), fewest[far] + 1) - fewest[far] if far else 0
    return (far, fewer) if fewer > 0 else ((), 0)


def _small(lags: Lags, layout: NumbersLayout) -> tuple[str, ...]:
    """What makes those near zero small numbers; the bytes of a record are none by themselves."""
    return (f"zigzag:{layout.size}",) if lags and not layout.record else ()


def _changed(layout: NumbersLayout) -> Way:
    """Which bits of a record are others than in the one before, and equal ones side by side: of
    fields that keep to few values, or are floats. ``PLAIN`` where filters do not take records so
    long."""
    if layout.item != layout.record:
        return PLAIN
    return Way((), (f"xor:1@{layout.record}", f"bitshuffle:{layout.record}"))
