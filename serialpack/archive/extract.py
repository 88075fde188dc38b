"""Writes entries below one folder, each whole or not at all, and never elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from serialpack.archive.links import ELSEWHERE, make_link
from serialpack.archive.not_kept import not_given
from serialpack.container.entries import EntryRow, entry_spans, share_of
from serialpack.container.header import Header
from serialpack.errors import (
    ArchiveError,
    Damage,
    ExistingFileError,
    FileError,
    RefusedError,
    SerialpackError,
    UsageError,
)
from serialpack.files.disk import folded, without_dead
from serialpack.files.globs import include
from serialpack.files.not_kept import NotKeptSum, given, may_change, not_kept
from serialpack.files.output import Output, OutputGroup, give_owner, most_files
from serialpack.files.paths import check_folder, make_folder, make_folder_of_one, place_below
from serialpack.files.pending import other_exists
from serialpack.files.source import Path, Source, file_error
from serialpack.files.targets import check_output
from serialpack.hidden import is_hidden
from serialpack.pipeline.shared import SharedBlock
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.reports import ArchiveReport, NotKept, Sums, UnpackReport
from serialpack.stages.stage import Buffer
from serialpack.text import named_here, printable

Done = TypeVar("Done")

#: Called with each entry and what became of it.
Each = Callable[[str, UnpackReport | SerialpackError], object]
#: Whether the entry of a path is to be unpacked.
Wanted = Callable[[str], bool]

#: The most bytes that wait to be brought to disk together.
_MOST_BYTES = 16 << 20


def entry_of(header: Header, size: int = 0) -> EntryRow:
    """The entry of a member of one entry. Mode 0: it is not known."""
    mode, *owner = header.access or (0,)
    owners = (owner[0], owner[1]) if owner else None
    return EntryRow(header.entry or "", mode, header.mtime or 0, size, owner=owners)


def none_fits() -> UsageError:
    """The error where globs choose no entry of an archive."""
    return UsageError("no entry fits the globs", hint="serialpack inspect lists them")


class Placer:
    """Writes entries below ``folder``, and keeps what became of each: ``with Placer(...)``.

    Files are brought to disk together, many at a time; ``each`` is called once they are there.
    ``wanted`` says which are to be written: None is all. ``listed``: whether all reports are kept,
    which may be a million. ``finish`` is to be called at the end:
    folders get their modes and times then; those that were there before only with ``force`` or
    ``skip_existing``, which leaves what an earlier run has written, also one that was killed.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        *,
        wanted: Wanted | None,
        max_size: int | None,
        force: bool,
        skip_existing: bool,
        each: Each | None,
        listed: bool = True,
    ) -> None:
        self.source = source
        self.wanted = wanted
        self.reports: list[UnpackReport] = []
        self._listed, self._sums = listed, Sums()
        self.failures: list[tuple[str, SerialpackError]] = []
        #: How many entries did not get the owner that the archive says.
        self.unowned = 0
        #: What entries do not keep of their modes and times; and folders that were there before,
        #: and are another's.
        self._not_kept = NotKeptSum("entry", "entries")
        self._of_others = NotKeptSum("folder", "folders", "only its owner can change")
        #: The same of the file that was written last.
        self._of_output: NotKept | None = None
        #: Messages about hidden files of killed runs that were removed.
        self._dead: list[str] = []
        self.folder = folder
        self._force = force
        #: Whether files that are there are compared; ``force`` overwrites them without a look.
        self._skip = skip_existing and not force
        self._each = each
        self._out = LimitedWrite(len, max_size)
        self._group = OutputGroup()
        self._group.only_same = self._skip  # also what another run writes meanwhile
        #: Entries that wait to be brought to disk, by their paths.
        self._waiting: dict[str, tuple[str, UnpackReport]] = {}
        #: Their paths, folded as where case and the form of accents do not count.
        self._called: set[str] = set()
        self._bytes = 0
        #: Paths of files that were there, and hold what they should.
        self._same: set[str] = set()
        #: The files and links written so far, and of which entries they are: two paths can be one,
        #: where case does not count.
        self._written: dict[tuple[int, int] | None, str] = {}
        #: Folders that get their modes and times, and which of those met were there before.
        self._folders: dict[str, EntryRow] = {}
        self._there: dict[str, bool] = {"": os.path.isdir(folder)}
        #: Why ``folder`` cannot be made, which ends all.
        self._no_folder: SerialpackError | None = None
        #: Whether ``folder`` was made: for globs that fit nothing it is not.
        self._made = wanted is None
        (make_folder if self._made else check_folder)(folder)

    def takes(self, path: str) -> bool:
        """Whether the entry of ``path`` is to be written."""
        return self.wanted is None or self.wanted(path)

    def shared(self, found: SharedBlock, format: str) -> None:
        """Write the wanted entries of a block; those of a damaged one are reported as failed."""
        view = memoryview(found.data)
        seconds = found.seconds
        for entry, begin, end in entry_spans(found.entries):
            if not self.takes(entry.path):
                continue
            read = share_of(found.read, begin, end, len(view))
            report = _report(self.source.path, entry, format, read)._replace(seconds=seconds)
            seconds = {}
            try:
                if found.damage is not None:
                    raise found.damage
                if fault := entry.fault:
                    raise RefusedError(f"the path of an entry {fault}")
                if not entry.is_file:
                    self.make(entry, report)
                    continue
                piece = view[begin:end]
                path, _ = self.write(entry, lambda out, piece=piece: out(piece), mtime=entry.mtime)  # type: ignore[misc]
            except SerialpackError as error:
                self.fail(entry.path, error)
                continue
            self.report(entry.path, path, report._replace(target=path))
        if found.damage is not None and not found.entries:
            self.fail(found.what, found.damage)

    def write(
        self, entry: EntryRow, restore: Callable[[LimitedWrite], Done], *, mtime: int | None
    ) -> tuple[str, Done]:
        """Write the file ``entry``, whose bytes ``restore`` writes to what it is given: its path,
        and the result of ``restore``. ``mtime``: None, and ``entry.mode``: 0, where not known."""
        path = self._place(entry.path)
        if folded(path) in self._called:
            self.commit()  # one that waits may be the same file, and gets its name only then
        self._check_only(path, entry.path)
        if is_hidden(os.path.basename(path)):
            raise RefusedError("is called as what killed runs leave, which is removed", path=path)
        if self._skip and os.path.isfile(path) and not os.path.islink(path):
            return path, self._left(path, restore)
        try:
            check_output(path, force=self._force, source=self.source.stat)
        except ExistingFileError:
            raise
        except FileError as error:  # its hint is for one who named that file
            error.hint = ELSEWHERE
            raise
        with Output(
            path, force=self._force, mtime=mtime, mode=entry.mode or None, owner=entry.owner
        ) as output:
            self._out.write = output.write
            done = restore(self._out)
        self.unowned += not output.owned
        self._of_output = output.not_kept
        self._bytes += output.size
        return path, done

    def _left(self, path: str, restore: Callable[[LimitedWrite], Done]) -> Done:
        """The result of ``restore`` where ``path`` holds just that; else ExistingFileError."""
        with Source(path) as found:
            there, same = found.file, True

            def compare(data: Buffer) -> int:
                nonlocal same
                same = same and there.read(len(data)) == data
                return len(data)

            self._out.write = compare
            done = restore(self._out)
            if not same or there.read(1):
                raise other_exists(path)
        self._same.add(path)
        return done

    def report(self, entry: str, path: str, report: UnpackReport) -> None:
        """Note that ``entry`` was written to ``path``, whole, and waits to be brought to disk."""
        left = path in self._same
        report = report._replace(left=left, not_kept=None if left else self._of_output)
        self._waiting[path] = entry, report
        self._called.add(folded(path))
        if len(self._waiting) >= most_files() or self._bytes >= _MOST_BYTES:
            self.commit()

    def fail(self, entry: str, error: SerialpackError) -> None:
        """Note that ``entry`` is not written; raise where nothing more can be written."""
        self.source.check_damage(error)
        if error is self._no_folder:
            raise error
        self.commit()
        self._fail(entry, error)

    def commit(self) -> None:
        """Bring the waiting entries to disk, and report them."""
        if not self._waiting:  # as between thousands of folders
            return
        failed = self._group.commit()
        waiting, self._waiting, self._bytes = self._waiting, {}, 0
        self._called.clear()
        for path, (entry, report) in waiting.items():
            if (error := failed.get(path)) is not None:
                self._fail(entry, error)
                continue
            self._written[_which(path)] = entry
            self._not_kept.add(path, report.not_kept)
            self._done(entry, report)

    def make(self, entry: EntryRow, report: UnpackReport) -> None:
        """Make the folder or the link ``entry``."""
        self.commit()
        try:
            path = self._place(entry.path)
            if entry.is_folder:
                if os.path.islink(path):
                    raise RefusedError("a symbolic link stands where a folder is to be", path=path)
                there = self._there.setdefault(named_here(entry.path), os.path.isdir(path))
                make_folder_of_one(path)
                if self._force or self._skip or not there:
                    self._folders[path] = entry
            else:
                self._check_only(path, entry.path)
                if make_link(path, entry, self.folder, force=self._force, skip=self._skip):
                    self._not_kept.add(path, not_kept(os.lstat(path), None, entry.mtime))
                self._written[_which(path)] = entry.path
                if entry.owner is not None:
                    self.unowned += not give_owner(path, entry.owner)
        except SerialpackError as error:
            self.fail(entry.path, error)
            return
        self._done(entry.path, report._replace(target=path))

    def _place(self, entry: str) -> str:
        """Where ``entry`` goes; the folders that it is in are made."""
        if not self._made:
            try:
                make_folder(self.folder)
            except SerialpackError as error:
                self._no_folder = error
                raise
            self._made = True
        above = os.path.dirname(entry := named_here(entry))
        while above and above not in self._there:
            if os.path.join(self.folder, *above.split("/")) in self._waiting:
                self.commit()  # a file that waits may be in the way, and gets its name only then
            self._there[above] = os.path.isdir(os.path.join(self.folder, above))
            above = os.path.dirname(above)
        return place_below(self.folder, entry)

    def finish(self) -> None:
        """Bring all to disk; give folders their modes and times, the inner ones first.

        What a killed run left hidden in them is removed, and folders that were made for files that
        failed, where no other is in them.
        """
        self.commit()
        made = (os.path.join(self.folder, each) for each, there in self._there.items() if not there)
        for path in sorted({*made} - self._folders.keys(), reverse=True):
            with suppress(OSError):
                os.rmdir(path)
        there = [each for each, was_there in self._there.items() if was_there]
        root = os.fspath(self.folder)
        self._dead = [*without_dead(os.path.join(root, each) if each else root for each in there)]
        for path, entry in sorted(self._folders.items(), reverse=True):
            try:
                if entry.owner is not None:
                    self.unowned += not give_owner(path, entry.owner)
                # What the folder above gives to all that is made in it stays.
                special = os.stat(path).st_mode & 0o7000
                given(os.chmod, path, entry.mode & 0o777 | special)
                given(os.utime, path, ns=(entry.mtime, entry.mtime))
                found = os.stat(path)
                others = self._there[named_here(entry.path)] and not may_change(found)
                of = self._of_others if others else self._not_kept
                of.add(path, not_kept(found, entry.mode, entry.mtime))
            except OSError as error:
                self._fail(entry.path, file_error(error, path, "give its mode and time to"))

    def result(
        self, *, hint: str | None = None, damage: tuple[Damage, ...] = ()
    ) -> ArchiveReport[UnpackReport]:
        """As ``done``; ArchiveError where some were not unpacked, UsageError where none fits."""
        if self.wanted is not None and not (self._sums.count or self.failures or damage):
            raise none_fits()
        if self.failures:
            count, others = self._sums.count, self._sums.count - self._sums.files
            count += len(self.failures)
            error = ArchiveError(self.failures, count, others=others, hint=hint)
            error.report = self.done(damage)
            raise error
        return self.done(damage)

    def done(self, damage: tuple[Damage, ...] = ()) -> ArchiveReport[UnpackReport]:
        """What became of the entries that were unpacked."""
        notes = [*self._dead, *not_given(self._sums.count, self.unowned)]
        notes += [*self._not_kept.lines, *self._of_others.lines]
        return ArchiveReport(tuple(self.reports), damage, notes=tuple(notes), sums=self._sums)

    def __enter__(self) -> Placer:
        self._group.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._group.__exit__()

    def _done(self, entry: str, report: UnpackReport) -> None:
        self._sums.add(report)
        if self._listed:
            self.reports.append(report)
        if self._each is not None:
            self._each(entry, report)

    def _fail(self, entry: str, error: SerialpackError) -> None:
        self.failures.append((entry, error))
        if self._each is not None:
            self._each(entry, error)

    def _check_only(self, path: str, entry: str) -> None:
        """FileError where a file or a link of this archive is at ``path`` already."""
        if (which := _which(path)) is None or (other := self._written.get(which)) is None:
            return
        where, hint = "", "of archives that were joined, unpack each, with an -o of its own"
        if other != entry:
            where, hint = f" here, {printable(other)}", f"{include(entry)} -o FOLDER takes it alone"
        raise FileError(f"another entry has the same path{where}", path=path, hint=hint)


def _which(path: str) -> tuple[int, int] | None:
    """Which file, or link, of the system is at ``path``, if any."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _report(source: str, entry: EntryRow, format: str, read: int) -> UnpackReport:
    return UnpackReport(
        source=source,
        target=None,
        format="folder" if entry.is_folder else "link" if entry.is_link else format,
        size=entry.size,
        blocks=int(entry.is_file),
        blocks_read=int(entry.is_file),
        records=None,
        exact=True,
        part=False,
        proved=True,
        read=read,
        seconds={},
        entry=entry.path,
    )
