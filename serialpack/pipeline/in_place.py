"""Packs an object uncompressed, as a member with one block in place: it may have any size, and can
be mapped to memory."""

from __future__ import annotations

from collections.abc import Iterator

from xxhash import xxh3_64

from serialpack.container.block import EXACT, IN_PLACE, Block, Part
from serialpack.container.frames import checksum
from serialpack.container.writer import MemberWriter
from serialpack.formats.base import SourceBlock
from serialpack.formats.python.buffers import Scattered
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.packing import Packing, prepare
from serialpack.pipeline.workers import in_order
from serialpack.stages.stage import Write

#: The most bytes of a part. Each part is read and verified as a whole; a block header has room for
#: some 50,000 of them.
_PART = 16 << 20


def pack_in_place(data: Scattered, head: int, write: Write, packing: Packing) -> None:
    """Write the serialized ``data`` as a member, without making a copy of it.

    ``head``: so many bytes at its front get parts of their own, since they are often read alone.
    """
    header, _ = prepare(packing, SourceBlock(b"", 0, 0))
    jobs = iter([data.slices(start, stop) for start, stop in _cuts(head, len(data))])
    parts = [Part(*found) for _, found in in_order(jobs, lambda: _sizes_and_check, packing.threads)]
    size = sum(part.stored for part in parts)
    block = Block(0, IN_PLACE | EXACT, 1, size, 0, None, tuple(parts))
    block = block._replace(check=checksum(block.part_checks))
    writer = MemberWriter(write, header)
    writer.block(block, data.slices(0, size))
    digest = WholeDigest()
    digest.add(block.part_checks, None, exact=True)
    writer.finish(digest.digest())


def _cuts(head: int, total: int) -> Iterator[tuple[int, int]]:
    for start, stop in ((0, head), (head, total)):
        yield from ((at, min(at + _PART, stop)) for at in range(start, stop, _PART))


def _sizes_and_check(pieces: list[memoryview]) -> tuple[int, int, int]:
    """The stored and the restored size of a part, which are the same, and its checksum."""
    state, size = xxh3_64(), 0
    for piece in pieces:
        state.update(piece)
        size += piece.nbytes
    return size, size, state.intdigest()
