"""Gives back what is left in a damaged container.

Every block that is given back has passed all of its checksums. Records are given back whole or not
at all, and what is left of an array, of lines or of a table is written as one again (``rejoin``).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from serialpack.container.block import CONTINUED, StoredBlock
from serialpack.container.header import Header
from serialpack.container.reader import SNIFF, is_container, is_small
from serialpack.container.remains import FoundMember, Slot
from serialpack.container.salvage import find_remains, first_body, read_found
from serialpack.container.small import MAX_SMALL, several_small
from serialpack.detection.detect import looks_like
from serialpack.errors import Damage, DamagedError, NotContainerError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Style
from serialpack.pipeline.blocks import Restored
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.line import Progress
from serialpack.pipeline.lost import lost_ranges
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.rejoin import Headed, Plain, Rejoined
from serialpack.pipeline.salvage_workers import SalvageWorker, without_chain
from serialpack.pipeline.seekable import sought, whole_small
from serialpack.pipeline.small import expand
from serialpack.pipeline.timing import add_seconds, timed
from serialpack.pipeline.unpack import LimitedWrite, Unpacked, member_plan, of_members
from serialpack.pipeline.workers import few_stored, in_order
from serialpack.pipeline.writing import keeps
from serialpack.reports import LostRange
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import chain_of_numbers
from serialpack.stages.stage import Write

_DAMAGED = "damaged"
_RECORD = "a part of a record that is lost"
_OBJECT = "a part of an object that is lost"


class Salvaged(NamedTuple):
    """What was written, what is damaged in the container, and what is lost of its sources."""

    done: Unpacked
    damage: tuple[Damage, ...]
    lost: tuple[LostRange, ...]


def salvage_source(
    source: Source,
    write: Write,
    *,
    alone: bool = True,
    trust: bool = False,
    threads: int = 1,
    max_size: int | None = None,
    progress: Progress | None = None,
) -> Salvaged:
    """Write what is left of the members of ``source``, one after another.

    ``alone``: refuse an archive. DamagedError where nothing is left; NotContainerError where it is
    no container at all. The rest as in ``unpack.unpack_stream``.
    """
    head = source.peek(SNIFF)
    several = several_small(source.peek(MAX_SMALL + 1)) if is_small(head) else None
    if whole_small(source):
        source = Source(io.BytesIO(expand(source.read(MAX_SMALL))), source.path)
    with sought(source) as found:
        remains = find_remains(found.file)
        headers = filter(None, map(header_of, remains.members))
        if alone and any(header.in_archive for header in headers):
            raise UsageError("an archive unpacks into a folder", hint="unpack -o FOLDER")
        out = LimitedWrite(write, max_size)
        how = {"trust": trust, "threads": threads, "progress": progress}
        done = [
            salvage_member(found.file, member, number, out, **how)  # type: ignore[arg-type]
            for number, member in enumerate(remains.members)
        ]
    if not any(each.done.blocks_read or not each.lost for each in done):
        if is_container(head) or remains.members:
            raise several or nothing_left()
        raise NotContainerError(looks_like(head))
    return Salvaged(
        of_members([each.done for each in done], out.written),
        (*remains.damage, *(found for each in done for found in each.damage)),
        tuple(found for each in done for found in each.lost),
    )


def nothing_left() -> DamagedError:
    """The error for a file of which nothing can be salvaged."""
    return DamagedError("no block of it is whole, so there is nothing to salvage")


def salvage_member(
    file: IO[bytes],
    member: FoundMember,
    number: int,
    out: LimitedWrite,
    *,
    trust: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
) -> Salvaged:
    """Write what is left of one member to ``out``. ``number``: its number in the file."""
    header = header_of(member)
    plan = None if header is None else member_plan(header, trust=trust)
    work = _Work(file, member, plan, out, threads, progress)
    work.drop_pieces(header)
    written, blocks = out.written, len(work.slots)
    count = work.write()
    if work.head_lost:
        work.why[0] += ", with the line of names"
    lost = tuple(lost_ranges(number, member, work.slots, work.why))
    damage = [
        Damage(number, slot.seq, slot.start or 0, slot.end or 0, work.why[slot.seq])
        for slot in work.slots
        if slot.seq in work.failed
    ]
    if not work.digest_matches and member.index is not None:
        place = member.index.start, member.index.end
        damage.append(Damage(number, None, *place, "the digest of the whole does not match"))
    whole = not lost and member.index is not None and member.index.index is not None
    done = Unpacked(
        headers=() if header is None else (header,),
        format="bytes" if plan is None else plan.format,
        read=sum(slot.found.end - slot.found.start for slot in work.slots if slot.found),
        written=out.written - written,
        blocks=blocks,
        blocks_read=count,
        records=work.records,
        exact=whole and work.exact and work.digest_matches,
        seconds=work.seconds,
    )
    return Salvaged(done, tuple(damage), lost)


def header_of(member: FoundMember) -> Header | None:
    """The header of a member, also where only the copy in its index is whole; None without any."""
    return None if member.body is None else _header(member.body, member.first)


def first_left(source: Source) -> Header | None:
    """The first whole header, or copy of one, in ``source``, which must be seekable; None without
    any."""
    place = source.file.tell()
    try:
        body = first_body(source.file)
    finally:
        source.file.seek(place)
    return None if body is None else _header(body, 0)


def _header(body: bytes, start: int) -> Header:
    header = Header.decode(body, start, zstd_envelope=True)
    chain = chain_of_numbers(header.chain, header.writer)
    return header._replace(zstd_envelope=chain.zstd_envelope)


class _Work:
    """The work on one member: finds out which blocks are given back, restores them and writes them.

    Call ``drop_pieces``, then ``write``. Results are ``why``, ``failed``, ``records``, ``exact``,
    ...
    """

    def __init__(
        self,
        file: IO[bytes],
        member: FoundMember,
        plan: Plan | None,
        out: LimitedWrite,
        threads: int,
        progress: Progress | None,
    ) -> None:
        self._file = file
        self._member = member
        self._plan = plan
        self._out = out
        self._threads = threads
        self._progress = progress
        self.slots = member.slots()
        self._format = FORMATS.get("bytes" if plan is None else plan.format)
        self._style: Style = {} if plan is None else plan.style
        #: The number of each block that is not given back -> the reason. Those in ``failed`` looked
        #: whole, but could not be restored.
        self.why = {slot.seq: _DAMAGED for slot in self.slots if not slot.whole}
        self.failed: set[int] = set()
        self.seconds: dict[str, float] = {}
        self.exact = True
        self.records: int | None = None
        self.digest_matches = True

    @property
    def left(self) -> list[Slot]:
        """The slots of the blocks that are given back, as far as is known yet."""
        return [slot for slot in self.slots if slot.seq not in self.why]

    def drop_pieces(self, header: Header | None) -> None:
        """Decide not to give back whole blocks that are pieces of a record, or of an object, that
        is not whole."""
        if self._format.serialized:
            self._verify(self.slots)
            if self.why or not self._member.last_known:
                self._drop(self.slots, _OBJECT)
            return
        for group in self._groups():
            if len(group) > 1:
                self._verify(group)
            if any(slot.seq in self.why for slot in group) or self._may_go_on(group, header):
                self._drop(group, _RECORD)
        if self._headed and (self.why or not self._member.last_known):
            self._verify(self.left)

    def _groups(self) -> Iterator[list[Slot]]:
        """The blocks in groups: those that are pieces of one record together, each other one
        alone."""
        group: list[Slot] = []
        for slot in self.slots:
            if group and not (slot.flags or 0) & CONTINUED:
                yield group
                group = []
            group.append(slot)
        if group:
            yield group

    def _may_go_on(self, group: list[Slot], header: Header | None) -> bool:
        """Whether the last record of ``group`` may go on in a lost block of which nothing is
        known."""
        last = group[-1]
        behind = self.slots[last.seq + 1 : last.seq + 2]
        unknown = behind[0].flags is None if behind else not self._member.last_known
        # The pieces of a long record have the block size, all but the last one.
        piece = len(group) > 1 or last.records == 1
        if header is None or not (unknown and piece and last.size == header.block_size):
            return False
        ends = []
        for slot, restored in self._restored([last]):
            text, first, within = restored.source_data, slot.seq == 0, len(group) > 1
            ends.append(self._format.ends_record(text, self._style, first=first, within=within))
        return not all(ends)

    def _drop(self, slots: Iterable[Slot], why: str) -> None:
        for slot in slots:
            self.why.setdefault(slot.seq, why)

    def _verify(self, slots: Iterable[Slot]) -> None:
        """Restore the blocks once to see which of them can be, before anything is written of what
        they are a part of."""
        for _ in self._restored(slots):
            pass

    def _restored(self, slots: Iterable[Slot]) -> Iterator[tuple[Slot, Restored]]:
        """Restore the blocks of ``slots``, and yield those that can be; ``why`` gets the reason for
        the others."""
        wanted = [slot for slot in slots if slot.seq not in self.why]
        places = {slot.seq: slot for slot in wanted}

        def jobs() -> Iterator[StoredBlock]:
            for slot in wanted:
                assert slot.found is not None
                self._out.check(slot.found.block.size)
                yield read_found(self._file, slot.found)

        make = without_chain if self._plan is None else SalvageWorker(self._plan).make
        for stored, restored in in_order(
            timed(jobs(), self.seconds, "read"),
            make,
            self._threads,
            inline=few_stored,
        ):
            slot = places[stored.block.seq]
            if isinstance(restored, DamagedError):
                self.why[slot.seq] = restored.message
                if self._plan is not None:
                    self.failed.add(slot.seq)
                continue
            add_seconds(self.seconds, restored.seconds)
            yield slot, restored

    @property
    def _headed(self) -> bool:
        """Whether the source is one array or map in a format that says its length first."""
        return self._format.head_of(self._style, 0) is not None

    @property
    def head_lost(self) -> bool:
        """Whether the names that all records need (those of a table's columns) are lost, since they
        stood in the first block."""
        if self._plan is None or not self._format.slice_needs_head or 0 not in self.why:
            return False
        serializer = SERIALIZERS.cls(self._plan.chain.serializer.name)
        return serializer.exact or keeps(serializer, self._format)

    def write(self) -> int:
        """Write the blocks that are left, and return how many."""
        left = self.left
        known = all(slot.records is not None for slot in self.slots if slot.flags is not None)
        bare = self._plan is None or not known or not self._format.has_values
        whole = not self.why and self._member.last_known
        writer: Plain
        if bare or (whole and self._headed):
            writer = Plain(self._out)
        elif self._headed:
            writer = Headed(self._out, self._format, self._style, left)
        else:
            assert self._plan is not None
            last = self.slots[-1].seq if self.slots and self._member.last_known else None
            writer = Rejoined(self._out, self._plan, self._format, last)
        digest = WholeDigest()
        count = 0
        records: list[int | None] = []
        for slot, restored in self._restored(left):
            assert slot.found is not None
            source, block = restored.source_data, slot.found.block
            data = block.part_checks if block.in_place else restored.data
            digest.add(data, None if source is restored.data else source, exact=block.exact)
            self.exact = self.exact and block.exact
            writer.add(slot, restored)
            records.append(slot.records)
            count += 1
            if self._progress is not None and slot.end is not None:
                self._progress(slot.end, self._out.written)
        writer.finish()
        self.records = None if bare and not whole else _sum_if_known(records)
        index = self._member.index
        if not self.why and index is not None and index.index is not None:
            self.digest_matches = index.index.is_of(digest.digest())
        return count


def _sum_if_known(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    return None if None in found else sum(count or 0 for count in found)
