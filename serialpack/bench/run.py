"""Runs bench: measures every chain that may suit one source (or several files),
and tells what it found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from serialpack.bench.machine import this_machine
from serialpack.bench.material import MOST_HELD, Subject, file_subject
from serialpack.bench.measuring.anchors import memory_copy, stock_tools
from serialpack.bench.measuring.disk import HOW, Through, check_through, source_file
from serialpack.bench.measuring.workbench import is_object
from serialpack.bench.recommend import Weighing, front, recommendations
from serialpack.bench.results import Anchor, Entropy, Results, Row
from serialpack.bench.samples import Sample, parse_sample
from serialpack.bench.schedules.candidates import by_table, candidates, stage_names, values_of
from serialpack.bench.schedules.fixed import FixedSchedule
from serialpack.bench.schedules.highest import HIGHEST, HighestSearch
from serialpack.bench.schedules.one_search import OneSearch
from serialpack.bench.schedules.schedule import Progress, Schedule, Terms, quiet
from serialpack.bench.schedules.several_search import SeveralSearch
from serialpack.bench.schedules.sweep import swept_table
from serialpack.bench.several.chosen import Several
from serialpack.errors import UsageError
from serialpack.far import is_far
from serialpack.formats import FORMATS
from serialpack.pipeline.workers import usable_cores
from serialpack.text import number_of
from serialpack.units import format_size

#: The seconds of measuring where the user names no budget.
DEFAULT_BUDGET = 20.0


class Question(NamedTuple):
    """What is to be found out.

    ``source``: the path of a file; with ``is_sample`` a built-in sample, as ``NAME`` or ``NAME:N``.
    ``called``: its name, where ``source`` is only a copy of it (of a pipe, of a URL). ``several``:
    the files that are measured, where there are several; ``source`` is then what they are called.
    ``format``: what the user says that it is.

    ``serializers``, ``filters``, ``codecs``: as the command line spells them; empty: all that may
    suit. ``threads``: each of these numbers is measured; empty: all cores. ``budget``: seconds of
    measuring. ``weighing``: what is recommended. ``peers``: whether stock tools are measured, too.

    ``most_held``: bytes of a file that are held in memory. ``through``: what rows that are measured
    whole go through; ``folder``: where files for that are made (None: where temporary ones are).
    ``sweep``: the N to measure at: numbers of records, or N of the sample. Empty: all of the
    source; or of a sample that is given without N and has a sweep of its own, that.
    """

    source: str
    is_sample: bool = False
    format: str | None = None
    serializers: Sequence[str] = ()
    filters: Sequence[str] = ()
    codecs: Sequence[str] = ()
    budget: float = DEFAULT_BUDGET
    threads: Sequence[int] = ()
    weighing: Weighing = Weighing()
    peers: bool = False
    called: str | None = None
    most_held: int = MOST_HELD
    through: Through = "memory"
    folder: str | None = None
    sweep: Sequence[int] = ()
    several: Several | None = None

    @property
    def names_stages(self) -> bool:
        """Whether some stages are named, so that auto is not asked for its own."""
        return bool(self.serializers or self.filters or self.codecs)


class Bench:
    """One run of bench: ``run`` measures. ``results`` tells what is known so far, also in the
    middle of it and after an interruption."""

    def __init__(self, question: Question, progress: Progress = quiet) -> None:
        """UsageError for an unknown stage or sample, or what does not go together;
        MissingLibraryError; FileError for a file that cannot be read."""
        check_through(question.through)
        self.question = question
        self._progress = progress
        self._anchors: list[Anchor] = []
        self._finished = False
        #: The seconds of measuring, once that is done: stock tools are run behind it, and not
        #: counted.
        self._elapsed: float | None = None
        self._sample: Sample | None = None
        #: The least bytes that the built-in sample can take, where that is known.
        self._limit: Entropy | None = None
        self._subject = self._subject_of(question)
        self._points = self._swept()
        self._objects = is_object(self._subject)
        if self._objects and question.through != "memory":
            raise UsageError(
                f"{question.source} is measured as Python objects, which go through no files",
                hint="write it to a file, and measure that",
            )
        self._choice = candidates(
            question.serializers,
            question.filters,
            question.codecs,
            formats=self._subject.formats,
            objects=self._objects,
        )
        table = swept_table(self._sample) if self._points else self._sample and self._sample.table
        if table is not None:
            self._choice = by_table(self._choice, table)
        unsafe = stage_names(self._choice.serializers) if question.serializers else []
        weighing = question.weighing._replace(unsafe=frozenset(unsafe))
        # A table of objects is measured on one thread; but ``dumps`` and ``loads``, which a sweep
        # calls, take all cores.
        threads = self._threads(1 if self._objects and not self._points else usable_cores())
        terms = Terms(self._subject, self._choice, question.budget, threads, weighing, progress)
        terms = terms._replace(named=question.names_stages)
        if question.several is not None:  # however long it took to choose files, some time is left
            terms = terms._replace(spent=min(question.several.seconds, question.budget / 2))
        self._schedule: Schedule
        if self._points or self._objects:
            runs = None if table is None else table.runs
            self._schedule = FixedSchedule(
                terms, points=self._points, runs=runs, objects=self._objects
            )
        else:
            self._schedule = (SeveralSearch if self._subject.files else OneSearch)(terms)

    def _subject_of(self, question: Question) -> Subject:
        """The subject: a built-in sample (which is then known as ``_sample``), several files, or
        one.

        Raises what ``__init__`` does.
        """
        if question.is_sample:
            self._sample, n = parse_sample(question.source)
            self._limit = self._sample.limit(n)
            return Subject(sample=f"{self._sample.name}:{n}", format=self._sample.format)
        if question.several is not None:
            if question.through != "memory" or question.peers or question.sweep:
                raise UsageError(
                    "--disk, --cold, --peers and --sweep measure one file, not several"
                )
            return question.several.subject
        return file_subject(
            question.source,
            question.format,
            named=question.called is None or is_far(question.called),
            most_held=question.most_held,
        )

    def _threads(self, default: int) -> list[int]:
        """The numbers of threads to measure with, in order."""
        return sorted(set(self.question.threads)) or [default]

    def _swept(self) -> list[int]:
        """The N of a sweep, in order: those asked for, or where no N is given those of the sample.
        Empty where it is no sweep."""
        points = sorted(set(self.question.sweep))
        if not points and self._sample is not None and ":" not in self.question.source:
            points = [*self._sample.table.sweep]
        if points and self.question.through != "memory":
            raise UsageError("a sweep is measured in memory, not through files")
        return points

    def run(self) -> Results:
        """Measure everything that there is time for."""
        schedule, question = self._schedule, self.question
        with source_file(self._subject, question.through, question.folder) as files:
            schedule.files = files
            schedule.run()
            self._elapsed = schedule.elapsed
            assert schedule.held is not None
            if question.peers and not self._subject.sample:
                self._anchors = stock_tools(
                    self._subject.path,
                    schedule.held.size,
                    max(question.budget, 1.0),
                    lambda name: self._progress(1.0, name),
                    files,
                )
        self._finished = True
        return self.results()

    def results(self) -> Results:
        """What is known so far."""
        schedule, question = self._schedule, self.question
        held = schedule.held
        size = held.size if held is not None else 0
        rows = self._rows()
        sampled = held.held if held is not None else 0
        files = question.several and question.several.sampled
        if files is not None and isinstance(schedule, SeveralSearch) and schedule.used:
            sampled = schedule.larger[schedule.used - 1].held
            files = files._replace(measured=schedule.measured(schedule.used))
        anchors = list(self._anchors)
        if schedule.copy is not None:
            anchors.insert(0, memory_copy(schedule.copy, size, sampled))
        source = question.called or self._subject.sample or question.source
        if self._points and self._sample is not None:
            source = self._sample.name
        return Results(
            source=source,
            mode="object" if self._objects else "file",
            format=self._subject.format,
            size=size,
            records=schedule.records,
            sampled=sampled,
            budget=question.budget,
            elapsed=schedule.elapsed if self._elapsed is None else self._elapsed,
            date=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            machine=this_machine(),
            limit=self._limit if not self._points else None,
            rows=rows,
            anchors=anchors,
            recommendations=recommendations(
                # None for a sweep: their figures would be those of one N.
                self._asked(rows) if not self._points else [],
                schedule.weighing,
                inputs=self._inputs(source),
                objects=self._objects,
                name_threads=bool(question.threads),
                format=question.format,
                sampled=question.several is not None,
                beside=self._beside(rows),
            ),
            notes=self._notes(rows),
            interrupted=not self._finished,
            through=question.through,
            files=files,
        )

    def _inputs(self, source: str) -> Sequence[str]:
        """The words that name the source in a recommended command:
        a built-in sample has no file."""
        if self.question.several is not None:
            return self.question.several.words
        name = "FILE" if self._sample is not None else source
        return ("--", name) if name.startswith("-") and name != "-" else (name,)

    def _rows(self) -> list[Row]:
        """All rows: those with figures, the smallest first; then those without, and why."""
        schedule = self._schedule
        known = list(schedule.rows.values())
        whole = [row for row in known if row.status == "measured"]
        # Rows that went through memory do not compete with those through files, nor one N with
        # another.
        rivals = (schedule.files and whole) or known
        on_front = {
            id(row)
            for n in {row.n for row in rivals}
            for row in front([row for row in rivals if row.n == n])
        }
        rows = [
            row._replace(
                front=id(row) in on_front,
                auto=combination._replace(n=None) == schedule.auto,
                over_limit=self._over_limit(row),
            )
            for combination, row in schedule.rows.items()
        ]
        known_first = sorted(rows, key=lambda row: (row.size is None, row.size, row.chain))
        skipped = [
            row
            for c, row in schedule.skipped.items()
            if c not in schedule.rows and c.chain.serializer not in schedule.dropped
        ]
        return [*known_first, *schedule.dropped.values(), *skipped]

    def _asked(self, rows: list[Row]) -> list[Row]:
        """The rows that may be recommended: all, but without the choice of ``auto`` where the user
        named stages and that has others."""
        serializer, filters, codec = self._schedule.auto.chain
        choice = self._choice
        if (
            serializer in choice.serializers
            and filters in choice.filters
            and codec in choice.codecs
        ):
            return rows
        return [row for row in rows if not row.auto] if self.question.names_stages else rows

    def _beside(self, rows: list[Row]) -> str:
        """That ``auto`` may find less at the highest effort, where that was not measured as far as
        what is recommended; else empty."""
        schedule, question = self._schedule, self.question
        if question.names_stages or self._points or self._objects:
            return ""
        highest = schedule.highest if isinstance(schedule, HighestSearch) else None
        found = None
        if highest is not None:
            found = schedule.rows.get(highest) or schedule.skipped.get(highest)
        wholly = any(row.status == "measured" for row in rows)
        if found is not None and (
            found.status in ("measured", "" if wholly else "sampled")
            or not schedule.weighing.allows(found)
        ):
            return ""
        return f"pack -{HIGHEST} may take fewer"

    def _over_limit(self, row: Row) -> float | None:
        """The size of a row over the least that the sample can take."""
        limit = self._limit
        if row.n is not None:
            limit = self._sample.limit(row.n) if self._sample is not None else None
        return None if limit is None or row.size is None else row.size / limit.size

    def _notes(self, rows: list[Row]) -> list[str]:
        """What a reader must know, a line each."""
        schedule, subject = self._schedule, self._subject
        notes = list(schedule.notes)
        if self.question.called is not None:
            giver = "URL" if is_far(self.question.called) else "pipe"
            notes.append(f"what the {giver} gave was kept in a temporary file, which is gone again")
        if self.question.budget <= 0:
            notes.append(f"nothing was measured: the budget is {self.question.budget:g} s")
        held = schedule.held
        sampled = sum(row.status == "sampled" for row in rows)
        if isinstance(schedule, SeveralSearch) and self.question.several is not None:
            notes += schedule.told(self.question.several.sampled)
        elif held is not None and held.held < held.size and sampled:
            where = "from its start" if held.broken_off else "spread over it"
            part = f"at most {format_size(held.held)} of {format_size(held.size)}"
            notes.append(f"{part} were measured, {where}" + (" (~)" if schedule.files else ""))
        several, were = number_of(sampled, "row"), "was" if sampled == 1 else "were"
        if schedule.files is not None:
            memory = f"; {several} (~) {were} sampled in memory" if sampled else ""
            notes.append(f"measured {HOW[self.question.through]}{memory}")
        elif sampled and held is not None and held.held == held.size:
            notes.append(
                f"~: {several} {were} measured, and proved, on a sample of the source only;"
                " a larger --budget measures more of them whole"
            )
        notes += self._left_unmeasured(rows)
        without = [name for name in sorted(subject.formats) if not values_of(name)]
        if not self._objects and without:
            fmt = FORMATS.get(without[0])
            why = "it has no values that serialpack knows"
            if fmt.has_values:
                what = getattr(fmt, "unpacked", ())
                why = "reading it can run code that is in it"
                why = f"serializers pack records, and it {what[0]}" if what else why
            if subject.files:
                names = stage_names(self._choice.serializers)
                notes.append(f"only {', '.join(names)}: of {', '.join(without)}, {why}")
            else:
                notes.append(f"only raw rows: {why}")
        if self._choice.absent:
            notes.append(f"not installed: {', '.join(self._choice.absent)}")
        return notes

    def _left_unmeasured(self, rows: list[Row]) -> Iterator[str]:
        """A note on a row that may be the smallest of all, but was measured only on a sample."""
        whole = [row.size for row in rows if row.status == "measured" and row.size is not None]
        schedule = self._schedule
        if not whole or not isinstance(schedule, OneSearch):
            return
        for row in rows:
            if row.status != "sampled" or row.size is None or not schedule.weighing.allows(row):
                continue
            if row.size < min(whole) * 0.98:
                need = schedule.budget_for(row)
                yield (
                    f"{row.named} seems smaller (~{row.size:,} bytes): measuring it whole takes"
                    f" --budget {need:.0f}"
                )
                return
