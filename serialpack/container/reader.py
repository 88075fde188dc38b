"""Reads containers as a stream, from the front. ``seek.py`` reads files that can be sought.

The reader checks everything that the container itself can check: frames, checksums of
headers, order and number of blocks, stored bytes, index, end. What the payload restores to is
checked by the pipeline, with the checksums that the blocks carry.
"""

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import lru_cache
from itertools import accumulate, count, pairwise

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
    Into,
    checksum,
    frame_rest,
)
from serialpack.container.index import Index, IndexRow, frames_left
from serialpack.container.records import ALIGN, Block, Header, Part, StoredBlock
from serialpack.container.short import LITTLE, ShortMember, payload_size, read_short
from serialpack.container.small import START_SMALL
from serialpack.errors import DamagedError, NotContainerError, TruncatedError
from serialpack.stages.stage import Buffer

#: The codec ``none`` as stored chains name it.
NO_CODEC = (0,)

#: How many bytes of a file's start tell whether it is a container.
SNIFF = len(START_ZSTD) + 12


def is_container(head: bytes) -> bool:
    """Whether a file that begins with ``head`` (``SNIFF`` bytes of it) is a container."""
    if is_small(head):
        return True
    for start in (START_ZSTD, START_OWN):
        if head.startswith(start):
            return start is START_OWN or head[len(start) + 8 :][:4] in (HEADER, SHORT)
    return False


def begins_so(head: bytes) -> bool:
    """Whether a file that begins with ``head`` may be a damaged container: two are right of the
    three things that one begins with, the start, the magic of a frame and its tag."""
    for start in (START_ZSTD, START_OWN):
        frame = head[len(start) :]
        magic, tag = frame.startswith(START_FRAME), frame[8:12] in (HEADER, SHORT)
        if head.startswith(start) + magic + tag > 1:
            return True
    return False


def is_small(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is in the small form."""
    return head.startswith(START_SMALL)


class Member:
    """One member of a stream: its header, then its blocks, then its index."""

    def __init__(self, source: FrameSource, number: int, start: bytes) -> None:
        self._source = source
        self.number = number
        self.start = source.offset - len(start)
        tag, body, self.id, at = source.frame("the header")
        zstd = start == START_ZSTD
        #: All of the member where it is a short one, which is read at once; else None.
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
        #: Where the first block begins.
        self.first = source.offset if self.short is None else at
        #: Whether its blocks are being read, or were.
        self.begun = False
        #: The index, once all blocks have been read.
        self.index: Index | None = None
        #: Bytes of the member, once all of it has been read.
        self.length = 0
        #: What is wrong with a damaged short member, which was passed over whole.
        self.damage = None if self.short is None else self.short.damage
        if self.damage is not None:
            self._pass()

    def blocks(self, *, skip: bool = False, damaged: bool = False) -> Iterator[StoredBlock]:
        """The blocks in order; after the last, the index and the member's end are verified.

        ``skip``: their payload is passed over. ``damaged``: a block whose stored bytes are not what
        they were comes with ``StoredBlock.damage`` in place of an error.
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
        """Note that a short member was read to its end."""
        assert self.short is not None
        self.index, self.length = self.short.index, self._source.offset - self.start

    def _block(self, body: bytes, at: int) -> Block:
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
        """Read the rest of the index and the member's end; DamagedError where they do not fit the
        blocks that were read."""
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
    into: Into | None = None,
    threads: int = 1,
) -> Iterator[Member]:
    """The members of a stream, each to be read to its end before the next.

    ``read(n)`` gives up to n bytes, and none only at the end. NotContainerError where the stream
    does not begin as a container. ``damaged``: a damaged short member comes with ``Member.damage``
    in place of an error. ``into``, ``threads``: see ``FrameSource``.
    """
    return members_of(FrameSource(read, 0, into, threads), damaged=damaged)


def members_of(source: FrameSource, *, damaged: bool = False) -> Iterator[Member]:
    """As ``read_members``, of ``source``."""
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
    """Checks that the members of a file may follow each other: all are of archives, or none is; and
    where a closing member ends an archive, that has as many members as it says."""

    def __init__(self) -> None:
        self._in_archive: bool | None = None
        #: Members since the last closing one: those that need one, and damaged ones, which may.
        self._count = self._damaged = 0
        #: The last header; None where that member is damaged, and may be a closing one.
        self._last: Header | None = None

    def add(self, header: Header | None, start: int) -> None:
        """Note the next member, which begins at ``start``; DamagedError where it cannot follow.

        ``header``: None where the member is damaged.
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
        """Note that the file ends at ``offset``; TruncatedError where an archive has not ended."""
        if self._count and self._last is not None:
            raise TruncatedError(
                f"truncated: ends at byte {offset} before the last member of the archive",
                hint="get the file again",
            )


def first_header(peek: Callable[[int], bytes], *, damaged: bool = False) -> Header:
    """The header of the first member; ``peek(n)`` shows the first n bytes of the file.

    ``damaged``: a damaged short member gives the header that it says, in place of an error.
    """
    head = peek(SNIFF)
    start = len(START_OWN if head.startswith(START_OWN) else START_ZSTD)
    prefix = head[start : start + PREFIX_LENGTH]
    if len(prefix) == PREFIX_LENGTH:
        # No more than the header: what is behind it may be long in coming through a pipe.
        size = start + PREFIX_LENGTH + frame_rest(prefix, start)
        head = peek(size)
        if prefix[8:] == SHORT and len(head) >= size:
            head = peek(size + payload_size(head[start + PREFIX_LENGTH : -8], start))
    if damaged:
        return next(read_members(io.BytesIO(head).read, damaged=True)).header
    return _header_last(head) if len(head) <= LITTLE else _header_in(head)


def _header_in(head: bytes) -> Header:
    return next(read_members(io.BytesIO(head).read)).header


#: Of a small file this is asked several times in a row: whether it is of an archive, what it is.
_header_last = lru_cache(1)(_header_in)


def _payload(source: FrameSource, block: Block) -> tuple[tuple[Buffer, ...], DamagedError | None]:
    """The parts of a block, as ``read_parts`` gives them, or none and what is wrong with them.

    Either way ``source`` is behind them then. TruncatedError where it ends before.
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
    """DamagedError for a block in place that may not be there.

    ``place``: where its parts begin in the member; ``start``: where it does in the file.
    """
    plain = len(header.chain) == 2 and header.chain[-1] == NO_CODEC
    if block.in_place and (place % ALIGN or not plain):
        why = "is not at a multiple of 64 bytes" if plain else "has a filter or a codec"
        raise DamagedError(f"a block in place {why}", start=start, block=block.seq)


def read_parts(source: FrameSource, block: Block) -> tuple[Buffer, ...]:
    """The stored bytes of each part of a block, the first of which begins where ``source`` is.

    Those of a block in place are one, in memory of its own, which may be given away. DamagedError.
    """
    if not block.in_place:
        return tuple(read_part(source, block, part) for part in block.parts)
    whole = source.room(block.payload)
    if whole is None:  # the size may lie: take no more memory than there are bytes
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
    """The stored bytes of a part that begins where ``source`` is; DamagedError where they are not
    those that were written."""
    start = source.offset
    data = source.exactly(part.stored, f"block {block.seq}")
    _check_part(checksum(data), block, part, start)
    return data


def _check_part(check: int, block: Block, part: Part, start: int) -> None:
    """DamagedError where ``check``, the checksum of what stands at byte ``start``, is not that of
    the part."""
    if check != part.check:
        raise DamagedError(
            "its checksum does not match", block=block.seq, start=start, end=start + part.stored
        )
