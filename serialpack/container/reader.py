"""Reads a container from its front, as a stream. ``seek`` reads files from their end.

Everything is verified that can be without undoing a chain: frames and their checksums, order and
number of blocks, checksums of stored bytes, index, end. What a block restores to is verified by the
pipeline, by the checksums in the block header.
"""

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import lru_cache
from itertools import accumulate, count, pairwise

from serialpack.container.block import ALIGN, Block, Part, StoredBlock
from serialpack.container.ends import (
    seek_table,
    trailer,
)
from serialpack.container.frames import (
    BLOCK,
    FRAME_EXTRA,
    HEADER,
    INDEX,
    PREFIX_LENGTH,
    SHORT,
    START_FRAME,
    START_OWN,
    START_ZSTD,
    TRAILER_OWN,
    FrameSource,
    MemoryFiller,
    checksum,
    frame_rest,
)
from serialpack.container.header import Header
from serialpack.container.index import Index, IndexRow, frames_left
from serialpack.container.short import LITTLE, ShortMember, payload_size, read_short
from serialpack.container.small import START_SMALL
from serialpack.errors import DamagedError, NotContainerError, TruncatedError
from serialpack.stages.stage import Buffer

#: The codec ``none`` in a stored chain.
NO_CODEC = (0,)

#: How many bytes at the front of a file tell whether it is a container.
SNIFF = len(START_ZSTD) + 12


def is_container(head: bytes) -> bool:
    """Whether a file is a container; ``head``: its first ``SNIFF`` bytes."""
    if is_small(head):
        return True
    for start in (START_ZSTD, START_OWN):
        if head.startswith(start):
            return start is START_OWN or head[len(start) + 8 :][:4] in (HEADER, SHORT)
    return False


def may_be_damaged_container(head: bytes) -> bool:
    """Whether a file that begins with ``head`` may be a damaged container: of the three things with
    which one begins (start, magic of a frame, tag) two are right."""
    for start in (START_ZSTD, START_OWN):
        frame = head[len(start) :]
        magic, tag = frame.startswith(START_FRAME), frame[8:12] in (HEADER, SHORT)
        if head.startswith(start) + magic + tag > 1:
            return True
    return False


def is_small(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is in the small form (``small``)."""
    return head.startswith(START_SMALL)


class Member:
    """One member of a stream: its ``header`` is read at once, its blocks by ``blocks``, and when
    these were all read, it has an ``index``.

    ``source``: stands behind ``start``, the first bytes of the member; ``number``: of the member in
    its file, from 0. DamagedError where the header is not whole.
    """

    def __init__(self, source: FrameSource, number: int, start: bytes) -> None:
        self._source = source
        self.number = number
        self.start = source.offset - len(start)
        tag, body, self.id, at = source.frame("the header")
        zstd = start == START_ZSTD
        #: A short member, which is read all at once; None for any other.
        self.short: ShortMember | None = None
        if tag == SHORT:
            self.short = read_short(source, (body, self.id, at), zstd_envelope=zstd)
            self.id, self.header = self.short.id, self.short.header
        elif tag == HEADER:
            self.header = Header.decode(body, at, zstd_envelope=zstd)
        else:
            raise DamagedError("no header stands here", start=at)
        self._body = body
        self._frames = [(len(start), 0), (FRAME_EXTRA + len(body), 0)]
        self._rows: list[IndexRow] = []
        #: The place in the file at which the first block begins.
        self.first = source.offset if self.short is None else at
        #: Whether ``blocks`` was called.
        self.begun = False
        #: The index; None until all blocks have been read.
        self.index: Index | None = None
        #: How many bytes the member has; 0 until all blocks have been read.
        self.length = 0
        #: What is wrong with a damaged short member. It was read past, and has no blocks.
        self.damage = None if self.short is None else self.short.damage
        if self.damage is not None:
            self._pass()

    def blocks(self, *, skip: bool = False, damaged: bool = False) -> Iterator[StoredBlock]:
        """Yield the blocks in order; behind the last one, read index and end, and verify them.

        DamagedError, TruncatedError. ``skip``: do not read payloads; the blocks come without them.
        ``damaged``: a block whose stored bytes are damaged raises no error; it comes without
        payload, and with the error as its ``damage``.
        """
        source = self._source
        self.begun = True
        if self.short is not None:
            if self.damage is not None:
                raise self.damage
            yield self.short.block
            self._pass()
            return
        while True:
            tag, body, check, at = source.frame("a block header or the index")
            if tag == INDEX:
                self._finish(body, at)
                return
            if tag != BLOCK:
                raise DamagedError("a header stands where a block should", start=at)
            block = self._block(body, at)
            check_place(self.header, block, source.offset - self.start, at)
            if skip:
                source.skip(block.payload, f"block {block.seq}")
            payload, damage = ((), None) if skip else _payload(source, block)
            if damage is not None and not damaged:
                raise damage
            self._frames += [(part.stored, part.restored) for part in block.parts]
            self._rows.append(IndexRow.of(block, FRAME_EXTRA + len(body), check))
            yield StoredBlock(block, at, source.offset, payload, damage)

    def _pass(self) -> None:
        """Set index and length of a short member, all of which was read."""
        assert self.short is not None
        self.index, self.length = self.short.index, self._source.offset - self.start

    def _block(self, body: bytes, at: int) -> Block:
        """The block header with this ``body``, whose frame is at byte ``at``. DamagedError where it
        is not that of the next block."""
        block = Block.decode(body, at, self.id, self.header.writer)
        if block.seq != len(self._rows):
            raise DamagedError(
                f"block {block.seq} stands in its place:"
                " blocks are missing, doubled or out of order",
                block=len(self._rows),
                start=at,
                end=at + FRAME_EXTRA + len(body) + block.payload,
            )
        self._frames.append((FRAME_EXTRA + len(body), 0))
        return block

    def _finish(self, body: bytes, at: int) -> None:
        """Read the rest of the index, whose first frame has this ``body`` and is at byte ``at``,
        and the end of the member; DamagedError where they do not fit the blocks that were read."""
        source = self._source
        bodies = [body]
        self._frames.append((FRAME_EXTRA + len(body), 0))
        while (left := frames_left(bodies[-1], at)) > 0:
            tag, more, _, where = source.frame("the rest of the index")
            if tag != INDEX or frames_left(more, where) != left - 1:
                raise DamagedError("the index breaks off", start=where)
            bodies.append(more)
            self._frames.append((FRAME_EXTRA + len(more), 0))
        index = Index.decode(bodies, at)
        if index.header != self._body:
            raise DamagedError("index and header disagree", start=at, end=source.offset)
        if len(index.rows) != len(self._rows):
            raise DamagedError(
                f"the index lists {len(index.rows)} blocks, {len(self._rows)} are here:"
                " blocks are missing or doubled",
                start=at,
                end=source.offset,
            )
        where = self.start + self._frames[0][0] + self._frames[1][0]
        for number, (listed, found) in enumerate(zip(index.rows, self._rows, strict=True)):
            if listed._replace(covered=None) != found.indexed:
                raise DamagedError(
                    "is not the block that the index lists",
                    block=number,
                    start=where,
                    end=where + found.length,
                )
            where += found.length
        if self.header.zstd_envelope:
            end = seek_table(self._frames)
        else:
            index_length = source.offset - at
            end = trailer(index_length, source.offset - self.start + TRAILER_OWN.size)
        where = source.offset
        if source.exactly(len(end), "the end of the container") != end:
            raise DamagedError("the end is not as it should be", start=where, end=source.offset)
        self.index = index._replace(rows=tuple(self._rows))
        self.length = source.offset - self.start


def read_members(
    read: Callable[[int], bytes],
    *,
    damaged: bool = False,
    into: MemoryFiller | None = None,
    threads: int = 1,
) -> Iterator[Member]:
    """Yield the members of a stream. All blocks of one must be read before the next is asked for.

    ``read``, ``into``, ``threads``: see ``FrameSource``. NotContainerError where the stream does
    not begin as a container, DamagedError, TruncatedError. ``damaged``: a damaged short member
    raises no error, but comes with the error as its ``damage``.
    """
    return members_of(FrameSource(read, 0, into, threads), damaged=damaged)


def members_of(source: FrameSource, *, damaged: bool = False) -> Iterator[Member]:
    """As ``read_members``, from a ``FrameSource``."""
    succession = Succession()
    for number in count():
        head = source.some(len(START_OWN))
        if number and not head:
            succession.end(source.offset)
            return
        if head == START_ZSTD[: len(START_OWN)]:
            head += source.some(1)
        if head not in (START_ZSTD, START_OWN):
            if number:
                raise DamagedError(
                    "bytes follow that are no container", start=source.offset - len(head)
                )
            raise NotContainerError()
        member = Member(source, number, head)
        if member.damage is not None and not damaged:
            raise member.damage
        succession.add(None if member.damage is not None else member.header, member.start)
        yield member
        if member.index is None:
            raise RuntimeError("a member was not read to its end")


class Succession:
    """Checks that the members of a file may follow each other.

    Either all of them are of archives or none is; and before the closing member of an archive there
    are as many members as it says.
    """

    def __init__(self) -> None:
        self._in_archive: bool | None = None
        #: Since the last closing member: how many members there were that need one, and how many
        #: damaged ones, of which nobody knows whether they do.
        self._count = self._damaged = 0
        #: The header of the last member; None where it is damaged: it may have been a closing one.
        self._last: Header | None = None

    def add(self, header: Header | None, start: int) -> None:
        """Check the next member, which begins at byte ``start``; DamagedError where it cannot
        follow the ones before. ``header``: None where the member is damaged.
        """
        self._last = header
        if header is None:
            self._damaged += 1
            return
        if self._in_archive not in (None, header.in_archive):
            raise DamagedError(
                "entries of an archive stand among members that are none", start=start
            )
        self._in_archive = header.in_archive
        if header.before is None:
            self._count += header.archive
            return
        here, damaged, self._count, self._damaged = self._count, self._damaged, 0, 0
        if not here <= header.before <= here + damaged:
            raise DamagedError(
                f"the archive had {header.before} members before its last one, here are {here}",
                start=start,
            )

    def end(self, offset: int) -> None:
        """Check that the file may end here, at byte ``offset``; TruncatedError where an archive has
        no closing member."""
        if self._count and self._last is not None:
            raise TruncatedError(
                f"truncated: ends at byte {offset} before the last member of the archive",
                hint="get the file again",
            )


def first_header(peek: Callable[[int], bytes], *, damaged: bool = False) -> Header:
    """The header of the first member. ``peek(n)`` gives the first n bytes of the file.

    DamagedError, TruncatedError, NotContainerError. ``damaged``: a short member whose checksum does
    not match raises no error; its header is returned as it is.
    """
    head = peek(SNIFF)
    start = len(START_OWN if head.startswith(START_OWN) else START_ZSTD)
    prefix = head[start : start + PREFIX_LENGTH]
    if len(prefix) == PREFIX_LENGTH:
        # No more than the header is asked for: of a pipe, one may have to wait for the rest.
        size = start + PREFIX_LENGTH + frame_rest(prefix, start)
        head = peek(size)
        if prefix[8:] == SHORT and len(head) >= size:
            head = peek(size + payload_size(head[start + PREFIX_LENGTH : -8], start))
    if damaged:
        return next(read_members(io.BytesIO(head).read, damaged=True)).header
    return _header_last(head) if len(head) <= LITTLE else _header_in(head)


def _header_in(head: bytes) -> Header:
    return next(read_members(io.BytesIO(head).read)).header


#: ``_header_in``, which remembers its last result: the header of a small file is asked for several
#: times in a row (whether it is of an archive, what it is).
_header_last = lru_cache(1)(_header_in)


def _payload(source: FrameSource, block: Block) -> tuple[tuple[Buffer, ...], DamagedError | None]:
    """The stored bytes of a block, as ``read_parts`` gives them, and None; or no bytes, and what is
    wrong with them. Either way ``source`` stands behind the block then.

    TruncatedError where the file ends before that.
    """
    end = source.offset + block.payload
    try:
        return read_parts(source, block), None
    except TruncatedError:
        raise
    except DamagedError as error:
        source.skip(end - source.offset, f"block {block.seq}")
        return (), error


def check_place(header: Header, block: Block, place: int, start: int) -> None:
    """DamagedError for a block in place whose member, or whose place in it, does not allow one.

    ``place``: the byte of the member at which its parts begin; ``start``: the byte of the file at
    which the block begins, for the error.
    """
    plain = len(header.chain) == 2 and header.chain[-1] == NO_CODEC
    if block.in_place and (place % ALIGN or not plain):
        why = "is not at a multiple of 64 bytes" if plain else "has a filter or a codec"
        raise DamagedError(f"a block in place {why}", start=start, block=block.seq)


def read_parts(source: FrameSource, block: Block) -> tuple[Buffer, ...]:
    """Read the parts of ``block``, which come next in ``source``, and verify their checksums.

    Returns the stored bytes of each part; for a block in place, one buffer with those of all parts,
    which nobody else has. DamagedError, TruncatedError.
    """
    if not block.in_place:
        return tuple(read_part(source, block, part) for part in block.parts)
    whole = source.room(block.payload)
    if whole is None:  # the size may be wrong: memory grows with the bytes that are there
        grown = bytearray()
        for part in block.parts:
            grown += read_part(source, block, part)
        return (grown,)
    ends = [*accumulate((part.stored for part in block.parts), initial=0)]
    rooms = [whole[start:end] for start, end in pairwise(ends)]
    with closing(source.fill(rooms, f"block {block.seq}")) as checks:
        for part, check in zip(block.parts, checks, strict=True):
            _check_part(check, block, part, source.offset - part.stored)
    return (whole,)


def read_part(source: FrameSource, block: Block, part: Part) -> bytes:
    """Read ``part`` of ``block``, which comes next in ``source``; DamagedError where its checksum
    does not match."""
    start = source.offset
    data = source.exactly(part.stored, f"block {block.seq}")
    _check_part(checksum(data), block, part, start)
    return data


def _check_part(check: int, block: Block, part: Part, start: int) -> None:
    """DamagedError where ``check``, the checksum of the bytes that were read at byte ``start``, is
    not that of ``part``."""
    if check != part.check:
        raise DamagedError(
            "its checksum does not match", block=block.seq, start=start, end=start + part.stored
        )
