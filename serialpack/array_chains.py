"""Which filters and codec suit an array of numbers: tried on samples, behind the filters.

Numbers beside each other, in a row or in the next one, are alike: their differences are small, and
bytes or bits of equal weight are then alike among themselves. Which of that pays differs from
array to array, and each may hurt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from serialpack.codecs import CODECS
from serialpack.codecs.pcodec import MOST_START, TYPES
from serialpack.filters import FILTERS
from serialpack.filters.base import Filter
from serialpack.formats.arrays.layout import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

#: Bytes compressed of a sample: so large a part of the file, at most so many. But no fewer numbers
#: than so many: pcodec finds by what they are multiplied only where it has many of them.
_SHARE, _MOST, _NUMBERS = 64, 1 << 20, 1 << 16

#: Of them so many tell which filters are worth being tried on all.
_PART, _LEAST_PART = 4, 64 << 10

#: The level of zstd that tells filters apart: beyond it levels find more of the same.
_QUICK = 5

#: No neighbour is looked for farther off than so many bytes: in a block there are too few then.
_FARTHEST = 1 << 20

#: A codec that is slower than zstd must be smaller by this share, where time matters.
_SLOWER = 0.02


class ArrayChain(NamedTuple):
    """Filters and codec, and the bytes that they leave of the samples."""

    filters: tuple[StageSpec, ...]
    codec: StageSpec
    size: int


def near_lags(layout: NumbersLayout) -> tuple[int, ...]:
    """Those neighbours that blocks and samples have."""
    return tuple(lag for lag in layout.lags if lag * layout.size <= _FARTHEST) or (1,)


def window_of(layout: NumbersLayout, length: int) -> int:
    """The bytes of a sample of a file of ``length``: what is compressed, and neighbours before."""
    measured = min(max(length // _SHARE, _NUMBERS * layout.size), _MOST)
    return measured // layout.size * layout.size + _ahead(layout)


def _ahead(layout: NumbersLayout) -> int:
    """Bytes of a sample that have not all of their neighbours before them."""
    return 2 * max(near_lags(layout)) * layout.size


def best_chain(
    layout: NumbersLayout, samples: list[Buffer], codec: StageSpec, effort: int
) -> tuple[ArrayChain, ArrayChain]:
    """The smallest chain of those tried, and ``codec`` alone.

    ``samples``: each from a whole number on, of ``window_of`` bytes or fewer; ``codec``: zstd.
    Filters are tried on the first part of each, before a quick level of it; then the smallest of
    each kind on all, before ``codec`` and codecs that are slower.
    """
    size, trial = layout.size, _Trial(samples, _ahead(layout))
    part = max(max(map(len, samples)) // _PART, _LEAST_PART) // size * size + _ahead(layout)
    first = _Trial([memoryview(sample)[:part] for sample in samples], _ahead(layout))
    quick = codec._replace(values=(min(codec.values[0], _QUICK),))
    differences = _differences(layout)
    bytewise = {names: (*_small(names, size), f"shuffle:{size}") for names in differences}
    best = min(bytewise, key=lambda names: first.of(bytewise[names], quick).size)
    others = [(*_small(names, size), f"bitshuffle:{size}") for names in {(): 0, best: 0}]
    if layout.kind != "f" and not layout.big:
        others.append((f"delta:{size}", f"bitshuffle:{size}"))
    others.append(bytewise[()])
    smallest = min(others, key=lambda names: first.of(names, quick).size)
    found = [trial.of(names, codec) for names in {bytewise[best]: 0, smallest: 0}]
    asked = _SLOWER if EFFORTS[effort].least_gain else 0
    for names, slower in _slower(layout, best, bytewise[best], effort):
        chain = trial.of(names, slower)
        found.append(chain._replace(size=int(chain.size * (1 + asked))))
    plain = trial.of((), codec)
    return min((plain, *found), key=lambda chain: (chain.size, len(chain.filters))), plain


def _slower(
    layout: NumbersLayout, best: tuple[str, ...], bytewise: tuple[str, ...], effort: int
) -> Iterator[tuple[tuple[str, ...], StageSpec]]:
    """Filters and codecs that are slower than zstd, as far as the effort has them.

    ``best``: the differences that are smallest, ``bytewise``: with what stands behind them.
    """
    if not EFFORTS[effort].by_itself:
        return
    turned = (f"byteswap:{layout.size}",) if layout.big else ()
    kinds = {turned: layout.kind, best or turned: "i" if best else layout.kind}
    for names, kind in kinds.items():
        if f"{kind}{layout.size}" in TYPES:
            before = f"/{layout.start}" if 0 < layout.start <= MOST_START else ""
            yield names, parse_stage(CODECS, f"pcodec@{kind}{layout.size}{before}", effort)
    if EFFORTS[effort].columns.lzma:
        # Beyond level 6 its dictionary is larger, and nothing else: numbers repeat nearby.
        yield (), parse_stage(CODECS, f"xz:6@{layout.size}")
        yield bytewise, parse_stage(CODECS, "xz:6@1")


def _differences(layout: NumbersLayout) -> list[tuple[str, ...]]:
    """Filters that take no differences; then of neighbours in one dimension, in two, in three, in
    four; then of those in a farther one alone, as are images of one place at several times."""
    size = layout.size
    turned = [f"byteswap:{size}"] if layout.big else []
    ahead = [*turned, *([f"ordered:{size}"] if layout.kind == "f" else [])]
    deltas = [f"delta:{size}@{lag}" if lag > 1 else f"delta:{size}" for lag in near_lags(layout)]
    chosen = [deltas[:number] for number in range(1, len(deltas) + 1)]
    chosen += [[delta] for delta in deltas[1:]]
    return [(), *((*ahead, *each) for each in chosen)]


def _small(differences: tuple[str, ...], size: int) -> tuple[str, ...]:
    """The differences, those near zero as small numbers."""
    return (*differences, f"zigzag:{size}") if differences else ()


class _Trial:
    """Chains tried on samples; what their first filters make of those is kept."""

    def __init__(self, samples: list[Buffer], ahead: int) -> None:
        self._made: dict[tuple[str, ...], list[Buffer]] = {(): samples}
        self._ahead = ahead

    def of(self, names: tuple[str, ...], codec: StageSpec) -> ArrayChain:
        names = tuple(name for name in names if name != "shuffle:1")
        compress = CODECS.create(*codec).compress
        # What stands before was there for the differences; a shuffle would mix the two.
        last = names[-1:] if names and "shuffle" in names[-1] else ()
        size = 0
        for data in self._filtered(names[: len(names) - len(last)]):
            part: Buffer = memoryview(data)[self._ahead if len(data) > 2 * self._ahead else 0 :]
            for name in last:
                part = _filter(name).forward(part)
            size += len(compress(part))
        filters = tuple(parse_stage(FILTERS, name) for name in names)
        return ArrayChain(filters, codec, size)

    def _filtered(self, names: tuple[str, ...]) -> list[Buffer]:
        if names not in self._made:
            forward = _filter(names[-1]).forward
            self._made[names] = [forward(data) for data in self._filtered(names[:-1])]
        return self._made[names]


def _filter(name: str) -> Filter:
    return FILTERS.create(*parse_stage(FILTERS, name))
