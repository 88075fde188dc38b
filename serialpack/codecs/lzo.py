"""LZO1X, in pieces."""

from __future__ import annotations

import struct

from serialpack.codecs.base import Codec
from serialpack.errors import CodecError
from serialpack.stages.stage import Buffer
from serialpack.text import number_of

_PIECE = 128 << 10
#: What LZO1X makes of a piece at worst.
_LONGEST = _PIECE + _PIECE // 16 + 67


class Lzo(Codec):
    """Data format: for each 128 KiB of the data (the last piece may be shorter) the length of
    its LZO1X stream as u32, little-endian, and the stream, with its end marker ``11 00 00``.

    The library is lzallright: wheels for every system (python-lzo needs a compiler and liblzo2),
    without the GIL, since 0.3 in safe Rust. It takes the size for a hint only and lets a stream
    grow as far as it says; hence the pieces, as lzop has them too. LZO looks back over 48 KiB at
    most, so they cost next to nothing.
    """

    library = "lzallright"
    extra = "lzo"
    about = "fast to decode, no levels"
    bound = (
        "Each piece restores to 128 KiB or is refused; LZO cannot expand by more than 255, so a "
        "false piece takes 96 MiB for a moment at most."
    )

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        import lzallright

        self._lzo = lzallright
        self._compressor: lzallright.LZOCompressor | None = None

    def _compress(self, data: Buffer) -> bytes:
        # Made on first use: older versions of the library tie it to the thread that made it.
        if self._compressor is None:
            self._compressor = self._lzo.LZOCompressor()
        view = memoryview(data)
        parts: list[bytes] = []
        for start in range(0, len(view), _PIECE):
            piece = self._compressor.compress(view[start : start + _PIECE])
            parts += (struct.pack("<I", len(piece)), piece)
        return b"".join(parts)

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        view = memoryview(stored)
        parts: list[bytes] = []
        at = 0
        left = size
        while left:
            if len(view) - at < 4:
                raise CodecError(f"does not restore to the {number_of(size, 'byte')} promised")
            (length,) = struct.unpack_from("<I", view, at)
            at += 4
            if length > min(_LONGEST, len(view) - at):
                raise CodecError(f"says that a piece takes {number_of(length, 'byte')}")
            parts.append(self._piece(view[at : at + length], min(left, _PIECE)))
            at += length
            left -= len(parts[-1])
        if at != len(view):
            raise CodecError("has bytes after its end")
        return b"".join(parts)

    def _piece(self, stored: memoryview, size: int) -> bytes:
        data = self._lzo.LZOCompressor.decompress(stored, size)
        if len(data) != size:
            raise CodecError(
                f"has a piece of {number_of(len(data), 'byte')} where {size:,} are promised"
            )
        return data
