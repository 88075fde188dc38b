"""What ``unpack`` does with each input: give back its bytes, test it, or have it converted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from serialpack import api
from serialpack.archive.detect import is_archive
from serialpack.cli.files.begin import mover_of
from serialpack.cli.files.inputs import Takes
from serialpack.cli.files.removal import Input
from serialpack.cli.files.standard_streams import data_of
from serialpack.cli.files.workers import file_unpacker, know
from serialpack.cli.naming import STDIO, SUFFIX, folder_name, unpacked_name
from serialpack.cli.options.chosen_entries import (
    NO_ARCHIVE,
    check_no_entries,
    chosen_entries,
    entry_words,
)
from serialpack.cli.options.requests import UnpackRequest
from serialpack.cli.reporting.salvage import every_damage, losses, tell_losses
from serialpack.cli.reporting.say import error_line, named, rounded, say
from serialpack.cli.reporting.tally import MANY, TESTED
from serialpack.cli.words import complain
from serialpack.errors import (
    DamagedError,
    FileError,
    NotContainerError,
    SerialpackError,
    UsageError,
)
from serialpack.files.paths import check_folder
from serialpack.reports import ArchiveReport, Sums, UnpackReport
from serialpack.text import number_of
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.cli.files.joined import JoinedOutputs
    from serialpack.pipeline.line import Progress


class Unpacker:
    """Gives back the bytes of containers, one after another."""

    def __init__(self, asked: UnpackRequest) -> None:
        self._asked, self._chosen = asked, chosen = chosen_entries(asked)
        if asked.test and chosen:
            raise UsageError("--test checks all entries: it goes without --include and --exclude")
        know(asked.shared_dict)
        output = None if asked.test else asked.outputs.output
        words = (f"file that is not {SUFFIX}", f"files that are not {SUFFIX}")
        takes = Takes(lambda name: name.endswith(SUFFIX), words)
        self._mover = mover_of(
            output, asked, TESTED if asked.test else "unpacked", takes=takes, joins=True
        )
        self._joined: JoinedOutputs | None = None
        #: Files of archives that were told of so far.
        self._told = 0
        #: How far the archive at hand is read, and how many of these bytes are counted.
        self._reached = self._counted = 0
        if self._mover.targets.is_joined:
            from serialpack.cli.files.joined import JoinedOutputs

            self._joined = JoinedOutputs()
        if not asked.outputs.keep and STDIO in self._mover.inputs:
            raise UsageError("--rm needs a file on both sides")

    def run(self) -> int:
        """Unpack or test all there is; the exit code."""
        mover, asked = self._mover, self._asked
        if not (asked.test or asked.sources.recursive or asked.sources.files_from or self._chosen):
            check_no_entries(mover.inputs)
        if not asked.test:
            mover.targets.plan(mover.inputs, self._name, stored=asked.name)
        if not (asked.salvage or asked.records or asked.byte_range or self._chosen):
            how = self._how()
            del how["salvage"]
            mover.ahead(
                partial(file_unpacker, how, asked.shared_dict),
                lambda path: None if asked.test else mover.targets.of(path, self._name),
                cuts=lambda _: True,
            )
        return mover.each(mover.inputs, self._unpack, hint=not asked.salvage, make=not self._chosen)

    def _unpack(self, path: str) -> dict[str, Any]:
        """Unpack or test one input; the line for ``--json``."""
        try:
            batch = self._mover.batch
            if batch is not None and path in batch and not batch.passes(path):
                return self._unpack_container(self._mover.input(path), None, None)
            return self._unpack_input(self._mover.input(path))
        except (NotContainerError, FileError) as error:
            from serialpack.cli.options.implied_format import not_unpacked

            output = self._asked.outputs.output if len(self._mover.inputs) == 1 else None
            raise not_unpacked(path, error, output, whole=self._asked.whole) from None

    def _unpack_input(self, given: Input) -> dict[str, Any]:
        """Unpack, salvage or test one input, an archive or not; the line for ``--json``."""
        path, asked = given.path, self._asked
        compression = None
        if self._mover.targets.is_file and not (asked.test or self._mover.dry_run):
            from serialpack.cli.options.implied_format import compression_meant

            compression = compression_meant(asked.outputs.output, path)
        if asked.test or (self._mover.dry_run and path == STDIO):
            return self._unpack_container(given, data_of(path), compression)
        with api.opened_source(data_of(path)) as source:
            if not asked.salvage:
                return (
                    self._unpack_entries(given, source)
                    if is_archive(source)
                    else self._unpack_container(given, source, compression)
                )
            from serialpack.pipeline.seekable import sought

            with sought(source) as left:
                if is_archive(left, salvage=True):
                    return self._unpack_entries(given, left)
                return self._unpack_container(given, left, compression)

    def _unpack_container(
        self, given: Input, source: Any, compression: str | None
    ) -> dict[str, Any]:
        """Unpack or test a container that is no archive; the line for ``--json``. ``compression``:
        that of the output, where its name says one."""
        path, asked = given.path, self._asked
        if self._chosen:
            raise UsageError(NO_ARCHIVE)
        target = None if asked.test else self._mover.targets.of(path, self._name)
        what = f"{path}: all is well" if asked.test else f"{path} -> {target}"
        verb = "salvage" if asked.salvage else "unpack"
        to_check = self._mover.targets.to_check
        joined = self._joined
        if joined is not None:
            from serialpack.cli.options.implied_format import packed_format

            joined.check(packed_format(source), path, packed=True)
        packed = f", {compression}" if compression else ""
        how = self._how()
        how["force"] = how["force"] or self._mover.makes_again(path)
        try:
            report = self._mover.move(
                [given],
                target,
                lambda to_file, bar: api.unpack(
                    source,
                    to_file if joined is None else cast("IO[bytes]", joined.part(to_file)),
                    record_range=asked.records,
                    byte_range=asked.byte_range,
                    progress=bar,
                    compression=compression,
                    elsewhere=self._mover.elsewhere(path),
                    **how,
                ),
                check=lambda: self._check(path, target and to_check(target), force=how["force"]),
                plan=[f"would {verb} {path} to {target}"],
                closing=lambda done: [f"{what}, {_size(done)}, {done.kept}{packed}"],
                counts_written=True,
            )
        except DamagedError as error:
            if not asked.test:
                raise
            threads = asked.outputs.threads
            raise every_damage(path, error, trust=asked.trust, threads=threads) from None
        if report is None:
            return {}
        tell_losses(report, named(path))
        if self._mover.keeps_lines or report.damage or report.lost:  # which has an exit code
            return _line(path, target, report)
        return {}

    def _check(self, path: str, target: str | None, *, force: bool) -> None:
        """Raise what a plan can tell of unpacking the file ``path``."""
        from serialpack.cli.files.dry_run import check_packed

        api.check(path, target, force=force)
        check_packed(path, salvage=self._asked.salvage)

    def _check_entries(self, path: str, folder: str) -> None:
        """Raise what a plan can tell of unpacking the entries of the archive ``path`` below
        ``folder``."""
        from serialpack.cli.files.dry_run import check_entries

        outputs = self._asked.outputs
        if self._asked.salvage:
            check_folder(folder)
            return
        replaces = outputs.force or outputs.skip_existing
        check_entries(path, folder, replaces=replaces, chosen=self._chosen)

    def _how(self) -> dict[str, Any]:
        """What is told to whoever unpacks."""
        asked = self._asked
        return {
            "threads": asked.outputs.threads,
            "max_size": asked.max_size,
            "trust": asked.trust,
            "force": asked.outputs.force,
            "salvage": asked.salvage,
        }

    def _name(self, path: str) -> str:
        return unpacked_name(path, stored=self._asked.name, salvage=self._asked.salvage)

    def _unpack_entries(self, given: Input, source: Any) -> dict[str, Any]:
        """Unpack the entries of the archive ``source``, or the part of one that is asked for."""
        path, asked = given.path, self._asked
        to_stdout = (asked.outputs.output or path) == STDIO
        if asked.records or asked.byte_range or (self._chosen and to_stdout):
            return self._unpack_part(given, source)
        folder = self._mover.targets.folder_of(path, folder_name)
        inputs, failed = [given], list[SerialpackError]()

        def work(below: Any, bar: Progress | None) -> ArchiveReport[UnpackReport]:
            try:
                return self._unpack_archive(path, source, below, bar)
            except SerialpackError as error:
                if error.report is None:
                    raise
                failed.append(error)
                inputs.clear()  # --rm removes only what was unpacked as a whole
                report: ArchiveReport[UnpackReport] = error.report
                return report

        report = self._mover.move(
            inputs,
            folder,
            work,
            check=lambda: self._check_entries(path, folder),
            plan=[f"would unpack the entries of {path} below {folder}"],
            closing=lambda done: self._closing_of_archive(path, folder, done, whole=not failed),
            counts_written=True,
            grouped=False,
            files=None,
        )
        self._count(0, 0)
        for place in report.damage if report is not None else ():
            if place.member is None:
                complain(str(place), named(path))
        if failed:
            raise failed[0]
        if report is not None and report.damage:
            damaged = DamagedError("the archive is damaged; what is left of it was written")
            damaged.damage = report.damage
            raise damaged
        return {}

    def _unpack_archive(
        self, path: str, source: Any, below: Any, bar: Progress | None
    ) -> ArchiveReport[UnpackReport]:
        """Unpack the chosen entries of ``source`` into the folder ``below``, and tell of each."""
        from serialpack.archive.read import unpack_archive

        self._reached = self._counted = 0

        def reached(read: int, written: int) -> None:
            self._reached = read
            if bar is not None:
                bar(read, written)

        return unpack_archive(
            source,
            below,
            progress=reached,
            skip_existing=self._asked.outputs.skip_existing,
            each=lambda entry, found: self._tell(path, entry, found),
            listed=False,
            **self._how(),
            **self._chosen,
        )

    def _unpack_part(self, given: Input, source: Any) -> dict[str, Any]:
        """The one entry that is meant, or the range of it that is asked for."""
        from serialpack.archive.entry import one_entry, unpack_part

        path, asked, mover = given.path, self._asked, self._mover
        force = asked.outputs.force or mover.makes_again(path)
        with one_entry(source, **self._chosen, words=entry_words(asked)) as entry:
            target = mover.targets.of_entry(
                path,
                entry.row.path,
                folder_name,
                make=not mover.dry_run,
            )
            joined = self._joined
            if joined is not None:
                joined.check(entry.format, path, packed=True)
            report = mover.move(
                [given],
                target,
                lambda to_file, _: unpack_part(
                    entry,
                    to_file if joined is None else cast("IO[bytes]", joined.part(to_file)),
                    record_range=asked.records,
                    byte_range=asked.byte_range,
                    trust=asked.trust,
                    max_size=asked.max_size,
                    force=force,
                ),
                check=lambda: api.check(path, mover.targets.to_check(target), force=force),
                plan=[f"would unpack {entry.shown} to {target}"],
                closing=lambda done: [f"{entry.shown} -> {target}, {_size(done)}, {done.kept}"],
            )
        return {} if report is None else _line(path, target, report)

    def _closing_of_archive(
        self, path: str, folder: str, done: ArchiveReport[UnpackReport], *, whole: bool
    ) -> Iterator[str]:
        """What is said of all entries of the archive ``path``; ``whole``: none of them failed."""
        sums = done.sums or Sums()
        if sums.count > MANY or (whole and not sums.files):
            entries = number_of(sums.count, "entry", "entries")
            yield f"{path} -> {folder}: {entries}, {format_size(sums.size)}"
        if sums.left:
            files = number_of(sums.left, "file was", "files were")
            yield f"{path}: {files} there already, and left: the bytes are the same"
        yield from (f"{path}: {note}" for note in done.notes)

    def _count(self, written: int, files: int) -> None:
        """Add to the tally what was written of an archive, and what was read of it since the last
        call.

        Bytes read are not counted by entry, since entries share blocks.
        """
        read, self._counted = self._reached - self._counted, self._reached
        self._mover.tally.add({"read": read, "write": written}, files)

    def _tell(self, path: str, entry: str, found: UnpackReport | SerialpackError) -> None:
        """Say what became of an entry of the archive ``path``."""
        manner = self._asked.manner
        if isinstance(found, SerialpackError):
            if not self._mover.counted(found):
                complain(found.said, found.path or f"{named(path)}: {entry}")
            self._mover.line({"source": path, "entry": entry, **error_line(found)})
            return
        if self._asked.outputs.profile is not None:
            self._mover.taken.add(os.path.realpath(found.target or ""))
        if found.left:
            self._mover.line({"source": path, "entry": entry, "target": found.target, "left": True})
            return
        self._count(found.size, int(found.blocks > 0))
        self._told += found.blocks > 0
        if found.blocks and (manner.verbose or self._told <= MANY):
            more = " (-v names all)" if self._told == MANY and not manner.verbose else ""
            size = format_size(found.size)
            say(manner, f"{path} -> {found.target}, {size}, {found.kept}{more}")
        tell_losses(found, f"{named(path)}: {entry}")
        self._mover.line(_line(path, found.target, found))


def _size(report: UnpackReport) -> str:
    """How much was unpacked; of an archive also how many entries."""
    size = format_size(report.size)
    if report.entries is None:
        return size
    return f"{number_of(report.entries, 'entry', 'entries')}, {size}"


def _line(path: str, target: str | None, report: UnpackReport) -> dict[str, Any]:
    """The line for ``--json``."""
    entry = {} if report.entry is None else {"entry": report.entry}
    return {
        "source": path,
        "target": target,
        **entry,
        "format": report.format,
        "read": report.read,
        "size": report.size,
        "blocks": report.blocks,
        "blocks_read": report.blocks_read,
        "records": report.records,
        "exact": report.exact,
        **losses(report),
        "seconds": rounded(report.seconds),
    }
