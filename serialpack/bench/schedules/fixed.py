"""Measures a given list of chains, at one N or at several: the tables of samples, and sweeps.

Nothing is searched for. The budget is shared evenly among the N, that of each N among the
serializers, and that of each serializer among its chains; what one does not use goes to those
behind it. Where the budget is short there are fewer runs of each row, and at last rows that say
that there was no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from time import perf_counter
from typing import Any, TypeVar

from serialpack.auto.choice import choose
from serialpack.bench.material import WHOLE
from serialpack.bench.measuring.lab import Failed
from serialpack.bench.measuring.object_trials import Calls
from serialpack.bench.measuring.trials import CAREFUL, Care
from serialpack.bench.measuring.workbench import At, Count, Held, Load, Trial
from serialpack.bench.schedules.combination import Combination
from serialpack.bench.schedules.rows import failed_row, measured_row, skipped_row
from serialpack.bench.schedules.schedule import NO_TIME, PATIENCE, Schedule, Terms
from serialpack.errors import SerialpackError
from serialpack.objects.dumping import AUTO
from serialpack.stages.chain import Chain, StageSpec, parse_chain
from serialpack.text import number_of

#: The time of a chain is divided among about so many pieces of work, each run again and again.
_PARTS = 4

#: So many points of a sweep are measured before the others: they show how its curves run.
_COARSE = 8

#: A job is waited for so many seconds at least.
_PATIENT = 1.0

Point = TypeVar("Point")


class FixedSchedule(Schedule):
    """Measures the chains that it is given, at every N."""

    def __init__(
        self,
        terms: Terms,
        *,
        points: Sequence[int],
        runs: int | None,
        objects: bool,
    ) -> None:
        """``points``: the N to measure at; empty: only that of the subject. ``runs``: the most of
        each row; None: as many as ``CAREFUL`` has. ``objects``: Python objects are measured."""
        super().__init__(terms, choose(AUTO[0] if objects else "auto"))
        self._points: list[int | None] = [*points] or [None]
        self._runs = runs
        self._objects = objects
        #: The seconds that reading or making the material took, which do not count as measuring.
        self._making = 0.0
        #: Chains that failed, each with the N: they would with a larger one, too.
        self._hopeless: dict[Chain, int] = {}

    def run(self) -> None:
        with closing(self._lab):
            if self._path and self._points[-1] is not None:
                self._keep_to_the_file(self._points[-1])
            for done, n in enumerate(spread(self._points)):
                left = len(self._points) - done
                self._point(n, self.elapsed + (self.budget - self.elapsed) / left, last=left == 1)
        self._tell_of_fewer_runs()

    @property
    def elapsed(self) -> float:
        return perf_counter() - self._start - self._making

    def _keep_to_the_file(self, most: int) -> None:
        """Leave out the points beyond the number of records of the file, which are counted up to
        ``most``. UsageError where these cannot be told apart."""
        since = perf_counter()
        count: int = self._lab.ask(Count(most), self._loading)
        self._making += perf_counter() - since
        kept = [n for n in self._points if n is not None and n <= count]
        if len(kept) < len(self._points):
            self.notes.append(
                f"the file has {count:,} record{'s' * (count != 1)}: no more of them were measured"
            )
            self._points = [*kept] or [count]

    @property
    def _loading(self) -> float:
        """The seconds that reading or making the material may take."""
        return max(self.budget, 10.0) * 3

    def _point(self, n: int | None, end: float, *, last: bool) -> None:
        """Measure all chains at one N. ``end``: the seconds of measuring when its share of the
        budget is used up; ``last``: whether it is the last point."""
        groups = [[*self._combinations(n, serializer)] for serializer in self.choice.serializers]
        if self.elapsed >= self.budget and self.held is not None:
            for combination in chain.from_iterable(groups):
                self.skipped[combination] = skipped_row(combination, NO_TIME)
            return
        since = perf_counter()
        try:
            held = self._lab.ask(_at(n, Load()), self._loading)
        except (Failed, SerialpackError) as error:
            for combination in chain.from_iterable(groups):
                self.rows[combination] = failed_row(combination, error)
            return
        finally:
            self._making += perf_counter() - since
        if self.held is None or held.size >= self.held.size:
            self.held = held
            if held.auto:
                self.auto = self.auto._replace(chain=parse_chain(held.auto))
        for number, group in enumerate(groups):
            until = self.elapsed + (end - self.elapsed) / (len(groups) - number)
            refused: Exception | None = None
            for done, combination in enumerate(group):
                if refused is not None:
                    self.rows[combination] = failed_row(combination, refused)
                elif self.elapsed >= (until if done else self.budget):
                    self.skipped[combination] = skipped_row(combination, NO_TIME)
                else:
                    share = (until - self.elapsed) / (len(group) - done)
                    refused = self._measure(combination, held, share, last=last)

    def _combinations(self, n: int | None, serializer: StageSpec) -> Iterator[Combination]:
        """The combinations of one serializer, in the order in which they are measured."""
        for codec in self.choice.codecs:
            for filters in self.choice.filters:
                # A filter changes no size: nothing comes of it without a codec.
                if codec.name == "none" and filters and len(self.choice.filters) > 1:
                    continue
                for threads in self.threads:
                    made = Chain(serializer, filters, codec)
                    yield Combination(made, threads, self.auto.block_size, n)

    def _measure(
        self, combination: Combination, held: Held, share: float, *, last: bool
    ) -> SerialpackError | None:
        """Measure one row for about ``share`` seconds, and keep it. Gives the error of a stage that
        refuses, for it will at all chains of this serializer."""
        _, threads, block_size, n, _ = combination
        spelled = str(combination.chain)
        self._tell(combination)
        failed_with = self._hopeless.get(combination.chain)
        if n is not None and failed_with is not None and n >= failed_with:
            why = f"it came to nothing with n = {failed_with:,}"
            self.skipped[combination] = skipped_row(combination, why)
            return None
        care = CAREFUL
        if self._runs is not None:
            care = Care(1, max(share, 0.0) / _PARTS, memory=True, most=self._runs)
        job: Any = Trial(spelled, threads, WHOLE, block_size, how=care)
        if self._objects and n is not None:
            job = Calls(spelled, threads, block_size, care)
        left = self.budget * PATIENCE - self.elapsed
        try:
            found = self._lab.ask(_at(n, job), max(left if last else left / 2, _PATIENT))
        except (SerialpackError, Failed) as error:
            self.rows[combination] = failed_row(combination, error)
            if isinstance(error, SerialpackError):
                return error
            if n is not None:
                self._hopeless[combination.chain] = n
            return None
        self.rows[combination] = measured_row(combination, found, held)
        return None

    def _tell_of_fewer_runs(self) -> None:
        """Note how many rows were run less often than they should have been."""
        known = [row.runs for row in self.rows.values() if row.runs]
        fewer = sum(runs < (self._runs or 0) for runs in known)
        if fewer:
            of_all = number_of(len(known), "row was", "rows were")
            self.notes.append(
                f"{fewer:,} of {of_all} run fewer than {self._runs} times:"
                " a larger --budget runs them more often"
            )


def spread(points: Sequence[Point]) -> list[Point]:
    """``points`` in another order: a few from the first to the last, then those halfway between
    these, and so on. So what a short budget leaves out is spread over all of them.
    """
    stride = 1
    while len(points) > 2 * stride * _COARSE:
        stride *= 2
    order = [*points[::stride], points[-1]]
    while stride > 1:
        stride //= 2
        order += points[::stride]
    return [*dict.fromkeys(order)]


def _at(n: int | None, job: Any) -> Any:
    """``job``, at a number of records; as it is where ``n`` is None."""
    return job if n is None else At(n, job)
