"""The search over one source: what did well on a part of it is measured whole.

As many rows as there is time for, those first that would be recommended. Between those of them that
are quick and all others comes what auto chooses at the highest effort: mostly the smallest row.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf

from serialpack.bench.material import LOOK, SAMPLE, WHOLE
from serialpack.bench.recommend import better, roles
from serialpack.bench.results import Row, cost
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.highest import DEARER, MOST, SHARE, SMALL, HighestSearch
from serialpack.bench.schedules.search import SURE
from serialpack.serializers import SERIALIZERS


class OneSearch(HighestSearch):
    """Finds what suits one source, and measures the best rows with all of it."""

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

    def _look_closer(self, combination: Combination) -> None:
        """Measure a combination on as much as tells enough, where half of the time that is left
        seems to do for that."""
        assert self.held is not None
        name = combination.chain.serializer.name
        compresses = SERIALIZERS.cls(name).compresses
        if compresses:
            # A look would tell neither size nor time.
            seconds, part = DEARER * self._as_named(combination), self._enough
        else:
            row = self._measure(combination, LOOK, self._left * MOST)
            seconds = inf if row is None or row.size is None else self._cost(row)
            part = WHOLE if self.whole_is_sample else SAMPLE
        share = min((part or self.held.held) / max(self.held.held, 1), 1.0)
        if seconds * share < self._left * SHARE:
            self._measure(combination, part, self._left * MOST)

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
