"""Which filters and codec suit an array of numbers: tried on samples, behind the filters.

Numbers beside each other, in a row or in the next one, are alike: their differences are small, and
bytes or bits of equal weight are then alike among themselves. Which of that pays differs from
array to array, and each may hurt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.codecs import CODECS
from serialpack.codecs.pcodec import MOST_START, TYPES
from serialpack.filters import FILTERS
from serialpack.filters.base import Filter
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes compressed of the samples: so large a part of the file, at most so many. But no fewer than
#: so many, or four times that where time matters less: pcodec finds by what numbers are multiplied
#: only where it has many of them.
_SHARE, _MOST, _LEAST, _THOROUGH = 48, 3 << 20, 192 << 10, 4

#: Of them so many tell which filters are worth being tried on all.
_PART, _LEAST_PART = 8, 48 << 10

#: Where the samples end, as shares of the numbers; one in the middle will do for a file that is not
#: so many times as long as all of them.
_PLACES, _TIMES = (0.15, 0.5, 0.85), 4

#: The levels of zstd that tells filters apart, and of pcodec that tells codecs apart: beyond them
#: levels find more of the same.
_QUICK, _LEVEL = 1, 8

#: No neighbour is looked for farther off than so many bytes: in a block there are too few then.
_FARTHEST = 1 << 20

#: A codec that is slower than zstd must be smaller by this share, where time matters, and what has
#: filters by this one for each.
_SLOWER, _MORE = 0.02, 0.002

#: Differences that pcodec takes by itself. Others are tried before it where they are nearly the
#: smallest, unless it is so much smaller than zstd without them.
_OWN, _NEAR, _AT_ONCE = ((), (1,)), 1.03, 0.75

#: What is found wherever it stands: one word of four bytes in so many, and those behind it.
_ONE_IN, _WORDS = 1 << 10, 8

#: So large a share of these, of which there are so many at least, must have come before.
_RECURS, _FEW_FOUND = 0.25, 20

#: A multiplier that mixes all bits into the highest (Knuth, TAOCP 3, 6.4: 2^32 over golden ratio).
_MIX = 0x9E3779B1

#: How many numbers on the neighbours are whose differences are taken, one after another.
_Lags = tuple[int, ...]


class ArrayChain(NamedTuple):
    """Filters and codec, and the share of the samples' bytes that they leave."""

    filters: tuple[StageSpec, ...]
    codec: StageSpec
    share: float


def near_lags(layout: NumbersLayout) -> _Lags:
    """Those neighbours that blocks and samples have."""
    return tuple(lag for lag in layout.lags if lag * layout.size <= _FARTHEST) or (1,)


def sample_places(layout: NumbersLayout, length: int, effort: int) -> list[tuple[int, int]]:
    """Where the samples of a file of ``length`` bytes begin and end: at whole numbers, with those
    before them that are their neighbours."""
    size = layout.size
    numbers = (length - layout.start) // size
    measured = min(_measured(layout, length, effort), numbers)
    shares = _PLACES if numbers >= _TIMES * measured else _PLACES[1:2]
    found = []
    for share in shares if numbers > 0 else ():
        count = measured // len(shares)
        stop = int((numbers - count) * share) + count
        start = max(stop - count - sum(near_lags(layout)), 0)
        found.append((layout.start + start * size, layout.start + stop * size))
    return found


def _measured(layout: NumbersLayout, length: int, effort: int) -> int:
    """How many numbers of the samples are compressed: the last ones of each, as many of each."""
    least = _LEAST * (_THOROUGH if EFFORTS[effort].columns.thorough else 1)
    return min(max(length // _SHARE, least), _MOST) // layout.size


def best_chain(
    layout: NumbersLayout, samples: list[Buffer], length: int, codec: StageSpec, effort: int
) -> tuple[ArrayChain, ArrayChain]:
    """The smallest chain of those tried, and ``codec`` alone.

    ``samples``: what stands at the ``sample_places`` of a file of ``length``; ``codec``: zstd.
    Filters are tried on the last part of each, before a quick level of it; then the smallest of
    each kind on all, before ``codec`` and codecs that are slower.
    """
    size, measured = layout.size, _measured(layout, length, effort)
    trial = _Trial(layout, samples, measured // len(samples))
    part = max(measured // _PART, _LEAST_PART // size)
    first = _Trial(layout, samples, part // len(samples))
    quick = codec._replace(values=(min(codec.values[0], _QUICK),))
    shuffle, bitshuffle = ((f"shuffle:{size}",) if size > 1 else ()), (f"bitshuffle:{size}",)
    found = {lags: first.of(lags, (*_small(lags, size), *shuffle), quick) for lags in _all(layout)}
    best, *rest = sorted(found, key=lambda lags: found[lags].share)
    near = [best, *(lags for lags in rest if found[lags].share <= _NEAR * found[best].share)]
    others = [(lags, (*_small(lags, size), *bitshuffle)) for lags in {(): 0, best: 0}]
    if layout.kind != "f" and not layout.big:
        others.append(((1,), bitshuffle))
    tried = [(first.of(*each, quick).share, each) for each in others]
    smallest = min([*tried, (found[()].share, ((), shuffle))])[1]
    bytewise = [(lags, (*_small(lags, size), *shuffle)) for lags in near[:2]]
    plain = trial.of((), (), codec)
    chains = [plain, *(trial.of(*each, codec) for each in {**dict.fromkeys(bytewise), smallest: 0})]
    asked = _SLOWER if EFFORTS[effort].least_gain else 0
    least = min(chain.share for chain in chains)
    far = next((lags for lags in near if lags not in _OWN), ())
    for lags, after, slower in _slower(layout, *bytewise[0], far, effort):
        if lags and asked and min(chain.share for chain in chains) < _AT_ONCE * least:
            break
        chain = trial.of(lags, after, _quicker(slower))
        chains.append(chain._replace(codec=slower, share=chain.share * (1 + asked)))
    more = _MORE if asked else 0
    return min(chains, key=lambda chain: chain.share * (1 + more * len(chain.filters))), plain


def recurring_chain(
    layout: NumbersLayout, head: Buffer, codec: StageSpec, effort: int
) -> ArrayChain | None:
    """The smallest chain for what recurs in ``head`` at a distance, which no sample tells of; its
    share is that of all of it. None where nothing does."""
    if not _recurs(head):
        return None
    codecs = [codec, *_lzma(layout, effort)]
    stored = [len(CODECS.create(*each).compress(head)) for each in codecs]
    least = min(range(len(codecs)), key=stored.__getitem__)
    return ArrayChain((), codecs[least], stored[least] / len(head))


def _recurs(data: Buffer) -> bool:
    """Whether much of ``data`` comes again in it farther off than a sample is long.

    Looked at is what stands behind some words, chosen by their bits alone: where those come again,
    it does. What there is too much of is in samples too.
    """
    import numpy as np

    words = np.frombuffer(data, "<u4", len(data) // 4)
    mixed = words * np.uint32(_MIX) + np.uint32(1 << 31)  # of zeros there may be many
    found = np.flatnonzero(mixed[: 1 - _WORDS] < (1 << 32) // _ONE_IN)
    if not _FEW_FOUND <= len(found) <= 8 * len(words) // _ONE_IN:
        return False
    behind = words[found[:, None] + np.arange(_WORDS)]
    return len({row.tobytes() for row in behind}) < (1 - _RECURS) * len(found)


def _slower(
    layout: NumbersLayout, best: _Lags, bytewise: tuple[str, ...], far: _Lags, effort: int
) -> Iterator[tuple[_Lags, tuple[str, ...], StageSpec]]:
    """Differences, filters behind them and codecs that are slower than zstd, as far as the effort
    has them.

    ``best``: the differences that are smallest, ``bytewise``: what stands behind them for zstd,
    ``far``: the smallest of those that pcodec does not find by itself, where they are small.
    """
    if not EFFORTS[effort].by_itself:
        return
    turned = (f"byteswap:{layout.size}",) if layout.big else ()
    kinds: list[tuple[_Lags, tuple[str, ...], str]] = [((), turned, layout.kind)]
    if far:
        kinds.append((far, (), "i"))
    for lags, after, kind in kinds:
        if f"{kind}{layout.size}" in TYPES:
            before = f"/{layout.start}" if 0 < layout.start <= MOST_START else ""
            yield lags, after, parse_stage(CODECS, f"pcodec@{kind}{layout.size}{before}", effort)
    for codec in (lzma := _lzma(layout, effort)):
        yield (), (), codec
    if lzma:
        yield best, bytewise, lzma[0]  # bytes, no more numbers


def _lzma(layout: NumbersLayout, effort: int) -> list[StageSpec]:
    """LZMA where time matters least, as it takes numbers and as it takes bytes."""
    if not EFFORTS[effort].columns.lzma:
        return []
    # Beyond level 6 its dictionary is larger, and nothing else: numbers repeat nearby.
    return [parse_stage(CODECS, f"xz:6@{size}") for size in sorted({layout.size, 1})]


def _quicker(codec: StageSpec) -> StageSpec:
    """pcodec at a level that tells as much of a sample, whose bins are quickly found."""
    level, *others = codec.values
    return codec._replace(values=(min(level, _LEVEL), *others)) if codec.name == "pcodec" else codec


def _all(layout: NumbersLayout) -> list[_Lags]:
    """No differences; then those of neighbours in one dimension, in two, in three, in four; then of
    those in a farther one alone, as are images of one place at several times."""
    lags = near_lags(layout)
    chosen = [lags[:number] for number in range(len(lags) + 1)]
    return [*chosen, *((lag,) for lag in lags[1:])]


def _small(lags: _Lags, size: int) -> tuple[str, ...]:
    """What makes those near zero small numbers."""
    return (f"zigzag:{size}",) if lags else ()


class _Trial:
    """Chains tried on the last ``measured`` numbers of each sample; their differences are kept."""

    def __init__(self, layout: NumbersLayout, samples: list[Buffer], measured: int) -> None:
        size = layout.size
        self._layout = layout
        self._samples = samples
        self._measured = measured
        # Before differences are taken: little-endian integers in the order of the numbers.
        self._first = [f"byteswap:{size}"] if layout.big else []
        self._first += [f"ordered:{size}"] if layout.kind == "f" else []
        self._made: dict[tuple[int, int, _Lags], NDArray[Any]] = {}

    def of(self, lags: _Lags, after: tuple[str, ...], codec: StageSpec) -> ArrayChain:
        """Differences to the neighbours at ``lags``, and the filters ``after`` them."""
        import numpy as np

        get = self._less if lags else self._numbers
        parts = [get(place, 0, lags) for place in range(len(self._samples))]
        data: Buffer = np.concatenate(parts).data.cast("B")
        for name in after:
            data = _filter(name).forward(data)
        size = self._layout.size
        deltas = [f"delta:{size}@{lag}" if lag > 1 else f"delta:{size}" for lag in lags]
        names = (*(self._first if lags else ()), *deltas, *after)
        filters = tuple(parse_stage(FILTERS, name) for name in names)
        share = len(CODECS.create(*codec).compress(data)) / max(len(data), 1)
        return ArrayChain(filters, codec, share)

    def _less(self, place: int, ago: int, lags: _Lags) -> NDArray[Any]:
        """The numbers that stand so many ``ago``, less those at ``lags`` before each, as filters
        have it; nothing else of the sample, which a far neighbour makes long."""
        key = place, ago, lags
        if key not in self._made:
            if lags:
                near, far = (self._less(place, at, lags[:-1]) for at in (ago, ago + lags[-1]))
                self._made[key] = near - far
            else:
                self._made[key] = self._ordered(place, ago)
        return self._made[key]

    def _ordered(self, place: int, ago: int) -> NDArray[Any]:
        """Of what stands before the sample there is nothing to take."""
        import numpy as np

        numbers = self._numbers(place, ago)
        data: Buffer = numbers.data.cast("B")
        for name in self._first:
            data = _filter(name).forward(data)
        found = np.zeros(len(self._numbers(place, 0)), numbers.dtype)
        found[len(found) - len(numbers) :] = np.frombuffer(data, numbers.dtype)
        return found

    def _numbers(self, place: int, ago: int, _: _Lags = ()) -> NDArray[Any]:
        import numpy as np

        size, sample = self._layout.size, self._samples[place]
        numbers = np.frombuffer(sample, f"<u{size}", len(sample) // size)
        stop = len(numbers) - ago
        return numbers[max(stop - min(self._measured, len(numbers)), 0) : max(stop, 0)]


def _filter(name: str) -> Filter:
    return FILTERS.create(*parse_stage(FILTERS, name))
