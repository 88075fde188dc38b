"""xz: LZMA2 in the .xz container."""

from __future__ import annotations

from serialpack.codecs.base import Codec, decompress_stream
from serialpack.stages.stage import Buffer, Param, dialled

#: The dictionary of each preset, in bytes (liblzma, lzma_encoder_presets.c).
_PRESET_DICTS = tuple(n << 18 for n in (1, 4, 8, 16, 16, 32, 32, 64, 128, 256))

#: The bits that tell contexts of literals apart, as many as LZMA takes of the byte before.
_CONTEXT_BITS = 3

#: What decoding may take: whatever a stock xz wrote, whose preset 9 needs 65 MiB.
_MEMORY_LIMIT = 80 << 20


class Xz(Codec):
    """Data format: one .xz stream (The .xz File Format 1.2), filter LZMA2, check CRC32.

    The dictionary is clipped to the data: what it can use is the same, but preset 9 takes
    memory for the 64 MiB that it names, ten times over, whether there are bytes for it or not.
    With an item size the coder's contexts tell the bytes of an item apart (lp and pb of LZMA,
    whose other contexts, lc, become as many fewer); the stream says so itself, so that reading
    does not depend on it.
    """

    params = (
        dialled("level", 0, 9, (0, 3, 6, 6, 6, 7, 8, 9, 9)),
        Param("itemsize", 1, 8, 0, mark="@", only=(1, 2, 4, 8)),
    )
    levels = (":1", ":6")
    about = "LZMA2; very slow, smallest"
    bound = (
        "The decoder is given a limit of one byte more than the size promised, "
        "and one of 80 MiB for its dictionary."
    )

    @classmethod
    def looks_far(cls, values: tuple[int, ...]) -> bool:
        return _PRESET_DICTS[values[0]] > 1 << 20

    def _compress(self, data: Buffer) -> bytes:
        import lzma

        level, item_size = self.values
        dict_size = min(_PRESET_DICTS[level], _dict_size(len(data)))
        lzma2 = {"id": lzma.FILTER_LZMA2, "preset": level, "dict_size": dict_size}
        if item_size:
            bits = item_size.bit_length() - 1
            lzma2 |= {"lc": _CONTEXT_BITS - bits, "lp": bits, "pb": bits}
        # The container has a checksum of its own: the shortest that every xz reader knows will do.
        return lzma.compress(data, lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=[lzma2])

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        import lzma

        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY_LIMIT)
        return decompress_stream(decoder, stored, size)


def _dict_size(size: int) -> int:
    """The smallest dictionary of at least ``size`` bytes that LZMA2 can name: 2^n or 3 * 2^n."""
    power: int = 1 << max(12, (size - 1).bit_length())
    smaller = power // 4 * 3
    return smaller if size <= smaller and smaller >= 4096 else power
