"""Filters and codec, behind either half of the main line."""

from __future__ import annotations

from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.filters import FILTERS
from serialpack.stages.chain import Chain
from serialpack.stages.stage import Buffer


class Squeeze:
    """Filters and codec of a chain, as one reversible step."""

    def __init__(self, chain: Chain) -> None:
        self.codec: Codec = CODECS.create(*chain.codec)
        filters = list(chain.filters)
        if filters and filters[-1].name in ("shuffle", "bitshuffle"):
            from serialpack.codecs.blosc import Blosc

            if isinstance(self.codec, Blosc):
                # Blosc shuffles block by block within its cache, as it compresses.
                kind, (item_size, *_) = filters.pop()
                self.codec.with_filter(kind, item_size)
        self.filters = [FILTERS.create(*f) for f in filters]

    def filtered(self, data: Buffer) -> Buffer:
        """What the codec gets. A filter that Blosc applies itself is not in it."""
        for stage in self.filters:
            data = stage.forward(data)
        return data

    def forward(self, data: Buffer) -> Buffer:
        return self.codec.compress(self.filtered(data))

    def backward(self, stored: Buffer, size: int) -> Buffer:
        data = self.codec.decompress(stored, size)
        for stage in reversed(self.filters):
            data = stage.backward(data)
        return data
