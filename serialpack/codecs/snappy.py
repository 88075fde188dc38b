"""Snappy, raw blocks."""

from __future__ import annotations

from serialpack.codecs.base import Codec, check_ratio, check_size
from serialpack.errors import RefusedError
from serialpack.stages.stage import Buffer


class Snappy(Codec):
    """Data format: one raw Snappy block (google/snappy, format_description.txt), not framed.

    The library is cramjam: python-snappy is a wrapper around it that copies once more.
    """

    library = "cramjam"
    extra = "snappy"
    about = "very fast, no levels"
    bound = (
        "The length in front must be the size promised and at most 22 times the stored bytes "
        "(an element of 3 bytes gives 64 at most); the library writes into our buffer of that size."
    )

    def _compress(self, data: Buffer) -> memoryview:
        import cramjam

        if len(data) > 0xFFFFFFFF:
            raise RefusedError("snappy holds less than 4 GiB in a block")
        return memoryview(cramjam.snappy.compress_raw(data))

    def _decompress(self, stored: Buffer, size: int) -> bytearray:
        import cramjam

        check_size(cramjam.snappy.decompress_raw_len(stored), size)
        check_ratio(len(stored), size, 22)
        data = bytearray(size)
        written = cramjam.snappy.decompress_raw_into(stored, data)
        check_size(written, size)
        return data
