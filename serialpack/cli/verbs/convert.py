"""``serialpack unpack --to``."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from serialpack import api
from serialpack.cli.files.begin import mover_of
from serialpack.cli.files.joined import JoinedFile, JoinedOutputs, into_one
from serialpack.cli.files.standard_streams import data_of
from serialpack.cli.files.workers import know
from serialpack.cli.naming import STDIO, converted_name, folder_name, stat_of
from serialpack.cli.options.chosen_entries import chosen_entries, entry_words
from serialpack.cli.options.conversion_options import convert_options
from serialpack.cli.options.requests import UnpackRequest
from serialpack.cli.reporting.converted import Summed, kept_words, told_of
from serialpack.cli.reporting.say import rounded, say
from serialpack.cli.words import other_delimiter
from serialpack.compressed.pairs import other_of
from serialpack.compressed.source import uncompressed_name
from serialpack.conversion.files import check_convert, convert
from serialpack.conversion.losses.rules import DATABASES, TEXT_TABLES
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.preview import check_tables, is_splittable, preview_table
from serialpack.conversion.tables.closing_line import closing_words
from serialpack.conversion.tables.rewindable import Rereadable, twice
from serialpack.conversion.targets.sinks import opened_target
from serialpack.errors import SerialpackError, SeveralTablesError, UsageError
from serialpack.files.targets import check_output
from serialpack.formats import FORMATS
from serialpack.pipeline.workers import usable_cores
from serialpack.reports import ConvertReport
from serialpack.text import number_of
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.cli.files.batch import FileJob
    from serialpack.cli.verbs.joining import Through
    from serialpack.pipeline.line import Progress

#: From so many files, or bytes, on processes pay: converting takes longer than packing.
_FROM_FILES = 64
_FROM_BYTES = 2 << 20


def file_converter(
    how: ConvertOptions, shared_dict: str | None
) -> Callable[[FileJob, Progress], ConvertReport]:
    """What converts one file after another, in the one thread that it is called in."""
    alone: ConvertOptions = {**how, "threads": 1}
    know(shared_dict)

    def work(job: FileJob, progress: Progress) -> ConvertReport:
        assert job.target is not None
        also: ConvertOptions = {**alone, "force": alone["force"] or job.again}
        return convert(job.path, job.target, to=job.to, progress=progress, **also)

    return work


class _NotAll(Exception):
    """Not all inputs are in what they were to become."""


class Converter:
    """One call of ``unpack --to``. UsageError for what cannot be asked for.

    ``to`` None: each input keeps its format.
    """

    def __init__(self, asked: UnpackRequest, to: str | None) -> None:
        asked, self._chosen = chosen_entries(asked)
        outputs, said = asked.outputs, asked.conversion
        know(asked.shared_dict)
        self._asked = asked
        self._to = to
        self._mover = mover_of(
            outputs.output, asked, "converted", joins=True, into=to or "", volumes=True
        )
        #: What several become is written to, where that is no standard output.
        self._into: IO[bytes] | None = None
        self._joined = JoinedOutputs() if self._mover.targets.is_joined else None
        self._summed = Summed()
        #: The formats of inputs that keep theirs, as far as they were looked at.
        self._kept: dict[str, str] = {}
        #: What was looked at ahead, to be read again: of pipes a copy.
        self._again: dict[str, Rereadable] = {}
        self._how = convert_options(asked)
        how = self._how
        check_convert(
            to or "ndjson", format=how["format"], lossy=how["lossy"], threads=how["threads"]
        )
        #: How several become one file through text.
        self._through: Through | None = None
        #: The databases among several that become one file, of which ``--table`` takes a table.
        self._databases: set[str] = set()
        if self._joined is not None and to is not None:
            # Types of columns are those of all.
            if FORMATS.declaration(to).joins is None or (
                how["shaping"].infer and to not in TEXT_TABLES
            ):
                self._joined = self._join_through(to)
            self._joined.check(self._to or to, "")
        if self._mover.targets.in_file and not outputs.keep:
            raise UsageError("--rm needs an output for each input", hint="-o FOLDER, or -k")
        if not outputs.keep and (said.lossy or said.skip_bad or said.fields or said.no_verify):
            raise UsageError(
                "--rm needs a conversion that is proved and loses nothing",
                hint="leave out --lossy, --skip-bad, --fields and --no-verify",
            )

    def _join_through(self, to: str, *, as_records: bool = False) -> JoinedOutputs:
        """Have several become a file in the format ``to`` through text, which is no table where
        that is ``as_records``; what becomes that text."""
        from serialpack.cli.verbs.joining import joined_through

        how = convert_options(self._asked)
        self._through = joined_through(self._mover.inputs, to, how, as_records=as_records)
        self._to, self._how = self._through.medium, self._through.first
        return JoinedOutputs()

    def _to_as_records(self, joined: JoinedOutputs) -> str | None:
        """The format that tables are joined in as records, by what was looked at; None where they
        pass as they are."""
        if self._through is None:  # by each alone some cells were JSON in one, and text in another
            return self._to if joined.is_uneven else None
        # In the text of a table what one lacks is an empty cell, as empty text is.
        lacks = joined.lacks_any and not self._through.gives_types
        return self._through.to if lacks else None

    def run(self) -> int:
        """Convert all there is; the exit code."""
        code = self._run()
        for line in self._summed.lines() if not (code and self._joined) else ():
            say(self._asked.manner, line)
        return code

    def _run(self) -> int:
        """Convert the entries, or the inputs: into one file, or each into its own; the exit
        code."""
        mover = self._mover
        if self._joined is not None and not mover.dry_run:
            return self._run_joined(self._joined)
        if self._chosen:
            return mover.each(mover.inputs, self._convert_entry, make=False)
        mover.targets.plan(
            mover.inputs,
            lambda path: self._name(path, self._to_of(path)),
            stored=self._asked.name,
        )
        mover.ahead(
            partial(file_converter, self._how, self._asked.shared_dict),
            lambda path: self._target_of(path, self._to_of(path)),
            to=self._to_of,
            from_files=_FROM_FILES,
            from_bytes=_FROM_BYTES,
            alone=None,
            cuts=lambda job: is_splittable(job.path, job.to, self._how),
        )
        return mover.each(mover.inputs, self._convert)

    def _run_joined(self, joined: JoinedOutputs) -> int:
        """Convert into one file: all tables are looked at before the first is written."""
        inputs = self._mover.inputs
        with ExitStack() as stack:
            formats = set() if self._chosen else {self._to_of(path) for path in inputs}
            for path in inputs if formats and formats <= TEXT_TABLES else ():
                try:
                    data = stack.enter_context(twice(data_of(path), sure=True, may=False))
                except (SerialpackError, OSError):  # which converting says
                    continue
                self._again[path] = data
                table = preview_table(data, self._to_of(path), {**self._how, "as_source": False})
                if table is not None:
                    joined.look_at(path, table)
            if (to := self._to_as_records(joined)) is not None:
                joined = self._joined = self._join_through(to, as_records=True)
                joined.check(self._to or "", "")
            if self._how["table"] is not None:
                from serialpack.cli.verbs.joining import format_of_input

                said = self._how["format"]
                self._databases = {p for p in inputs if format_of_input(p, said) in DATABASES}
            work = self._convert_entry if self._chosen else self._convert
            into = self._mover.targets.in_file
            if into is not None:
                for path in inputs:
                    check_output(into, force=self._how["force"], source=stat_of(path))
            if self._through is not None:
                return self._through.run(
                    self._mover, into or STDIO, work, told=self._told, write_to=self._write_to
                )
            return self._mover.each(inputs, work) if into is None else self._run_into(into, work)

    def _write_to(self, into: IO[bytes]) -> None:
        """Have what several become written to ``into``."""
        self._into = into

    def _run_into(self, path: str, work: Callable[[str], dict[str, Any]]) -> int:
        """Convert all into the file ``path``, which is there once all are in it."""
        how = self._how
        with suppress(_NotAll), ExitStack() as stack:
            into = stack.enter_context(
                opened_target(path, how["force"], None, verify=how["verify"])
            )
            self._write_to(cast("IO[bytes]", JoinedFile(into.write)))

            def finish() -> dict[str, Any]:
                stack.close()
                return {}

            code = into_one(self._mover, path, work, finish)
            if code:
                raise _NotAll
        return code

    def _to_of(self, path: str) -> str:
        if self._to is not None:
            return self._to
        from serialpack.cli.options.implied_format import format_kept

        if path not in self._kept:
            self._kept[path] = format_kept(path, self._asked.input.format)
        return self._kept[path]

    def _name(self, path: str, to: str) -> str:
        return converted_name(path, to, stored=self._asked.name)

    def _target_of(self, path: str, to: str) -> str:
        return self._mover.targets.of(path, lambda path: self._name(path, to))

    def _convert(self, path: str) -> dict[str, Any]:
        """Convert one input, or each table of a database that goes into a folder; the line for
        ``--json``, which is empty where each table has written its own."""
        to = self._to_of(path)
        target = self._target_of(path, to)
        how: ConvertOptions = {**self._how, "elsewhere": self._mover.elsewhere(path)}
        data = self._again.get(path) or data_of(path)
        apart = self._mover.targets.folder_of_parts(path) is not None
        if not self._asked.outputs.keep:
            _check_alone(path)
        try:
            if (apart or self._mover.dry_run) and os.path.isfile(path):
                check_tables(path, to, how, apart=apart)
            return self._moved(path, path, target, to, lambda: nullcontext(data), how)
        except SeveralTablesError as several:
            # What reads databases takes 6 MB, which nobody else needs.
            from serialpack.cli.verbs.tables_apart import move_tables, tables_apart

            targets = tables_apart(several, self._asked, self._mover, path, to)
            above = several.above
        done = move_tables(self._asked, self._mover, path, targets, to, how, above)
        for table, report in done.items():
            self._mover.tally.not_kept.add(targets[table], report.not_kept)
            self._mover.line({**_line(path, targets[table], report), "table": table})
        return {}

    def _convert_entry(self, path: str) -> dict[str, Any]:
        """Convert the one entry that is meant of the archive ``path``."""
        from serialpack.archive.entry import one_entry, restored
        from serialpack.cli.options.implied_format import format_kept

        how, trust = self._how, self._asked.trust
        threads, most = how["threads"] or usable_cores(), how["max_size"]
        words = entry_words(self._asked)
        with (
            api.opened_source(data_of(path)) as source,
            one_entry(source, **self._chosen, words=words) as entry,
        ):
            format = how["format"] or entry.format
            to = self._to or format_kept(path, format)
            name = entry.row.path
            target = self._mover.targets.of_entry(
                path,
                name
                if self._to is None
                else converted_name(name, to, stored=False).replace(os.sep, "/"),
                folder_name,
                make=not self._mover.dry_run,
            )
            line = self._moved(
                path,
                entry.shown,
                target,
                to,
                lambda: restored(entry, trust=trust, threads=threads, max_size=most),
                {**how, "format": None if format == "bytes" else format},
            )
        return {**line, "entry": name} if line else {}

    def _moved(
        self,
        path: str,
        shown: str,
        target: str,
        to: str,
        opened: Callable[[], AbstractContextManager[str | IO[bytes] | Rereadable]],
        how: ConvertOptions,
    ) -> dict[str, Any]:
        """Convert what ``opened`` gives of the input ``path``, which is called ``shown``; the line
        for ``--json``."""
        force = self._asked.outputs.force or self._mover.makes_again(path)
        # One after another they have one kind of line ends, and no mark in their middle.
        how = {**how, "force": force, "as_source": self._joined is None}
        if self._joined is not None:
            how["below"] = self._joined.below(path)
            if self._databases and path not in self._databases:
                how["table"] = None
            if (mark := self._joined.delimiter) is not None:
                how["shaping"] = how["shaping"]._replace(delimiter=mark)

        def one(to_file: Any, bar: Progress | None) -> ConvertReport:
            with opened() as source:
                if self._joined is None:
                    return convert(source, to_file, to=to, progress=bar, **how)
                self._joined.check(to, shown)
                part = self._joined.part(self._into or to_file)
                done = convert(source, cast("IO[bytes]", part), to=to, progress=bar, **how)
            part.finish(done, is_table=bool(FORMATS.declaration(to).delimiter))
            return done if self._through is None else self._through.part(done)

        report = self._mover.move(
            [self._mover.input(path)],
            target,
            one,
            check=lambda: api.check(path, self._mover.targets.to_check(target), force=force),
            plan=[f"would convert {shown} to {target}"],
            closing=lambda done: [
                (
                    f"{shown} -> {target}, {format_size(done.size)}"
                    if self._through is None
                    else f"{shown}: {number_of(done.records or 0, 'record')}"
                )
                + f", {kept_words(done)}{other_delimiter(shown, done.format)}"
            ],
        )
        return {} if report is None else self._told(path, shown, target, report)

    def _told(self, path: str, shown: str, target: str, report: ConvertReport) -> dict[str, Any]:
        """Say what there is to say of ``report``; the line for ``--json``."""
        self._tell(shown, target, report)
        return _line(path, target, report) if self._mover.keeps_lines else {}

    def _tell(self, shown: str, target: str, report: ConvertReport) -> None:
        """Say what was carried and lost on the way to ``target``; of many files in sum, later."""
        manner = self._asked.manner
        if not self._mover.tells(verbose_only=target == STDIO) and len(self._mover.inputs) > 1:
            self._summed.add(shown, report)
            return
        words = closing_words(report.carried, report.back, report.to)
        if words and target == STDIO and not manner.verbose:  # there is no closing line
            say(manner, f"  {words}")
        for line in told_of(report, verbose=manner.verbose):
            say(manner, line)


def _check_alone(path: str) -> None:
    """UsageError where ``--rm`` would remove one of the two files of a volume, and no file reads
    the other."""
    if (other := other_of(path, uncompressed_name(os.path.basename(path)))) is not None:
        raise UsageError(
            f"--rm removes one file, and a volume may be in two: {other}", hint="use -k"
        )


def _line(path: str, target: str | None, report: ConvertReport) -> dict[str, Any]:
    """The line for ``--json``."""
    return {
        "source": path,
        "target": target,
        "format": report.format,
        "to": report.to,
        "read": report.read,
        "size": report.size,
        "records": report.records,
        "carried": [loss._asdict() for loss in report.carried],
        "back": list(report.back),
        "losses": [loss._asdict() for loss in report.losses],
        "left_out": report.left_out,
        "places": [place._asdict() for place in report.places],
        "missing": report.missing,
        "types": report.types,
        "text": list(report.text),
        "comes_back": report.comes_back,
        "exact": report.exact,
        "proved": report.proved,
        "seconds": rounded(report.seconds),
    }
