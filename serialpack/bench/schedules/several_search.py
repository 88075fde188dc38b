"""The search over several files: it finds what suits on few of them, and then measures what would
be recommended on as many as there is time for."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.bench.material import LOOK, SAMPLE, WHOLE
from serialpack.bench.measuring.lab import Failed
from serialpack.bench.measuring.trials import AT_LENGTH
from serialpack.bench.measuring.workbench import At, Held, Load, Trial
from serialpack.bench.recommend import roles
from serialpack.bench.results import Row, SampledFiles, cost
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.highest import CHEAPEST, DEARER, SHARE, SMALL, HighestSearch
from serialpack.bench.schedules.rows import measured_row
from serialpack.bench.schedules.schedule import PATIENCE, Terms
from serialpack.bench.schedules.search import SURE
from serialpack.bench.several.survey import QUICK
from serialpack.errors import SerialpackError
from serialpack.serializers import SERIALIZERS
from serialpack.text import number_of
from serialpack.units import format_size

#: Where there are larger samples, the share of the budget for the search; and where measuring on
#: these leaves time, the share up to which the search then goes on.
LOOKING, FURTHER = 0.5, 0.85

#: About how many times the bytes of the sample before it a larger one has; and the most seconds
#: that reading it may take.
GROWS, READING = 4.0, 60.0


class SeveralSearch(HighestSearch):
    """Finds what suits several files. The first sample of them is so small that each trial is of
    all of it: there is no smaller part to look at.

    ``larger``: what is held of the larger samples that were read. ``used``: number ``used`` - 1 of
    these is the largest one that rows were measured on.
    """

    # A look is at all of the first sample.
    _one_look = 0.2

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._subject = terms.subject
        self.larger: list[Held] = []
        self.used = 0
        self._samples = len(terms.subject.larger)
        self._until = LOOKING if self._samples else SMALL if self._may_ask else 1.0

    @property
    def whole_is_sample(self) -> bool:
        return True

    @property
    def _looking(self) -> float:
        return self._until

    def measured(self, used: int) -> list[str]:
        """The paths of the files that are measured: of the first sample (0), or of larger one
        number ``used``, from 1."""
        return [file.path for file in (self._subject.files, *self._subject.larger)[used]]

    def told(self, files: SampledFiles) -> Iterator[str]:
        """Notes on how much of all ``files`` was measured, and what the figures are of."""
        crowd = self._subject.crowd
        if self.held is None or crowd is None:
            return
        total, size = number_of(files.total, "file"), format_size(files.size)
        part = f"{len(self.measured(0)):,} of {total}, {format_size(self.held.held)} of {size},"
        if self.used:
            held = format_size(self.larger[self.used - 1].held)
            part += f" to look; up to {len(self.measured(self.used)):,}, {held},"
        yield f"{part} measured" + (f"; {files.empty:,} empty left out" if files.empty else "")
        if self.held.held < self.held.size:
            yield (
                f"~: sizes are told from what all of them take behind {QUICK}, times from their"
                " bytes and their number; ± is how far other files might have put a size"
            )
        at_once = self.threads[-1] if crowd.many else 1
        several = f", {at_once} small files at a time" if at_once > 1 else ""
        pack, unpack = (f"{1e3 * seconds:.2g}" for seconds in (crowd.pack, crowd.unpack))
        yield (
            f"times are those of pack -r{several}, with {pack} and {unpack} ms a file to open,"
            " write and name it; without starting, and bringing files to disk (fsync)"
        )

    def _affordable(self, _: float) -> int:
        return LOOK

    def _first(self) -> None:
        self._measure(self.auto, SAMPLE)

    def _sample(self) -> None:
        super()._sample()
        if self._ask_highest() and not self._samples:
            self._until = 1.0
            super()._sample()

    def _look_closer(self, combination: Combination) -> None:
        """Measure a combination on the first sample, where its serializer seems to leave time for
        that."""
        compresses = SERIALIZERS.cls(combination.chain.serializer.name).compresses
        if not compresses or DEARER * self._as_named(combination) < self._left * SHARE:
            self._measure(combination, SAMPLE, self._left * SHARE)

    def _measure(self, combination: Combination, _: int, most: float | None = None) -> Row | None:
        return super()._measure(combination, SAMPLE, most)

    def _whole(self) -> None:
        """Measure what would be recommended on larger samples, search on with the time that is
        left, and measure what is recommended then."""
        if self._samples:
            done: set[Combination] = set()
            self._finals(done)
            self._until = FURTHER
            self._sample()
            self._finals(done)
        highest = self.highest
        if highest in self.skipped and CHEAPEST * self._as_named(highest) < self._left:
            self._measure(highest, SAMPLE, self._left)  # nothing else takes that time

    def _finals(self, done: set[Combination]) -> None:
        """Measure on larger samples what would be recommended and is not ``done`` yet: what that is
        may change while it is measured."""
        while self.elapsed < self.budget:
            best = {id(row) for row in roles(self.rows.values(), self.weighing).values() if row}
            wanted = {
                c: row
                for c, row in self.rows.items()
                if row.size is not None
                and c not in done
                and (id(row) in best or c in (self.auto, self.highest))
            }
            if not wanted:
                return
            # The quick ones first: what they leave over goes to the slow ones.
            quickest = min(wanted, key=lambda c: cost(wanted[c]))
            done.add(quickest)
            self._final(quickest, (self.budget - self.elapsed) / len(wanted))

    def _final(self, combination: Combination, seconds: float) -> None:
        """Measure a combination on the largest of the larger samples
        that takes fewer than ``seconds``."""
        row = self.rows[combination]
        for number in reversed(range(self._samples)):
            # How large a sample is, is known only once it was read: each is read before the next.
            while len(self.larger) <= number and self._takes_of(row, number) < seconds:
                self.larger.append(self._lab.ask(At(len(self.larger), Load()), READING))
            if number < len(self.larger) and self._takes_of(row, number) < seconds:
                self._measure_on(number, combination)
                return

    def _takes_of(self, row: Row, number: int) -> float:
        """The seconds that ``row`` takes on larger sample ``number``,
        whose size is guessed before it was read."""
        assert self.held is not None
        held = [self.held, *self.larger]
        known = min(number + 1, len(held) - 1)
        size = held[known].held * GROWS ** (number + 1 - known)
        return cost(row) * row.threads * size / self.held.size * SURE

    def _measure_on(self, number: int, combination: Combination) -> None:
        """Run one trial on larger sample ``number``, and keep its row;
        where it fails, the row from before stays."""
        chain, threads, block_size, _, effort = combination
        self._tell(combination)
        trial = Trial(str(chain), threads, WHOLE, block_size, effort=effort, how=AT_LENGTH)
        try:
            found = self._lab.ask(At(number, trial), self.budget * PATIENCE - self.elapsed)
        except SerialpackError as error:
            self._drop(combination, error, WHOLE)
        except Failed:
            return
        else:
            row = measured_row(combination, found, self.larger[number])
            self.rows[combination] = row._replace(memory=self.rows[combination].memory)
            self.used = max(self.used, number + 1)
            if row.status == "measured" and found.records is not None:
                self.records = found.records
