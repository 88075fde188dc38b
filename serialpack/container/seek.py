"""Reads a container from its end, where the file can be sought: first the index of each member,
then single blocks."""

import io
import os
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import IO, NamedTuple

from serialpack.container.block import Block, StoredBlock
from serialpack.container.ends import read_seek_table, read_trailer, seek_table_length
from serialpack.container.frames import (
    BLOCK,
    FRAME_EXTRA,
    HEADER,
    INDEX,
    MAX_BODY,
    SHORT,
    TRAILER_OWN,
    FrameSource,
    checksum,
    write_frame,
)
from serialpack.container.header import Header
from serialpack.container.index import Index, IndexRow, index_frames
from serialpack.container.reader import (
    Member,
    Succession,
    check_place,
    members_of,
    read_part,
    read_parts,
)
from serialpack.container.short import read_short
from serialpack.errors import DamagedError, TruncatedError
from serialpack.stages.stage import Buffer


class StoredMember(NamedTuple):
    """A member in a seekable file. ``start``, ``first``: the places at which the member and its
    first block begin; ``length``: bytes of the member; ``id``: the checksum of its header."""

    start: int
    length: int
    id: int
    header: Header
    index: Index  # type: ignore[assignment]  # hides tuple.index, which nobody wants here
    first: int

    @classmethod
    def of(cls, member: Member) -> "StoredMember":
        """The same for ``member``, which was read to its end by ``reader``."""
        assert member.index is not None
        where = member.start, member.length, member.id, member.header
        return cls(*where, member.index, member.first)

    @property
    def offsets(self) -> list[int]:
        """The places in the file at which the blocks begin, and at which the last one ends."""
        return self.index.offsets(self.first)


def find_members(file: IO[bytes], lost: list[DamagedError] | None = None) -> list[StoredMember]:
    """The members of a seekable file. Blocks are not read, except those of short members.

    DamagedError, TruncatedError, NotContainerError. ``lost``: a list to which the damage of short
    members is appended, which are left out then; without it, their damage is raised, too.
    """
    try:
        found = _from_end(file)
    except DamagedError:  # there is damage, or a short member, which has no end to begin at
        members = []
        for member in _walk(file):
            if member.damage is None:
                members.append(StoredMember.of(member))
            elif lost is None:
                raise member.damage from None
            else:
                lost.append(member.damage)
        return members
    succession = Succession()
    for each in found:
        succession.add(each.header, each.start)
    succession.end(file.seek(0, os.SEEK_END))
    return found


def _walk(file: IO[bytes]) -> Iterator[Member]:
    """The members of a seekable file, read from its front to its end; payloads are skipped.

    DamagedError where one is not whole; a damaged short member comes with its ``damage`` instead.
    """
    for member in members_of(_Sought(file), damaged=True):
        for _ in member.blocks(skip=True) if member.damage is None else ():
            pass
        yield member


class _Sought(FrameSource):
    """A seekable file as a ``FrameSource`` that skips by seeking, not by reading."""

    def __init__(self, file: IO[bytes]) -> None:
        self._size = file.seek(0, os.SEEK_END)
        file.seek(0)
        self._file = file
        super().__init__(file.read)

    def skip(self, size: int, what: str) -> None:
        whole = self.offset + size <= self._size
        super().skip(0 if whole else size, what)
        if whole:
            self.offset = self._file.seek(size, os.SEEK_CUR)


def _from_end(file: IO[bytes]) -> list[StoredMember]:
    """The members of a seekable file, found one by one from its end, without reading a block."""
    end = file.seek(0, os.SEEK_END)
    members: list[StoredMember] = []
    while end > 0:
        members.append(_member_before(file, end))
        end = members[-1].start
    return members[::-1]


def _at(file: IO[bytes], start: int, size: int) -> bytes:
    """The ``size`` bytes at ``start``; TruncatedError where there are fewer."""
    file.seek(start)
    data = file.read(size)
    if len(data) < size:
        raise TruncatedError("truncated while it was read", start=start)
    return data


def _member_before(file: IO[bytes], end: int) -> StoredMember:
    """The member that ends at byte ``end``; TruncatedError where none does, DamagedError where its
    end, its index and its header contradict each other."""
    frames: list[tuple[int, int]] | None = None
    ending = TruncatedError(f"truncated: no index ends at byte {end}", hint="get the file again")
    tail_size = min(end, 1 << 16)
    tail = _at(file, end - tail_size, tail_size)
    if tail_size < TRAILER_OWN.size:
        raise ending
    if (lengths := read_trailer(tail)) is not None:
        index_length, member_length = lengths
        index_end, zstd = end - TRAILER_OWN.size, False
    elif (table_length := seek_table_length(tail)) is not None:
        if table_length > end:
            raise ending
        table = tail[-table_length:] if table_length <= tail_size else b""
        frames = read_seek_table(table or _at(file, end - table_length, table_length))
        if not frames:
            raise DamagedError("the seek table is malformed", start=end - table_length, end=end)
        index_end, zstd = end - table_length, True
        member_length = sum(stored for stored, _ in frames) + table_length
        index_length = _index_length(file, [stored for stored, _ in frames], index_end)
    else:
        raise ending
    start = end - member_length
    if start < 0 or not 0 < index_length < member_length:
        raise DamagedError("the end gives lengths that cannot be", start=end - 32, end=end)
    at = index_end - index_length
    bodies = list(_index_bodies(_at(file, at, index_length), at))
    index = Index.decode(bodies, at)
    header = Header.decode(index.header, start, zstd_envelope=zstd)
    begins = header.start + write_frame(HEADER, index.header)
    if _at(file, start, len(begins)) != begins:
        raise DamagedError("no such header stands where the end says", start=start, end=end)
    ident = checksum(HEADER + index.header)
    member = StoredMember(start, member_length, ident, header, index, start + len(begins))
    if member.offsets[-1] != at:
        raise DamagedError("the index and the place of the blocks disagree", start=start, end=end)
    before = [len(header.start), len(begins) - len(header.start)]
    behind = [FRAME_EXTRA + len(body) for body in bodies]
    if frames is not None and not _lists(frames, index.rows, before, behind):
        raise DamagedError("the seek table is not of the frames before it", start=start, end=end)
    return member


def _lists(
    frames: list[tuple[int, int]], rows: Sequence[IndexRow], before: list[int], behind: list[int]
) -> bool:
    """Whether ``frames``, from a seek table, are those of the blocks of which the index has
    ``rows``, with frames of so many bytes ``before`` and ``behind`` them. Of the parts of a block a
    row says no more than their sums."""
    at = len(before)
    if frames[:at] != [(size, 0) for size in before]:
        return False
    for row in rows:
        if frames[at : at + 1] != [(row.frame, 0)]:
            return False
        at += 1
        begin, stored = at, 0
        while at < len(frames) and stored < row.payload:
            stored += frames[at][0]
            at += 1
        restored = sum(size for _, size in frames[begin:at])
        serialized = row.size if row.serialized is None else row.serialized
        if (stored, restored) != (row.payload, serialized):
            return False
    return frames[at:] == [(size, 0) for size in behind]


def _index_length(file: IO[bytes], stored: list[int], index_end: int) -> int:
    """How many bytes the frames of the index have. ``stored``: bytes of each frame, from the seek
    table; ``index_end``: the place at which the last of them, which says their number, ends."""
    last = stored[-1]
    if not FRAME_EXTRA <= last <= min(index_end, MAX_BODY[INDEX] + FRAME_EXTRA):
        raise DamagedError("the seek table gives lengths that cannot be", end=index_end)
    (body,) = _index_bodies(_at(file, index_end - last, last), index_end - last)
    count = index_frames(body, index_end - last)
    if not 1 <= count <= len(stored):
        raise DamagedError("the index gives a number of frames that cannot be", end=index_end)
    return sum(stored[-count:])


def _index_bodies(data: bytes, start: int) -> Iterator[bytes]:
    """The bodies of the frames of the index in ``data``, which stands at ``start`` in the file."""
    source = FrameSource(io.BytesIO(data).read, start)
    while source.offset < start + len(data):
        tag, body, _, at = source.frame("the index")
        if tag != INDEX:
            raise DamagedError("no index stands here", start=at)
        yield body


def read_block(
    file: IO[bytes], member: StoredMember, number: int, start: int, end: int
) -> StoredBlock:
    """Block ``number`` of a member that ``find_members`` found; its checksums are verified.

    ``start``, ``end``: its place in the file, from ``member.offsets``. DamagedError.
    """
    parts = BlockParts(file, member, number, start)
    return StoredBlock(parts.block, start, end, parts.read_all())


def rows_in(file: IO[bytes], member: StoredMember, number: int, start: int) -> bytes:
    """The encoded rows of the entries in block ``number`` of a member that entries share: from the
    index, or where that does not repeat them from the block header.

    ``start``: the place of the block, from ``member.offsets``. DamagedError where it has no rows.
    """
    rows = member.index.rows[number].entries
    if rows is None:
        rows = BlockParts(file, member, number, start).block.entries
    if rows is None:
        what = "does not say which entries it holds"
        raise DamagedError(what, block=number, start=start)
    return rows


def find_listed(file: IO[bytes]) -> list[StoredMember]:
    """As ``find_members``, with the rows of all entries in the indexes of the members: those that
    an index does not repeat are read from block headers."""
    return [_with_rows(file, member) for member in find_members(file)]


def _with_rows(file: IO[bytes], member: StoredMember) -> StoredMember:
    if not member.header.shared:
        return member
    rows = tuple(
        row._replace(entries=rows_in(file, member, number, start))
        for number, (row, start) in enumerate(zip(member.index.rows, member.offsets, strict=False))
    )
    return member._replace(index=member.index._replace(rows=rows))


def first_byte(file: IO[bytes], member: StoredMember, number: int, start: int) -> bytes:
    """The first byte of the payload of block ``number``, which begins at ``start``; not
    verified."""
    return _at(file, start + member.index.rows[number].frame, 1)


class BlockParts:
    """A block of a member that ``find_members`` found, of which parts are read one by one.

    ``number``, ``start``: of the block, the place from ``member.offsets``. ``block``: its header,
    which is read at once; DamagedError where it is not the one that the index lists.
    ``bytes_read``: how many bytes of the file were read for the block so far.
    """

    def __init__(self, file: IO[bytes], member: StoredMember, number: int, start: int) -> None:
        self._file = file
        file.seek(start)
        source = FrameSource(file.read, start)
        tag, body, check, _ = source.frame(f"block {number}")
        block: Block | None = None
        #: The payload of a short member, which was verified with the frame before it.
        self._payload: Buffer | None = None
        if tag == SHORT:
            zstd = member.header.zstd_envelope
            short = read_short(source, (body, check, start), zstd_envelope=zstd)
            if short.damage is not None:
                raise short.damage
            block, self._payload = short.block.block, short.block.payload[0]
        elif tag == BLOCK:
            block = Block.decode(body, start, member.id, member.header.writer)
        listed = member.index.rows[number]
        row = None if block is None else IndexRow.of(block, listed.frame, check)
        # The row of a short member was made from its block header, and so has its entries.
        if (
            block is None
            or row is None
            or block.seq != number
            or listed._replace(covered=None) not in (row.indexed, row)
        ):
            raise DamagedError("is not the block that the index lists", block=number, start=start)
        self.block = block
        sizes = (part.stored for part in block.parts)
        self.bytes_read = source.offset - start
        self._starts = list(accumulate(sizes, initial=start + listed.frame))
        check_place(member.header, block, self._starts[0] - member.start, start)

    def read_all(self) -> tuple[Buffer, ...]:
        """The stored bytes of all parts, as ``reader.read_parts`` gives them."""
        if self._payload is not None:
            return (self._payload,)
        self._file.seek(self._starts[0])
        return read_parts(FrameSource(self._file.read, self._starts[0]), self.block)

    def read(self, number: int) -> Buffer:
        """The stored bytes of part ``number``; DamagedError where their checksum does not match."""
        if self._payload is not None:
            return self._payload
        start = self._starts[number]
        if self._file.tell() != start:
            self._file.seek(start)
        source = FrameSource(self._file.read, start)
        data = read_part(source, self.block, self.block.parts[number])
        self.bytes_read += len(data)
        return data
