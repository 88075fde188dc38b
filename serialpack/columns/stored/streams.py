"""Streams: bytes and arrays as they are stored, each under the coder that suits it.

What a stream holds, its *raw* bytes, is text, or the elements of an array (unsigned integers or
doubles, little-endian) in some layout; the *stored* bytes are those under the coder. For each coder
there is a function that compresses and one that restores, which raises Broken, and takes no more
memory than the promised size allows.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from serialpack.bounded import decompress_numbers
from serialpack.columns.texts import Broken
from serialpack.stages.effort import EFFORTS, ColumnEffort

#: The coders, stored and so the same for ever. ``STORE``: as it is; ``PCO``: pcodec; ``SHARED``:
#: the raw bytes are the next ones of the shared frame of its kind.
STORE, ZSTD, PCO, SHARED, LZMA = range(5)

#: The kinds of streams, stored and so the same for ever: what the raw bytes are. Only streams of
#: one kind share a frame, and the kind tells pcodec the type of the elements.
TEXT, U8, U16, U32, U64, F64 = range(6)
ARRAY_TYPES: dict[int, Any] = {
    U8: np.dtype("u1"),
    U16: np.dtype("<u2"),
    U32: np.dtype("<u4"),
    U64: np.dtype("<u8"),
    F64: np.dtype("<f8"),
}
KINDS = (TEXT, *ARRAY_TYPES)

#: The layouts of an array in the raw bytes; stored, and so the same for ever. ``PLAIN``: one
#: element after another; ``PLANES``: all lowest bytes, then all second ones ...; ``BITS``: so many
#: bits each.
PLAIN, PLANES, BITS1, BITS2, BITS4 = range(5)
LAYOUTS = (PLAIN, PLANES, BITS1, BITS2, BITS4)
BITS = {BITS1: 1, BITS2: 2, BITS4: 4}

#: The largest window that a zstd frame may ask for when it is read, in bytes.
_WINDOW_LIMIT = 128 << 20

#: The sizes of data that parameters of zstd are chosen for, as exponents of two.
_SIZES = range(10, 24)

#: The first byte of a frame (RFC 8878, Frame_Header_Descriptor) whose header has only a window.
_PLAIN_FRAME = b"\0"

#: A block of a zstd frame takes at least 4 bytes (but the last one, which may be empty) and gives
#: at most 128 KiB.
_BLOCK_LEAST = 4
_BLOCK_MOST = 128 << 10

#: The largest window of LZMA; and the least stored bytes for which LZMA is tried.
_LZMA_WINDOW = 64 << 20
_LZMA_LEAST = 256

#: pcodec has a header and tables of its own, for which arrays of fewer elements are too small.
_PCO_LEAST = 32

#: At higher levels pcodec, too, tries differences of integers.
_PCO_LOOKS = 8

#: The most bytes of a stream that may share a frame with others of its kind.
WEAK = 64 << 10

#: How many elements of a long array the coders are tried on.
_TRIAL = 8192

#: A way is tried on the whole array only where its size in the trial, times this, is at most the
#: least size there.
_CLEAR = 0.97


def effort(level: int) -> ColumnEffort:
    """What ``level`` (1 to 9) means for columns;
    a level beyond these means what the nearest one does."""
    return EFFORTS[min(max(level, min(EFFORTS)), max(EFFORTS))].columns


class Stream(NamedTuple):
    """One stream: its kind and raw bytes (b"" where they are not needed any more),
    its coder and stored bytes."""

    kind: int
    raw: bytes
    coder: int
    stored: bytes

    @property
    def size(self) -> int:
        """The bytes that it adds to a block, with about 4 for its line in the table of streams."""
        return len(self.stored) + 4


class _Contexts(threading.local):
    """The compressors and the decompressor of a thread:
    to make one takes longer than a small stream."""

    def __init__(self) -> None:
        self.compressors: dict[tuple[int, int], Any] = {}
        self.decompressor: Any = None


_contexts = _Contexts()


def zstd(data: bytes, level: int) -> bytes:
    """A zstd frame of ``data``, without magic number, size and checksum:
    blocks have these already."""
    # For each size other parameters: else for each of many small streams tables that are made for
    # megabytes would be cleared.
    size = 1 << min(max((len(data) - 1).bit_length(), _SIZES.start), _SIZES.stop)
    compressor = _contexts.compressors.get((level, size))
    if compressor is None:
        import zstandard

        params = zstandard.ZstdCompressionParameters.from_level(
            level,
            source_size=size,
            format=zstandard.FORMAT_ZSTD1_MAGICLESS,
            write_content_size=False,
            write_checksum=False,
            write_dict_id=False,
        )
        compressor = zstandard.ZstdCompressor(compression_params=params)
        _contexts.compressors[level, size] = compressor
    return cast(bytes, compressor.compress(data))


def unzstd(data: bytes, size: int) -> bytes:
    """The ``size`` bytes of a frame that ``zstd`` made, in no more memory than that. Broken."""
    import zstandard

    if _contexts.decompressor is None:
        _contexts.decompressor = zstandard.ZstdDecompressor(
            max_window_size=_WINDOW_LIMIT, format=zstandard.FORMAT_ZSTD1_MAGICLESS
        )
    # The decompressor would take memory for the size that a frame states, so there must be none
    # (the first byte tells); and the promised size must be possible for so many stored bytes.
    if data[:1] != _PLAIN_FRAME or size > (len(data) // _BLOCK_LEAST + 1) * _BLOCK_MOST:
        raise Broken("a zstd frame is broken")
    try:
        raw = cast(
            bytes,
            _contexts.decompressor.decompress(
                data, max_output_size=max(size, 1), allow_extra_data=False
            ),
        )
    except zstandard.ZstdError as error:
        raise Broken(f"a zstd frame is broken: {error}") from None
    if len(raw) != size:
        raise Broken(f"a zstd frame holds {len(raw)} bytes where {size} were promised")
    return raw


def _lzma_filters(size: int) -> list[dict[str, int]]:
    """The filters of ``lzma`` for ``size`` bytes:
    they are not stored, so both ways must use the same."""
    import lzma

    window = min(max(1 << (size - 1).bit_length(), 4096), _LZMA_WINDOW)
    parameters = {"lc": 3, "lp": 0, "pb": 0, "dict_size": window}
    return [{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, **parameters}]


def recoded(coder: int, raw: bytes, stored: bytes, use: ColumnEffort) -> tuple[int, bytes]:
    """A coder and stored bytes for ``raw``: the given ones, or smaller ones by another level of
    zstd, or by LZMA, as far as the effort ``use`` has such."""
    if coder == STORE or not raw:
        return coder, stored
    found = [(coder, stored)]
    if use.last:
        found.append((ZSTD, zstd(raw, use.last)))
    if coder == ZSTD:
        found += [(ZSTD, zstd(raw, level)) for level in use.lower]
    if use.lzma and len(stored) >= _LZMA_LEAST:
        import lzma

        found.append((LZMA, lzma.compress(raw, lzma.FORMAT_RAW, filters=_lzma_filters(len(raw)))))
    return min(found, key=lambda each: len(each[1]))


def unlzma(data: bytes, size: int) -> bytes:
    """The ``size`` bytes of an LZMA stream that ``recoded`` made,
    in about twice as much memory. Broken."""
    import lzma

    try:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_lzma_filters(size))
        # One byte more is asked for, so that the end mark is read.
        raw = decoder.decompress(data, size + 1)
    except lzma.LZMAError as error:
        raise Broken(f"an LZMA stream is broken: {error}") from None
    if len(raw) != size or not decoder.eof or decoder.unused_data:
        raise Broken(f"an LZMA stream does not hold the {size} bytes that were promised")
    return raw


def bytes_stream(data: bytes, level: int, kind: int = TEXT) -> Stream:
    """The stream of ``data`` under zstd, or as it is where zstd does not make it smaller."""
    stored = zstd(data, level) if data else b""
    if len(stored) >= len(data):
        return Stream(kind, data, STORE, data)
    return Stream(kind, data, ZSTD, stored)


def _pco(array: NDArray[Any], level: int) -> bytes:
    """``array`` under pcodec."""
    from pcodec import ChunkConfig, DeltaSpec, standalone

    # ``encodings.numbers`` has taken differences of integers where they pay; of doubles it has not.
    deltas = [] if array.dtype.kind == "f" else [DeltaSpec.no_op()]
    if not deltas or level > _PCO_LOOKS:
        deltas.append(DeltaSpec.auto())
    configs = [
        ChunkConfig(compression_level=level, delta_spec=delta, enable_8_bit=True)
        for delta in deltas
    ]
    found: list[bytes] = [standalone.simple_compress(array, config) for config in configs]
    return min(found, key=len)


def unpco(data: bytes, kind: int, number: int) -> NDArray[Any]:
    """The ``number`` elements of which ``_pco`` made ``data``. Broken."""
    array = np.zeros(number, ARRAY_TYPES[kind])
    try:
        decompress_numbers(data, array)
    except ValueError as error:
        raise Broken(f"a pcodec stream is broken: {error}") from None
    return array


def array_kind(array: NDArray[Any]) -> int:
    """The kind of stream for the elements of ``array``."""
    return {1: U8, 2: U16, 4: U32, 8: F64 if array.dtype.kind == "f" else U64}[array.dtype.itemsize]


def narrow(array: NDArray[np.integer[Any]], top: int) -> NDArray[Any]:
    """``array``, whose values go from 0 to ``top``,
    as the narrowest unsigned integers that hold them."""
    for dtype, most in (("u1", 0xFF), ("<u2", 0xFFFF), ("<u4", 0xFFFFFFFF)):
        if top <= most:
            return array.astype(dtype)
    return array.astype("<u8")


def _planes(array: NDArray[Any]) -> bytes:
    """The layout ``PLANES`` of ``array``."""
    width = array.dtype.itemsize
    return np.ascontiguousarray(array.view(np.uint8).reshape(-1, width).T).tobytes()


def _bits(array: NDArray[np.uint8], bits: int) -> bytes:
    """The layout of values below 2 to the power of ``bits``:
    the first value in the highest bits of the first byte."""
    if bits == 1:
        return np.packbits(array).tobytes()
    each = 8 // bits
    rows = np.zeros(-(-len(array) // each) * each, np.uint8)
    rows[: len(array)] = array
    columns = rows.reshape(-1, each)
    packed = columns[:, 0] << (8 - bits)
    for place in range(1, each):
        packed |= columns[:, place] << (8 - bits * (place + 1))
    return packed.tobytes()


def unbits(raw: bytes, bits: int, number: int) -> NDArray[np.uint8]:
    """The ``number`` values of which ``_bits`` made ``raw``."""
    packed = np.frombuffer(raw, np.uint8)
    if bits == 1:
        return np.unpackbits(packed, count=number)
    each = 8 // bits
    rows = np.empty((len(packed), each), np.uint8)
    for place in range(each):
        rows[:, place] = packed >> (8 - bits * (place + 1))
    rows &= (1 << bits) - 1
    return rows.reshape(-1)[:number]


#: A way to store an array: its layout and its coder.
_Way = tuple[int, int]


def _ways(array: NDArray[Any], top: int | None) -> list[_Way]:
    """The ways to store ``array`` that may suit. ``top``: its largest value, or None."""
    width = array.dtype.itemsize
    ways: list[_Way] = [(PLAIN, ZSTD)]
    if width > 1:
        ways.append((PLANES, ZSTD))
    elif top is not None and top < 16:
        ways.append((BITS1 if top < 2 else BITS2 if top < 4 else BITS4, ZSTD))
    if len(array) >= _PCO_LEAST:
        ways.append((PLAIN, PCO))
    return ways


def _store(array: NDArray[Any], way: _Way, use: ColumnEffort) -> Stream:
    """The stream of ``array`` in one way."""
    layout, coder = way
    kind = array_kind(array)
    if coder == PCO:
        raw = array.tobytes() if array.nbytes <= WEAK or use.last else b""
        return Stream(kind, raw, PCO, _pco(array, use.pco))
    if layout in BITS:
        return bytes_stream(_bits(array, BITS[layout]), use.numbers, U8)
    if layout == PLANES:
        return bytes_stream(_planes(array), use.numbers, kind)
    return bytes_stream(array.tobytes(), use.numbers, kind)


def array_stream(
    array: NDArray[Any], use: ColumnEffort, top: int | None = None
) -> tuple[int, Stream]:
    """The layout and the stream of ``array`` in the way that takes the fewest bytes. ``array`` is
    of unsigned integers or doubles; ``top``: its largest value, where that is known."""
    ways = _ways(array, top)
    if len(array) > 2 * _TRIAL and not use.thorough:
        middle = (len(array) - _TRIAL) // 2
        trial = np.ascontiguousarray(array[middle : middle + _TRIAL])
        sizes = [_store(trial, way, use).size for way in ways]
        least = min(sizes)
        ways = [way for way, size in zip(ways, sizes, strict=True) if size * _CLEAR <= least]
    stored = [(layout, _store(array, (layout, coder), use)) for layout, coder in ways]
    return min(stored, key=lambda found: found[1].size)


def raw_size(layout: int, kind: int, number: int) -> int:
    """How many raw bytes ``number`` elements take, of a kind, in a layout."""
    if layout in BITS:
        return -(-number * BITS[layout] // 8)
    return number * cast(int, ARRAY_TYPES[kind].itemsize)
