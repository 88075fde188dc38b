"""Searches for what suits a source, and keeps to the budget.

First on a part of the source, in this order: every codec behind the first serializer that holds it
(the leader), every serializer behind the few codecs that tell most, and then what may still win.
What of that is measured on more, subclasses decide: ``one_search`` and ``several_search``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from math import inf
from time import perf_counter

from serialpack.auto.choice import choose
from serialpack.bench.material import LOOK, SAMPLE, WHOLE
from serialpack.bench.measuring.disk import FileTrial
from serialpack.bench.measuring.lab import Failed, Late
from serialpack.bench.measuring.trials import OF_CODECS, OF_SERIALIZERS
from serialpack.bench.measuring.workbench import Copy, Load, Suits, Trial
from serialpack.bench.recommend import better
from serialpack.bench.results import Row, cost
from serialpack.bench.schedules.candidates import first_codecs
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.rows import failed_row, measured_row, skipped_row
from serialpack.bench.schedules.schedule import NO_TIME, PATIENCE, Schedule, Terms
from serialpack.errors import FileError, SerialpackError
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, StageSpec, parse_chain, parse_stage

#: Shares of the budget: for all looks and samples together, for one look, for one sample.
SAMPLING, ONE_LOOK, ONE_SAMPLE = 0.45, 0.1, 0.03

#: The seconds that any look may take, and the first one, however small the budget: so that
#: something is measured even on a busy machine.
LEAST_LOOK, FIRST_LOOK = 1.0, 10.0

#: A measurement may take so many times as long as a sample promised.
SURE = 1.25

#: For serializers that take records apart the sample is the larger the more often the budget has so
#: many seconds; see ``_enough``.
SECONDS_A_SAMPLE = 5.0


class Search(Schedule):
    """Finds what suits a source: measures only what may still win."""

    #: The share of the budget that one look may take.
    _one_look = ONE_LOOK

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms, choose())
        #: The leader; None before one was found.
        self.leader: StageSpec | None = None
        #: By how many seconds the last row that went through files took longer than it had in
        #: memory.
        self._longer = 0.0
        self._source = terms.subject.path or terms.subject.sample

    def run(self) -> None:
        """Read the source, then measure as long as the budget lasts. FileError."""
        with closing(self._lab):
            try:
                self.held = self._lab.ask(Load(), max(self.budget, 10.0) * 3)
            except Failed as error:
                raise FileError(f"reading it {error}", path=self._source) from None
            self.auto = self.auto._replace(chain=parse_chain(self.held.auto))
            self.notes += self._autos()
            # The budget is for measuring only: reading the source does not count.
            self._start = perf_counter() - self._spent
            if self.budget <= 0:
                return
            self._copy()
            self._first()
            self._sample()
            self._whole()

    def _first(self) -> None:
        """Measure what comes before anything else; here nothing."""

    @abstractmethod
    def _whole(self) -> None:
        """Measure on more what did well, as long as there is time."""

    def _autos(self) -> Iterator[str]:
        """A note on what auto chooses, where that is not the same for all of several files."""
        assert self.held is not None
        if len(self.held.autos) > 1:
            each = ", ".join(f"{chain} for {count:,}" for chain, count in self.held.autos.items())
            yield f"auto chooses for each file: {each}; its row here is the first of these for all"

    @property
    def elapsed(self) -> float:
        """Seconds since the source was read, and those that were spent before."""
        return perf_counter() - self._start

    @property
    def whole_is_sample(self) -> bool:
        """Whether the source is so small that a sample would be all of it."""
        assert self.held is not None
        size = self.held.held if self.files is None else self.held.size
        return size <= 2 * SAMPLE

    @property
    def _looking(self) -> float:
        """The share of the budget for all looks and samples."""
        return 1.0 if self.whole_is_sample else SAMPLING

    def _copy(self) -> None:
        """Measure a copy in memory, where bytes are measured too."""
        if not self.choice.serializers or self.choice.serializers[0].name != "raw":
            return
        try:
            self.copy = self._lab.ask(Copy(), self.budget)
        except Failed:
            self.copy = None

    def _sample(self) -> None:
        """Look at all chains that may suit, and measure samples of those that do well."""
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

    def _try_all(
        self,
        serializers: Sequence[StageSpec],
        filters: Sequence[tuple[StageSpec, ...]],
        codecs: Sequence[StageSpec],
        until: float,
    ) -> None:
        """``_try`` all chains of these stages."""
        for serializer, these, codec in product(serializers, filters, codecs):
            self._try(serializer, these, codec, until)

    def _try(
        self,
        serializer: StageSpec,
        filters: tuple[StageSpec, ...],
        codec: StageSpec,
        until: float,
    ) -> None:
        """Measure a chain, unless that was done, on as much as there is time for before
        ``until`` (seconds of measuring): a look, and if it is worth that a sample, or all of a
        small source."""
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
            # A look was hasty: even where it was at all of the source, that is measured again.
            part = self._affordable(self._cost(found))
            if part != LOOK and self.elapsed < until:
                self._measure(combination, part)

    @property
    def _enough(self) -> int:
        """The part for serializers that take records apart, of which few would tell too little."""
        assert self.held is not None
        part = int(min(max(self.budget / SECONDS_A_SAMPLE, 1), 4) * SAMPLE)
        return WHOLE if self.held.held <= 2 * part else part

    def _affordable(self, seconds: float) -> int:
        """The part to measure of a chain that takes so many seconds on all that is held."""
        assert self.held is not None
        if self.whole_is_sample:
            return WHOLE if seconds < self.budget * ONE_SAMPLE else LOOK
        return SAMPLE if seconds * SAMPLE / self.held.held < self.budget * ONE_SAMPLE else LOOK

    def _foreseen(self, combination: Combination) -> float | None:
        """The seconds that a combination takes on all that is held: estimated from its serializer's
        seconds behind another codec, and its codec's behind the leader. None where one is
        missing."""
        serializer, filters, codec = combination.chain
        beside = next(
            (r for c, r in self.named.items() if c.chain.serializer == serializer and r.seconds),
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
        """The share of the source that is in memory."""
        assert self.held is not None
        return self.held.held / max(self.held.size, 1)

    @property
    def named(self) -> dict[Combination, Row]:
        """The rows whose stages were named, and not left to auto."""
        return {c: row for c, row in self.rows.items() if c.effort is None}

    def _cost(self, row: Row) -> float:
        """The seconds for all that is held, estimated from ``row``, measured on a part."""
        return cost(row) * self._share

    @property
    def _tries(self) -> int:
        """How many chains there are to look at: where they are few, each may take longer."""
        choice = self.choice
        chains = len(choice.serializers) * len(choice.filters) * len(choice.codecs)
        return max(chains * len(self.threads), 1)

    def _measure(
        self, combination: Combination, part: int, most: float | None = None
    ) -> Row | None:
        """Run one trial on a part of the source, or on all of it (``WHOLE``),
        and keep its row. None where it failed. ``most``: the seconds that it may take, if not as
        many as there are for such a part."""
        assert self.held is not None
        chain, threads, block_size, _, effort = combination
        spelled = str(chain)
        self._tell(combination)
        least = LEAST_LOOK if self.rows else FIRST_LOOK
        left = max(self.budget * PATIENCE - self.elapsed, 0.0 if self.rows else least)
        look = max(self.budget * max(self._one_look, SAMPLING / self._tries), least)
        patience = left if part == WHOLE else min(look, left)
        if most is not None:
            left = patience = min(most, left)
        pieces = max(2, *self.threads)
        job: Trial | FileTrial = Trial(spelled, threads, part, block_size, pieces, effort)
        if self.files is not None and (part == WHOLE or self.held.size <= 2 * part):
            job = FileTrial(spelled, threads, block_size, self.files, effort)
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
        """Note a failure. A serializer that refuses the source, or is at fault in a first look, is
        dropped, with all its rows. One that fails on more did well on less: then only this row
        fails."""
        before = self.rows.get(combination)
        if isinstance(error, Late) and before is not None:
            # Not its fault: a smaller part had promised that there was time. The row stays.
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
        """Whether the serializer of a failed chain is to blame, and not the codec: it never did
        well, and the codec did behind another serializer, or this is its second failure."""
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
        """The serializers, in the order of their sizes behind the first codec."""
        first = first_codecs(self.choice)[0]
        sizes: dict[StageSpec, float] = {}
        for combination, row in self.named.items():
            chain = combination.chain
            known = chain.codec == first and chain.filters == self.choice.filters[0]
            size = row.size if known and row.size is not None else inf
            sizes[chain.serializer] = min(size, sizes.get(chain.serializer, inf))
        return sorted(sizes, key=sizes.__getitem__)

    def _beaten(self, codec: StageSpec) -> bool:
        """Whether behind the leader another codec was clearly better,
        or this one was not measured."""
        if "codecs" in self.choice.chosen:
            return False
        rows = {
            c.chain.codec: row
            for c, row in self.named.items()
            if c.chain.serializer == self.leader
            and c.chain.filters == self.choice.filters[0]
            and c.threads == self.threads[0]
        }
        mine = rows.get(codec)
        return mine is None or any(better(row, mine) for row in rows.values() if row is not mine)
