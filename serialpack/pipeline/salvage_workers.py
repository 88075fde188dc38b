"""Workers that restore the blocks of a damaged member; damage is a result, and no error."""

from __future__ import annotations

from collections.abc import Callable

from serialpack.codecs import CODECS
from serialpack.container.block import StoredBlock
from serialpack.container.frames import checksum
from serialpack.errors import CodecError, DamagedError
from serialpack.pipeline.blocks import BlockUnpacker, Restored
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.timing import Timer
from serialpack.stages.stage import Buffer

_UNTOLD = "header and index are lost, so how it was packed is not known"


class SalvageWorker:
    """Makes workers that restore blocks; for a damaged one, the error is the result and not
    raised."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def make(self) -> Callable[[StoredBlock], Restored | DamagedError]:
        """A worker: it restores a block, or gives the error of one that is damaged."""
        unpacker = BlockUnpacker(self._plan)

        def work(stored: StoredBlock) -> Restored | DamagedError:
            try:
                return unpacker(stored)
            except DamagedError as error:
                return error

        return work


def without_chain() -> Callable[[StoredBlock], Restored | DamagedError]:
    """A worker for a member whose header and index are lost, so that its chain is not known.

    It tries whether a block is stored uncompressed, or packed by zstd alone; the checksum of the
    serialized bytes proves it. It can only give back blocks whose serialized bytes are the
    source's, which are exact and have no second checksum.
    """
    codec = CODECS.create("zstd")

    def work(stored: StoredBlock) -> Restored | DamagedError:
        block, timer = stored.block, Timer()
        if block.in_place:
            return Restored(stored.payload[0], None, timer.seconds)
        if block.exact and block.source_check is None:
            for undo in (_as_it_is, codec.decompress):
                try:
                    parts = zip(block.parts, stored.payload, strict=True)
                    data = b"".join(bytes(undo(piece, part.restored)) for part, piece in parts)
                except CodecError:
                    continue
                if len(data) == block.size and checksum(data) == block.check:
                    timer.lap("decompress")
                    return Restored(data, None, timer.seconds)
        return DamagedError(_UNTOLD)

    return work


def _as_it_is(stored: Buffer, size: int) -> Buffer:
    if len(stored) != size:
        raise CodecError("is not stored as it is")
    return stored
