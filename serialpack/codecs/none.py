"""The codec that does nothing: what is stored is the data."""

from __future__ import annotations

from serialpack.codecs.base import Codec
from serialpack.errors import CodecError
from serialpack.stages.stage import Buffer
from serialpack.text import number_of


class NoCodec(Codec):
    """Stores the data as it is, without a copy. Data format: none of its own."""

    about = "stored as it is"
    bound = "The stored bytes are the data: their number must be the size promised."

    def _compress(self, data: Buffer) -> Buffer:
        return data

    def _decompress(self, stored: Buffer, size: int) -> Buffer:
        if len(stored) != size:
            raise CodecError(
                f"holds {number_of(len(stored), 'byte')}, the block header says {size:,}"
            )
        return stored
