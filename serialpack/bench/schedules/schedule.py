"""The base class of schedules: what all of them are given, and what they have found so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from serialpack.auto.choice import Choice
from serialpack.bench.material import Subject
from serialpack.bench.measuring.disk import Files
from serialpack.bench.measuring.lab import Lab
from serialpack.bench.measuring.workbench import Held
from serialpack.bench.recommend import Weighing
from serialpack.bench.results import Row
from serialpack.bench.schedules.candidates import Candidates
from serialpack.bench.schedules.combination import Combination
from serialpack.stages.chain import StageSpec

#: A job is killed once so many times the whole budget is used up.
PATIENCE = 1.15

#: Why a row is skipped, in words.
NO_TIME = "the budget was used up"

#: ``progress(share, what)``: what share of the budget is used, and which chain is measured now.
Progress = Callable[[float, str], object]


def quiet(_: float, __: str) -> None:
    """A ``Progress`` that tells nobody."""


class Terms(NamedTuple):
    """What a schedule has to measure, and for how long. ``budget``: seconds of measuring;
    ``spent``: those of them that are gone already. ``named``: the user named stages."""

    subject: Subject
    choice: Candidates
    budget: float
    threads: list[int]
    weighing: Weighing
    progress: Progress
    spent: float = 0.0
    named: bool = False


class Schedule(ABC):
    """Decides what is measured when, in one run of bench. At any time its attributes say what is
    known.

    Call ``run`` once. ``rows``: those measured so far, or failed, by their combinations.
    """

    def __init__(self, terms: Terms, auto: Choice) -> None:
        """``auto``: what auto would choose without having looked at the source."""
        self.choice = terms.choice
        self.auto = Combination(auto.chain, terms.threads[-1], auto.block_size)
        #: Seconds of measuring.
        self.budget = terms.budget
        self.threads = terms.threads
        self.weighing = terms.weighing
        #: What is held of the source, once it was read; of several N, that of the largest.
        self.held: Held | None = None
        #: The seconds of a copy of what is held, where that was measured.
        self.copy: float | None = None
        #: How many records the whole source has, once a trial has told it.
        self.records: int | None = None
        self.rows: dict[Combination, Row] = {}
        self.notes: list[str] = []
        #: Serializers that refused, or failed from the start, each with a row that says why.
        self.dropped: dict[StageSpec, Row] = {}
        #: The combinations that there was no time for, each with a row that says so.
        self.skipped: dict[Combination, Row] = {}
        #: What rows that are measured whole go through, where that is not memory.
        self.files: Files | None = None
        self._path = terms.subject.path
        self._progress = terms.progress
        self._lab = Lab(terms.subject)
        self._spent = terms.spent
        self._start = perf_counter()

    @abstractmethod
    def run(self) -> None:
        """Measure. What is known when an exception ends it, such as an interruption, stays in
        ``rows``. FileError where the source cannot be read."""

    @property
    @abstractmethod
    def elapsed(self) -> float:
        """The seconds of measuring so far."""

    def _tell(self, combination: Combination) -> None:
        """Tell the progress, before a combination is measured."""
        self._progress(min(self.elapsed / self.budget, 1.0), str(combination.chain))
