"""Which filters and codec suit an array of numbers: tried on samples, behind the filters.

Numbers beside each other, in a row or in the next one, are alike: their differences are small, and
bytes or bits of equal weight are then alike among themselves. Which of that pays differs from
array to array, and each may hurt.
"""

from __future__ import annotations

from typing import NamedTuple

from serialpack.codecs import CODECS
from serialpack.codecs.pcodec import TYPES
from serialpack.filters import FILTERS
from serialpack.filters.base import Filter
from serialpack.formats.arrays.layout import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

#: Bytes compressed of a sample: so large a part of the file, from the fewest to the most. pcodec
#: finds by what numbers are multiplied only where it has many of them.
_SHARE, _FEWEST, _MOST = 256, 128 << 10, 1 << 20

#: No neighbour is looked for farther off than so many bytes: in a block there are too few then.
_FARTHEST = 1 << 20

#: A codec that is slower than zstd must be smaller by this share.
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
    measured = min(max(length // _SHARE, _FEWEST), _MOST) if length > _MOST else _MOST
    return measured // layout.size * layout.size + 2 * max(near_lags(layout)) * layout.size


def best_chain(
    layout: NumbersLayout, samples: list[Buffer], codec: StageSpec, effort: int
) -> tuple[ArrayChain, ArrayChain]:
    """The smallest chain of those tried, and ``codec`` alone.

    ``samples``: each from a whole number on, of ``window_of`` bytes or fewer; ``codec``: zstd,
    which is tried behind all filters.
    """
    size, trial = layout.size, _Trial(samples, 2 * max(near_lags(layout)) * layout.size)
    differences = _differences(layout)
    zigzag = [(*names, f"zigzag:{size}") if names else () for names in differences]
    found = [trial.of((*names, f"shuffle:{size}"), codec) for names in zigzag]
    best = min(range(len(found)), key=lambda number: found[number].size)
    found += [trial.of((*zigzag[number], f"bitshuffle:{size}"), codec) for number in {0, best}]
    if layout.kind != "f" and not layout.big:
        found.append(trial.of((f"delta:{size}", f"bitshuffle:{size}"), codec))
    if EFFORTS[effort].by_itself:
        turned = (f"byteswap:{size}",) if layout.big else ()
        kinds = {turned: layout.kind, differences[best] or turned: "i" if best else layout.kind}
        for names, kind in kinds.items():
            if f"{kind}{size}" in TYPES:
                typed = parse_stage(CODECS, f"pcodec@{kind}{size}", effort)
                tried = trial.of(names, typed)
                found.append(tried._replace(size=int(tried.size * (1 + _SLOWER))))
    plain = trial.of((), codec)
    return min((plain, *found), key=lambda chain: (chain.size, len(chain.filters))), plain


def _differences(layout: NumbersLayout) -> list[tuple[str, ...]]:
    """Filters that take no differences, then of neighbours in one dimension, in two, in three."""
    size = layout.size
    turned = [f"byteswap:{size}"] if layout.big else []
    ahead = [*turned, *([f"ordered:{size}"] if layout.kind == "f" else [])]
    deltas = [f"delta:{size}@{lag}" if lag > 1 else f"delta:{size}" for lag in near_lags(layout)]
    return [(), *((*ahead, *deltas[:number]) for number in range(1, len(deltas) + 1))]


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
