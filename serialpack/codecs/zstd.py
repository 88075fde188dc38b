"""Zstandard, and the frame of raw blocks that stands for a stored block."""

from __future__ import annotations

from serialpack.codecs.base import Codec, check_ratio, check_size
from serialpack.errors import CodecError
from serialpack.stage import Buffer, Param

_MAGIC = b"\x28\xb5\x2f\xfd"
_UNKNOWN_SIZE = 2**64 - 1

#: The largest window that is read: what the zstd program reads without being asked. A block of
#: 64 MiB at level 22 needs no more than its own size.
_WINDOW_LIMIT = 128 << 20

#: Block_Maximum_Size of RFC 8878. A block takes 4 bytes at least, which gives the ratio.
_BLOCK = 128 << 10
_MOST = _BLOCK // 4


#: Level 3 for blocks of at least a MiB: its long-match table (2^14 entries, not 2^16) stays in
#: a core's cache, and matches of 6 bytes, not 5, make up for it. Measured over 4 MiB blocks of
#: contacts, JSON, CSV, the Canterbury, Silesia and Snappy corpora and numbers, beside libzstd
#: 1.5.7's own level 3: 0.90 of the time, 0.996 of the size (geometric mean; worst block 1.026).
#: What it writes is level 3's strategy all the same, in frames like any other.
_LARGE = 1 << 20
_TUNED = {3: {"min_match": 6, "chain_log": 14}}


class Zstd(Codec):
    """Data format: one Zstandard frame (RFC 8878) with content size and checksum, no dictionary."""

    library = "zstandard"
    params = (Param("level", -7, 22, 3),)
    about = "fast and small; any zstd tool reads it"
    carries_size = True
    bound = (
        "The frame must state its content size, equal to the size promised and possible for its "
        "length, a checksum, no dictionary and a window of at most 128 MiB; then libzstd writes "
        "into a buffer of that size."
    )

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        import zstandard

        # One of each for this instance, hence for one thread: sharing them gives false corruption.
        self._zstd = zstandard
        self._compressor = zstandard.ZstdCompressor(
            level=self.values[0], write_checksum=True, write_content_size=True, write_dict_id=False
        )
        self._large = self._compressor
        if tuned := _TUNED.get(self.values[0]):
            parameters = zstandard.ZstdCompressionParameters.from_level(
                self.values[0],
                source_size=4 * _LARGE,
                write_checksum=True,
                write_content_size=True,
                write_dict_id=False,
                **tuned,
            )
            self._large = zstandard.ZstdCompressor(compression_params=parameters)
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_LIMIT)

    def compress(self, data: Buffer) -> bytes:
        return (self._large if len(data) >= _LARGE else self._compressor).compress(data)

    def decompress(self, stored: Buffer, size: int) -> bytes:
        try:
            self._check_header(stored, size)
            data = self._decode(stored, size)
        except self._zstd.ZstdError as error:
            raise CodecError(f"zstd cannot decode it: {error}") from None
        if len(data) != size:
            raise CodecError(f"does not restore to the {size} bytes promised")
        return data

    def _check_header(self, stored: Buffer, size: int) -> None:
        if bytes(stored[:4]) != _MAGIC:
            raise CodecError("is not a zstd frame")
        frame = self._zstd.get_frame_parameters(stored)
        if frame.content_size == _UNKNOWN_SIZE:
            raise CodecError("does not state its content size")
        check_size(frame.content_size, size)
        check_ratio(len(stored), size, _MOST)
        if frame.window_size > _WINDOW_LIMIT:
            raise CodecError(f"asks for a window of {frame.window_size} bytes")
        if frame.dict_id:
            raise CodecError(f"asks for dictionary {frame.dict_id}")
        if not frame.has_checksum:
            raise CodecError("has no checksum")

    def _decode(self, stored: Buffer, size: int) -> bytes:
        if size:
            return self._decompressor.decompress(stored, allow_extra_data=False)
        # decompress() returns b"" for content size 0 without a look at the rest. The length
        # keeps what a false frame could write here to a few RLE blocks.
        if len(stored) > 32:
            raise CodecError("is too long for an empty frame")
        decoder = self._decompressor.decompressobj()
        data = decoder.decompress(stored)
        if not decoder.eof or decoder.unused_data:
            raise CodecError("does not end where its frame ends")
        return data


def stored_frame(data: Buffer) -> bytes:
    """A zstd frame of raw blocks that holds ``data`` (RFC 8878, 3.1.1), with its checksum.

    13 bytes around data shorter than 256 bytes, else 14 bytes (18 from 4 GiB) and 3 for each
    128 KiB. The window is 128 KiB, so a decoder with any limit on it reads the frame.
    """
    import xxhash

    view = memoryview(data)
    size = len(view)
    # Frame_Header_Descriptor: width of the content size, Single_Segment (no window descriptor,
    # and the only one that allows one byte for the size), Content_Checksum.
    if size < 256:
        header = b"\x24" + size.to_bytes(1, "little")
    elif size < 1 << 32:
        header = b"\x84\x38" + size.to_bytes(4, "little")
    else:
        header = b"\xc4\x38" + size.to_bytes(8, "little")
    parts: list[Buffer] = [_MAGIC, header]
    for start in range(0, max(size, 1), _BLOCK):
        block = view[start : start + _BLOCK]
        last = start + _BLOCK >= size
        parts.append((len(block) << 3 | last).to_bytes(3, "little"))
        parts.append(block)
    parts.append((xxhash.xxh64_intdigest(view) & 0xFFFFFFFF).to_bytes(4, "little"))
    return b"".join(parts)
