"""What auto chooses at the highest effort: a search looks at it once, and mostly it is smallest."""

from __future__ import annotations

from abc import abstractmethod
from math import inf

from serialpack.bench.measuring.lab import Failed
from serialpack.bench.measuring.workbench import AutoChain, Choose
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.rows import skipped_row
from serialpack.bench.schedules.schedule import NO_TIME, Terms
from serialpack.bench.schedules.search import Search
from serialpack.errors import SerialpackError
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
DEARER, CHEAPEST = 5.0, 3.0


class HighestSearch(Search):
    """A search that looks at what auto chooses at the highest effort, too."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        #: Whether that was not asked for yet: never where the user named stages, which auto may
        #: choose others than.
        self._may_ask = not terms.named
        #: That choice; None before it is known.
        self.highest: Combination | None = None

    @abstractmethod
    def _look_closer(self, combination: Combination) -> None:
        """Measure that choice, if there seems to be time for it."""

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
        if len(found.autos) > 1:
            each = ", ".join(f"{chain} for {count:,}" for chain, count in found.autos.items())
            self.notes.append(f"pack -{HIGHEST} chooses for each file: {each}; its row is of these")
        self.highest = combination
        self._look_closer(combination)
        if combination not in self.rows:
            self.skipped[combination] = skipped_row(combination, NO_TIME)
        return True

    def _as_named(self, combination: Combination) -> float:
        """The most seconds that rows took, of those that were named, with the serializer of
        ``combination``, for all that is held; infinite where there is none."""
        name = combination.chain.serializer.name
        rows = [row for c, row in self.named.items() if c.chain.serializer.name == name]
        return max((self._cost(row) for row in rows if row.size is not None), default=inf)

    @property
    def _left(self) -> float:
        """The seconds that are left of the budget."""
        return self.budget - self.elapsed
