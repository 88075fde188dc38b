"""Filters for numbers of few bytes: to try all chains would take longer than packing them."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.auto.arrays.trial import PLAIN, ArrayChain, at_most, of_all
from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import Chain, parse_stage
from serialpack.stages.stage import Buffer

#: So many bytes are tried, by a level of the codec that is no higher: together half a millisecond.
SAMPLE, _LEVEL = 64 << 10, 3

#: What filters leave is to be so much less: to undo them takes time, too.
_WORTH = 0.95


def for_few_numbers(chain: Chain, layout: NumbersLayout, sample: Buffer) -> Chain:
    """``chain`` with the filters that leave least of ``sample``, of those that most numbers pass;
    without, where they leave hardly less."""
    codec = at_most(chain.codec, _LEVEL)
    ways = [
        ArrayChain(tuple(parse_stage(FILTERS, name) for name in names), codec, 1, PLAIN)
        for names in ((), *_filters(layout))
    ]
    plain, *others = (of_all(sample, way) for way in ways)
    best = min(others, key=lambda tried: tried.share, default=plain)
    worth = best.share < _WORTH * plain.share
    return chain._replace(filters=best.filters) if worth else chain


def _filters(layout: NumbersLayout) -> Iterator[list[str]]:
    """Bytes of equal weight together; of integers also those of differences."""
    if layout.item > 1:
        yield [f"shuffle:{layout.item}"]
    if layout.kind in "iu" and not layout.big and not layout.record:
        size = layout.size
        yield [f"delta:{size}", f"zigzag:{size}", *[f"shuffle:{size}"] * (size > 1)]
