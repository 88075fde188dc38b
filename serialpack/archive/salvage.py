"""Unpacks the files that are left in a damaged archive."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from serialpack.api import unpack_report
from serialpack.archive.extract import Placer, entry_of
from serialpack.container.entries import EntryRow
from serialpack.container.remains import FoundMember, Slot
from serialpack.container.rows import decode_rows
from serialpack.container.salvage import find_remains, read_found
from serialpack.errors import Damage, DamagedError, LostEntries, SerialpackError, TruncatedError
from serialpack.pipeline.salvage import Salvaged, header_of, nothing_left, salvage_member
from serialpack.pipeline.shared import SharedBlock, SharedUnpacker
from serialpack.pipeline.unpack import LimitedWrite, member_plan
from serialpack.reports import ArchiveReport, UnpackReport

if TYPE_CHECKING:
    from serialpack.container.header import Header
    from serialpack.pipeline.line import Progress


def unpack_left(
    placer: Placer, trust: bool, threads: int, progress: Progress | None
) -> ArchiveReport[UnpackReport]:
    """As ``unpack_archive`` with ``salvage``, of a seekable source."""
    remains = find_remains(placer.source.file)
    left = _Left(placer, placer.source.file, trust, threads, progress)
    for number, member in enumerate(remains.members):
        here = tuple(place for place in remains.damage if place.member == number)
        left.member(number, member, here)
    placer.finish()
    return placer.result(damage=tuple(remains.damage))


def unpack_behind(
    placer: Placer, file: IO[bytes], place: int, done: int, trust: bool, threads: int
) -> bool:
    """Write the whole entries in the members from byte ``place`` of the archive on, and report the
    others as failed; whether any member is there.

    ``done``: how many blocks of the member at ``place`` were written already. ``file``: seekable.
    """
    behind = [
        (number, member)
        for number, member in enumerate(find_remains(file).members)
        if member.first >= place
    ]
    if all(member.body is None for _, member in behind):
        return False
    left = _Left(placer, file, trust, threads, None, whole=True)
    header: Header | None = None
    for number, member in behind:
        header = left.member(number, member, (), done if member.first == place else 0)
    if header is not None and header.archive and header.before is None:
        lost = TruncatedError("it is damaged or missing", hint="get the file again")
        placer.fail(LostEntries("the last member, and the folders and links in it"), lost)
    return True


class _Left:
    """Unpacks what is left, by members. ``whole``: entries that lost a part are not written."""

    def __init__(
        self,
        placer: Placer,
        file: IO[bytes],
        trust: bool,
        threads: int,
        progress: Progress | None,
        *,
        whole: bool = False,
    ) -> None:
        self._placer = placer
        self._file = file
        self._only_whole = whole
        self._trust = trust
        self._threads = threads
        self._progress = progress

    def member(
        self, number: int, member: FoundMember, damage: tuple[Damage, ...], done: int = 0
    ) -> Header | None:
        """Write what is left of ``member``, the archive's ``number``-th, and return its header, if
        that is known. ``done``: how many of its shared blocks were written already."""
        entry: str = LostEntries(f"member {number}, and its entries")
        header: Header | None = None
        try:
            header = header_of(member)
            if header is not None and header.shared:
                self._shared(member, header, done)
            elif header is None or header.entry is None:
                raise DamagedError("what says their paths is lost, header and index")
            elif self._placer.takes(entry := header.entry):
                self._alone(number, member, header, damage)
        except SerialpackError as error:
            self._placer.fail(entry, error)
        return header

    def _alone(
        self, number: int, member: FoundMember, header: Header, damage: tuple[Damage, ...]
    ) -> None:
        placer = self._placer

        def restore(out: LimitedWrite) -> Salvaged:
            salvaged = salvage_member(
                self._file,
                member,
                number,
                out,
                trust=self._trust,
                threads=self._threads,
                progress=self._progress,
            )
            if salvaged.lost and not salvaged.done.blocks_read:
                raise nothing_left()
            if self._only_whole and (salvaged.lost or salvaged.damage):
                raise DamagedError("is damaged", hint="--salvage writes what is left of it")
            return salvaged

        path, salvaged = placer.write(entry_of(header), restore, mtime=header.mtime)
        report = unpack_report(salvaged.done, placer.source.path, path)
        report = report._replace(damage=damage + salvaged.damage, lost=salvaged.lost)
        placer.report(header.entry or "", path, report)

    def _shared(self, member: FoundMember, header: Header, done: int) -> None:
        """Write the entries of whole blocks behind those ``done``; report those of the others."""
        plan = member_plan(header, trust=self._trust)
        unpack, index = SharedUnpacker(plan), member.index and member.index.index
        for slot in member.slots()[done:]:
            if slot.found is not None and slot.whole:
                found = unpack(read_found(self._file, slot.found))
            else:
                row = index.rows[slot.seq] if index else None
                damage = DamagedError("damaged", block=slot.seq, start=slot.start, end=slot.end)
                entries = _entries(slot, row and row.entries)
                found = SharedBlock.lost(entries, damage, row and row.covered)
            self._placer.shared(found, plan.format)
            if self._progress is not None and slot.end is not None:
                self._progress(slot.end, 0)


def _entries(slot: Slot, listed: bytes | None) -> list[EntryRow]:
    """The entries of a damaged block, as its header or else the index lists them."""
    rows = listed if slot.found is None else slot.found.block.entries
    try:
        return [] if rows is None else decode_rows(rows)
    except DamagedError:
        return []
