"""Filters for numbers of few bytes: to try all chains would take longer than packing them."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.auto.arrays.scale import scaled_numbers
from serialpack.auto.arrays.trial import PLAIN, ArrayChain, at_most, of_all, smallest
from serialpack.auto.items import sized
from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import Chain, StageSpec, parse_stage, size_of_names
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.stages.stage import Buffer

#: So many bytes are tried, by a level of the codec that is no higher: together half a millisecond.
SAMPLE, _LEVEL = 64 << 10, 3

#: What filters leave is to be so much less: to undo them takes time, too.
_WORTH = 0.95


def for_few_numbers(chain: Chain, layout: NumbersLayout, sample: Buffer) -> Chain:
    """``chain`` with the filters that leave least of ``sample``, of those that most numbers pass;
    without, where they leave hardly less."""
    codec = at_most(chain.codec, _LEVEL)
    plain = of_all(sample, ArrayChain((), codec, 1))
    others = [of_all(sample, way) for way in _filtered(codec, layout)]
    best = min(others, key=lambda tried: tried.share, default=plain)
    worth = best.share < _WORTH * plain.share
    return chain._replace(filters=best.filters) if worth else chain


def least_of_little(
    codec: StageSpec,
    effort: int,
    layout: NumbersLayout | None,
    data: Buffer,
    found: Chain | None = None,
) -> ArrayChain:
    """What leaves least of ``data``, with the payload: zstd at the level of ``codec`` or a lower
    one, which of little often leaves less, by up to a sixth; of an array (``layout``) also
    behind the few filters, or pcodec, where that pays, and what was ``found`` by others."""
    usual = CODECS.cls(codec.name).params[0]
    levels = {min(usual.at(each), codec.values[0]) for each in (1, DEFAULT_EFFORT, effort)}
    specs = [codec._replace(values=(level, *codec.values[1:])) for level in sorted(levels)]
    plain = smallest([of_all(data, ArrayChain((), spec, 1)) for spec in reversed(specs)])
    if layout is None:
        return plain
    ways = [*_filtered(at_most(codec, _LEVEL), layout)]
    if EFFORTS[effort].by_itself:
        ways += _by_pcodec(effort, layout, data)
    if found is not None:
        ways.append(ArrayChain(found.filters, found.codec, 1))
    made = [of_all(data, way) for way in ways]
    best = min(made, key=lambda each: _size(each, data), default=plain)
    worth = _WORTH if EFFORTS[effort].least_gain else 1
    return best if best.share < worth * plain.share else plain


def _size(chain: ArrayChain, data: Buffer) -> float:
    """About how many bytes it makes of all of ``data``, and takes to say so."""
    return chain.share * len(data) + size_of_names(*chain.filters, chain.codec)


def _filtered(codec: StageSpec, layout: NumbersLayout) -> Iterator[ArrayChain]:
    for names in _filters(layout):
        yield ArrayChain(tuple(parse_stage(FILTERS, name) for name in names), codec, 1, PLAIN)


def _by_pcodec(effort: int, layout: NumbersLayout, data: Buffer) -> Iterator[ArrayChain]:
    """pcodec of the numbers, and of the integers that make them of a unit, if they have one."""
    codecs = dict.fromkeys(parse_stage(CODECS, "pcodec", each) for each in (DEFAULT_EFFORT, effort))
    swap = (parse_stage(FILTERS, f"byteswap:{layout.size}"),) if layout.big else ()
    ways: list[tuple[tuple[StageSpec, ...], NumbersLayout]] = [(swap, layout)]
    if (scaled := scaled_numbers(layout, [data], whole=True)) is not None:
        ways.append((scaled.before, scaled.layout))
    for before, numbers in ways:
        for codec in codecs:
            if (spec := sized(codec, numbers)) != codec:
                yield ArrayChain(before, spec, 1)


def _filters(layout: NumbersLayout) -> Iterator[list[str]]:
    """Bytes of equal weight together; of integers also those of differences."""
    if layout.item > 1:
        yield [f"shuffle:{layout.item}"]
    if layout.record:
        yield [f"delta:1@{layout.record}", f"shuffle:{layout.item}"]
    if layout.kind in "iu" and not layout.big and not layout.record:
        size = layout.size
        yield [f"delta:{size}", f"zigzag:{size}", *[f"shuffle:{size}"] * (size > 1)]
