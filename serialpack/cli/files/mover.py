"""What the verbs that write files do around each, whatever they do with it."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from serialpack.cli.files.each_file import each_file, tell_found
from serialpack.cli.files.inputs import Inputs
from serialpack.cli.files.outputs import Targets
from serialpack.cli.files.removal import Input, Removal
from serialpack.cli.files.standard_streams import stdout
from serialpack.cli.naming import STDIO, check_removal, is_there, stat_of
from serialpack.cli.options.requests import Manner, Outputs
from serialpack.cli.reporting.bars import files_bar, progress_bar
from serialpack.cli.reporting.say import in_time, print_line, say
from serialpack.cli.reporting.tally import MANY, Tally
from serialpack.cli.words import complain
from serialpack.errors import WORST_FIRST, ExistingFileError, SerialpackError, UsageError
from serialpack.far import is_far
from serialpack.files.output import OutputGroup
from serialpack.files.targets import check_output, is_device
from serialpack.pipeline.workers import LARGE, MANY_FILES, MUCH, usable_cores
from serialpack.reports import ReportT

if TYPE_CHECKING:
    from serialpack.cli.files.batch import Batch, FileJob, MakeJobWork
    from serialpack.cli.files.cluster import Cluster
    from serialpack.cli.files.jobs import Jobs
    from serialpack.cli.reporting.journal import Journal
    from serialpack.cli.reporting.progress import FilesBar
    from serialpack.cli.reporting.stage_times import StageTimes
    from serialpack.pipeline.line import Elsewhere


class Mover:
    """What is done around each file: groups, lines, bars, sums, and what --rm removes.

    ``done``: what is done with a file, in a word.
    """

    def __init__(
        self, inputs: Inputs, targets: Targets, outputs: Outputs, manner: Manner, done: str
    ) -> None:
        if outputs.dry_run and manner.as_json:
            raise UsageError("--dry-run and --json exclude each other")
        if outputs.profile is not None:
            check_output(outputs.profile, force=outputs.force)
        self.inputs, self.targets = inputs.paths, targets
        #: What a profile must not be written over either, as it is called from the root.
        self.taken: set[str] = set()
        self._found = inputs
        self._manner, self._outputs = manner, outputs
        self.dry_run = outputs.dry_run
        self._times: StageTimes | None = None
        if (outputs.stats or outputs.profile is not None) and not self.dry_run:
            from serialpack.cli.reporting import stage_times

            self._times = stage_times.StageTimes(prints=outputs.stats)
        #: Whether each file is told of only where that is asked for.
        self._many = len(inputs.paths) > MANY
        self.tally = Tally(done)
        self._journal: Journal | None = None
        self._bar: FilesBar | None = None
        #: Whether some input is an archive, whose entries are counted one by one.
        self._in_entries = False
        self.removal = Removal(self.tally)
        #: What of the file at hand is to be removed, once all is done with it.
        self._done_with: Sequence[Input] = ()
        #: Called with the report of each file that was done.
        self.reported: Callable[[Any], object] = lambda _: None
        #: What is done ahead, of which jobs, and by whom where not by this machine.
        self.batch: Batch | None = None
        self._jobs: Jobs | None = None
        self._cluster: Cluster | None = None

    def ahead(
        self,
        make: "MakeJobWork",
        target: Callable[[str], str | None],
        *,
        to: Callable[[str], str] = lambda _: "",
        from_files: int = MANY_FILES,
        from_bytes: int = MUCH,
        alone: int | None = LARGE,
        cuts: "Callable[[FileJob], bool]" = lambda _: False,
        packed: bool = False,
    ) -> None:
        """Have the inputs done in groups ahead of what is told of them, where they are several.

        ``make`` gives what does a ``FileJob``; ``target`` and ``to`` say where each goes, and in
        which format. From so many files, or bytes of them, on processes pay for their start (some
        0.2 s for two); each takes files of up to ``alone`` bytes. ``cuts``: whether a file that
        is more than a share of a cluster's worker is left to ``move``, for its blocks to be done
        ``elsewhere``; ``packed``: it becomes a container. What is wrong with an input is left to
        ``move``, too.
        """
        outputs, paths = self._outputs, self.inputs
        planned = self.dry_run and not outputs.skip_existing
        if planned or STDIO in paths or len(set(paths)) < len(paths):
            return
        alike = len(paths) > 1 or outputs.skip_existing or outputs.scheduler is not None
        if self.targets.is_joined or outputs.output == STDIO or not alike:
            return
        from serialpack.cli.files.batch import Batch, Commit
        from serialpack.cli.files.jobs import Jobs

        self._jobs = jobs = Jobs(paths, self.targets, outputs, target, to, packed=packed)
        if self.dry_run:
            return
        self._found.notes.extend(jobs.without_dead())
        threads = outputs.threads or usable_cores()
        much = len(jobs.all) >= from_files or sum(job.size for job in jobs.all) >= from_bytes
        several = threads > 1 and much
        done = jobs.all
        if outputs.scheduler is not None:
            from serialpack.cli.files.cluster import Cluster

            self._cluster = Cluster(outputs.scheduler, outputs.threads, partial(say, self._manner))
            share, alone = self._cluster.share(jobs.all), None
            done = [job for job in done if job.size <= share or not cuts(job)]
        elif alone is None and not several:
            alone = LARGE
        each = outputs.sync == "each" or any(is_far(job.target) for job in jobs.all)
        self.batch = Batch(
            done,
            make,
            Commit(each, not outputs.keep),
            processes=threads if several else 0,
            alone=alone,
            elsewhere=self._cluster,
        )

    def makes_again(self, path: str) -> bool:
        """Whether an output of ``path`` that is there is made again, and left where it is the very
        one: with ``--skip-existing``, of what times do not tell, as a part of a source; and before
        its source is removed."""
        if self._jobs is not None:
            return path in self._jobs.again
        return self._outputs.skip_existing and not self._outputs.force

    def elsewhere(self, path: str) -> "Elsewhere | None":
        """Who works on the blocks of ``path`` in place of this machine."""
        return None if self._cluster is None else partial(self._cluster.blocks, path)

    def input(self, path: str) -> "Input":
        """The input as it is now, or was when it was read ahead."""
        if self._jobs is not None and path in self._jobs.before:
            return Input(path, self._jobs.before.pop(path))
        return Input(path, None if path == STDIO or self._outputs.keep else stat_of(path))

    def each(
        self,
        files: Sequence[str],
        work: Callable[[str], dict[str, Any]],
        parts: Sequence[str] = (),
        *,
        hint: bool = True,
        make: bool = True,
    ) -> int:
        """Do ``work`` for each file, sum up; the worst exit code. ``make``: their folder first."""
        if not self.dry_run:
            self._begin(make=bool(files) and make)
        if len(self.inputs) >= MANY_FILES:
            from serialpack.pipeline.processes import end_processes

            end_processes()
        codes = [tell_found(self._found, self._manner, self._keep)]
        self.tally.fail(len(self._found.errors))
        try:
            with files_bar(files, self._manner) as self._bar:
                if self._cluster is not None:
                    self._cluster.tell = self._bar
                work = self._told_of(work)
                codes.append(
                    each_file(
                        files,
                        self._manner,
                        work,
                        parts,
                        hint=hint,
                        keep=self._keep,
                        counted=self.counted,
                        then=self._remove,
                    )
                )
        except BaseException as error:
            if self.batch is not None:
                self.batch.stop()
            sums_up = self._in_entries or (self.batch is not None and self._sums_up)
            if not isinstance(error, Exception) and sums_up:  # a signal
                with suppress(OSError):
                    say(self._manner, self.tally.stopped())
            raise
        finally:
            if self._cluster is not None:
                self._cluster.close()
            if self._journal is not None:
                codes.append(self._journal.close())
            self.targets.remove_empty()
        self._sum_up()
        return min(codes, key=WORST_FIRST.index)

    def _begin(self, *, make: bool) -> None:
        """Before the first file: look at what is written to; ``make`` the folder of all."""
        self.targets.begin()
        if self._outputs.scheduler is not None and self._cluster is None:
            raise UsageError(
                "--scheduler: tasks make files of files, each of one; this is for one machine",
                hint="leave out --scheduler",
            )
        if make or self._outputs.journal is not None:
            self.targets.make_folder()
        if self._outputs.journal is not None:
            from serialpack.cli.reporting.journal import open_journal

            self._journal = open_journal(self._outputs.journal, self.targets.used)
            self.removal.journal = self._journal

    def _sum_up(self) -> None:
        """Behind the last file: say what became of all."""
        if self._sums_up:
            say(self._manner, self.tally.line())
        for line in self.tally.repeated(skips_existing=self._outputs.skip_existing):
            complain(line)
        for line in self.tally.not_kept.lines:
            say(self._manner, line)
        if self._times is not None:
            from serialpack.cli.reporting.profile import sum_up

            sum_up(self._times, self._outputs, taken=self.targets.used | self.taken)

    def _told_of(self, work: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
        """``work`` with what is around it for files of which there are many."""

        def done(path: str) -> dict[str, Any]:
            jobs = self._jobs
            try:
                if (target := None if jobs is None else jobs.left_at(path)) is None:
                    try:
                        self._done_with = ()
                        line = {} if self._only_counted(path) else work(path)
                        self.removal.add(self._done_with)
                        return line
                    except ExistingFileError:
                        if jobs is None or (target := jobs.done_meanwhile(path)) is None:
                            raise
                self.tally.leave()
                if self.tells() or self.dry_run:
                    left = "would be left" if self.dry_run else "left"
                    say(self._manner, f"{path}: {target} is whole and no older, {left} as it is")
                return {"source": path, "target": target, "left": True}
            finally:
                if self.batch is not None:
                    self.batch.forget(path)
                if self._bar is not None:
                    self._bar.next()

        return done

    def _remove(self) -> Iterable[tuple[str, SerialpackError]]:
        """Behind the last file of a group, remove what is to be removed; what could not be."""
        has_more = self.batch is not None and self.batch.has_more
        return () if has_more else self.removal.rest()

    def _only_counted(self, path: str) -> bool:
        """Whether ``path`` was done ahead, went well, and nobody is told more than the sum."""
        told = self.tells() or self.keeps_lines or self._times is not None
        if told or self.batch is None or not self._outputs.keep:
            return False
        if (report := self.batch.plain_report(path)) is not None:
            self.tally.add_report(report, 1)
            self.reported(report)
        return report is not None

    def line(self, line: dict[str, Any]) -> None:
        """A line about a part of what is done, for ``--json`` and the journal."""
        if "left" in line:
            self.tally.leave()
        print_line(self._manner, line)
        self._keep(line)

    def _keep(self, line: dict[str, Any]) -> None:
        if self._journal is not None and line:
            in_time(partial(self._journal.add, line))

    def counted(self, error: SerialpackError) -> bool:
        """Count a failure; whether it is only told at the end, with those like it."""
        self.tally.fail_by(error)
        return not self._manner.verbose and self.tally.repeats(error)

    def tells(self, *, verbose_only: bool = False) -> bool:
        """Whether each file is told of; of many only where that is asked for."""
        manner = self._manner
        return not manner.quiet and (manner.verbose or not (verbose_only or self._many))

    @property
    def _sums_up(self) -> bool:
        """Whether a line at the end says what became of all files."""
        return (self._many or self._found.gathered) and not self.dry_run

    @property
    def keeps_lines(self) -> bool:
        """Whether there is anyone for lines of ``--json``."""
        return self._manner.as_json or self._journal is not None

    def move(
        self,
        inputs: Sequence[Input],
        target: str | None,
        work: Callable[[Any, Callable[[int, int], object] | None], ReportT],
        *,
        check: Callable[[], object],
        plan: Iterable[str],
        closing: Callable[[ReportT], Iterable[str]],
        binary: bool = False,
        counts_written: bool = False,
        grouped: bool = True,
        files: Callable[[ReportT], int] | None = lambda _: 1,
    ) -> ReportT | None:
        """Do ``work`` from ``inputs`` to ``target``, and say so; None where it is only a plan.

        ``work`` gets a target and what to call with its progress; it is not called for what is
        done ahead. A plan raises what ``check`` does. ``plan`` says what would be done,
        ``closing`` what was, a line each. ``binary``: what is written is certainly no text.
        ``counts_written``: progress is told by the bytes written, of a total that the work knows.
        ``grouped``: whether all that is written is brought to disk at the end. ``files``: how many
        files that was, for the sum of all; None: ``work`` has them counted, one by one.
        """
        paths = [path for path, _ in inputs]
        if self._manner.as_json and target == STDIO:
            raise UsageError(
                "--json and the data cannot both go to standard output", hint="-o FILE"
            )
        if not self._outputs.keep and (STDIO in (*paths, target) or is_device(target)):
            raise UsageError("--rm needs a file on both sides")
        for path in paths:
            check_removal(path, keep=self._outputs.keep)
        if self.dry_run:
            from serialpack.cli.files.dry_run import check_place

            if STDIO not in paths:
                check()
            check_place(target)
            removes = [] if self._outputs.keep else [f"would remove {path}" for path in paths]
            for line in (*plan, *removes):
                say(self._manner, line)
            return None
        self._in_entries = self._in_entries or files is None
        label = paths[0] if len(paths) == 1 else target or ""
        if self._outputs.profile is not None:
            self.taken.update(map(os.path.realpath, [*paths, target or label]))
        there = grouped and self._outputs.keep and self.makes_again(label) and is_there(target)
        if self.batch is not None and paths[0] in self.batch:
            report = cast("ReportT", self.batch.report(paths[0]))
        else:
            with nullcontext() if self._times is None else self._times.measured():
                report = self._work(label, target, work, binary, counts_written, grouped)
        same = f"{label}: {target} is there already, and left: the bytes are the same"
        if self.tells(verbose_only=target == STDIO):
            for line in [same] if there else closing(report):
                say(self._manner, line)
        if there:
            self.tally.leave()
        elif files is not None:
            self.tally.add_report(report, files(report))
        self.reported(report)
        if self._times is not None:
            self._times.add(label, report.seconds, report.sizes)
        self._done_with = () if self._outputs.keep else inputs
        return report

    def _work(
        self,
        label: str,
        target: str | None,
        work: Callable[[Any, Callable[[int, int], object] | None], ReportT],
        binary: bool,
        counts_written: bool,
        grouped: bool,
    ) -> ReportT:
        """Do ``work`` here and now, until its output has its name."""
        made_in = [] if target is None else self.targets.make_folder(target)
        to = stdout(binary=binary, force=self._outputs.force) if target == STDIO else target
        bar: AbstractContextManager[Any] = (
            progress_bar(label, self._manner, counts_written=counts_written)
            if self._bar is None
            else nullcontext(self._bar)
        )
        if not grouped:
            with bar as progress:
                return work(to, progress)
        with bar as progress, OutputGroup(each=True, read_back=not self._outputs.keep) as group:
            group.only_same = self.makes_again(label)
            report = work(to, progress)
            for error in group.commit(made_in).values():
                raise error
        return report
