"""LZ4, raw blocks."""

from __future__ import annotations

from serialpack.codecs.base import Codec, check_ratio
from serialpack.errors import CodecError, RefusedError
from serialpack.stages.stage import Buffer, dialled
from serialpack.text import number_of

#: LZ4_MAX_INPUT_SIZE, the most that one block holds.
_LARGEST = 0x7E000000


class Lz4(Codec):
    """Data format: one LZ4 block (lz4_Block_format.md), without a size prefix or a frame.

    Level 0 is the fast compressor, 1 to 12 are the levels of the high-compression one (LZ4 HC;
    liblz4 takes 1 for 2). What they write is read alike, at the same speed.
    """

    library = "lz4"
    extra = "lz4"
    params = (dialled("level", 0, 12, (0, 0, 0, 3, 6, 9, 10, 11, 12)),)
    levels = ("", ":9")
    about = "very fast; 0 is the fast compressor, 1-12 are LZ4 HC"
    bound = (
        "A size of over 255 times the stored bytes, which LZ4 cannot reach, is refused; "
        "then the library writes into a buffer of the size promised."
    )

    def _compress(self, data: Buffer) -> bytes:
        import lz4.block

        if len(data) > _LARGEST:
            raise RefusedError(f"lz4 holds at most {_LARGEST:,} bytes in a block")
        level = self.values[0]
        mode = "high_compression" if level else "default"
        # The library's size prefix is trusted when it is read back: the block header has the size.
        stored: bytes = lz4.block.compress(data, mode, compression=level, store_size=False)
        return stored

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        import lz4.block

        check_ratio(len(stored), size, 255)
        if size > _LARGEST:
            raise CodecError(f"an lz4 block holds at most {_LARGEST:,} bytes")
        data: bytes = lz4.block.decompress(stored, uncompressed_size=size)
        if len(data) != size:
            raise CodecError(
                f"restores to {number_of(len(data), 'byte')}, the block header says {size:,}"
            )
        return data
