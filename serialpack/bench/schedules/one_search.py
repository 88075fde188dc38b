"""The search over one source: what did well on a part of it is measured whole.

As many rows as there is time for, those first that would be recommended. Between those of them that
are quick and all others comes what auto chooses at the highest effort: mostly the smallest row.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf

from serialpack.bench.material import LOOK, SAMPLE, WHOLE
from serialpack.bench.measuring.lab import Failed
from serialpack.bench.measuring.workbench import AutoChain, Choose
from serialpack.bench.recommend import better, roles
from serialpack.bench.results import Row, cost
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.rows import skipped_row
from serialpack.bench.schedules.schedule import NO_TIME, Terms
from serialpack.bench.schedules.search import SURE, Search
from serialpack.errors import SerialpackError
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import parse_chain
from serialpack.stages.effort import EFFORTS

HIGHEST = max(EFFORTS)

#: The shares of the time that is left, for a look at what auto chooses at the highest effort: it
#: must promise to take no more than the first, and is ended where it takes the second.
SHARE, MOST = 0.5, 0.75

#: Of a small source all is measured while looking: the share of the budget after which comes what
#: auto chooses at the highest effort. What there was no time for before that, is looked at then.
SMALL = 0.75

#: Serializers that take records apart are foreseen to take so many times as long at the highest
#: effort as at those that are measured anyway: of eight files 3 to 10 times, mostly 5.
DEARER = 5.0


class OneSearch(Search):
    """Finds what suits one source, and measures the best rows with all of it."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        #: Whether what auto chooses at the highest effort was not asked for yet: never where the
        #: user named stages, which it may choose others than.
        self._may_ask = not self.choice.chosen
        #: That choice; None before it is known.
        self.highest: Combination | None = None

    @property
    def _looking(self) -> float:
        return SMALL if self.whole_is_sample and self._may_ask else super()._looking

    def _sample(self) -> None:
        super()._sample()
        if self.whole_is_sample and self._ask_highest():
            super()._sample()

    def _whole(self) -> None:
        """Measure rows on the whole source, as long as there is time."""
        for combination in self._next_whole():
            before = self.rows.get(combination)
            if before is None or self._fits(before):
                self._measure(combination, WHOLE)

    def _next_whole(self) -> Iterator[Combination]:
        """The combinations to measure on the whole, what auto would choose first;
        each is chosen by what is known by then."""
        done: set[Combination] = {self.auto}
        if self.auto not in self.rows or self.rows[self.auto].status == "sampled":
            yield self.auto
        while self.elapsed < self.budget:
            left = {
                c: row for c, row in self.rows.items() if row.status == "sampled" and c not in done
            }
            fits = {c: row for c, row in left.items() if self._fits(row)}
            done.update(c for c in left if c not in fits)
            chosen, urgent = self._next(fits) if fits else (None, False)
            if not urgent and self._ask_highest():
                continue
            if chosen is None:
                return
            done.add(chosen)
            yield chosen

    def _next(self, fits: dict[Combination, Row]) -> tuple[Combination, bool]:
        """The next one of the combinations ``fits``, for which there is time, and whether it is a
        quick one that would be recommended. First come these, then what nothing is clearly better
        than, then the rest.

        What seems smallest is mostly slow: it comes last of what would be recommended, and its time
        is kept for it.
        """
        may = {c: row for c, row in self.rows.items() if c in fits or row.status == "measured"}
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
            return wanted[0], True
        unbeaten = [c for c, row in quick.items() if not self._rank(row)[0]]
        if smallest is not None and smallest in fits and set(unbeaten) <= {smallest}:
            return smallest, False
        return min(unbeaten or fits, key=lambda c: self._rank(fits[c])), False

    def _ask_highest(self) -> bool:
        """The first time, look at what auto chooses at the highest effort. Whether it was that."""
        if not self._may_ask or not self.rows or self._left <= 0:
            return False
        self._may_ask = False
        try:
            found: AutoChain = self._lab.ask(Choose(HIGHEST), self._left * SHARE)
        except (SerialpackError, Failed):
            return True
        chain = parse_chain(found.chain)
        combination = Combination(chain, self.threads[-1], found.block_size, effort=HIGHEST)
        named = combination._replace(effort=None)
        self.skipped.pop(named, None)
        if named in self.rows and not found.apart:
            self.highest = named
            self.notes.append(f"pack -{HIGHEST} would choose {chain}, too, which is measured here")
            return True
        self.highest = combination
        self._look_closer(combination)
        if combination not in self.rows:
            self.skipped[combination] = skipped_row(combination, NO_TIME)
        return True

    def _look_closer(self, combination: Combination) -> None:
        """Measure a combination on as much as tells enough, where half of the time that is left
        seems to do for that."""
        assert self.held is not None
        name = combination.chain.serializer.name
        compresses = SERIALIZERS.cls(name).compresses
        if compresses:
            # A look would tell neither size nor time.
            rows = [r for c, r in self.named.items() if c.chain.serializer.name == name]
            took = [self._cost(row) for row in rows if row.size is not None]
            seconds, part = DEARER * max(took, default=inf), self._enough
        else:
            row = self._measure(combination, LOOK, self._left * MOST)
            seconds = inf if row is None or row.size is None else self._cost(row)
            part = WHOLE if self.whole_is_sample else SAMPLE
        share = min((part or self.held.held) / max(self.held.held, 1), 1.0)
        if seconds * share < self._left * SHARE:
            self._measure(combination, part, self._left * MOST)

    @property
    def _left(self) -> float:
        """The seconds that are left of the budget."""
        return self.budget - self.elapsed

    def _fits(self, row: Row, *, beside: float = 0.0) -> bool:
        """Whether there is time to measure ``row`` whole, and ``beside`` more seconds."""
        return (self._takes(row) + beside) * SURE < self._left

    def _takes(self, row: Row) -> float:
        """The seconds that it takes to measure ``row`` whole, estimated from it."""
        # Through files all of the source is read, however little of it is held in memory.
        return self._cost(row) if self.files is None else cost(row) + self._longer

    def budget_for(self, row: Row) -> float:
        """A budget, in full tens of seconds, that would have left time for ``row`` too."""
        return ceil((self.budget + self._takes(row) * SURE) / 10) * 10

    def _rank(self, row: Row) -> tuple[int, float]:
        """A key to sort by: how many rows are clearly better, then how long measuring takes."""
        others = [r for r in self.rows.values() if r.size is not None and r is not row]
        return sum(better(other, row) for other in others), self._cost(row)
