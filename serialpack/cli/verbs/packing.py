"""What ``pack`` does with each input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from serialpack import api
from serialpack.auto.choice import choose
from serialpack.cli.files.archiving import archive_name, entries_of
from serialpack.cli.files.begin import mover_of
from serialpack.cli.files.inputs import Takes, check_no_archive
from serialpack.cli.files.removal import Input
from serialpack.cli.files.standard_streams import data_of
from serialpack.cli.files.workers import file_packer
from serialpack.cli.naming import STDIO, SUFFIX, packed_name, stat_of
from serialpack.cli.options.requests import PackRequest
from serialpack.cli.reporting.say import error_line, named, rounded, say
from serialpack.cli.words import complain, other_delimiter, ratio
from serialpack.detection.detect import AsFound
from serialpack.errors import (
    ArchiveError,
    ExistingFileError,
    SerialpackError,
    UsageError,
)
from serialpack.files.disk import bring_to_disk, without_dead
from serialpack.formats import FORMATS
from serialpack.pipeline.workers import usable_cores
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.text import command_line, number_of
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.archive.write import PackOptions
    from serialpack.cli.verbs.dictionary import SharedDictionary
    from serialpack.pipeline.line import Progress
    from serialpack.reports import ArchiveReport, PackReport


class Packer:
    """One call of ``pack``. UsageError, before anything is read, for what cannot be asked for."""

    def __init__(self, asked: PackRequest) -> None:
        self._manner = asked.manner
        self._format = asked.input.format
        outputs = asked.outputs
        self._force, self._keep, self._skip = outputs.force, outputs.keep, outputs.skip_existing
        #: Whether anyone asks for the files of an archive: a plan, --rm, or a profile, which is not
        #: written over one of them.
        self._asks_for_files = outputs.dry_run or not outputs.keep or outputs.profile is not None
        if not asked.archive:
            if asked.owner:
                raise UsageError("--owner goes with --archive")
            check_no_archive(asked.files)
        self._owner = asked.owner
        self._recursive = asked.sources.recursive
        output = None if asked.archive else outputs.output
        takes = _inputs_of(asked)
        self._mover = mover_of(output, asked, "packed", takes=takes, each=not asked.archive)
        self._inputs = self._mover.inputs
        self._archive = archive_name(self._inputs, outputs.output) if asked.archive else None
        effort = asked.effort or DEFAULT_EFFORT
        self._choice = choose(asked.serializer, asked.filters, asked.codec, effort=effort)
        if asked.input.format is not None:
            FORMATS.source(asked.input.format)
        if asked.no_verify and not outputs.keep:
            raise UsageError("--rm removes only what was proved: it goes without --no-verify")
        if asked.exact and asked.no_verify:
            raise UsageError("--exact and --no-verify exclude each other")
        self._how = how = _options_of(asked, effort)
        self._table = AsFound(how["delimiter"], how["encoding"], how["no_header"])
        self._dictionary: SharedDictionary | None = None
        if asked.shared_dict is not None:
            if asked.archive:
                raise UsageError("--archive and --shared-dict exclude each other")
            from serialpack.cli.verbs.dictionary import SharedDictionary
            from serialpack.dictionaries import check_codec

            check_codec(self._choice.chain)
            self._dictionary = SharedDictionary(asked.shared_dict, self._manner)

    def run(self) -> int:
        """Pack all there is; the exit code."""
        if self._archive is not None:
            return self._mover.each([self._archive], self._pack_archive, self._inputs)
        mover = self._mover
        mover.targets.plan(self._inputs, packed_name)
        dictionary = self._dictionary
        if dictionary is not None and dictionary.prepare(mover, self._inputs, self._how["effort"]):
            self._how["shared_dict"] = dictionary.path
            mover.reported = dictionary.count
        mover.ahead(
            partial(file_packer, self._how, self._force),
            lambda path: mover.targets.of(path, packed_name),
            cuts=lambda _: True,
            packed=True,
        )
        code = mover.each(self._inputs, self._pack)
        for line in dictionary.lines() if dictionary is not None else ():
            say(self._manner, line)
        return code

    def _pack(self, path: str) -> dict[str, Any]:
        """Pack one input; the line for ``--json``."""
        target = self._mover.targets.of(path, packed_name)
        report = self._mover.move(
            [self._mover.input(path)],
            target,
            lambda to, bar: api.pack(
                data_of(path),
                to,
                force=self._force or self._mover.makes_again(path),
                progress=bar,
                elsewhere=self._mover.elsewhere(path),
                **self._how,
            ),
            check=lambda: self._check([path], self._mover.targets.to_check(target)),
            plan=(f"would pack {p} to {target} as {self._chain_for(p)}" for p in [path]),
            closing=lambda done: [_closing(path, done)],
            binary=True,
        )
        if report is None:
            return {}
        if self._manner.verbose:
            say(self._manner, f"  {report.format}: {report.why}")
        if self._mover.targets.is_file and (
            words := _misnamed(path, target, str(report.chain), self._format)
        ):
            say(self._manner, f"  {words}")
        return _line(path, target, report) if self._mover.keeps_lines else {}

    def _pack_archive(self, target: str) -> dict[str, Any]:
        """Pack all inputs into the archive ``target``. ArchiveError where some are not in it."""
        from serialpack.archive.names import check_together

        entries, refused = entries_of(self._inputs, self._manner, recursive=self._recursive)
        for path, error in refused:
            if not entries:
                raise error
            self._tell(path, path, error)
        if (self._skip or not (self._keep or self._force)) and self._left(target, entries):
            if refused:
                raise ArchiveError(refused, len(entries) + len(refused), done="packed", path=target)
            return {}
        if self._mover.dry_run:
            check_together(entries)
        else:
            for line in without_dead([os.path.dirname(target)]):
                say(self._manner, line)
        # To look at each takes as long as to pack it.
        asked = self._asks_for_files or len(entries) == 1
        files = [path for path in entries.values() if asked and _is_file(path)]
        given = [self._mover.input(path) for path in files]
        removed: list[Input] = []

        def work(to: Any, bar: Progress | None) -> ArchiveReport[PackReport]:
            report = self._write_archive(entries, to, bar)
            # What --rm removes, each by itself: of what was not packed nothing.
            packed = {each.source for each in report.entries}
            removed.extend(each for each in given if each.path in packed)
            given.clear()
            return report

        report = self._mover.move(
            given,
            target,
            work,
            check=lambda: self._check(files, target),
            plan=self._plan_of(target, entries),
            closing=lambda done: [_closing(e.source, e) for e in done.entries if _has_bytes(e)],
            binary=True,
            files=lambda done: sum(map(_has_bytes, done.entries)),
        )
        if report is not None:
            # Not before the archive has its name: whatever ends it, nothing said is untrue.
            for each in report.entries if self._mover.keeps_lines else ():
                self._mover.line(_line(each.source, target, each))
            self._say_not_kept(target, entries)
            self._end_archive(target, report, refused, removed)
        return {}

    def _write_archive(
        self, entries: dict[str, str], to: Any, bar: Progress | None
    ) -> ArchiveReport[PackReport]:
        """Write ``entries`` to ``to``, and tell of those that fail."""
        from serialpack.archive.write import pack_archive

        def told(entry: str, found: PackReport | SerialpackError) -> None:
            if isinstance(found, SerialpackError):
                self._tell(entries[entry], entry, found)

        return pack_archive(
            entries,
            to,
            force=self._force,
            owner=self._owner,
            progress=bar,
            each=told,
            **self._how,
        )

    def _end_archive(
        self,
        target: str,
        report: ArchiveReport[PackReport],
        refused: Sequence[tuple[str, SerialpackError]],
        removed: Sequence[Input],
    ) -> None:
        """Remove what ``--rm`` is to remove. ArchiveError for what could not be removed, and for
        what is not in the archive; of that, ``refused`` could not be looked at."""
        failures = [*refused, *report.failures]
        count = len(report.entries) + len(failures)
        kept = [] if self._keep else self._remove(removed)
        if failures or kept:
            done = "packed and removed" if kept else "packed"
            others = sum(not each.blocks for each in report.entries)
            raise ArchiveError([*failures, *kept], count, done=done, others=others, path=target)

    def _say_not_kept(self, target: str, entries: dict[str, str]) -> None:
        """Say what the archive ``target`` does not keep of what becomes ``entries``."""
        from serialpack.archive.not_kept import not_kept

        for line in [] if self._manner.quiet else not_kept(entries):
            say(self._manner, f"{target}: {line}")

    def _remove(self, inputs: Sequence[Input]) -> list[tuple[str, SerialpackError]]:
        """Remove sources that are in an archive, of which was said what it does not keep; those
        that could not be, and why."""
        kept: list[tuple[str, SerialpackError]] = []
        for path, error in self._mover.removal.of(inputs, attributes_told=True):
            self._tell(path, path, error)
            kept.append((path, error))
        return kept

    def _left(self, target: str, entries: dict[str, str]) -> bool:
        """Whether the archive ``target`` holds ``entries`` already, and is left, which is said."""
        from serialpack.cli.files.rerun import is_packed

        how = {"keep": self._keep, "force": self._force, "owner": self._owner}
        if not is_packed(entries, target, **how):
            return False
        files = {entry: path for entry, path in entries.items() if _is_file(path)}
        removes, planned = bool(files) and not self._keep, self._mover.dry_run
        has = "all its sources as they are"
        removed: list[Input] = []
        if removes and not planned:
            removed = self._proved(target, files)
            has = f"the very bytes of {number_of(len(files), 'source')}, now removed"
        for path in files.values():
            self._mover.line({"source": path, "target": target, "left": True})
        if kept := self._remove(removed):
            raise ArchiveError(kept, len(removed), done="removed", path=target)
        say(self._manner, f"{target}: has {has}, {'would be ' * planned}left as it is")
        for path in files.values() if removes and planned else ():
            say(self._manner, f"would remove {path}")
        return True

    def _proved(self, target: str, files: dict[str, str]) -> list[Input]:
        """What an earlier run has packed and not removed, which is to be; ExistingFileError where
        the archive does not hold the very bytes."""
        from serialpack.archive.compare import fault_of_bytes

        before = [Input(path, stat_of(path)) for path in files.values()]
        threads = self._how["threads"] or usable_cores()
        bring_to_disk(target)
        if wrong := fault_of_bytes(target, files, trust=self._how["trust"], threads=threads):
            raise ExistingFileError(
                f"exists already, and {wrong}", path=target, hint="-o names another"
            )
        self._say_not_kept(target, files)
        return before

    def _tell(self, path: str, entry: str, error: SerialpackError) -> None:
        """Say what kept ``path`` from becoming ``entry``, or from being removed."""
        if not self._mover.counted(error):
            complain(error.said, named(path))
        self._mover.line({"source": path, "entry": entry, **error_line(error)})

    def _check(self, inputs: Sequence[str], target: str | None) -> None:
        for path in inputs:
            force = self._force or self._mover.makes_again(path)
            api.check(path, None if target == STDIO else target, force=force)

    def _plan_of(self, target: str, entries: dict[str, str]) -> Iterator[str]:
        """What a dry run says of the archive ``target``."""
        from serialpack.archive.preview import planned

        serializer, given = self._choice.chain.serializer.name, self._how["block_size"]
        size = given or self._choice.block_size
        sized = given is not None
        said = planned(entries, serializer, self._format, self._table, size, sized=sized)
        for entry, path in entries.items():
            kept = said[entry] or self._chain_for(path)
            yield f"would pack {path} into {target} as {entry}, {kept}"

    def _chain_for(self, path: str) -> str:
        """What a dry run says; it leaves standard input to whoever comes after it."""
        choice, table = self._choice, self._table
        if path != STDIO:
            choice = api.chosen(path, choice, format=self._format, table=table)
        return str(choice.chain) if choice.settled else "auto"


def _inputs_of(asked: PackRequest) -> Takes:
    """Which files are packed: all into an archive; else those that are not packed already."""
    if asked.archive:
        return Takes(whole=True)
    # Of a batch that is run again, -f is about outputs: those of before would be packed anew.
    packed_too = asked.outputs.force and not asked.outputs.skip_existing
    return Takes(
        lambda name: packed_too or not name.endswith(SUFFIX),
        (f"{SUFFIX} file", f"{SUFFIX} files"),
        keeps_whole="--archive keeps them",
    )


def _options_of(asked: PackRequest, effort: int) -> PackOptions:
    """What the options say of how to pack."""
    return {
        "serializer": asked.serializer,
        "filters": asked.filters,
        "codec": asked.codec,
        "effort": effort,
        **asked.input.options(),  # type: ignore[typeddict-item]  # it has no shared_dict
        "block_size": asked.block_size,
        "exact": asked.exact,
        "verify": not asked.no_verify,
        "trust": asked.trust,
        "threads": asked.outputs.threads,
        "meta": dict(asked.meta),
    }


def _has_bytes(report: PackReport) -> bool:
    """Whether it is of a file, not of a folder or a link."""
    return report.blocks > 0


def _is_file(path: str) -> bool:
    """Whether it is what ``--rm`` removes, or is not there: no folder and no link."""
    return os.path.isfile(path) and not os.path.islink(path)


def _closing(path: str, report: PackReport) -> str:
    """The line that says what was done."""
    return (
        f"{path}: {format_size(report.size)} -> {format_size(report.packed)}"
        f" ({ratio(report.packed, report.size)}), {report.chain}, {report.kept}"
        f"{other_delimiter(path, report.format)}"
    )


def _misnamed(path: str, target: str, chain: str, said: str | None) -> str | None:
    """What is to be said of a container that is called as a file of another kind is; None where it
    is not, or is one of these, too. ``said``: the format of ``path``, where the user named it."""
    if target.endswith((SUFFIX, ".dat", ".bin")):  # the most of all, and names of any bytes
        return None
    from serialpack.compressed.source import compression_named
    from serialpack.conversion.targets.writers import is_written, named_format

    to, compression = named_format(target), compression_named(target)
    is_zstd = compression == "zstd" and chain.startswith("raw+zstd")
    if is_zstd or (compression is None and to in (None, "bytes")):
        return None
    converts = path != STDIO and compression is None and to is not None and is_written(to)
    words = ["-f", *(["-F", said] if said else []), "-o", target, *["--"] * (path[0] == "-"), path]
    way = f"; {command_line(['serialpack', 'unpack', *words])} converts"
    return f"{target} is a container{way if converts else ', whatever its name says'}"


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
        "dictionary": report.dictionary,
        "proved": report.proved,
        "seconds": rounded(report.seconds),
    }
