"""Filters and codec as one step: the last one of packing, the first one of unpacking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.errors import CodecError, InputError
from serialpack.filters import FILTERS
from serialpack.stages.chain import Chain
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.dictionaries import Dictionary


class Squeeze:
    """The filters and the codec of a chain as one step, ``forward`` and ``backward``.

    ``dictionary``: for the codec; MissingFileError where its file does not exist, InputError where
    it is no sound dictionary.
    """

    def __init__(self, chain: Chain, dictionary: Dictionary | None = None) -> None:
        self.codec: Codec = CODECS.create(*chain.codec)
        if dictionary is not None:
            try:
                self.codec.use_dictionary(dictionary.content)
            except CodecError as error:
                raise InputError(str(error), path=dictionary.named.name) from None
        filters = list(chain.filters)
        if filters and filters[-1].name in ("shuffle", "bitshuffle"):
            from serialpack.codecs.blosc import Blosc

            if isinstance(self.codec, Blosc):
                # Blosc applies its own shuffle filter block by block in the cache as it compresses.
                kind, (item_size, *_) = filters.pop()
                self.codec.with_filter(kind, item_size)
        self.filters = [FILTERS.create(*f) for f in filters]
        self.restores_in_place = self.codec.restores_in_place and not self.filters
        #: The size in bytes that items have for all filters of the chain.
        self.item_size = math.lcm(*(values[0] for _, values in chain.filters if values))

    def filtered(self, data: Buffer) -> Buffer:
        """``data`` as the codec gets it, after the filters but those that Blosc applies itself."""
        for stage in self.filters:
            data = stage.forward(data)
        return data

    def forward(self, data: Buffer) -> Buffer:
        return self.codec.compress(self.filtered(data))

    def backward(self, stored: Buffer, size: int, room: memoryview | None = None) -> Buffer:
        """The ``size`` bytes that ``stored`` restores to; CodecError. ``room``: memory for as many
        bytes. They are put there where ``restores_in_place`` is true; else it is not used."""
        data = (
            self.codec.decompress_into(stored, room)
            if room is not None and self.restores_in_place
            else self.codec.decompress(stored, size)
        )
        for stage in reversed(self.filters):
            data = stage.backward(data)
        return data
