"""Zstandard, and the frame of raw blocks that stands for a stored block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast

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

#: What ``decompress_pieces`` gives at a time. Larger pieces are memory that malloc returns to the
#: system and asks for again: 1100 page faults for 3 MB, which took a fifth of the time.
_PIECE = _BLOCK

#: What every frame says of itself.
_FRAME: dict[str, Any] = {
    "write_checksum": True,
    "write_content_size": True,
    "write_dict_id": False,
}

#: Level 3 for blocks of at least a MiB: its table of short matches (2^14 entries, not 2^16) stays
#: in a core's cache, and matches of 6 bytes, not 5, make up for it. Measured over 4 MiB blocks of
#: contacts, JSON, CSV, the Canterbury, Silesia and Snappy corpora and numbers, beside libzstd
#: 1.5.7's own level 3: 0.90 of the time, 0.996 of the size (geometric mean; worst block 1.037,
#: of an MRI image; programs, which are not what is packed here, grow by up to 5 %).
#: What it writes is level 3's strategy all the same, in frames like any other.
_LARGE = 1 << 20
_TUNED = {3: {"min_match": 6, "chain_log": 14}}

#: Level 3 for large blocks of text records, whose keys and separators repeat at length: one table
#: of matches of 7 bytes instead of two (strategy fast) finds nearly all of them. Over full blocks
#: of contacts, logs, CSV and JSON, beside libzstd's own level 3: 0.80 of the time to compress and
#: 0.96 to decompress, 0.994 of the size (geometric means; worst block 1.023). Not for anything
#: else: source code grows by 5 %, programs by 7 %. Nor for what is much smaller than a block: it
#: takes no time to speak of, and citm_catalog.json, which shrinks 90-fold, would be 7 % larger.
#: The window stays at 2 MiB: one of 4 MiB saves another 0.7 %, and decompresses 3 % slower.
_LARGE_RECORDS = 3 << 20
_TUNED_RECORDS = {3: {"strategy": 1, "min_match": 7, "hash_log": 17}}


class Zstd(Codec):
    """Data format: one Zstandard frame (RFC 8878) with content size and checksum, no dictionary."""

    library = "zstandard"
    params = (Param("level", -7, 22, 3),)
    levels = (":1", ":3", ":9", ":19")
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
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_LIMIT)

    @cached_property
    def _compressors(self) -> list[tuple[int, Any]]:
        """By the least size of what each is for. Not made for reading: that takes 0.1 ms."""
        compressors = [(0, self._compressor())]
        if tuned := _TUNED.get(self.values[0]):
            compressors.append((_LARGE, self._compressor(tuned)))
        return compressors

    def _compressor(self, tuned: dict[str, int] | None = None) -> Any:
        level = self.values[0]
        if tuned is None:
            return self._zstd.ZstdCompressor(level=level, **_FRAME)
        parameters = self._zstd.ZstdCompressionParameters.from_level(
            level, source_size=4 * _LARGE, **_FRAME, **tuned
        )
        return self._zstd.ZstdCompressor(compression_params=parameters)

    def for_records(self) -> None:
        if tuned := _TUNED_RECORDS.get(self.values[0]):
            self._compressors.append((_LARGE_RECORDS, self._compressor(tuned)))

    def compress(self, data: Buffer) -> bytes:
        size = len(data)
        compressor = next(c for least, c in reversed(self._compressors) if size >= least)
        return cast(bytes, compressor.compress(data))

    def decompress(self, stored: Buffer, size: int) -> bytes:
        try:
            self._check_header(stored, size)
            data = self._decode(stored, size)
        except self._zstd.ZstdError as error:
            raise CodecError(f"zstd cannot decode it: {error}") from None
        if len(data) != size:
            raise CodecError(f"does not restore to the {size} bytes promised")
        return data

    def decompress_pieces(self, stored: Buffer, size: int) -> Iterator[bytes]:
        try:
            self._check_header(stored, size)
            reader = self._decompressor.stream_reader(stored)
            while size:
                piece = reader.read(min(size, _PIECE))
                if not piece:
                    raise CodecError("ends before it restores to what it promises")
                size -= len(piece)
                yield piece
        except self._zstd.ZstdError as error:
            raise CodecError(f"zstd cannot decode it: {error}") from None

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
