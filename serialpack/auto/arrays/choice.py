"""The chain for an array of numbers: the smallest of those tried on its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from serialpack.auto.arrays.recurring import recurs
from serialpack.auto.arrays.trial import (
    PLAIN,
    ArrayChain,
    Lags,
    SampleTrial,
    Way,
    measured_of,
    near_lags,
)
from serialpack.codecs import CODECS
from serialpack.codecs.pcodec import MOST_START, TYPES
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer
from serialpack.threads import side_by_side

#: So large a part of the samples tells which filters are worth being tried on all.
_PART, _LEAST_PART = 8, 48 << 10

#: The levels of zstd that tell filters apart, quickly and better, and of pcodec that tells codecs
#: apart: beyond them levels find more of the same.
_QUICK, _MIDDLE, _LEVEL = 1, 9, 7

#: So many kinds of differences are compressed that seem to have the fewest bits.
_FEWEST = 2

#: A codec that is slower than zstd must be smaller by this share, where time matters, and what has
#: filters by this one for each.
_SLOWER, _MORE = 0.02, 0.002

#: Of the second best filters, too, more is compressed where they leave so much more at most.
_NEAR = 1.03

#: Before pcodec no differences are taken where it leaves so small a share of what zstd does, or so
#: small a share of what it is expected to leave behind them is more than that.
_FAR, _HOPEFUL = 0.7, 0.9

#: zstd alone is tried at more than a quick level where others leave so large a share of what it
#: does.
_CLOSE = 0.85

#: Where pcodec leaves so small a share of what zstd does, filters are not tried for that.
_AT_ONCE = 0.8

#: pcodec may leave so much less of bytes than their entropy says.
_FEWER_BITS = 0.95

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


class _Look(NamedTuple):
    """What a quick look tells: the ``ways`` worth being tried on more, the share that is left of
    the best of them, and that which zstd alone leaves; the differences that leave fewer bits than
    those which pcodec takes by itself, if any do, and how many fewer, as a share of all."""

    ways: list[Way]
    least: float
    plain: float
    far: Lags
    fewer: float


class Chosen(NamedTuple):
    """The smallest of the chains tried, and the ``plain`` codec, without filters.

    ``recurs``: whether the first is for what comes again at a distance.
    """

    best: ArrayChain
    plain: ArrayChain
    recurs: bool = False


def chosen(
    layouts: Sequence[NumbersLayout],
    samples: list[Buffer],
    length: int,
    head: Buffer,
    codec: StageSpec,
    effort: int,
    threads: int = 1,
) -> Chosen:
    """What suits numbers of ``length`` bytes; ``layouts``: what they are, or may be.

    ``samples``: what stands at the ``sample_places`` for the first of these. ``head``: what they
    begin with, as much as a block. ``codec``: zstd. ``threads`` try chains side by side.
    """
    tried = [_ArrayChoice(layout, samples, length, codec, effort) for layout in layouts]
    jobs = [job for choice in tried for job in (choice.looked, choice.own)]
    *begun, again = _together(threads, *jobs, lambda: recurs(head))
    found = min(
        (
            choice.best(begun[2 * number], begun[2 * number + 1], threads)
            for number, choice in enumerate(tried)
        ),
        key=lambda chosen: chosen.best.share,
    )
    if again:
        whole = tried[0].of_recurring(head, found.best.share)
        return found if whole is None else Chosen(whole, found.plain, recurs=True)
    return found


class _ArrayChoice:
    """Between the chains for numbers of one ``layout``.

    Filters are tried on a part of the samples, before a quick level of zstd; then the smallest of
    each kind on all, and pcodec; and where time matters less, what may still be smaller before
    higher levels and LZMA.
    """

    def __init__(
        self,
        layout: NumbersLayout,
        samples: list[Buffer],
        length: int,
        codec: StageSpec,
        effort: int,
    ) -> None:
        self._layout = layout
        self._codec = codec
        self._effort = effort
        self._measured = measured_of(layout, length, effort)
        part = max(self._measured // _PART, _LEAST_PART // layout.size)
        self._trial = SampleTrial(layout, samples, self._measured)
        self._little = self._trial
        if part < self._measured:
            self._little = SampleTrial(layout, samples, part)
        self._quick, self._middle = _at_most(codec, _QUICK), _at_most(codec, _MIDDLE)
        #: By how much what is slower than zstd must be smaller.
        self._asked = _SLOWER if EFFORTS[effort].least_gain else 0

    def looked(self) -> _Look:
        """What few bits and a quick level of zstd tell of differences and filters, on little."""
        size, little, quick = self._layout.size, self._little, self._quick
        shuffle, bitshuffle = ((f"shuffle:{size}",) if size > 1 else ()), (f"bitshuffle:{size}",)
        bits = {lags: little.bits(lags) for lags in self._differences()}
        fewest = [(), *sorted(bits, key=bits.__getitem__)[:_FEWEST], *list(bits)[:1]]
        bytewise = {lags: Way(lags, (*_small(lags, size), *shuffle)) for lags in fewest}
        found = {lags: little.of(way, quick).share for lags, way in bytewise.items()}
        best = min(found, key=found.__getitem__)
        others = [Way(lags, (*_small(lags, size), *bitshuffle)) for lags in {(): 0, best: 0}]
        if self._layout.kind != "f" and not self._layout.big:
            others.append(Way((1,), bitshuffle))
        shares = {bytewise[lags]: share for lags, share in found.items()}
        shares |= {way: little.of(way, quick).share for way in others}
        ways = sorted(shares, key=shares.__getitem__)
        least = shares[ways[0]]
        near = [way for way in ways if shares[way] <= _NEAR * least]
        far, fewer = _far(bits)
        plain = little.of(PLAIN, quick).share
        return _Look(near[:_FEWEST], least, plain, far, fewer / (8 * size))

    def _differences(self) -> list[Lags]:
        """Those of neighbours in a row, of others, in several dimensions at once."""
        lags = near_lags(self._layout)
        return [each for count in range(len(lags)) for each in combinations(lags, count + 1)]

    def own(self) -> list[ArrayChain]:
        """pcodec alone, as far as the effort has it; of bytes later, as their entropy tells."""
        if self._layout.size == 1:
            return []
        before = (f"byteswap:{self._layout.size}",) if self._layout.big else ()
        return self._pcodec(Way((), before), self._layout.kind)

    def _pcodec(self, way: Way, kind: str) -> list[ArrayChain]:
        layout = self._layout
        if not EFFORTS[self._effort].by_itself or f"{kind}{layout.size}" not in TYPES:
            return []
        before = f"/{layout.start}" if 0 < layout.start <= MOST_START else ""
        codec = parse_stage(CODECS, f"pcodec@{kind}{layout.size}{before}", self._effort)
        level = _LEVEL if self._middle == self._codec else _MIDDLE
        found = self._trial.of(way, _at_most(codec, level))
        return [_asking(self._asked, found._replace(codec=codec))]

    def best(self, seen: _Look, own: list[ArrayChain], threads: int) -> Chosen:
        """The smallest, by what was begun with."""
        asked, trial = self._asked, self._trial
        close = not asked or min(_least(own), seen.least) > _CLOSE * seen.plain
        level = self._middle if close else self._quick
        plain, *far = _together(
            threads,
            lambda: trial.of(PLAIN, level)._replace(codec=self._codec),
            *(partial(self._pcodec, *each) for each in self._farther(seen, own)),
        )
        chains = [plain, *own, *(chain for found in far for chain in found)]
        if not asked or _least(chains[1:]) > _AT_ONCE * min(plain.share, seen.least):
            if self._middle == self._codec:
                chains += self._filtered(seen.ways, threads)
            else:
                plain = self._slowly(chains, seen.ways, plain)
        more = _MORE if asked else 0
        least = min(chains, key=lambda chain: chain.share * (1 + more * len(chain.filters)))
        return Chosen(least, plain)

    def _farther(self, seen: _Look, own: list[ArrayChain]) -> Iterator[tuple[Way, str]]:
        """What else is tried before pcodec: bytes, and differences that it does not take by
        itself; with the kind of number that it gets."""
        size, by_itself = self._layout.size, _least(own)
        if size == 1:
            # Of bytes it leaves about what their entropy says.
            for lags, kind in (((), self._layout.kind), (seen.far, "i")):
                bits = min(self._little.bits((*lags, *more)) for more in ((), (1,)))
                if _FEWER_BITS * bits / 8 < seen.least:
                    yield Way(lags, ()), kind
        elif seen.far:
            hopeful = _HOPEFUL * (by_itself - seen.fewer) < seen.least < by_itself / _FAR
            if hopeful or not self._asked:
                yield Way(seen.far, ()), "i"

    def _filtered(self, ways: list[Way], threads: int) -> list[ArrayChain]:
        """The smallest of ``ways`` before a quick level of zstd, and before its own."""
        # Where there are few matches, what finds more of them makes nothing smaller; samples tell
        # less well of one level than of two.
        tried = [partial(self._trial.of, way, self._quick) for way in ways]
        tried += [partial(self._trial.of, way, self._codec) for way in ways]
        found = _together(threads, *tried)
        both = zip(found[: len(ways)], found[len(ways) :], strict=True)
        quick, own = min(both, key=lambda each: each[0].share + each[1].share)
        return [quick, _asking(_FASTER, own)]

    def _slowly(self, chains: list[ArrayChain], ways: list[Way], plain: ArrayChain) -> ArrayChain:
        """Add what higher levels and LZMA make of the smallest of ``ways``, and of plain numbers,
        where they may be smaller than ``chains``; ``plain``, or as a higher level has it."""
        trial = self._trial
        quick = [trial.of(way, self._quick) for way in ways]
        chains += quick
        best = min(quick, key=lambda chain: chain.share)
        if best.share**_POWER < _least(chains):
            way = ways[quick.index(best)]
            chains.append(trial.of(way, self._codec))
            for lzma in self._lzma(1):
                chains.append(_asking(_DEARER, trial.of(way, lzma)))
        if plain.share < max(_least(chains) / _BEYOND, _MATCHES):
            whole = trial.of(PLAIN, self._beyond(self._little, plain))
            chains.append(whole)
            return whole if whole.codec == self._codec else plain
        return plain

    def _beyond(self, little: SampleTrial, plain: ArrayChain) -> StageSpec:
        """What takes numbers as they are, smallest: the codec of ``plain``, which is all that a
        middle level of it leaves; or LZMA, as it takes bytes or items, which a trial on ``little``
        tells.

        Of what is nearly all matches LZMA has only short ones (273 bytes).
        """
        lzma = [each for size in {1: 0, self._layout.size: 0} for each in self._lzma(size)]
        if not lzma or plain.share < _MATCHES:
            return plain.codec
        return min(lzma, key=lambda each: little.of(PLAIN, each).share) if lzma[1:] else lzma[0]

    def _lzma(self, size: int) -> list[StageSpec]:
        """LZMA as it takes items of ``size`` bytes, where time matters least."""
        # Beyond level 6 its dictionary is larger, and nothing else: numbers repeat nearby.
        return [parse_stage(CODECS, f"xz:6@{size}")] if EFFORTS[self._effort].columns.lzma else []

    def of_recurring(self, head: Buffer, least: float) -> ArrayChain | None:
        """The chain for what comes again in ``head``, where it leaves a smaller share than
        ``least``; None where it does not. Its share is that of all of it, or somewhat more."""
        found = _whole(head, ArrayChain((), self._middle, 1))
        little = SampleTrial(self._layout, [head], self._measured // _PART)
        codec = self._beyond(little, found._replace(codec=self._codec))
        chosen = found._replace(codec=codec)
        if codec != found.codec and _BEYOND * chosen.share < least <= chosen.share:
            chosen = _whole(head, chosen)
        return chosen if chosen.share < least else None


def _whole(data: Buffer, chain: ArrayChain) -> ArrayChain:
    """With the share that its codec leaves of ``data``."""
    return chain._replace(share=len(CODECS.create(*chain.codec).compress(data)) / len(data))


def _together(threads: int, *jobs: Callable[[], Any]) -> list[Any]:
    """What each of the jobs gives, done by so many threads."""
    return list(side_by_side(lambda job: job(), jobs, threads))


def _asking(share: float, chain: ArrayChain) -> ArrayChain:
    """``chain``, which has to be smaller than another by this share."""
    return chain._replace(share=chain.share * (1 + share))


def _least(chains: list[ArrayChain]) -> float:
    return min((chain.share for chain in chains), default=1)


def _at_most(codec: StageSpec, level: int) -> StageSpec:
    """A level of ``codec`` that tells as much of a sample."""
    return codec._replace(values=(min(codec.values[0], level), *codec.values[1:]))


def _far(bits: dict[Lags, float]) -> tuple[Lags, float]:
    """The differences before pcodec, which takes those in a row by itself, and how many ``bits``
    they leave less; none where they do not."""
    fewest = {
        lags: min(bits[lags], bits.get((1, *lags), bits[lags])) for lags in bits if lags[0] > 1
    }
    far = min(fewest, key=fewest.__getitem__, default=())
    fewer = bits.get((1,), fewest[far] + 1) - fewest[far] if far else 0
    return (far, fewer) if fewer > 0 else ((), 0)


def _small(lags: Lags, size: int) -> tuple[str, ...]:
    """What makes those near zero small numbers."""
    return (f"zigzag:{size}",) if lags else ()
