"""Brotli."""

from __future__ import annotations

from serialpack.codecs.base import Codec
from serialpack.errors import CodecError
from serialpack.stages.stage import Buffer, dialled
from serialpack.text import number_of

_FEED = 64 << 10
_STEP = 1 << 20


class Brotli(Codec):
    """Data format: one Brotli stream (RFC 7932), not the large-window variant.

    The window is the smallest that spans the data, up to the format's 16 MiB.
    """

    library = "brotli"
    extra = "brotli"
    params = (dialled("quality", 0, 11, (1, 3, 5, 6, 7, 8, 9, 10, 11)),)
    levels = (":5", ":9")
    about = "good on text; 11 is very slow"
    bound = (
        "The library's output limit is soft (it may pass it by as much again), so the decoder is "
        "asked for 1 MiB at a time, and stopped once it has given more than the size promised."
    )

    @classmethod
    def looks_far(cls, values: tuple[int, ...]) -> bool:
        return values[0] >= 5  # below, little is kept of what is far back

    def _compress(self, data: Buffer) -> bytes:
        import brotli

        window = min(24, max(16, len(data).bit_length()))
        stored: bytes = brotli.compress(data, quality=self.values[0], lgwin=window)
        return stored

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        import brotli

        decoder = brotli.Decompressor()
        parts: list[bytes] = []
        left = size
        view = memoryview(stored)
        # Fed in slices, because what is not consumed yet is copied at every call.
        for start in range(0, len(view), _FEED):
            feed: Buffer = view[start : start + _FEED]
            while True:
                limit = min(left + 1, _STEP)
                part = decoder.process(feed, output_buffer_limit=limit)
                left -= len(part)
                if left < 0:
                    raise CodecError(
                        f"restores to more than the {number_of(size, 'byte')} promised"
                    )
                parts.append(part)
                feed = b""
                if len(part) < limit:
                    break
        if left or not decoder.is_finished():
            raise CodecError(f"does not restore to the {number_of(size, 'byte')} promised")
        return b"".join(parts)
