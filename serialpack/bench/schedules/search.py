"""Decides what is measured when, to keep to the budget and measure the best rows whole.

First every serializer on a small part, behind the few codecs that tell most; then every codec
behind the first serializer; then what may still win. Last, as many rows on the whole source as
there is time for, those first that would be recommended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from math import ceil, inf
from time import perf_counter
from typing import Any

from serialpack.auto.choice import choose
from serialpack.bench.material import LOOK, SAMPLE, WHOLE
from serialpack.bench.measuring.disk import FileTrial
from serialpack.bench.measuring.lab import Copy, Failed, Late, Load, Suits, Trial
from serialpack.bench.measuring.trials import OF_CODECS, OF_SERIALIZERS
from serialpack.bench.recommend import better, roles
from serialpack.bench.results import Row, cost
from serialpack.bench.schedules.candidates import first_codecs
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.rows import failed_row, measured_row, skipped_row
from serialpack.bench.schedules.schedule import NO_TIME, PATIENCE, Schedule, Terms
from serialpack.errors import FileError, SerialpackError
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, StageSpec, parse_chain, parse_stage

#: Shares of the budget: for all looks at samples, for one look, for one sample.
SAMPLING, ONE_LOOK, ONE_SAMPLE = 0.45, 0.1, 0.03

#: Seconds that any look may take, and the first one, however small the budget: so something is
#: measured even on a busy machine.
LEAST_LOOK, FIRST_LOOK = 1.0, 10.0

#: The least budget, in seconds, that affords a sample for serializers that take records apart.
SECONDS_A_SAMPLE = 5.0

#: How many times as long as a sample promised a measurement may take.
SURE = 1.25


class Search(Schedule):
    """Finds what suits a source: measures only what may still win."""

    #: Whether figures from a sample are as good as those from the whole.
    told_of_all = False

    #: The share of the budget that one look may take.
    _one_look = ONE_LOOK

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms, choose())
        #: The serializer behind which all codecs are tried: the first that holds the data.
        self.leader: StageSpec | None = None
        #: By how many seconds the last row through files took longer than memory had promised.
        self._longer = 0.0
        self._source = terms.subject.path or terms.subject.sample

    def run(self) -> None:
        with closing(self._lab):
            try:
                self.held = self._lab.ask(Load(), max(self.budget, 10.0) * 3)
            except Failed as error:
                raise FileError(f"reading it {error}", path=self._source) from None
            self.auto = self.auto._replace(chain=parse_chain(self.held.auto))
            self.notes += self._autos()
            # The budget is for measuring, and does not include reading the source.
            self._start = perf_counter() - self._spent
            if self.budget <= 0:
                return
            self._copy()
            self._first()
            self._sample()
            self._whole()

    def _first(self) -> None:
        """What is measured before anything else."""

    def _autos(self) -> Iterator[str]:
        """Notes on what auto chooses, where that is not the same for all files."""
        assert self.held is not None
        if len(self.held.autos) > 1:
            each = ", ".join(f"{chain} for {count:,}" for chain, count in self.held.autos.items())
            yield f"auto chooses for each file: {each}; its row here is the first of these for all"

    @property
    def elapsed(self) -> float:
        """Seconds since the source was read, with those that were spent before."""
        return perf_counter() - self._start

    @property
    def whole_is_sample(self) -> bool:
        """Whether a sample would be all of the source."""
        assert self.held is not None
        size = self.held.held if self.files is None else self.held.size
        return size <= 2 * SAMPLE

    @property
    def _looking(self) -> float:
        """The share of the budget for all looks."""
        return 1.0 if self.whole_is_sample else SAMPLING

    def _copy(self) -> None:
        if not self.choice.serializers or self.choice.serializers[0].name != "raw":
            return
        try:
            self.copy = self._lab.ask(Copy(), self.budget)
        except Failed:
            self.copy = None

    def _sample(self) -> None:
        until = self.budget * self._looking
        first = first_codecs(self.choice)
        for serializer in self.choice.serializers:
            self._try(serializer, self.choice.filters[0], first[0], until)
            if serializer not in self.dropped:
                self.leader = serializer
                break
        else:
            return
        half = (self.elapsed + until) / 2
        self._try_all([self.leader], self.choice.filters, self.choice.codecs, half)
        self._try_all(self.choice.serializers, self.choice.filters, first, until)
        self._try_all([self.leader], self.choice.filters, self.choice.codecs, until)
        self._try_all([self.leader], self._suited_filters(self.leader), self.choice.codecs, until)
        good = [codec for codec in self.choice.codecs if not self._beaten(codec)]
        self._try_all(self._promising(), self.choice.filters, good, until)

    def _whole(self) -> None:
        """Measure on all that is held: what would be recommended, then the rest of the front, then
        others."""
        for combination in self._next_whole():
            before = self.rows.get(combination)
            if before is None or self._fits(before):
                self._measure(combination, WHOLE)

    def _next_whole(self) -> Iterator[Combination]:
        """The combinations to measure on the whole, each chosen by what is known by then."""
        done: set[Combination] = {self.auto}
        if self.auto not in self.rows or self.rows[self.auto].status == "sampled":
            yield self.auto
        while self.elapsed < self.budget:
            left = [
                (c, row)
                for c, row in self.rows.items()
                if row.status == "sampled" and c not in done
            ]
            if not left:
                return
            fits = [(c, row) for c, row in left if self._fits(row)]
            done.update(c for c, row in left if (c, row) not in fits)
            if not fits:
                return
            may = {
                c: row
                for c, row in self.rows.items()
                if c in dict(fits) or row.status == "measured"
            }
            chosen = self._next(dict(fits), may)
            done.add(chosen)
            yield chosen

    def _next(self, fits: dict[Combination, Row], may: dict[Combination, Row]) -> Combination:
        """The next one of those that ``fits``: first what would be recommended, then what nothing
        beats, then the rest.

        What seems smallest is mostly slow: it comes last, and its time is kept for it.
        """
        of_row = {id(row): c for c, row in may.items()}
        best = {
            kind: of_row[id(row)]
            for kind, row in roles(may.values(), self.weighing).items()
            if row is not None
        }
        smallest = best.get("smallest")
        kept = self._takes(fits[smallest]) if smallest in fits else 0.0
        quick = {c: row for c, row in fits.items() if self._fits(row, beside=kept)}
        wanted = [c for c in best.values() if c in quick and c != smallest]
        if wanted:
            return wanted[0]
        unbeaten = [c for c, row in quick.items() if not self._rank(row)[0]]
        if smallest is not None and smallest in fits and set(unbeaten) <= {smallest}:
            return smallest
        return min(unbeaten or fits, key=lambda c: self._rank(fits[c]))

    def _fits(self, row: Row, *, beside: float = 0.0) -> bool:
        """Whether there is time to measure ``row`` whole, with ``beside`` seconds left over."""
        return (self._takes(row) + beside) * SURE < self.budget - self.elapsed

    def _takes(self, row: Row) -> float:
        """Seconds that it takes to measure ``row`` whole."""
        # Through files all of the source is read, however little of it is held in memory.
        return self._cost(row) if self.files is None else cost(row) + self._longer

    def budget_for(self, row: Row) -> float:
        """A budget, in tens of seconds, that would have left time for ``row`` too."""
        return ceil((self.budget + self._takes(row) * SURE) / 10) * 10

    def _rank(self, row: Row) -> tuple[int, float]:
        """The key to sort by: rows that nothing beats, then the quickest ones to measure."""
        others = [r for r in self.rows.values() if r.size is not None and r is not row]
        return sum(better(other, row) for other in others), self._cost(row)

    def _try_all(
        self,
        serializers: Sequence[StageSpec],
        filters: Sequence[tuple[StageSpec, ...]],
        codecs: Sequence[StageSpec],
        until: float,
    ) -> None:
        for serializer, these, codec in product(serializers, filters, codecs):
            self._try(serializer, these, codec, until)

    def _try(
        self,
        serializer: StageSpec,
        filters: tuple[StageSpec, ...],
        codec: StageSpec,
        until: float,
    ) -> None:
        """Measure a chain on as much as there is time for, if there is time."""
        chain = Chain(serializer, filters, codec)
        compresses = SERIALIZERS.cls(serializer.name).compresses
        if compresses and not chain.plain and "codecs" not in self.choice.chosen:
            return
        for threads in self.threads:
            combination = Combination(chain, threads, self.auto.block_size)
            if combination in self.rows or serializer in self.dropped:
                continue
            if self.rows and self.elapsed >= until:
                self.skipped[combination] = skipped_row(combination, NO_TIME)
                continue
            foreseen = self._foreseen(combination)
            part = LOOK if foreseen is None else self._affordable(foreseen)
            found = self._measure(combination, self._enough if compresses else part)
            if found is None or foreseen is not None or compresses:
                continue
            if found.status == "measured" and self.files is not None:
                continue
            # Even a look at all of the source is no measurement: it was hasty.
            part = self._affordable(self._cost(found))
            if part != LOOK and self.elapsed < until:
                self._measure(combination, part)

    @property
    def _enough(self) -> int:
        """The part to measure for serializers that take records apart: few records say little."""
        assert self.held is not None
        part = int(min(max(self.budget / SECONDS_A_SAMPLE, 1), 4) * SAMPLE)
        return WHOLE if self.held.held <= 2 * part else part

    def _affordable(self, seconds: float) -> int:
        """The part to measure for what would take so many seconds on all that is held."""
        assert self.held is not None
        if self.whole_is_sample:
            return WHOLE if seconds < self.budget * ONE_SAMPLE else LOOK
        return SAMPLE if seconds * SAMPLE / self.held.held < self.budget * ONE_SAMPLE else LOOK

    def _foreseen(self, combination: Combination) -> float | None:
        """Seconds for all that is held, estimated from rows with the same serializer and with the
        same codec; None without such."""
        serializer, filters, codec = combination.chain
        beside = next(
            (r for c, r in self.rows.items() if c.chain.serializer == serializer and r.seconds),
            None,
        )
        leader = self.rows.get(
            combination._replace(chain=Chain(self.leader or serializer, filters, codec))
        )
        if beside is None or leader is None or not leader.seconds:
            return None
        steps = {name: beside.seconds.get(name, 0.0) for name in OF_SERIALIZERS}
        steps |= {name: leader.seconds.get(name, 0.0) for name in OF_CODECS}
        return sum(steps.values()) * self._share

    @property
    def _share(self) -> float:
        """The share of the source that is held."""
        assert self.held is not None
        return self.held.held / max(self.held.size, 1)

    def _cost(self, row: Row) -> float:
        """Seconds that it takes to measure all that is held, estimated from ``row``, of a part."""
        return cost(row) * self._share

    @property
    def _tries(self) -> int:
        """How many chains there are to look at: where they are few, each may take longer."""
        choice = self.choice
        chains = len(choice.serializers) * len(choice.filters) * len(choice.codecs)
        return max(chains * len(self.threads), 1)

    def _measure(self, combination: Combination, part: int) -> Row | None:
        """Run one trial, and keep its row; None where it failed."""
        assert self.held is not None
        chain, threads, block_size, _ = combination
        spelled = str(chain)
        self._tell(combination)
        least = LEAST_LOOK if self.rows else FIRST_LOOK
        left = max(self.budget * PATIENCE - self.elapsed, 0.0 if self.rows else least)
        look = max(self.budget * max(self._one_look, SAMPLING / self._tries), least)
        patience = left if part == WHOLE else min(look, left)
        job: Trial | FileTrial = Trial(spelled, threads, part, block_size, max(2, *self.threads))
        if self.files is not None and (part == WHOLE or self.held.size <= 2 * part):
            job = FileTrial(spelled, threads, block_size, self.files)
        try:
            found = self._lab.ask(job, patience)
        except (SerialpackError, Failed) as error:
            if isinstance(error, Late) and patience == left and combination not in self.rows:
                self.skipped[combination] = skipped_row(combination, NO_TIME)
            else:
                self._drop(combination, error, part)
            return None
        row, before = measured_row(combination, found, self.held), self.rows.get(combination)
        if isinstance(job, FileTrial) and before is not None:
            self._longer = max(cost(row) - cost(before), 0.0)
        self.rows[combination] = row
        if row.status == "measured" and found.records is not None:
            self.records = found.records
        return row

    def _drop(self, combination: Combination, error: Exception, part: int) -> None:
        """Note a failure. A serializer that refuses, or is at fault in a first look, is dropped;
        one that fails on more did well on less, and only this chain is a failed row."""
        before = self.rows.get(combination)
        if isinstance(error, Late) and before is not None:
            # It is not at fault: a smaller part had promised that there was time.
            return
        row = failed_row(combination, error)
        serializer = combination.chain.serializer
        if row.status == "refused":
            for other in [c for c in self.rows if c.chain.serializer == serializer]:
                del self.rows[other]
            self.dropped[serializer] = row
        elif part == LOOK and self._at_fault(combination.chain):
            self.dropped[serializer] = row
        else:
            self.rows[combination] = row

    def _at_fault(self, chain: Chain) -> bool:
        """Whether the serializer is to blame for a failure: the codec did well behind another one,
        or it is the second failure."""
        mine = [row for c, row in self.rows.items() if c.chain.serializer == chain.serializer]
        beside = [row for c, row in self.rows.items() if c.chain[1:] == chain[1:]]
        if any(row.size is not None for row in mine):
            return False
        return bool(mine) or any(row.size is not None for row in beside)

    def _suited_filters(self, leader: StageSpec) -> list[tuple[StageSpec, ...]]:
        """The filters that make the source's bytes smaller; none where the user named some."""
        if "filters" in self.choice.chosen or leader.name != "raw":
            return []
        try:
            suited: list[str] = self._lab.ask(Suits(LOOK * 4), self.budget * ONE_LOOK)
        except Failed:
            suited = []
        return [(parse_stage(FILTERS, text),) for text in suited]

    def _promising(self) -> list[StageSpec]:
        """The serializers, those with the smallest bytes behind the first codec first."""
        first = first_codecs(self.choice)[0]
        sizes: dict[StageSpec, float] = {}
        for combination, row in self.rows.items():
            chain = combination.chain
            known = chain.codec == first and chain.filters == self.choice.filters[0]
            size = row.size if known and row.size is not None else inf
            sizes[chain.serializer] = min(size, sizes.get(chain.serializer, inf))
        return sorted(sizes, key=sizes.__getitem__)

    def _beaten(self, codec: StageSpec) -> bool:
        """Whether another codec was clearly better behind the leader, in size and in time."""
        if "codecs" in self.choice.chosen:
            return False
        rows = {
            c.chain.codec: row
            for c, row in self.rows.items()
            if c.chain.serializer == self.leader
            and c.chain.filters == self.choice.filters[0]
            and c.threads == self.threads[0]
        }
        mine = rows.get(codec)
        return mine is None or any(better(row, mine) for row in rows.values() if row is not mine)


def quiet(_: float, __: str) -> Any:
    """A progress for nobody."""
