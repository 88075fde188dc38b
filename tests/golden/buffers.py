"""What the golden files of objects with buffers beside their pickle hold."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pickle import PickleBuffer
from typing import Any


class Array:
    """Pickles its bytes out of band, and is read as a bytearray."""

    def __init__(self, data: bytearray) -> None:
        self.data = data

    def __reduce_ex__(self, protocol: Any) -> Any:
        return bytearray, (PickleBuffer(self.data),)


#: What those with buffers beside the pickle hold, and what they are read as.
NUMBERS = [bytearray(n // 300 % 256 for n in range(size)) for size in (262_144, 300_001)]


def framed(pickled: bytes, buffers: Sequence[bytes | bytearray]) -> bytes:
    """A pickle and its buffers as ``man/spk.5`` puts them together."""
    sizes = [len(buffer) for buffer in buffers]
    counts = struct.pack(f"<{2 + len(sizes)}Q", len(pickled), len(buffers), *sizes)
    out = b"\xffbuffers" + counts + pickled
    for buffer in buffers:
        out += bytes(-len(out) % 64) + buffer
    return out


#: What one holds whose block is in place: its buffers are small, for the file to be.
FEW = [bytearray(range(70)), bytearray(n % 7 for n in range(301))]

#: A list of two bytearrays, each of which is made of a buffer.
TWO = (
    b"\x80\x05\x95*\0\0\0\0\0\0\0]\x94(\x8c\x08builtins\x94\x8c\x09bytearray\x94"
    b"\x93\x94\x97\x85\x94R\x94h\x03\x97\x85\x94R\x94e."
)
