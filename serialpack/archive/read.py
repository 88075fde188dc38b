"""An archive becomes files, folders and links again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

from serialpack.api import check_threads, opened_source, unpack_report
from serialpack.archive.detect import is_archive
from serialpack.archive.extract import Each, Placer, Wanted, entry_of
from serialpack.checked import checked
from serialpack.container.block import ENTRIES, Block, StoredBlock
from serialpack.container.entries import Covered
from serialpack.container.frames import FrameSource
from serialpack.container.header import Header
from serialpack.container.reader import (
    SNIFF,
    Member,
    is_container,
    members_of,
    read_members,
)
from serialpack.container.rows import decode_rows
from serialpack.container.seek import (
    StoredMember,
    find_members,
    read_block,
    rows_in,
)
from serialpack.detection.detect import looks_like
from serialpack.errors import (
    DamagedError,
    LostEntries,
    NotContainerError,
    SerialpackError,
    UsageError,
)
from serialpack.files.globs import chosen_by
from serialpack.files.source import File, Path, Source
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.expected_size import expect_restored
from serialpack.pipeline.shared import SharedUnpacker, entries_of
from serialpack.pipeline.unpack import LimitedWrite, Unpacked, member_plan, unpack_member
from serialpack.pipeline.workers import few_stored, in_order, usable_cores
from serialpack.reports import ArchiveReport, UnpackReport

if TYPE_CHECKING:
    from serialpack.pipeline.line import Progress


@checked
def unpack_archive(
    source: Path | File,
    folder: Path,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    trust: bool = False,
    threads: int | None = None,
    max_size: int | None = None,
    force: bool = False,
    skip_existing: bool = False,
    salvage: bool = False,
    progress: Progress | None = None,
    each: Each | None = None,
    listed: bool = True,
) -> ArchiveReport[UnpackReport]:
    """Unpack the entries of the archive at ``source`` below ``folder``, which is made; where the
    globs choose, only for what they choose.

    Each file appears whole or not at all, with its mode and modification time, and never outside
    of ``folder``; one that is there is overwritten only with ``force``, and with ``skip_existing``
    left where it holds the same bytes. Links are made that lead to what is in ``folder``. An entry
    that fails does not stop the rest: ``each(entry, report or error)`` is called for every one, and
    in the end ArchiveError raised. ``include``, ``exclude``: globs (``serialpack.files.globs``)
    over paths of entries; where the source can be sought, only blocks of those that are taken are
    read. ``max_size`` (bytes) is that of all together, ``trust`` as in ``unpack``. ``salvage``:
    what is left of a damaged archive, as in ``unpack``. An entry of which some is left is written,
    and its report says what is lost. ``listed``: whether the report has those of all entries, not
    only their sums.

    Raises ArchiveError, UsageError where no entry fits the globs, and what ``unpack`` raises for a
    file that is no sound archive.
    """
    check_threads(threads)
    wanted = chosen_by(include, exclude)
    how: Any = {"wanted": wanted, "max_size": max_size, "force": force, "each": each}
    how |= {"skip_existing": skip_existing, "listed": listed}
    with opened_source(source) as opened:
        if salvage:
            return _unpack_left(opened, folder, how, trust, threads, progress)
        if not is_archive(opened):
            if not is_container(head := opened.peek(SNIFF)):
                raise NotContainerError(looks_like(head))
            raise UsageError("is no archive", hint=_AS_FILE)
        with Placer(opened, folder, **how) as placer:
            unpacker = ArchiveUnpacker(placer, trust, threads or usable_cores(), progress)
            try:
                if wanted is not None and opened.seekable():
                    reached = unpacker.some(opened)
                else:
                    expect_restored(opened)
                    reached = unpacker.all(opened)
            except SerialpackError as error:
                placer.finish()  # what was whole before stays
                error.report = placer.done()
                raise
            placer.finish()
        return placer.result(hint=None if reached else _BEHIND)


def _unpack_left(
    source: Source,
    folder: Path,
    how: dict[str, Any],
    trust: bool,
    threads: int | None,
    progress: Progress | None,
) -> ArchiveReport[UnpackReport]:
    """As ``unpack_archive``, of one that is damaged; ``how``: as of ``Placer``."""
    from serialpack.archive.salvage import unpack_left
    from serialpack.pipeline.seekable import sought

    with sought(source) as found:
        if not is_archive(found, salvage=True):
            raise UsageError("is no archive, as far as it is left", hint=_AS_FILE)
        with Placer(found, folder, **how) as placer:
            return unpack_left(placer, trust, threads or usable_cores(), progress)


_AS_FILE = "unpack it as a file"
_BEHIND = "what is behind can be had from a file, not from a pipe"


class ArchiveUnpacker:
    """Unpacks members one after another."""

    def __init__(
        self,
        placer: Placer,
        trust: bool,
        threads: int,
        progress: Progress | None,
    ) -> None:
        self._placer = placer
        self._trust = trust
        self._threads = threads
        self._progress = progress
        self._written = 0
        #: How many blocks of the member at hand were written, told of, or not wanted.
        self._done = 0

    def all(self, source: Source) -> bool:
        """All members, from the front; whether all could be reached.

        Behind one that is damaged so that the next cannot be found from it, what is whole is
        looked for, where the file can be had once more.
        """
        members = read_members(source.read, damaged=True)
        place = number = 0  # before which all is done
        while True:
            try:
                member = next(members, None)
            except (DamagedError, NotContainerError) as damage:
                what = LostEntries(f"behind member {number - 1}" if number else "member 0")
                return self._behind(source, place, what, damage, raises=True)
            if member is None:
                return True
            entry = _called(member)
            self._done = 0
            try:
                if member.damage is not None:
                    raise member.damage
                if member.header.shared:
                    self._shared(member)
                elif self._placer.takes(entry):
                    self._alone(member, entry)
            except SerialpackError as error:
                if member.index is None and member.begun:
                    place = member.start + (0 if member.header.shared else 1)
                    return self._behind(source, place, entry, error, done=self._done)
                self._placer.fail(entry, error)
            if member.index is None:  # an untouched one
                try:
                    for _ in member.blocks(skip=True):
                        pass
                except DamagedError as error:
                    return self._behind(source, member.start + 1, entry, error, raises=True)
            # Of a damaged one the length may be what is wrong.
            place = member.start + (1 if member.damage is not None else member.length)
            number = member.number + 1

    def _behind(
        self,
        source: Source,
        place: int,
        what: str,
        error: SerialpackError,
        *,
        done: int = 0,
        raises: bool = False,
    ) -> bool:
        """Write what is whole from byte ``place`` on, where reading ``what`` in order failed by
        ``error``; whether the file could be looked through for it. ``done``: as in
        ``unpack_behind``. Where that finds nothing, ``raises`` raises ``error``.

        A thread may still be reading ahead in the file: so it is opened once more.
        """
        placer = self._placer
        again, found, before = source.again(), False, len(placer.failures)
        if again is not None:
            from serialpack.archive.salvage import unpack_behind

            with again:
                found = unpack_behind(placer, again.file, place, done, self._trust, self._threads)
        if raises and not found:
            raise error
        if len(placer.failures) == before:
            placer.fail(what, error)
        return again is not None

    def some(self, source: Source) -> bool:
        """Those members, and blocks, in which there are entries that are wanted."""
        lost: list[DamagedError] = []
        place = source.file.tell()
        try:
            members = find_members(source.file, lost)
        except DamagedError:  # the end is lost, which says where they are: they are had in order
            source.file.seek(place)
            return self.all(source)
        for damage in lost:
            self._placer.fail(LostEntries("a member, and the entries in it"), damage)
        for member in members:
            if not member.header.shared:
                if self._placer.takes(entry := member.header.entry or ""):
                    source.file.seek(member.start)
                    again = next(members_of(FrameSource(source.file.read, member.start)))
                    try:
                        self._alone(again, entry)
                    except SerialpackError as error:
                        self._placer.fail(entry, error)
                continue
            wanted = _wanted_blocks(source.file, member, self._placer.takes)
            covered = [row.covered for row in member.index.rows]
            self._blocks(member.header, wanted, None, covered)
        return True

    def _alone(self, member: Member, entry: str) -> None:
        def restore(out: LimitedWrite) -> Unpacked:
            return unpack_member(
                member,
                out,
                trust=self._trust,
                threads=self._threads,
                progress=self._progress,
            )

        header = member.header
        path, done = self._placer.write(entry_of(header), restore, mtime=header.mtime)
        report = unpack_report(done, self._placer.source.path, path)
        self._placer.report(entry, path, report)

    def _shared(self, member: Member) -> None:
        """A member whose blocks entries share."""
        digest = WholeDigest() if self._placer.wanted is None else None
        blocks = (
            stored
            for stored in member.blocks(damaged=True)
            if digest is not None or any(self._placer.takes(e.path) for e in entries_of(stored))
        )
        whole = self._blocks(member.header, blocks, digest)
        assert member.index is not None
        if whole and digest is not None and not member.index.is_of(digest.digest()):
            raise DamagedError(f"member {member.number}: the digest of the whole does not match")

    def _blocks(
        self,
        header: Header,
        blocks: Iterator[StoredBlock],
        digest: WholeDigest | None,
        covered: Sequence[Covered | None] = (),
    ) -> bool:
        """Write the entries of ``blocks`` that are wanted; whether all were whole. ``covered``:
        what the index says of each block of the member."""
        plan, placer = member_plan(header, trust=self._trust), self._placer
        whole = True
        for stored, found in in_order(
            blocks,
            lambda: SharedUnpacker(plan),
            self._threads,
            inline=few_stored,
            size=lambda stored: stored.block.size,
        ):
            whole = whole and found.damage is None
            if digest is not None and found.damage is None:
                digest.add(found.serialized, found.source, exact=True)
            if found.damage is not None and covered:
                found = found._replace(covered=covered[stored.block.seq])
            placer.shared(found, plan.format)
            self._done = stored.block.seq + 1
            self._written += len(found.data)
            if self._progress is not None:
                self._progress(stored.end, self._written)
        return whole


def _wanted_blocks(file: IO[bytes], member: StoredMember, wanted: Wanted) -> Iterator[StoredBlock]:
    """The blocks of ``member`` in which there are entries that are ``wanted``; and those of which
    that cannot be told, with their damage."""
    for number, (start, end) in enumerate(pairwise(member.offsets)):
        says: dict[str, Any] = {}
        try:
            rows = rows_in(file, member, number, start)
            if not any(wanted(entry.path) for entry in decode_rows(rows, start)):
                continue
            says = {ENTRIES: rows}
            yield read_block(file, member, number, start, end)
        except DamagedError as damage:
            lost = Block(number, 0, None, member.index.rows[number].size, 0, None, (), says)
            yield StoredBlock(lost, start, end, (), damage)


def _called(member: Member) -> str:
    """What messages call a member: by the path of its entry, where that is known."""
    header, number = member.header, member.number
    if member.damage is None:
        return header.entry or LostEntries(f"member {number}")
    # Its checksum is of all that it says: any of that may be what is damaged.
    if header.entry is not None:
        return f"entry {number}, perhaps {header.entry}"
    covered: Covered | None = None
    with suppress(DamagedError):
        if member.short is not None:
            covered = Covered.of(entries_of(member.short.block))
    entries = f"perhaps {covered}" if covered else "its entries"
    return LostEntries(f"member {number}, and {entries}")
