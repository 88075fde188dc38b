"""zlib: DEFLATE with a header and a checksum."""

from __future__ import annotations

from serialpack.codecs.base import Codec, decompress_stream
from serialpack.stages.stage import Buffer, dialled


class Zlib(Codec):
    """Data format: one zlib stream (RFC 1950), without a preset dictionary."""

    params = (dialled("level", 0, 9, (1, 3, 6, 7, 8, 9, 9, 9, 9)),)
    levels = (":1", ":6", ":9")
    about = "DEFLATE; read everywhere"
    bound = "The decoder is given a limit of one byte more than the size promised."

    def _compress(self, data: Buffer) -> bytes:
        import zlib

        return zlib.compress(data, self.values[0])

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        import zlib

        return decompress_stream(zlib.decompressobj(), stored, size)
