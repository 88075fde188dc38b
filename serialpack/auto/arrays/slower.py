"""What takes longer than a middle level of zstd, and may be smaller: its highest ones, and LZMA."""

from collections.abc import Iterable
from functools import partial

from serialpack.auto.arrays.trial import (
    PLAIN,
    ArrayChain,
    SampleTrial,
    Way,
    asking,
    at_most,
    of_all,
    smallest,
    together,
)
from serialpack.codecs import CODECS
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.stage import Buffer

#: The levels of zstd that tell filters apart, quickly and better: beyond them levels find more of
#: the same.
QUICK, MIDDLE = 1, 9

#: Of what the middle level leaves of plain numbers, the highest or LZMA leave so large a share at
#: least, and of filtered ones this power: the less there is, the more of it repeats.
BEYOND, POWER = 0.64, 1.15

#: Of numbers that leave so large a share at a middle level, a part tells about what is left of all;
#: of others more than this part of it; or than the last, where a middle level leaves so much less
#: of all, in which more matches are found.
_NOISY, _STEADY, _ABOUT, _FALLS, _MORE_MATCHES = 0.8, 0.98, 0.92, 0.9, 0.78

#: No more is tried where LZMA leaves so small a part of what all others leave.
_SURELY = 0.85

#: Higher levels of zstd take longer, and leave as much behind filters; of what is nearly all runs
#: the highest takes ten times as long as LZMA, and is for no more than so many bytes.
HIGH, HIGHEST_OF = 19, 2 << 20

#: What leaves so large a part of what another does, leaves clearly less.
_CLEARLY = 0.98

#: LZMA takes longer than the highest level of zstd, both ways, and must be smaller by this share.
_DEARER = 0.003

#: So small a share is left of what is nearly all long matches.
MATCHES = 0.02

#: Of what is nearly all runs so many ways are tried before both that a middle level leaves least
#: of, and no more than so many times the least, the second of them if it is nearly the first, or
#: has no filters; plain numbers where that leaves so many times it, and before the highest level
#: where one below it leaves no more than so many times the least.
_WAYS, _ALIKE, _NEXT_ALIKE, _PLAIN_ALIKE, _HIGH_ALIKE = 2, 1.5, 1.1, 2.5, 1.05

#: Of what is nearly all runs the highest level leaves so large a part at least of what a middle one
#: does.
RUNS_BEYOND = 0.4

#: The highest level may leave less of all of them than the least of samples, where a middle one
#: leaves so many times that of these, and they are labels: so small a share is left of them. Of
#: numbers longer than a byte it leaves more of what the middle one does.
_HOPEFUL, _HOPEFUL_LONGER, _LABELS = 1.8, 1.3, 0.03

#: So many that leave at most so much more of samples than the best (so many times as much, and so
#: large a share of all), and take little time, are tried on all numbers; where the best takes long,
#: of fewer bytes than are cut into blocks.
_TRIED, _NEAR, _TINY, CUT = 2, 1.08, 0.001, 2 << 20


class Slower:
    """The highest levels of ``codec``, and LZMA where it is ``lzma``, on ``trial``; what of them
    leaves less a ``few`` numbers tell. ``whole``: whether the trial has all that there is."""

    def __init__(
        self, codec: StageSpec, trial: SampleTrial, few: SampleTrial, *, lzma: bool, whole: bool
    ) -> None:
        self._codec, self._trial, self._few = codec, trial, few
        self._lzma, self._whole = lzma, whole
        self._quick, self._middle = at_most(codec, QUICK), at_most(codec, MIDDLE)

    def finer(self, quick: ArrayChain, least: float) -> ArrayChain:
        """What LZMA or a high level leave behind the filters of ``quick``, whichever leaves less of
        few numbers; as these tell where a quick level leaves the ``least`` of all as it is."""
        codecs = dict.fromkeys(self._lzma_of([1]), _DEARER)
        codecs[at_most(self._codec, HIGH)] = 0
        few, way = self._few, quick.way
        found = min(codecs, key=lambda each: few.of(way, each).share * (1 + codecs[each]))
        if quick.share > least or self._whole:
            return asking(codecs[found], self._trial.of(way, found))
        own = few.of(way, found)
        own = few.in_planes(own) if found.name == "zstd" else own
        less = own.share / few.in_planes(few.of(way, self._quick)).share
        return quick._replace(codec=found, share=quick.share * less, payload=None)

    def beyond(self, few: SampleTrial, plain: ArrayChain) -> StageSpec:
        """What takes numbers as they are, smallest: the codec of ``plain``, which is all that a
        middle level of it leaves; or LZMA, as it takes bytes or items, which a trial on ``few``
        tells.

        Of what is nearly all matches LZMA has only short ones (273 bytes).
        """
        lzma = self._lzma_of([1, few.layout.aligned])
        if not lzma or plain.share < MATCHES:
            return plain.codec
        return min(lzma, key=lambda each: few.of(PLAIN, each).share) if lzma[1:] else lzma[0]

    def hopes(self, plain: ArrayChain, codec: StageSpec, way: Way) -> float:
        """How small a share ``codec`` may leave of plain numbers, by what it leaves of few; none
        where a quick level behind the filters of ``way`` leaves less of these than it ever may."""
        if codec == plain.codec:
            return 0
        few = self._few
        left, middle = few.of(PLAIN, codec).share, few.of(PLAIN, self._middle).share
        more = _MORE_MATCHES if plain.share < _FALLS * middle else _ABOUT
        more = _STEADY if plain.share > _NOISY else more
        if left * more > few.of(way, self._quick).share:
            return 1
        return plain.share * left / middle * more

    def surely(
        self, little: SampleTrial, codec: StageSpec, way: Way, numbers: Iterable[ArrayChain]
    ) -> bool:
        """Whether ``codec`` leaves so much less of ``little`` plain numbers than all others, of
        which ``numbers`` are pcodec's, that no more need be tried."""
        if self._whole or codec == self._codec:
            return False
        others = [little.of(way, self._quick).share ** POWER]
        others += [little.of(each.way, each.codec).share for each in numbers]
        return bool(little.of(PLAIN, codec).share < min(others) * _SURELY)

    def of_runs(self, middle: list[ArrayChain], least: float, threads: int) -> list[ArrayChain]:
        """What is left of what is nearly all runs: which of LZMA and a high level leaves less, a
        ``middle`` level behind the filters of each way does not tell. ``least``: the share that is
        left of the smallest so far."""
        trial, size = self._trial, self._trial.layout.aligned
        ranked = sorted(middle, key=lambda chain: chain.share)
        most = _NEXT_ALIKE * ranked[0].share
        ways = [
            each.way
            for each in ranked[:_WAYS]
            if each.share < _ALIKE * least and (each.share < most or each.way == PLAIN)
        ]
        high = at_most(self._codec, HIGH)
        tries = [(way, codec) for way in ways for codec in (*self._lzma_of([1]), high)]
        shares = {each.way: each.share for each in middle}
        near = shares[PLAIN] < _PLAIN_ALIKE * least
        tries += [(PLAIN, codec) for codec in self._lzma_of([1, size]) if near]
        found = together(threads, *(partial(trial.of, *each) for each in dict.fromkeys(tries)))
        least = min([least, *(each.share for each in found)])
        plain = {each.codec: each.share for each in found if each.way == PLAIN}
        hopeful = plain.get(high, least) < _HIGH_ALIKE * least
        if self._whole and hopeful and shares[PLAIN] < _ALIKE * least:
            found.append(trial.of(PLAIN, self._codec))
        return found

    def among_near(
        self,
        best: ArrayChain,
        chains: Iterable[ArrayChain],
        head: Buffer,
        lower: ArrayChain | None,
    ) -> ArrayChain:
        """``best`` by samples, or whichever of ``chains`` that are near it leaves less of all of
        ``head``. With the payload, where more than one was tried, and the share of the best.

        ``lower``: what a lower effort chose. Where its filters leave clearly less of all before its
        own codec, they take the place of those of a ``best`` that takes long: one such is enough.
        """
        share = best.share
        if lower is not None and self._filters_better(lower, best, head):
            best = lower._replace(codec=at_most(self._codec, HIGH), share=share, payload=None)
        most = _NEAR * share + _TINY
        near = [each for each in chains if each.share < most and is_quick(each)]
        near = sorted((each for each in near if each[:2] != best[:2]), key=lambda each: each.share)
        if self._whole or not near or (len(head) >= CUT and not is_quick(best)):
            return best
        found = smallest([of_all(head, each) for each in (best, *near[:_TRIED])])
        return found._replace(share=share)

    def _filters_better(self, lower: ArrayChain, best: ArrayChain, head: Buffer) -> bool:
        """Whether the filters of ``lower`` leave clearly less of all of ``head`` than those of
        ``best``, a chain that takes long, do before the same quick level of zstd."""
        if self._whole or lower.codec.name != "zstd" or is_quick(best):
            return False
        if not best.filters or best.filters == lower.filters:
            return False
        own = of_all(head, best._replace(codec=lower.codec))
        return of_all(head, lower).share < _CLEARLY * own.share

    def by_all(self, best: ArrayChain, plain: ArrayChain, head: Buffer) -> ArrayChain:
        """``best``, or a high level on ``plain`` numbers, whose share a middle one tells: it finds
        what comes again in all of ``head``, of which samples tell little. With the payload of
        that, where it was made."""
        times = _HOPEFUL if self._trial.layout.size == 1 else _HOPEFUL_LONGER
        hopeful = plain.share < times * best.share and best.share < _LABELS
        # The share of ``plain`` is another, by another level, where the chains are the same.
        if self._whole or best[:2] == plain[:2] or not hopeful:
            return best
        best, high = of_all(head, best), at_most(self._codec, HIGH)
        tried = self._trial.tried(PLAIN, high)
        left = RUNS_BEYOND if tried is None else tried.share / plain.share
        if of_all(head, plain._replace(codec=self._middle)).share * left > best.share:
            return best
        return smallest([best, of_all(head, plain)])

    def _lzma_of(self, sizes: list[int]) -> list[StageSpec]:
        """LZMA as it takes items of each of ``sizes`` bytes, where time matters least."""
        # Beyond level 6 its dictionary is larger, and nothing else: numbers repeat nearby.
        return [parse_stage(CODECS, f"xz:6@{size}") for size in dict.fromkeys(sizes) if self._lzma]


def is_quick(chain: ArrayChain) -> bool:
    name, values = chain.codec
    return name == "pcodec" or (name == "zstd" and values[0] <= MIDDLE)
