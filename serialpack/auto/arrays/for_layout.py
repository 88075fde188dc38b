"""Chains for numbers of one layout: which are tried, on how much, and which is the smallest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import NamedTuple

from serialpack.auto.arrays.look import Seen, as_they_are, looked
from serialpack.auto.arrays.samples import measured_of, part_of
from serialpack.auto.arrays.scale import scaled_numbers
from serialpack.auto.arrays.slower import (
    BEYOND,
    HIGH,
    HIGHEST_OF,
    MATCHES,
    MIDDLE,
    POWER,
    QUICK,
    RUNS_BEYOND,
    Slower,
)
from serialpack.auto.arrays.trial import (
    PLAIN,
    ArrayChain,
    Coders,
    SampleTrial,
    Trials,
    Way,
    asking,
    at_least,
    at_most,
    columns_apart,
    least_of,
    of_all,
    shuffled,
    smallest,
    together,
)
from serialpack.codecs import CODECS
from serialpack.codecs.pcodec import MOST_START, TYPES
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

#: So large a part of the samples tells which filters are worth being tried on all.
_PART, _LEAST_PART = 8, 48 << 10

#: A codec that is slower than zstd must be smaller by this share, where time matters, and what has
#: filters by this one for each.
_SLOWER, _MORE = 0.005, 0.002

#: Before pcodec no differences are taken where it leaves so small a share of what zstd does, or so
#: small a share of what it is expected to leave behind them is more than that.
_FAR, _HOPEFUL = 0.7, 0.9

#: zstd alone is tried at more than a quick level where others leave so large a share of what it
#: does.
_CLOSE = 0.85

#: Where pcodec leaves so small a share of what all else does of little, no more is tried; but of
#: what leaves next to nothing little does not tell into how many blocks it is cut.
_CLEARLY, _LITTLE = 0.93, 0.1

#: Filters are not tried where they leave so much more than zstd alone.
_NEAR = 1.03

#: Where pcodec leaves so small a share of what zstd does, filters are not tried for that.
_AT_ONCE = 0.8

#: pcodec may leave so much less of bytes than their entropy says.
_FEWER_BITS = 0.95

#: Columns are tried apart where they tell so large a share of what is left, and must be smaller by
#: this one; and where all is tried.
_TELLS, _APART, _TELLS_LITTLE = 0.01, 0.008, 0.003

#: Of a table higher levels are tried, too, that may leave so much more than the least.
_NEARLY = 1.08

#: The quick level of zstd is up to twice as fast as a middle one, and may leave more of the samples
#: by this share; of whole blocks it often leaves less.
_FASTER = 0.005

#: So large a part of the numbers, of so many bytes at least, tells which of what takes longer
#: leaves less, and by how much.
_TELLING, _LEAST_TELLING = 4, 16 << 10

#: What comes again far off in shuffled bytes must be smaller by this share.
_SHUFFLED = 0.03

#: Of what is nearly all runs so many times as much is tried, at this level of zstd at least, which
#: leaves 0.6 to 0.9 of what level 3 does, and by so much less than a quick one, or that is taken.
RUNS_TIMES, _RUNS_LEVEL, _RUNS_SLOWER = 4, 7, 0.02


class Chosen(NamedTuple):
    """The smallest of the chains tried, and the ``plain`` codec, without filters.

    ``recurs``: whether the first is for what comes again at a distance.
    """

    best: ArrayChain
    plain: ArrayChain
    recurs: bool = False


class LayoutChoice:
    """Between the chains for numbers of one ``layout``.

    Filters are tried on a part of the samples, before a quick level of zstd; then the smallest of
    each kind on all, and pcodec; and where time matters less, what may still be smaller before
    higher levels and LZMA. ``trials``: made before, of the same numbers; ``lower``: what a lower
    effort chose for them.
    """

    def __init__(
        self,
        layout: NumbersLayout,
        samples: list[Buffer],
        length: int,
        codec: StageSpec,
        effort: int,
        head: Buffer = b"",
        times: int = 1,
        trials: Trials | None = None,
        lower: ArrayChain | None = None,
    ) -> None:
        #: Whether the samples are all that there is, in whole numbers.
        whole_numbers = layout.start % layout.size == length % layout.size == 0
        self.whole = whole_numbers and [len(sample) for sample in samples] == [length]
        before: tuple[StageSpec, ...] = ()
        self._given = given = layout, samples
        if EFFORTS[effort].by_itself:
            scaled = scaled_numbers(layout, samples, whole=self.whole)
            before, layout, samples = scaled or (before, *given)
        self._layout, self._length = layout, length
        self._plain = self._codec = codec
        self._effort, self._runs, self._head = effort, False, head
        self._lower = lower
        self._measured = min(measured_of(layout, length, effort, times), length // layout.size)
        part = max(self._measured // _PART, _LEAST_PART // layout.size)
        if self.whole:
            self._measured = length // layout.size
        self._coders: Coders = {}
        known: Trials = {} if trials is None or not self.whole else trials
        most = EFFORTS[effort].block_size
        sized = partial(SampleTrial, coders=self._coders, length=length, most=most)

        def trial(count: int, *, whole: bool = False, spread: bool = False) -> SampleTrial:
            key = layout, before, count, whole, spread
            if key not in known:
                columns = bool(self.whole and layout.stacked and not whole)
                part = part_of(layout, samples, count, columns=columns, spread=spread)
                known[key] = sized(layout, part, count, whole=whole, before=before)
            return known[key]

        self._trial = trial(self._measured, whole=self.whole)
        self._little = trial(part) if part < self._measured else self._trial
        few = min(max(length // _TELLING, _LEAST_TELLING) // layout.size, part)
        #: Tells codecs that take long apart: the end of a sample may be unlike the rest.
        self._few = trial(few, spread=True) if few < self._measured else self._little
        #: What ``before`` is compared with, where there are such filters.
        self._unscaled = None
        if before:
            key = given[0], (), self._measured, self.whole, False
            self._unscaled = known.get(key) or sized(*given, self._measured, whole=self.whole)
            known[key] = self._unscaled
        self._pcodecs: list[ArrayChain] = []
        self._quick, self._middle = at_most(codec, QUICK), at_most(codec, MIDDLE)
        #: By how much what is slower than zstd must be smaller.
        self._asked = _SLOWER if EFFORTS[effort].least_gain else 0

    @property
    def takes_more(self) -> bool:
        """Whether of runs more is tried, at a higher level: speed is not all."""
        return EFFORTS[self._effort].by_itself

    def of_runs(self, samples: list[Buffer]) -> LayoutChoice:
        """The same for numbers that are nearly all runs, by these ``samples``."""
        how = self._given[0], samples, self._length, self._plain, self._effort, self._head
        times = RUNS_TIMES if self._asked else RUNS_TIMES // 2  # of twice as many
        found = copy(self) if self.whole else LayoutChoice(*how, times)
        found._runs = True
        found._codec = at_least(self._codec, _RUNS_LEVEL)
        if self._length > HIGHEST_OF:
            found._codec = at_most(found._codec, HIGH)
        # A part of them may be nothing but zeros.
        found._little = found._trial
        return found

    def packed(self, chain: ArrayChain) -> ArrayChain:
        """``chain`` with the payload, where the samples are the ``whole``."""
        return self._trial.packed(chain)

    def looked(self) -> Seen:
        """What few bits and a quick level of zstd tell, on little."""
        return looked(self._little, self._quick)

    def own(self) -> list[ArrayChain]:
        """pcodec alone, as far as the effort has it; of bytes later, as their entropy tells."""
        if self._layout.size == 1:
            return []
        before = (f"byteswap:{self._layout.size}",) if self._layout.big else ()
        return self._pcodec(Way((), before), self._layout.kind, self._trial)

    def _pcodec(
        self, way: Way, kind: str, trial: SampleTrial, *, apart: bool = False
    ) -> list[ArrayChain]:
        layout = self._layout
        if not EFFORTS[self._effort].by_itself or f"{kind}{layout.size}" not in TYPES:
            return []
        more = f"/{layout.start}" if 0 < layout.start <= MOST_START else ""
        if apart:  # by a transposition the first of all numbers are in all of them
            more = f"{more if layout.stacked else ''}={trial.columns}"
        codec = parse_stage(CODECS, f"pcodec@{kind}{layout.size}{more}", self._effort)
        found = trial.of(way, codec)
        self._pcodecs.append(found)
        if apart and layout.stacked:  # the samples have some of them
            values = *codec.values[:-1], layout.stacked
            found = found._replace(codec=codec._replace(values=values))
        return [asking(_APART if self._asked and apart else self._asked, found)]

    def best(self, seen: Seen, own: list[ArrayChain], threads: int) -> Chosen:
        """The smallest, by what was begun with."""
        found = (self._of_runs if self._runs else self._best)(seen, own, threads)
        if self._unscaled is None:
            return found
        plain = self._unscaled.of(PLAIN, self._middle if self._runs else self._quick)
        hopeful = (RUNS_BEYOND if self._runs else BEYOND) * plain.share < found.best.share
        if (self._runs or self.whole) and hopeful:
            return found._replace(plain=self._unscaled.of(PLAIN, self._plain))
        return found._replace(plain=plain._replace(codec=self._plain, payload=None))

    def _of_runs(self, seen: Seen, own: list[ArrayChain], threads: int) -> Chosen:
        """Where ``seen`` and ``own`` are of numbers that are nearly all runs."""
        trial = self._trial
        ways = dict.fromkeys((*as_they_are(self._layout), *seen.ways))
        found = together(
            threads,
            *(partial(trial.of, way, self._quick) for way in ways),
            *(partial(self._tried, way, at_most(self._codec, MIDDLE)) for way in ways),
            self.own,
            *(partial(each, trial=trial) for each in self._farther(seen, own)),
        )
        quick, slow = found[: len(ways)], found[len(ways) : 2 * len(ways)]
        asked = 0 if self.whole else _RUNS_SLOWER
        chains = [*map(trial.in_planes, quick), *(asking(asked, each) for each in slow)]
        chains += [chain for each in found[2 * len(ways) :] for chain in each]
        if not self._asked:
            plain, slower = slow[list(ways).index(PLAIN)], self._slower()
            chains += (more := slower.of_runs(slow, least_of(chains), threads))
            best = smallest(chains)
            if len(self._head) == self._length:
                best = slower.by_all(best, plain, self._head)
            same = [each for each in more if (each.way, each.codec) == (PLAIN, self._codec)]
            plain = same[0] if same else plain
            return Chosen(best, plain._replace(share=max(plain.share, best.share)))
        return Chosen(smallest(chains), trial.of(PLAIN, self._plain))

    def _best(self, seen: Seen, own: list[ArrayChain], threads: int) -> Chosen:
        asked, trial = self._asked, self._trial
        far = list(self._farther(seen, own))
        if asked and not far and self._clearly(seen, own, threads):
            return Chosen(own[0], ArrayChain((), self._codec, seen.plain))
        close = not asked or min(least_of(own), seen.least) > _CLOSE * seen.plain
        level = self._middle if close else self._quick
        plain, *found = together(
            threads,
            lambda: self._tried(PLAIN, level),
            *(partial(each, trial=trial) for each in far),
        )
        if self.whole:  # of few numbers a quick level often leaves less
            plain = smallest([plain, trial.of(PLAIN, self._quick)])
        chains = [plain, *own, *(chain for each in found for chain in each)]
        worth = seen.least < _NEAR * seen.plain and least_of(chains[1:]) > _AT_ONCE * min(
            plain.share, seen.least
        )
        if worth or not asked:
            if self._middle == self._codec:
                chains += self._filtered(seen.ways, threads)
            else:
                plain = self._slowly(chains, seen.ways, plain, threads)
        if self._layout.record:  # text in fields is often smaller with few matches
            chains.append(trial.of(PLAIN, self._quick))
        more = _MORE if asked else 0
        least = min(chains, key=lambda chain: chain.share * (1 + more * len(chain.filters)))
        if not asked and len(self._head) == self._length:
            least = self._slower().among_near(least, chains, self._head, self._lower)
        return Chosen(least, plain)

    def _clearly(self, seen: Seen, own: list[ArrayChain], threads: int) -> bool:
        """Whether pcodec alone leaves so much less than all else that no more need be tried."""
        most = _CLEARLY * min(seen.least, seen.plain)
        if _LITTLE < least_of(own) < most:  # of all samples, and the others of little
            ways = PLAIN, seen.ways[0]
            tried = (partial(self._trial.of, way, self._quick) for way in ways)
            most = _CLEARLY * least_of(together(threads, *tried))
        return _LITTLE < least_of(own) < most

    def _tried(self, way: Way, level: StageSpec) -> ArrayChain:
        """The codec behind the filters of ``way``, as ``level`` of it tells."""
        found = self._trial.of(way, level)
        same = level == self._codec
        return found if same else found._replace(codec=self._codec, payload=None)

    def _farther(
        self, seen: Seen, own: list[ArrayChain]
    ) -> Iterator[Callable[..., list[ArrayChain]]]:
        """What else is tried before pcodec, on a trial: bytes, columns apart, and differences that
        it does not take by itself."""
        size, by_itself = self._layout.size, least_of(own)
        if (apart := columns_apart(self._layout)) is not None:
            told, least = self._little.told_by_columns() / (8 * size), min(by_itself, seen.least)
            few = size > 1 or _FEWER_BITS * self._little.bits(()) / 8 - told < least
            if few and told > (_TELLS if self._asked else _TELLS_LITTLE) * least:
                yield partial(self._pcodec, apart, self._layout.kind, apart=True)
        if size == 1:
            # Of bytes it leaves about what their entropy says.
            for lags, kind in (((), self._layout.kind), (seen.far, "i")):
                bits = min(self._little.bits((*near, *lags)) for near in ((), (1,)))
                if _FEWER_BITS * bits / 8 < seen.least:
                    yield partial(self._pcodec, Way(lags, ()), kind)
        elif seen.far:
            hopeful = _HOPEFUL * (by_itself - seen.fewer) < seen.least < by_itself / _FAR
            if hopeful or not self._asked:
                # Of differences of differences it may leave more than of these.
                for far in dict.fromkeys((seen.far, seen.far[:1])):
                    yield partial(self._pcodec, Way(far, ()), "i")

    def _filtered(self, ways: list[Way], threads: int) -> list[ArrayChain]:
        """The smallest of ``ways`` before a quick level of zstd, and before its own."""
        # Where there are few matches, what finds more of them makes nothing smaller; samples tell
        # less well of one level than of two.
        tried = [partial(self._trial.of, way, self._quick) for way in ways]
        tried += [partial(self._trial.of, way, self._codec) for way in ways]
        found = together(threads, *tried)
        both = zip(found[: len(ways)], found[len(ways) :], strict=True)
        quick, own = min(both, key=lambda each: each[0].share + each[1].share)
        # Of a block planes stand farther apart than a quick level looks for matches.
        far, near = self._trial.in_planes(quick), self._trial.in_planes(own)
        near = far if quick.codec == own.codec else smallest([own, near])
        return [far, asking(_FASTER, near)]

    def _slowly(
        self, chains: list[ArrayChain], ways: list[Way], plain: ArrayChain, threads: int
    ) -> ArrayChain:
        """Add what higher levels and LZMA make of the smallest of ``ways``, and of plain numbers,
        where they may be smaller than ``chains``; ``plain``, or as a higher level has it."""
        trial = self._trial
        quick = together(threads, *(partial(trial.of, way, self._quick) for way in ways))
        chains += (quick := [*map(trial.in_planes, quick)])
        best, least = smallest(quick), least_of(chains)
        jobs: list[Callable[[], ArrayChain]] = []
        # Bits that changed hold few matches, which higher levels find in bytes of records.
        finer = quick if self._layout.record else [best]
        slower = self._slower()
        # Columns apart, what a quick level leaves behind differences tells less.
        most = least * (_NEARLY if self._layout.columns else 1)
        jobs += [partial(slower.finer, each, least) for each in finer if each.share**POWER < most]
        if plain.share < max(least / BEYOND, MATCHES):
            codec = slower.beyond(self._few, plain)
            hopes = slower.hopes(plain, codec, best.way)
            if hopes < least and slower.surely(self._little, codec, best.way, self._pcodecs):
                chains.append(plain._replace(codec=codec, share=min(plain.share, hopes)))
            elif hopes < least:
                jobs.append(partial(trial.of, PLAIN, codec))
        if self.whole and (numbers := [each for each in chains if each.codec.name == "pcodec"]):
            # What it leaves, in the place of what was estimated.
            chains.remove(least_numbers := smallest(numbers))
            jobs.append(partial(trial.packed, least_numbers))
        found = together(threads, *jobs)
        chains += found
        raised = [each for each in found if (each.way, each.codec) == (PLAIN, self._codec)]
        return raised[0] if raised else plain

    def _slower(self) -> Slower:
        lzma = EFFORTS[self._effort].columns.lzma
        return Slower(self._codec, self._trial, self._few, lzma=lzma, whole=self.whole)

    def of_recurring(self, head: Buffer, least: float) -> ArrayChain | None:
        """The chain for what comes again in ``head``, where it leaves a smaller share than
        ``least``; None where it does not. Its share is that of all of it, or somewhat more."""
        few = SampleTrial(self._layout, [head], self._measured // _PART, self._coders)
        found = of_all(head, ArrayChain((), self._middle, 1))
        if self.takes_more and self._asked and self._layout.item > 1:
            # Where numbers that come again are alike in between, their bytes of equal weight are.
            apart = few.of(shuffled(self._layout.item), self._quick)
            if apart.share < few.of(PLAIN, self._quick).share:
                apart = of_all(head, apart._replace(codec=self._middle))
                found = smallest([found, asking(_SHUFFLED, apart)])
        codec = self._slower().beyond(few, found._replace(codec=self._codec))
        chosen = found if codec == found.codec else found._replace(codec=codec, payload=None)
        if codec != found.codec and BEYOND * chosen.share < least <= chosen.share:
            chosen = of_all(head, chosen)
        return chosen if chosen.share < least else None
