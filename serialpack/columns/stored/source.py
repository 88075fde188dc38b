"""What decoding a column reads: its description, and streams. Every ``decode`` of an encoding gets
one.

It guards against stored bytes that are hostile: each ``decode`` says by ``spend`` what it restores.
"""

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
    """One stream: its line in the table of streams, and its bytes."""

    coder: int
    kind: int
    raw_size: int
    bytes: memoryview
    """As they are stored; for a stream in a shared frame the raw ones."""


#: What decodes a column in one encoding: ``decode(source, number, limit)`` reads the description
#: behind the number of the encoding, and gives ``number`` values that together have at most
#: ``limit`` bytes. Broken where it is malformed. It may allocate nothing on the word of what it
#: reads: sizes are first held against ``limit``, or spent from the budget.
Decoder = Callable[["ColumnSource", int, int], Texts]

#: Encodings nest at most this deep.
DEPTH_MOST = 16


class ColumnSource(WireReader):
    """The description of a column, and its streams in the order in which the description needs
    them.

    ``budget``: how many bytes may be restored in all, those on the way included: hostile bytes may
    take no more memory or time than a column of that known size can need. ``decoders``: by the
    numbers of encodings. ``earlier(index)``: an earlier column of the block, which this one may
    refer to; None where there is none. ``depth``: in how many encodings the part stands that is
    read now.
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
        """Decode the column, or the part, that comes next in the description: ``number`` values,
        which together have at most ``limit`` bytes. Broken, Unknown."""
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
        """Take ``size`` bytes from the budget, before they are restored.
        Broken where it has fewer."""
        self.budget -= size
        if self.budget < 0:
            raise Broken("more is to be restored than there can be")

    def end(self) -> None:
        """Broken where anything of the description is left, or a stream."""
        super().end()
        if next(self.streams, None) is not None:
            raise Broken("a stream that nothing speaks of")

    def _next(self) -> Stored:
        """The next stream. Broken where there is none."""
        stream = next(self.streams, None)
        if stream is None:
            raise Broken("a stream is missing")
        return stream

    def raw(self, most: int) -> bytes:
        """The raw bytes of the next stream. Broken where they are more than ``most``."""
        return self._restored(self._next(), most)

    def _restored(self, stream: Stored, most: int) -> bytes:
        """The raw bytes of a stream that is not under pcodec."""
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
        """The next stream as an array of ``number`` elements, of a kind and in a layout;
        it may be read-only. Broken."""
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
