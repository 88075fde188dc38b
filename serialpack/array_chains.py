"""Which filters and codec suit an array of numbers: tried on samples, behind the filters.

Numbers beside each other, in a row or in the next one, are alike: their differences are small, and
bytes or bits of equal weight are then alike among themselves. Which of that pays differs from
array to array, and each may hurt.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
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
#: so many, or twice that where time matters less: pcodec finds by what numbers are multiplied
#: only where it has many of them.
_SHARE, _MOST, _LEAST, _THOROUGH = 48, 3 << 20, 192 << 10, 2

#: Of them so many tell which filters are worth being tried on all.
_PART, _LEAST_PART = 8, 48 << 10

#: Where the samples end, as shares of the numbers; one in the middle will do for a file that is not
#: so many times as long as all of them.
_PLACES, _TIMES = (0.15, 0.5, 0.85), 4

#: The levels of zstd that tell filters apart, quickly and better, and of pcodec that tells codecs
#: apart: beyond them levels find more of the same.
_QUICK, _MIDDLE, _LEVEL = 1, 9, 7

#: No neighbour is looked for farther off than so many bytes: in a block there are too few then.
_FARTHEST = 1 << 20

#: A codec that is slower than zstd must be smaller by this share, where time matters, and what has
#: filters by this one for each.
_SLOWER, _MORE = 0.02, 0.002

#: Differences that pcodec takes by itself. Others are tried before it where they are nearly the
#: smallest, unless it is smaller without them than so large a share of what zstd makes of them.
_OWN, _NEAR, _FAR = ((), (1,)), 1.03, 0.7

#: Where pcodec leaves so small a share of what zstd does, filters are not tried for that.
_AT_ONCE = 0.8

#: Of what the middle level leaves of plain numbers, the highest or LZMA leave so large a share at
#: least, and of filtered ones this power: the less there is, the more of it repeats.
_BEYOND, _POWER = 0.64, 1.15

#: The quick level of zstd is up to twice as fast as a middle one, and may leave more of the samples
#: by this share; of whole blocks it often leaves less.
_FASTER = 0.005

#: LZMA takes longer than the highest level of zstd, both ways, and must be smaller by this share.
_DEARER = 0.003

#: So small a share is left of what is nearly all long matches.
_MATCHES = 0.02

#: What is found wherever it stands: one pair of words of four bytes in so many, and those behind.
_ONE_IN, _WORDS = 1 << 10, 8

#: So large a share of these, of which there are so many at least, must have come before.
_RECURS, _FEW_FOUND = 0.25, 20

#: What came so few words before is in samples too.
_NEARBY = 1 << 14

#: A multiplier that mixes all bits into the highest (Knuth, TAOCP 3, 6.4: 2^32 over golden ratio).
_MIX = 0x9E3779B1

#: Words mixed at a time, so that they stay in the processor's cache.
_STEP = 1 << 16

#: How many numbers on the neighbours are whose differences are taken, one after another.
_Lags = tuple[int, ...]


class _Differences(NamedTuple):
    """Differences to the neighbours at ``lags``, and the filters ``after`` them."""

    lags: _Lags
    after: tuple[str, ...]


_PLAIN = _Differences((), ())


class _Look(NamedTuple):
    """What a quick look tells: the ``ways`` worth being tried on more, and the share that is left
    of the best of them; of differences that pcodec does not take by itself those that are nearly
    the smallest, if any, and the share that is left of them."""

    ways: list[_Differences]
    least: float
    far: _Lags
    far_share: float


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
    each kind on all, before a middle one, and pcodec; and where time matters less, what may still
    be smaller before ``codec`` and LZMA.
    """
    measured = _measured(layout, length, effort)
    part = max(measured // _PART, _LEAST_PART // layout.size)
    little = _Trial(layout, samples, part // len(samples))
    trial = _Trial(layout, samples, measured // len(samples))
    quick, middle = _at_most(codec, _QUICK), _at_most(codec, _MIDDLE)
    seen = _first_look(layout, little, quick)
    plain = trial.of(_PLAIN, middle)._replace(codec=codec)
    chains = [plain]
    asked = _SLOWER if EFFORTS[effort].least_gain else 0
    for way, slower in _pcodec(layout, seen.far, effort):
        if asked and way.lags and _least(chains) < _FAR * seen.far_share:
            break
        chain = trial.of(way, _at_most(slower, _LEVEL if middle == codec else _MIDDLE))
        chains.append(_asking(asked, chain._replace(codec=slower)))
    if not asked or _least(chains[1:]) > _AT_ONCE * min(plain.share, seen.least):
        filtered = {way: trial.of(way, middle)._replace(codec=codec) for way in seen.ways}
        chains += filtered.values()
        way = min(filtered, key=lambda way: filtered[way].share)
        if quick != codec:
            # Where there are few matches, what finds more of them makes nothing smaller.
            chains.append(_asking(-_FASTER if middle == codec else 0, trial.of(way, quick)))
        if middle != codec:
            if filtered[way].share ** _POWER < _least(chains):
                chains.append(trial.of(way, codec))
                for lzma in _lzma(effort, 1):
                    chains.append(_asking(_DEARER, trial.of(way, lzma)))
            if plain.share < max(_least(chains) / _BEYOND, _MATCHES):
                whole = trial.of(_PLAIN, _beyond(layout, little, plain, effort))
                chains.append(whole)
                plain = whole if whole.codec == codec else plain
    more = _MORE if asked else 0
    return min(chains, key=lambda chain: chain.share * (1 + more * len(chain.filters))), plain


def recurring_chain(
    layout: NumbersLayout, head: Buffer, codec: StageSpec, effort: int, least: float
) -> ArrayChain | None:
    """The chain for what recurs in ``head`` at a distance, which no sample tells of, where it
    leaves a smaller share than ``least``; None where it does not. Its share is that of all of it,
    or somewhat more."""
    if not _recurs(head):
        return None
    found = _whole(head, ArrayChain((), _at_most(codec, _MIDDLE), 1))
    little = _Trial(layout, [head], _measured(layout, len(head), effort) // _PART)
    chosen = found._replace(codec=_beyond(layout, little, found._replace(codec=codec), effort))
    if chosen.codec != found.codec and _BEYOND * chosen.share < least <= chosen.share:
        chosen = _whole(head, chosen)
    return chosen if chosen.share < least else None


def _whole(data: Buffer, chain: ArrayChain) -> ArrayChain:
    """With the share that its codec leaves of ``data``."""
    return chain._replace(share=len(CODECS.create(*chain.codec).compress(data)) / len(data))


def _recurs(data: Buffer) -> bool:
    """Whether much of ``data`` comes again in it farther off than a sample is long.

    Looked at is what stands behind some pairs of words, chosen by their bits: where they come
    again, it does. What there is too much of is in samples too.
    """
    import numpy as np

    words = np.frombuffer(data, "<u4", len(data) // 4)
    starts = words[: 1 - _WORDS]
    places = []
    for at in range(0, len(starts), _STEP):
        mixed = starts[at : at + _STEP] * np.uint32(_MIX)
        mixed += words[at + 1 : at + 1 + len(mixed)]  # there may be few words that differ
        mixed *= np.uint32(_MIX)
        mixed += np.uint32(1 << 31)  # of zeros there may be many
        places.append(at + np.flatnonzero(mixed < (1 << 32) // _ONE_IN))
    found = np.concatenate(places)
    if not _FEW_FOUND <= len(found) <= 8 * len(words) // _ONE_IN:
        return False
    behind = words[found[:, None] + np.arange(_WORDS)]
    last: dict[bytes, int] = {}
    again = 0
    for place, row in zip(found.tolist(), behind, strict=True):
        key = row.tobytes()
        again += place - last.get(key, place) > _NEARBY
        last[key] = place
    return again > _RECURS * len(found)


def _first_look(layout: NumbersLayout, trial: _Trial, quick: StageSpec) -> _Look:
    """What a quick level of zstd tells of differences and filters, on little."""
    size = layout.size
    shuffle, bitshuffle = ((f"shuffle:{size}",) if size > 1 else ()), (f"bitshuffle:{size}",)
    bytewise = {lags: _Differences(lags, (*_small(lags, size), *shuffle)) for lags in _all(layout)}
    found = {lags: trial.of(way, quick).share for lags, way in bytewise.items()}
    best, *rest = sorted(found, key=found.__getitem__)
    near = [best, *(lags for lags in rest if found[lags] <= _NEAR * found[best])]
    others = [_Differences(lags, (*_small(lags, size), *bitshuffle)) for lags in {(): 0, best: 0}]
    if layout.kind != "f" and not layout.big:
        others.append(_Differences((1,), bitshuffle))
    tried = {bytewise[()]: found[()], **{way: trial.of(way, quick).share for way in others}}
    smallest = min(tried, key=tried.__getitem__)
    far = next((lags for lags in near if lags not in _OWN), ())
    return _Look(
        list(dict.fromkeys([*(bytewise[lags] for lags in near[:2]), smallest])),
        min(found[best], tried[smallest]),
        far,
        found[far],
    )


def _asking(share: float, chain: ArrayChain) -> ArrayChain:
    """``chain``, which has to be smaller than another by this share."""
    return chain._replace(share=chain.share * (1 + share))


def _least(chains: list[ArrayChain]) -> float:
    return min((chain.share for chain in chains), default=1)


def _pcodec(
    layout: NumbersLayout, far: _Lags, effort: int
) -> Iterator[tuple[_Differences, StageSpec]]:
    """pcodec as far as the effort has it: by itself, and of the differences ``far``, if any."""
    if not EFFORTS[effort].by_itself:
        return
    turned = (f"byteswap:{layout.size}",) if layout.big else ()
    kinds = [
        (_Differences((), turned), layout.kind),
        *([(_Differences(far, ()), "i")] if far else []),
    ]
    for way, kind in kinds:
        if f"{kind}{layout.size}" in TYPES:
            before = f"/{layout.start}" if 0 < layout.start <= MOST_START else ""
            yield way, parse_stage(CODECS, f"pcodec@{kind}{layout.size}{before}", effort)


def _beyond(layout: NumbersLayout, little: _Trial, plain: ArrayChain, effort: int) -> StageSpec:
    """What takes numbers as they are, smallest: the codec of ``plain``, which is all that a middle
    level of it leaves; or LZMA, as it takes bytes or items, which a trial on ``little`` tells.

    Of what is nearly all matches LZMA has only short ones (273 bytes).
    """
    lzma = [each for size in {1: 0, layout.size: 0} for each in _lzma(effort, size)]
    if not lzma or plain.share < _MATCHES:
        return plain.codec
    return min(lzma, key=lambda each: little.of(_PLAIN, each).share) if lzma[1:] else lzma[0]


def _lzma(effort: int, size: int) -> list[StageSpec]:
    """LZMA as it takes items of ``size`` bytes, where time matters least."""
    # Beyond level 6 its dictionary is larger, and nothing else: numbers repeat nearby.
    return [parse_stage(CODECS, f"xz:6@{size}")] if EFFORTS[effort].columns.lzma else []


def _at_most(codec: StageSpec, level: int) -> StageSpec:
    """A level of ``codec`` that tells as much of a sample."""
    return codec._replace(values=(min(codec.values[0], level), *codec.values[1:]))


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
        self._codecs: dict[StageSpec, Codec] = {}

    def of(self, way: _Differences, codec: StageSpec) -> ArrayChain:
        import numpy as np

        lags, after = way
        get = self._less if lags else self._numbers
        parts = [get(place, 0, lags) for place in range(len(self._samples))]
        data: Buffer = np.concatenate(parts).data.cast("B")
        for name in after:
            data = _filter(name).forward(data)
        size = self._layout.size
        deltas = [f"delta:{size}@{lag}" if lag > 1 else f"delta:{size}" for lag in lags]
        names = (*(self._first if lags else ()), *deltas, *after)
        if codec not in self._codecs:
            self._codecs[codec] = CODECS.create(*codec)
        share = len(self._codecs[codec].compress(data)) / max(len(data), 1)
        return ArrayChain(tuple(map(_stage, names)), codec, share)

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
    return FILTERS.create(*_stage(name))


@cache
def _stage(name: str) -> StageSpec:
    return parse_stage(FILTERS, name)
