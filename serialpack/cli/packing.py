"""What ``pack`` does with each input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from serialpack import api
from serialpack.auto import choose
from serialpack.cli.inputs import Takes
from serialpack.cli.mover import mover_of
from serialpack.cli.naming import STDIO, SUFFIX, packed_name
from serialpack.cli.requests import Manner, PackRequest, schema_options
from serialpack.cli.run import check_name, data_of, rounded, say
from serialpack.cli.words import other_delimiter, ratio
from serialpack.detect import AsFound
from serialpack.errors import FileError, UsageError
from serialpack.formats import FORMATS
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.archive import PackOptions
    from serialpack.cli.batch import FileJob
    from serialpack.pipeline.line import Progress
    from serialpack.reports import PackReport


def file_packer(how: PackOptions, force: bool) -> Callable[[FileJob, Progress], PackReport]:
    """What packs one file after another, in the one thread that it is called in."""
    alone: PackOptions = {**how, "threads": 1}

    def work(job: FileJob, progress: Progress) -> PackReport:
        assert job.target is not None
        return api.pack(job.path, job.target, force=force or job.again, progress=progress, **alone)

    return work


class Packer:
    """One call of ``pack``. UsageError, before anything is read, for what cannot be asked for."""

    def __init__(self, asked: PackRequest) -> None:
        self._manner = asked.manner
        self._format = asked.format
        outputs = asked.outputs
        self._force = outputs.force
        output = None if asked.archive else outputs.output
        takes = Takes(lambda name: self._force or not name.endswith(SUFFIX), f"{SUFFIX} files")
        self._mover = mover_of(output, asked, "packed", takes=takes, each=not asked.archive)
        self._inputs = self._mover.inputs
        self._archive = _archive_name(self._inputs, outputs.output) if asked.archive else None
        effort = asked.effort or DEFAULT_EFFORT
        self._choice = choose(asked.serializer, asked.filters, asked.codec, effort=effort)
        if asked.format is not None:
            FORMATS.source(asked.format)
        if asked.no_verify and not outputs.keep:
            raise UsageError("--rm removes only what was proved: it goes without --no-verify")
        if asked.exact and asked.no_verify:
            raise UsageError("--exact and --no-verify exclude each other")
        self._how: PackOptions = {
            "serializer": asked.serializer,
            "filters": asked.filters,
            "codec": asked.codec,
            "effort": effort,
            "format": asked.format,
            "delimiter": asked.delimiter,
            "encoding": asked.encoding,
            "no_header": asked.no_header,
            "block_size": asked.block_size,
            "exact": asked.exact,
            "verify": not asked.no_verify,
            "trust": asked.trust,
            "options": schema_options(asked.schema, asked.message),
            "threads": outputs.threads,
            "meta": dict(asked.meta),
        }

    def run(self) -> int:
        """Pack all there is; the exit code."""
        if self._archive is not None:
            return self._mover.each([self._archive], self._pack_archive, self._inputs)
        mover = self._mover
        mover.targets.plan(self._inputs, packed_name)
        mover.ahead(
            partial(file_packer, self._how, self._force),
            lambda path: mover.targets.of(path, packed_name),
        )
        return mover.each(self._inputs, self._pack)

    def _pack(self, path: str) -> dict[str, Any]:
        target = self._mover.targets.of(path, packed_name)
        report = self._mover.move(
            [self._mover.input(path)],
            target,
            lambda to, bar: api.pack(
                data_of(path), to, force=self._force, progress=bar, **self._how
            ),
            check=lambda: self._check([path], target),
            plan=(f"would pack {p} to {target} as {self._chain_for(p)}" for p in [path]),
            closing=lambda done: [_closing(path, done)],
            binary=True,
        )
        if report is None:
            return {}
        if self._manner.verbose:
            say(self._manner, f"  {report.format}: {report.why}")
        return _line(path, target, report) if self._mover.keeps_lines else {}

    def _pack_archive(self, target: str) -> dict[str, Any]:
        from serialpack.archive import pack_archive

        inputs, entries = self._inputs, _entries(self._inputs, self._manner)
        report = self._mover.move(
            [self._mover.input(path) for path in inputs],
            target,
            lambda to, bar: pack_archive(entries, to, force=self._force, progress=bar, **self._how),
            check=lambda: self._check(inputs, target),
            plan=(
                f"would pack {p} into {target} as {e}, {self._chain_for(p)}"
                for e, p in entries.items()
            ),
            closing=lambda done: map(_closing, inputs, done.entries),
            binary=True,
        )
        for path, entry in zip(inputs, report.entries if report else (), strict=False):
            self._mover.line(_line(path, target, entry))
        return {}

    def _check(self, inputs: Sequence[str], target: str) -> None:
        for path in inputs:
            api.check(path, None if target == STDIO else target, force=self._force)

    def _chain_for(self, path: str) -> str:
        """What a dry run says; it leaves standard input to whoever comes after it."""
        choice = self._choice
        how = self._how
        table = AsFound(how["delimiter"], how["encoding"], how["no_header"])
        if path != STDIO:
            choice = api.chosen(path, choice, format=self._format, table=table)
        found = choice
        return str(found.chain) if found.settled else "auto"


def _archive_name(inputs: Sequence[str], output: str | None) -> str:
    """The name of the archive; UsageError where ``inputs`` cannot become one."""
    if output is None:
        raise UsageError("--archive needs a name for the container", hint="-o FILE.spk")
    if STDIO in inputs:
        raise UsageError("--archive takes files: standard input has no name to store")
    return output


def _entries(inputs: Sequence[str], manner: Manner) -> dict[str, str]:
    """The path in the archive -> the input. What is left out of a path is said."""
    from serialpack.paths import entry_path

    entries: dict[str, str] = {}
    said: set[str] = set()
    for path in inputs:
        check_name(path)
        entry, removed = entry_path(path)
        if entry in entries:
            raise FileError(
                f"another input has the same path in the archive, {entry}",
                path=path,
                hint="name each input once, from a folder that all are in",
            )
        if removed and removed not in said:
            said.add(removed)
            say(manner, f"{removed} is left out of paths in the archive")
        entries[entry] = path
    return entries


def _closing(path: str, report: PackReport) -> str:
    """The line that says what was done."""
    return (
        f"{path}: {format_size(report.size)} -> {format_size(report.packed)}"
        f" ({ratio(report.packed, report.size)}), {report.chain}, {report.kept}"
        f"{other_delimiter(path, report.format)}"
    )


def _line(path: str, target: str, report: PackReport) -> dict[str, Any]:
    """The line for ``--json``."""
    entry = {} if report.entry is None else {"entry": report.entry}
    return {
        "source": path,
        "target": target,
        **entry,
        "chain": report.chain,
        "format": report.format,
        "size": report.size,
        "packed": report.packed,
        "container": report.packed - report.payload,
        "blocks": report.blocks,
        "stored_blocks": report.stored_blocks,
        "records": report.records,
        "exact": report.exact,
        "dropped": [loss._asdict() for loss in report.dropped],
        "proved": report.proved,
        "seconds": rounded(report.seconds),
    }
