"""Writes one member, in one pass, to anything that takes bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from serialpack.container.ends import seek_table, trailer
from serialpack.container.frames import BLOCK, HEADER, checksum, write_frame
from serialpack.container.index import Index, Row
from serialpack.container.records import Block, Header
from serialpack.stage import Buffer


class MemberWriter:
    """Writes a member: the header at once, then blocks in order, then ``finish``.

    ``write`` must take all of what it is given or raise.
    """

    def __init__(self, write: Callable[[Buffer], object], header: Header) -> None:
        self._write = write
        self._zstd = header.zstd_envelope
        self._header = header.encode()
        self.id = checksum(HEADER + self._header)
        self._rows: list[Row] = []
        self._frames: list[tuple[int, int]] = []
        #: Bytes written so far, and how many of them are payload.
        self.length = 0
        self.payload = 0
        self._put(header.start, 0)
        self._put(write_frame(HEADER, self._header), 0)

    def block(self, block: Block, payload: Sequence[Buffer]) -> None:
        """Write one block; ``payload`` holds the stored bytes of each part."""
        frame = write_frame(BLOCK, block.encode(self.id))
        self._put(frame, 0)
        for part, data in zip(block.parts, payload, strict=True):
            self._put(data, part.restored)
        self.payload += block.payload
        check = int.from_bytes(frame[-8:], "little")
        self._rows.append(Row.of(block, len(frame), check))

    def finish(self, digest: bytes) -> Index:
        """Write index and end. ``digest``: XXH3-128 of the whole restored content."""
        index = Index.of(self._header, self._rows, digest)
        frames = index.encode()
        for frame in frames:
            self._put(frame, 0)
        if self._zstd:
            end = seek_table(self._frames)
        else:
            end = trailer(sum(map(len, frames)), self.length + 32)
        self._put(end, 0)
        return index

    def _put(self, data: Buffer, restored: int) -> None:
        self._write(data)
        self.length += len(data)
        if self._zstd:
            self._frames.append((len(data), restored))
