"""Writes one member of a container, in one pass, to anything that takes bytes.

The pipeline proves the blocks, by undoing their stages. Headers and index are proved here: each
frame is read back before it is written, by the functions of the reader, and must give what was put
in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from serialpack.container.block import Block
from serialpack.container.ends import seek_table, trailer
from serialpack.container.entries import Covered
from serialpack.container.frames import (
    BLOCK,
    HEADER,
    PREFIX_LENGTH,
    checksum,
    frame_check,
    frame_rest,
    open_frame,
    write_frame,
)
from serialpack.container.header import Header
from serialpack.container.index import Index, IndexRow
from serialpack.container.short import ShortWriter, is_short, short_index
from serialpack.errors import InputError, RefusedError
from serialpack.stages.stage import Buffer, Write


class MemberWriter:
    """Writes a member: call ``block`` for each block in order, then ``finish``.

    ``write`` must take all of the bytes that it is given, or raise. The first block is held back:
    if no second one comes and it is small, the member becomes a short one. RefusedError for a
    header, a block or an index that a reader would refuse or read as something else; it is not
    written then.
    """

    def __init__(self, write: Write, header: Header) -> None:
        self._write = write
        self._zstd = header.zstd_envelope
        self._given = header
        self._rows: list[IndexRow] = []
        self._frames: list[tuple[int, int]] = []
        #: The first block, and the frame of its header, while it is held back.
        self._held: tuple[Block, bytes, Sequence[Buffer], Covered | None] | None = None
        #: How many bytes were written so far, and how many of them are payload.
        self.length = 0
        self.payload = 0

    # These two are made when they are needed: a short member has neither.

    @cached_property
    def _header(self) -> bytes:
        """The body of the header's frame, which was read back as proof."""
        body = self._given.encode()
        _read_back([write_frame(HEADER, body)], self._given, self._header_in)
        return body

    @cached_property
    def _id(self) -> int:
        return checksum(HEADER + self._header)

    def block(
        self, block: Block, payload: Sequence[Buffer], covered: Covered | None = None
    ) -> None:
        """Write the next block, or hold it back.

        ``payload``: the stored bytes of its parts, in pieces that may be cut anywhere. ``covered``:
        which entries are in the block, for the index. A block in place must be the only one.
        """
        first = not self.length and self._held is None
        frame = self._frame(block)
        if first and len(payload) == 1 and not block.in_place and is_short(block):
            self._held = block, frame, payload, covered
        else:
            self._begin()
            self._put_block(block, frame, payload, covered)

    def finish(self, digest: bytes) -> Index:
        """Write what was held back, the index and the end, and return the index.

        ``digest``: XXH3-128 of all that the member restores to.
        """
        if (short := self._short()) is not None:
            block, frame, payload = short
            self._put(b"".join((self._given.start, frame, payload)))
            self.payload = len(payload)
            row = IndexRow.of(block, len(frame), frame_check(frame))
            return short_index(self._given, block, row)
        self._begin()
        index = Index.of(self._header, self._rows, digest)
        frames = index.encode()
        _read_back(frames, index, lambda bodies: Index.decode(bodies, 0))
        for frame in frames:
            self._put(frame)
        if self._zstd:
            end = seek_table(self._frames)
        else:
            end = trailer(sum(map(len, frames)), self.length + 32)
        self._put(end)
        return index

    def _begin(self) -> None:
        """Write the start and the header, if that was not done, and the block that was held
        back."""
        if not self.length:
            self._put(self._given.start)
            self._put(write_frame(HEADER, self._header))
        if self._held is not None:
            held, self._held = self._held, None
            self._put_block(*held)

    def _frame(self, block: Block) -> bytes:
        """The frame of the header of ``block``, which was read back as proof."""
        if block.in_place:
            header_frame = write_frame(HEADER, self._header)
            block = block.padded(self._id, len(self._given.start) + len(header_frame))
        frame = write_frame(BLOCK, block.encode(self._id))
        _read_back([frame], block, lambda bodies: Block.decode(bodies[0], 0, self._id))
        return frame

    def _put_block(
        self, block: Block, frame: bytes, payload: Sequence[Buffer], covered: Covered | None
    ) -> None:
        self._put(frame)
        for data in payload:
            self._write(data)
        self.length += block.payload
        self.payload += block.payload
        if self._zstd:
            self._frames += [(part.stored, part.restored) for part in block.parts]
        row = IndexRow.of(block, len(frame), frame_check(frame)).indexed
        self._rows.append(row._replace(covered=covered))

    def _short(self) -> tuple[Block, bytes, Buffer] | None:
        """The block that was held back, the frame of a short member of it, and its payload; None
        where the member has to be a long one."""
        if self._held is None:
            return None
        block, _, (payload,), _ = self._held
        given = self._given
        with refused_as_written():
            frame = ShortWriter(given).frame(block, payload, given.name, given.mtime)
        return None if frame is None else (block, frame, payload)

    def _header_in(self, bodies: Sequence[bytes]) -> Header:
        # Only the digits of the writer's version are stored.
        header = Header.decode(bodies[0], 0, zstd_envelope=self._zstd)
        return header._replace(writer=self._given.writer)

    def _put(self, frame: Buffer) -> None:
        """Write anything but payload. For the seek table it counts as a frame that restores to
        nothing."""
        self._write(frame)
        self.length += len(frame)
        if self._zstd:
            self._frames.append((len(frame), 0))


def _read_back(
    frames: Sequence[bytes], given: object, read: Callable[[Sequence[bytes]], object]
) -> None:
    """RefusedError where ``read``, which is called with the bodies of ``frames``, does not return
    ``given``."""
    with refused_as_written():
        if read([_body(frame) for frame in frames]) != given:
            raise InputError("it would be read as something else")


@contextmanager
def refused_as_written() -> Iterator[None]:
    """Turn an InputError, by which a reader refuses what was just made, into a RefusedError."""
    try:
        yield
    except InputError as error:
        raise cannot_be_stored(error) from None


def cannot_be_stored(error: InputError) -> RefusedError:
    """The refusal to write what a reader would refuse with ``error``."""
    return RefusedError(f"it cannot be stored so: {error.message}", hint="-s raw keeps the bytes")


def _body(frame: bytes) -> bytes:
    """The body of ``frame``, read as a reader does."""
    prefix = frame[:PREFIX_LENGTH]
    frame_rest(prefix, 0)
    return open_frame(prefix, frame[PREFIX_LENGTH:], 0)[1]
