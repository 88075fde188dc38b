"""Reads a column: its description, and the streams that this speaks of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.stored.streams import (
    ARRAY_TYPES,
    BITS,
    LAYOUTS,
    LZMA,
    PCO,
    PLAIN,
    PLANES,
    U8,
    ZSTD,
    raw_size,
    unbits,
    unlzma,
    unpco,
    unzstd,
)
from serialpack.columns.stored.wire import WireReader
from serialpack.columns.texts import Broken, Texts, Unknown


class Stored(NamedTuple):
    """A line of the table of streams, and the bytes it speaks of."""

    coder: int
    kind: int
    raw_size: int
    bytes: memoryview
    """As stored; for a shared stream its raw bytes."""


#: Reads a column after its encoding's number: how many values, and how many bytes at most.
Decoder = Callable[["ColumnSource", int, int], Texts]

#: Encodings stand in one another at most this deep.
DEPTH_MOST = 16


class ColumnSource(WireReader):
    """A description being read, with the streams that it speaks of, in order.

    ``earlier`` gives the column that this one refers to, if it does. ``budget``: how many bytes may
    be restored in all, also on the way. It keeps hostile bytes from taking more memory or time than
    the known size of the column can need.
    """

    def __init__(
        self,
        description: bytes,
        streams: Sequence[Stored],
        budget: int,
        decoders: Mapping[int, Decoder],
        earlier: Callable[[int], Texts | None],
    ) -> None:
        super().__init__(description)
        self.streams = iter(streams)
        self.budget = budget
        self.decoders = decoders
        self.earlier = earlier
        self.depth = 0

    def column(self, number: int, limit: int) -> Texts:
        """The next column of the description: ``number`` values of at most ``limit`` bytes."""
        decoder = self.decoders.get(self.byte())
        if decoder is None:
            raise Unknown("a column in an unknown encoding")
        if self.depth >= DEPTH_MOST:
            raise Broken("encodings stand too deep in one another")
        self.depth += 1
        self.spend(8 * number)
        texts = decoder(self, number, limit)
        self.depth -= 1
        if len(texts.data) > limit:
            raise Broken("a column holds more than was promised")
        self.spend(len(texts.data))
        return texts

    def spend(self, size: int) -> None:
        """Take ``size`` bytes, which are about to be restored, from the budget; Broken where it has
        fewer."""
        self.budget -= size
        if self.budget < 0:
            raise Broken("more is to be restored than there can be")

    def end(self) -> None:
        """Broken where anything of the description or of the streams is left."""
        super().end()
        if next(self.streams, None) is not None:
            raise Broken("a stream that nothing speaks of")

    def _next(self) -> Stored:
        stream = next(self.streams, None)
        if stream is None:
            raise Broken("a stream is missing")
        return stream

    def raw(self, most: int) -> bytes:
        """The next stream as bytes, at most ``most``."""
        return self._restored(self._next(), most)

    def _restored(self, stream: Stored, most: int) -> bytes:
        if stream.raw_size > most:
            raise Broken(f"a stream of {stream.raw_size} bytes where at most {most} can be")
        self.spend(stream.raw_size)
        if stream.coder == ZSTD:
            return unzstd(bytes(stream.bytes), stream.raw_size)
        if stream.coder == LZMA:
            return unlzma(bytes(stream.bytes), stream.raw_size)
        if stream.coder == PCO or len(stream.bytes) != stream.raw_size:
            raise Broken("a stream has another size than promised")
        return bytes(stream.bytes)

    def array(self, layout: int, kind: int, number: int) -> NDArray[Any]:
        """The next stream as ``number`` elements; may be read-only."""
        if kind not in ARRAY_TYPES or layout not in LAYOUTS or (layout in BITS and kind != U8):
            raise Broken("a stream of an unknown kind")
        stream = self._next()
        if stream.kind != kind or (stream.coder == PCO and layout != PLAIN):
            raise Broken("a stream of another kind than promised")
        dtype = ARRAY_TYPES[kind]
        size = raw_size(layout, kind, number)
        if stream.coder == PCO:
            self.spend(size)
            return unpco(bytes(stream.bytes), kind, number)
        raw = self._restored(stream, size)
        if len(raw) != size:
            raise Broken("a stream has another size than promised")
        if layout == PLAIN:
            return np.frombuffer(raw, dtype)
        self.spend(number * dtype.itemsize)
        if layout == PLANES:
            planes = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, number)
            return np.ascontiguousarray(planes.T).reshape(-1).view(dtype)
        return unbits(raw, BITS[layout], number)
