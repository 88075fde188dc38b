"""The base of what decides what is measured when: of a search, and of a fixed list of chains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from serialpack.auto.choice import Choice
from serialpack.bench.material import Subject
from serialpack.bench.measuring.disk import Files
from serialpack.bench.measuring.lab import Held, Lab
from serialpack.bench.recommend import Weighing
from serialpack.bench.results import Row
from serialpack.bench.schedules.candidates import Candidates
from serialpack.bench.schedules.combination import Combination
from serialpack.stages.chain import StageSpec

#: How many times its budget a job may take before it is killed.
PATIENCE = 1.15

#: Why a row is skipped.
NO_TIME = "the budget was used up"

#: ``progress(share, what)``: how much of the budget is used, and what is measured now.
Progress = Callable[[float, str], object]


class Terms(NamedTuple):
    """What a schedule has to measure, and how long. ``budget``: seconds of measuring, ``spent`` of
    which are gone already."""

    subject: Subject
    choice: Candidates
    budget: float
    threads: list[int]
    weighing: Weighing
    progress: Progress
    spent: float = 0.0


class Schedule(ABC):
    """One run of bench over one source. ``rows`` holds what is known, at any time."""

    def __init__(self, terms: Terms, auto: Choice) -> None:
        """``auto``: what auto takes before it has looked at the source."""
        self.choice = terms.choice
        self.auto = Combination(auto.chain, terms.threads[-1], auto.block_size)
        #: Seconds of measuring.
        self.budget = terms.budget
        self.threads = terms.threads
        self.weighing = terms.weighing
        #: The source; of several sizes, the largest.
        self.held: Held | None = None
        #: Seconds that copying the source takes, where that was measured.
        self.copy: float | None = None
        #: How many records the whole source has, once a trial has told it.
        self.records: int | None = None
        self.rows: dict[Combination, Row] = {}
        self.notes: list[str] = []
        #: Serializers that refused, or failed, and why.
        self.dropped: dict[StageSpec, Row] = {}
        #: The combinations that there was no time for.
        self.skipped: dict[Combination, Row] = {}
        #: What rows measured whole go through, where that is not memory.
        self.files: Files | None = None
        self._path = terms.subject.path
        self._progress = terms.progress
        self._lab = Lab(terms.subject)
        self._spent = terms.spent
        self._start = perf_counter()

    @abstractmethod
    def run(self) -> None:
        """Measure. What is known when an exception passes through stays in ``rows``."""

    @property
    @abstractmethod
    def elapsed(self) -> float:
        """Seconds of measuring so far."""

    def _tell(self, combination: Combination) -> None:
        self._progress(min(self.elapsed / self.budget, 1.0), str(combination.chain))
