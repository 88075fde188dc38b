"""``serialpack bench``."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from serialpack.cli.naming import STDIO
from serialpack.cli.options import Verb, common_options

if TYPE_CHECKING:
    from serialpack.bench.results import Results
    from serialpack.bench.run import Question
    from serialpack.cli.progress import ProgressLine
    from serialpack.cli.run import Manner


class Threads(click.ParamType[tuple[int, ...]]):
    """``1,2,4``."""

    name = "threads"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(int(text) for text in str(value).split(","))
        except ValueError:
            numbers = ()
        if not numbers or min(numbers) < 1:
            self.fail(f"{value!r} is not numbers of threads, like 1,2,4", param, ctx)
        return numbers


class Speed(click.ParamType[float]):
    """Bytes a second, as networks count: 10M is ten million."""

    name = "speed"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?)([kMGT]?)(?:B/s)?", str(value).strip(), re.I)
        speed = float(match[1]) * 1000.0 ** " KMGT".index(match[2].upper() or " ") if match else 0.0
        if not speed:
            self.fail(f"{value!r} is not bytes a second, like 100M", param, ctx)
        return speed


@click.command(
    "bench",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure which serializer and codec suit FILE; print the command to copy.",
    examples=(
        ("serialpack bench data.json", "a table, and what to run"),
        ("serialpack bench --prefer portable data.json", "what other languages read"),
        ("serialpack bench -c zstd:3 -c lz4 -j 1,2 data.csv", "stages of your choice"),
        ("serialpack bench --sample contacts:60000", "data that is built in"),
    ),
)
@click.option(
    "-s",
    "--serializer",
    "serializers",
    metavar="NAME",
    multiple=True,
    help="Only these; default: all that hold it.",
)
@click.option(
    "--filter",
    "filters",
    metavar="NAME[:SIZE]",
    multiple=True,
    help="Only these; default: those that help.",
)
@click.option(
    "-c",
    "--codec",
    "codecs",
    metavar="NAME[:LEVEL]",
    multiple=True,
    help="Only these; default: those worth trying.",
)
@click.option("-F", "--from", "format", metavar="FORMAT", help="What FILE is; default: looked at.")
@click.option(
    "--budget",
    type=float,
    metavar="SECONDS",
    help="How long to measure; default: 20.",
)
@click.option("--sample", metavar="SAMPLE", help="Built-in data in place of FILE: contacts:60000.")
@click.option("--sweep", metavar="A:B:STEP", help="How it grows with the number of records.")
@click.option(
    "--prefer",
    type=click.Choice(["size", "speed", "portable", "text", "safe"]),
    metavar="WHAT",
    help="Recommend by size, speed, portable, text, safe.",
)
@click.option(
    "--line", type=Speed(), metavar="SPEED", help="Balance over 100M, ... bytes/s; default: 10M."
)
@click.option("--peers", is_flag=True, help="Measure the stock gzip, zstd, xz, lz4 too.")
@click.option(
    "-j", "--threads", type=Threads(), metavar="N,...", help="Threads to measure; default: all."
)
@click.option("--disk", is_flag=True, help="Measure through files, not in memory.")
@click.option("--cold", is_flag=True, help="The same, dropped from the cache before each read.")
@click.option("--cold-all", is_flag=True, help="The same with all of the cache, as root.")
@click.option(
    "--format",
    "report",
    type=click.Choice(["table", "json", "csv", "markdown"]),
    default="table",
    metavar="REPORT",
    help="Print a table (default), json, csv, markdown.",
)
@click.option("--plot", metavar="PATH", help="Draw size against speed: .png or .svg.")
@click.option("--html", metavar="PATH", help="Write a page to look at in a browser.")
@click.option("--save", metavar="PATH", help="Keep the results, for --compare.")
@click.option("--compare", metavar="PATH", help="Show what changed since these results.")
@click.option("-f", "--force", is_flag=True, help="Overwrite.")
@common_options
@click.argument("file", required=False, metavar="[FILE]", type=click.Path(readable=False))
def command(
    file: str | None,
    serializers: tuple[str, ...],
    filters: tuple[str, ...],
    codecs: tuple[str, ...],
    format: str | None,
    budget: float | None,
    sample: str | None,
    sweep: str | None,
    prefer: Any,
    line: float | None,
    peers: bool,
    threads: tuple[int, ...] | None,
    disk: bool,
    cold: bool,
    cold_all: bool,
    report: str,
    plot: str | None,
    html: str | None,
    save: str | None,
    compare: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    no_progress: bool,
) -> int:
    from serialpack.bench.candidates import check_stages
    from serialpack.bench.compare import load_results
    from serialpack.bench.recommend import Weighing
    from serialpack.bench.run import DEFAULT_BUDGET, Bench, Question
    from serialpack.bench.sweep import parse_sweep
    from serialpack.cli.app import Stopped
    from serialpack.cli.run import Manner, each_file, say
    from serialpack.errors import RefusedError, UsageError

    if budget is not None and not 0 < budget < 1e6:
        raise UsageError("--budget is a number of seconds above 0", hint="20 is the default")
    if file is not None and sample is not None:
        raise UsageError("FILE and --sample exclude each other")
    outputs = _Outputs(plot, html, save, force)
    outputs.check(file)
    old = load_results(compare) if compare is not None else None
    if old is not None and file is None and sample is None:
        file, sample = _source_of(old)
    question = Question(
        source=sample or file or STDIO,
        is_sample=sample is not None,
        format=format,
        serializers=serializers,
        filters=filters,
        codecs=codecs,
        budget=DEFAULT_BUDGET if budget is None else budget,
        threads=threads or (),
        weighing=Weighing(prefer, given=line),
        peers=peers,
        sweep=parse_sweep(sweep) if sweep is not None else (),
        through="cold-all" if cold_all else "cold-files" if cold else "disk" if disk else "memory",
    )
    check_stages(serializers, filters, codecs)
    manner = Manner(as_json or report == "json", quiet, verbose, no_progress)

    def work(_: str) -> dict[str, Any]:
        with _spooled(question) as asked, _Progress(manner) as progress:
            bench = Bench(asked, progress)
            try:
                results = bench.run()
            except Stopped:
                progress.close()
                _print(bench.results(), manner, report)
                raise
        try:
            for path in outputs.write(results):
                say(manner, f"wrote {path}")
        finally:
            if old is not None:
                _print_changes(old, results, manner)
            else:
                _print(results, manner, report)
        if not any(row.size is not None for row in results.rows):
            raise RefusedError("nothing could be measured", hint="the table says why")
        return {}

    return each_file((question.source,), manner, work)


def _source_of(old: Results) -> tuple[str | None, str | None]:
    """The file or the sample that these results are of. FileError where it is not there."""
    from serialpack.bench.samples import SAMPLES
    from serialpack.errors import FileError

    if old.source == STDIO or os.path.exists(old.source):
        return old.source, None
    if old.source.partition(":")[0] in SAMPLES:
        return None, old.source
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

    def check(self, source: str | None) -> None:
        """Raise at once what writing them would raise after all the measuring."""
        from serialpack.bench.reports.plot import check_plot
        from serialpack.errors import UsageError
        from serialpack.files import check_output

        found = os.stat(source) if source is not None and os.path.exists(source) else None
        paths = [path for path in (self.plot, self.html, self.save) if path is not None]
        for path in paths:
            check_output(path, force=self.force, source=found)
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
            from serialpack.files import Output

            with Output(self.html, force=self.force) as output:
                output.write(html(results).encode())
            yield self.html
        if self.save is not None:
            save_results(results, self.save, force=self.force)
            yield self.save


@contextmanager
def _spooled(question: Question) -> Iterator[Question]:
    """The question about a file; what a pipe gives is kept in a temporary one meanwhile."""
    path = question.source
    if question.is_sample or (path != STDIO and not stat.S_ISFIFO(_mode(path))):
        yield question
        return
    import shutil
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(prefix="serialpack-") as spool:
        with nullcontext(sys.stdin.buffer) if path == STDIO else open(path, "rb") as pipe:
            shutil.copyfileobj(pipe, spool)
        spool.flush()
        yield question._replace(source=spool.name, called=path)


def _mode(path: str) -> int:
    """What kind of file it is; 0 where there is none."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return 0


class _Progress:
    """A bar on the terminal that shows how much of the budget is used, and for what."""

    def __init__(self, manner: Manner) -> None:
        from serialpack.cli.progress import ProgressLine
        from serialpack.cli.run import shows_progress

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
