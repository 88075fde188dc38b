"""What ``bench`` does: measure, write the files that were asked for, print the report."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from serialpack.bench.compare import load_results
from serialpack.bench.measuring.disk import Through
from serialpack.bench.recommend import Weighing
from serialpack.bench.run import DEFAULT_BUDGET, Bench, Question
from serialpack.bench.schedules.candidates import check_stages
from serialpack.bench.schedules.sweep import parse_sweep
from serialpack.bench.several.chosen import Several, sample_files
from serialpack.cli.files.each_file import check_name, each_file, tell_found
from serialpack.cli.files.inputs import Inputs, Takes, add_input_hint, input_files
from serialpack.cli.naming import STDIO, SUFFIX
from serialpack.cli.options.requests import BenchRequest, Manner
from serialpack.cli.reporting.say import say
from serialpack.cli.signals import Stopped
from serialpack.cli.verbs.seconds_per_file import seconds_per_file
from serialpack.errors import WORST_FIRST, RefusedError, SerialpackError, UsageError
from serialpack.far import is_far
from serialpack.files.source import Source, base_name, shown
from serialpack.formats.shared.random_access import put
from serialpack.hidden import temporary_folder
from serialpack.text import number_of

if TYPE_CHECKING:
    from serialpack.bench.results import Results
    from serialpack.cli.reporting.progress import ProgressLine


#: What is packed already says nothing of what suits.
_TAKES = Takes(lambda name: not name.endswith(SUFFIX), (f"{SUFFIX} file", f"{SUFFIX} files"))

#: So many names of inputs are repeated.
_FEW = 3


class Bencher:
    """One call of ``bench``. UsageError, before anything is measured, for what does not go."""

    def __init__(self, asked: BenchRequest) -> None:
        budget, sample = asked.budget, asked.sample
        if budget is not None and not 0 < budget < 1e6:
            raise UsageError("--budget is a number of seconds above 0", hint="20 is the default")
        named = bool(asked.files or asked.sources.recursive or asked.sources.files_from)
        if named and sample is not None:
            raise UsageError("FILE and --sample exclude each other")
        self._manner = asked.manner._replace(as_json=asked.manner.as_json or asked.report == "json")
        self._outputs = _Outputs(asked.plot, asked.html, asked.save, asked.force)
        inputs = input_files(asked.files, asked.sources, _TAKES, self._outputs.places())
        self._outputs.check(inputs.paths)
        if asked.compare is not None and asked.report in ("csv", "markdown"):
            raise UsageError(f"--compare is told as a table or as json, not as {asked.report}")
        self._old = load_results(asked.compare) if asked.compare is not None else None
        file = inputs.paths[0] if inputs.paths else ""
        if self._old is not None and not named and sample is None:
            file, sample = _source_of(self._old)
        #: Whether files were left out because of an error, and of which kind.
        self._code = 0
        several = None
        check_stages(asked.serializers, asked.filters, asked.codecs)
        if inputs.gathered or len(inputs.paths) > 1:
            self._code = tell_found(inputs, self._manner)
            several, file = self._several(asked, inputs.paths), _called(asked)
        self._question = Question(
            source=sample or file,
            is_sample=sample is not None,
            format=asked.format,
            serializers=asked.serializers,
            filters=asked.filters,
            codecs=asked.codecs,
            budget=DEFAULT_BUDGET if budget is None else budget,
            threads=asked.threads or (),
            weighing=Weighing(asked.prefer, given=asked.line),
            peers=asked.peers,
            sweep=parse_sweep(asked.sweep) if asked.sweep is not None else (),
            through=_through(asked),
            several=several,
        )
        self._store = asked.store
        other = asked.filters or asked.peers or asked.disk or asked.cold
        if asked.store is not None and (other or several is not None):
            raise UsageError(
                "--store takes one file, and goes without --filter, --peers, --disk and --cold"
            )
        self._report = asked.report

    def run(self) -> int:
        """Measure, and tell; the exit code."""
        code = each_file((self._question.source,), self._manner, self._measure)
        return min(code, self._code, key=WORST_FIRST.index)

    def _several(self, asked: BenchRequest, paths: Sequence[str]) -> Several:
        """The files to be measured in place of all ``paths``. A file that cannot be read is told,
        and left out."""
        if STDIO in paths:
            raise UsageError("standard input is measured alone")
        for path in paths:
            check_name(path)
        since = perf_counter()
        several = sample_files(
            paths,
            asked.budget or DEFAULT_BUDGET,
            called=_called(asked),
            words=_words(asked),
            format=asked.format,
            handling=seconds_per_file(),
        )
        for error in several.errors:
            add_input_hint(error, error.path or "")
        errors = Inputs((), {}, several.errors, [])
        self._code = min(self._code, tell_found(errors, self._manner), key=WORST_FIRST.index)
        return several._replace(seconds=perf_counter() - since)

    def _measure(self, _: str) -> dict[str, Any]:
        """Measure, write and print; the line for ``--json``, which is empty: a report has its own.
        What was measured before Ctrl-C is printed, too."""
        manner = self._manner
        with _spooled(self._question) as asked, _Progress(manner) as progress:
            if self._store is not None:
                return self._told(_in_store(self._store, asked, progress))
            bench = Bench(asked, progress)
            try:
                results = bench.run()
            except Stopped:
                progress.close()
                _print(bench.results(), manner, self._report)
                raise
        return self._told(results)

    def _told(self, results: Results) -> dict[str, Any]:
        """Write and print what was found."""
        manner, old = self._manner, self._old
        try:
            for path in self._outputs.write(results):
                say(manner, f"wrote {path}")
        finally:
            if old is not None:
                _print_changes(old, results, manner)
            else:
                _print(results, manner, self._report)
        if not any(row.size is not None for row in results.rows):
            raise RefusedError("nothing could be measured", hint="the table says why")
        return {}


def _in_store(kind: str, asked: Question, progress: _Progress) -> Results:
    """Measure single values in a store of the ``kind``, for the question ``asked``."""
    from serialpack.bench.stores import StoreQuestion, measure_stores

    return measure_stores(
        StoreQuestion(
            kind,
            asked.source,
            asked.is_sample,
            asked.format,
            asked.serializers,
            asked.codecs,
            asked.budget,
            asked.sweep,
        ),
        progress,
    )


def _called(asked: BenchRequest) -> str:
    """What several inputs are called together."""
    names = [*asked.files, *([asked.sources.files_from] if asked.sources.files_from else [])]
    return " ".join(map(shown, names)) if len(names) <= _FEW else number_of(len(names), "file")


def _words(asked: BenchRequest) -> list[str]:
    """The words that name these inputs on the command line of ``pack``: the same options, and the
    names, or ``FILE...`` in the place of many."""
    sources = asked.sources
    words = ["-r"] * sources.recursive
    for option, globs in (("--include", sources.include), ("--exclude", sources.exclude)):
        words += [word for glob in globs for word in (option, glob)]
    words += ["--gitignore"] * sources.gitignore
    if sources.files_from is not None:
        words += ["--files-from", sources.files_from, *["-0"] * sources.nul]
    names = [*map(shown, asked.files)] if len(asked.files) <= _FEW else ["FILE..."]
    return [*words, *["--"] * any(name.startswith("-") for name in names), *names]


def _through(asked: BenchRequest) -> Through:
    """What the bytes go through."""
    if asked.cold_all:
        return "cold-all"
    if asked.cold:
        return "cold-files"
    return "disk" if asked.disk else "memory"


def _source_of(old: Results) -> tuple[str, str | None]:
    """The file or the sample that these results are of. FileError where it is not there."""
    from serialpack.bench.samples import SAMPLES
    from serialpack.errors import FileError

    if old.files is not None:
        raise UsageError(
            "--compare: these results are of several files",
            hint="name them again, a folder with -r",
        )
    if old.source == STDIO or os.path.exists(old.source):
        return old.source, None
    if old.source.partition(":")[0] in SAMPLES:
        return "", old.source
    raise FileError(
        "is not there any more", path=old.source, hint="name the FILE to hold the results against"
    )


def _print(results: Results, manner: Manner, format: str) -> None:
    """The report on standard output: where only errors are asked for, none but for programs."""
    if manner.as_json:
        format = "json"
    elif manner.quiet and format == "table":
        return
    from shutil import get_terminal_size

    from serialpack.bench.reports import report
    from serialpack.cli.words import colourful

    width = get_terminal_size((100, 24)).columns
    text = report(results, format, width=width, colour=colourful(sys.stdout))
    print(text, end="", flush=True)


def _print_changes(old: Results, new: Results, manner: Manner) -> None:
    """Print what is another now than in the ``old`` results."""
    if manner.quiet and not manner.as_json:
        return
    import json

    from serialpack.bench.compare import changes_text, compare

    changes = compare(old, new)
    print(json.dumps(changes.to_json()) if manner.as_json else changes_text(changes), flush=True)


class _Outputs(NamedTuple):
    """Files that are written beside what is printed."""

    plot: str | None
    html: str | None
    save: str | None
    force: bool

    def places(self) -> list[str]:
        """Where they are, as they are called from the root."""
        return [os.path.realpath(path) for path in (self.plot, self.html, self.save) if path]

    def check(self, sources: Sequence[str]) -> None:
        """Raise at once what writing them would raise after all the measuring."""
        from serialpack.bench.reports.plot import check_plot
        from serialpack.errors import FileError, UsageError
        from serialpack.files.targets import check_output

        paths = [path for path in (self.plot, self.html, self.save) if path is not None]
        for path in paths:
            there = filter(os.path.exists, sources if os.path.exists(path) else ())
            if any(os.path.samefile(source, path) for source in there):
                raise FileError("is the input itself", path=path, hint="name another file")
            check_output(path, force=self.force)
        if len({os.path.realpath(path) for path in paths}) < len(paths):
            raise UsageError("--plot, --html and --save cannot write to one file")
        if self.plot is not None:
            check_plot(self.plot)

    def write(self, results: Results) -> Iterator[str]:
        """Write them; each is given once it is there."""
        from serialpack.bench.compare import save_results

        if self.plot is not None:
            from serialpack.bench.reports.plot import plot

            plot(results, self.plot, force=self.force)
            yield self.plot
        if self.html is not None:
            from serialpack.bench.reports.html import html
            from serialpack.files.output import Output

            with Output(self.html, force=self.force) as output:
                output.write(html(results).encode())
            yield self.html
        if self.save is not None:
            save_results(results, self.save, force=self.force)
            yield self.save


@contextmanager
def _spooled(question: Question) -> Iterator[Question]:
    """The question about a file here; what a pipe gives, or a URL, is copied for it."""
    path = question.source
    copied = path == STDIO or is_far(path) or stat.S_ISFIFO(_mode(path))
    if question.is_sample or question.several is not None or not copied:
        yield question
        return
    with temporary_folder() as folder:
        # A far file has a name that says what it is.
        copy = os.path.join(folder, (is_far(path) and base_name(path)) or "pipe")
        _copy(sys.stdin.buffer if path == STDIO else path, copy)
        try:
            yield question._replace(source=copy, called=path)
        except SerialpackError as error:
            if error.path == copy:
                error.path = None  # it is said of the input
            raise


def _copy(source: str | IO[bytes], copy: str) -> None:
    """Copy all that ``source`` gives into the new file ``copy``. FileError where there is no
    room."""
    with Source(source) as opened:
        with open(copy, "xb") as file:
            while data := opened.read(8 << 20):
                put(file, data, opened.path)
        opened.check_unchanged()


def _mode(path: str) -> int:
    """The mode of a file, which says of what kind it is; 0 where there is no such file."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return 0


class _Progress:
    """A bar on the terminal that shows how much of the budget is used, and for what."""

    def __init__(self, manner: Manner) -> None:
        from serialpack.cli.reporting.bars import shows_progress
        from serialpack.cli.reporting.progress import ProgressLine

        self._verbose = manner.verbose
        self._share, self._what = 0.0, ""
        self._line: ProgressLine | None = None
        if shows_progress(manner) and not manner.verbose:
            self._line = ProgressLine("bench")
            self._line.start(lambda: (self._share, 0.0, [self._what] if self._what else []))

    def __call__(self, share: float, what: str) -> None:
        from serialpack.cli.words import note

        if self._verbose:
            note(f"measuring {what}")
        self._share, self._what = share, what

    def close(self) -> None:
        """Take the bar away."""
        if self._line is not None:
            self._line.close()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
