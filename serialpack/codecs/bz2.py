"""bzip2: block-sorting compression."""

from __future__ import annotations

from serialpack.codecs.base import Codec, decompress_stream
from serialpack.stages.stage import Buffer, dialled


class Bz2(Codec):
    """Data format: one bzip2 stream (``BZh1`` to ``BZh9``), as the program bzip2 1.0 writes it."""

    params = (dialled("level", 1, 9, (1, 5, 9, 9, 9, 9, 9, 9, 9)),)
    about = "block sorting; slow, good on text"
    bound = "The decoder is given a limit of one byte more than the size promised."

    def _compress(self, data: Buffer) -> bytes:
        import bz2

        return bz2.compress(data, self.values[0])

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        import bz2

        return decompress_stream(bz2.BZ2Decompressor(), stored, size)
