"""The compressions: how each is recognized, and how it is decompressed piece by piece.

Errors name the place in the compressed file at which decompressing failed.
"""

from collections.abc import Callable, Iterator
from typing import Any

from serialpack.compressed._input import READ_SIZE, CompressedInput, Kind, truncated
from serialpack.container.reader import SNIFF
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.files.source import Source
from serialpack.stages.stage import import_library
from serialpack.text import error_words

#: The most decompressed bytes that are given at a time.
_PIECE = 1 << 20

#: The largest window (zstd) or dictionary (xz, lzma) in bytes that a decompressor may keep in
#: memory; data that ask for more are refused. The stock tools allow as much without being asked.
_WINDOW = 128 << 20

_ZSTD = b"\x28\xb5\x2f\xfd"
_LZ4 = b"\x04\x22\x4d\x18"

#: Block_Maximum_Size of zstd (RFC 8878).
_ZSTD_BLOCK = 128 << 10

#: How many bytes of skippable frames ``behind_skippable`` passes over in search of another frame.
_MOST_SKIPPED = 64 << 10


#: The sizes of the dictionary that a file of lzma may ask for.
_LZMA_DICTIONARIES = {size << n for n in range(31) for size in (2, 3)}


def _damaged(
    kind: Kind, error: Exception, start: int, source: CompressedInput
) -> DamagedError | UnsupportedError:
    """Our error for ``error``, which the library raised within the member that begins at
    ``start``."""
    why = error_words(error).rpartition(": ")[2].rstrip(".")
    if "memory" in why.lower() or "dictionary" in why.lower():
        return UnsupportedError(
            f"{kind.name} data that ask too much of a reader: {why}", start=start, path=source.path
        )
    return DamagedError(
        f"damaged {kind.name} data: {why}", start=start, end=source.offset, path=source.path
    )


def _another_follows(source: CompressedInput, kind: Kind, padding: int = 0) -> bool:
    """Whether another member begins here (False: the file ends); DamagedError for anything else.

    ``padding``: zero bytes are allowed between members and at the end, if their number is a
    multiple of this; 0: no zero bytes are allowed.
    """
    start = source.offset
    if padding and source.skip_zeros() % padding:
        raise DamagedError(
            f"zeros that are no padding follow the {kind.name} data",
            start=start,
            end=source.offset,
            path=source.path,
        )
    head = source.peek(SNIFF)
    if head and not kind.begins(head):
        raise DamagedError(
            f"bytes follow that are no {kind.name} data", start=source.offset, path=source.path
        )
    return bool(head)


class _Gzip:
    """zlib's decompressor of a gzip member, with the methods that those of bz2 and lzma have."""

    def __init__(self) -> None:
        import zlib

        self._zlib = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(data or self._zlib.unconsumed_tail, max_length)


def _gzip(source: CompressedInput, kind: Kind) -> Iterator[bytes]:
    import zlib

    return _members(source, kind, _Gzip, (zlib.error,), padding=1)


def _bzip2(source: CompressedInput, kind: Kind) -> Iterator[bytes]:
    import bz2

    return _members(source, kind, bz2.BZ2Decompressor, (OSError, ValueError))


def _xz(source: CompressedInput, kind: Kind) -> Iterator[bytes]:
    import lzma

    def decoder() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_WINDOW)

    return _members(source, kind, decoder, (lzma.LZMAError,), padding=4)


def _lzma(source: CompressedInput, kind: Kind) -> Iterator[bytes]:
    import lzma

    def decoder() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=_WINDOW)

    return _members(source, kind, decoder, (lzma.LZMAError,))


def _lz4(source: CompressedInput, kind: Kind) -> Iterator[bytes]:
    lz4 = import_library("lz4.frame", "lz4")
    return _members(source, kind, lz4.LZ4FrameDecompressor, (RuntimeError, ValueError))


def _members(
    source: CompressedInput,
    kind: Kind,
    new: Callable[[], Any],
    errors: tuple[type[Exception], ...],
    padding: int = 0,
) -> Iterator[bytes]:
    """The decompressed bytes of all members, in pieces.

    ``new`` makes the decompressor of one member; ``errors`` are the exceptions that this raises for
    damaged data. ``padding``: see ``_another_follows``.
    """
    while True:
        if not _skip_frame(source, kind):
            yield from _member(source, kind, new(), errors)
        if not _another_follows(source, kind, padding):
            return


def _member(
    source: CompressedInput, kind: Kind, decoder: Any, errors: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    start = source.offset
    # The library copies all bytes behind the end of a member, which may be short: so little is read
    # at first, and twice as much each time.
    size = 1 << 10
    while not decoder.eof:
        data = b""
        if decoder.needs_input:
            data, size = source.read(size), min(2 * size, READ_SIZE)
            if not data:
                raise truncated(kind, source.offset, source.path)
        try:
            piece = decoder.decompress(data, _PIECE)
        except errors as error:
            raise _damaged(kind, error, start, source) from None
        if piece:
            yield piece
    source.put_back(decoder.unused_data or b"")


def _zstd(source: CompressedInput, kind: Kind) -> Iterator[bytes]:
    import zstandard

    # One for all frames: making it takes twenty times as long as decompressing an empty frame.
    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    while True:
        if not _skip_frame(source, kind):
            yield from _zstd_frame(source, kind, decompressor)
        if not _another_follows(source, kind):
            return


def _zstd_frame(source: CompressedInput, kind: Kind, decompressor: Any) -> Iterator[bytes]:
    """The decompressed bytes of a frame, block by block (RFC 8878, 3.1.1).

    The blocks are walked here because the library, given all at once, does not notice that a frame
    is cut off: it returns what it could decompress.
    """
    import zstandard

    start = source.offset
    decoder = decompressor.decompressobj()
    try:
        head = source.exactly(5, kind)
        head += source.exactly(zstandard.frame_header_size(head) - len(head), kind)
        frame = zstandard.get_frame_parameters(head)
        last = False
        while not last:
            block = source.exactly(3, kind)
            last, form, size = _zstd_block(block)
            if form == 3 or size > _ZSTD_BLOCK:
                raise zstandard.ZstdError("a block that cannot be")
            # Of a block that is one byte again and again (type 1), only that byte is stored.
            block += source.exactly(1 if form == 1 else size, kind)
            if piece := decoder.decompress(head + block):
                yield piece
            head = b""
        if frame.has_checksum:
            yield decoder.decompress(source.exactly(4, kind))
        if not decoder.eof:
            raise zstandard.ZstdError("a frame without an end")
    except zstandard.ZstdError as error:
        raise _damaged(kind, error, start, source) from None


def _brotli(source: CompressedInput, kind: Kind) -> Iterator[bytes]:
    brotli = import_library("brotli", "brotli")
    start, decoder = source.offset, brotli.Decompressor()
    while not decoder.is_finished():
        data = source.read(READ_SIZE)
        if not data:
            raise truncated(kind, source.offset, source.path)
        # The library drops the bytes that follow the end of the data in the same call. So the last
        # byte of each read is given alone: an end that all but the last byte reach is noticed, and
        # that byte is put back.
        for part in (data[:-1], data[-1:]):
            if decoder.is_finished():
                source.put_back(part)
                break
            full = True
            while full:
                try:
                    piece = decoder.process(part, output_buffer_limit=_PIECE)
                except brotli.error as error:
                    raise _damaged(kind, error, start, source) from None
                if piece:
                    yield piece
                part, full = b"", len(piece) >= _PIECE and not decoder.is_finished()
    _another_follows(source, kind)


def _zstd_block(header: bytes) -> tuple[bool, int, int]:
    """Of the header of a zstd block: whether it is the last block, its type, and its size."""
    fields = int.from_bytes(header, "little")
    return bool(fields & 1), fields >> 1 & 3, fields >> 3


def is_skippable(head: bytes) -> bool:
    """Whether a skippable frame (RFC 8878, 3.1.2) may begin with ``head``, which may be shorter
    than the four bytes of its magic number."""
    return 0x50 <= head[0] <= 0x5F and b"\x2a\x4d\x18".startswith(head[1:4])


def _skip_frame(source: CompressedInput, kind: Kind) -> bool:
    """Read past the skippable frame that begins here, and return True; return False, and read
    nothing, where none begins."""
    if kind.name not in ("zstd", "LZ4") or not is_skippable(source.peek(4)):
        return False
    left = int.from_bytes(source.exactly(8, kind)[4:], "little")
    while left:
        data = source.read(min(left, READ_SIZE))
        if not data:
            raise truncated(kind, source.offset, source.path)
        left -= len(data)
    return True


def behind_skippable(source: Source) -> str:
    """The compression of a file that begins with skippable frames, which zstd and LZ4 have in
    common: ``LZ4`` where the first other frame is one of LZ4, else ``zstd``."""
    at, head = 0, b""
    while at < _MOST_SKIPPED:
        if len(head) < at + 8:
            head = source.peek(2 * at + 8)
        frame = head[at : at + 8]
        if len(frame) < 8 or not is_skippable(frame):
            return "LZ4" if frame.startswith(_LZ4) else "zstd"
        at += 8 + int.from_bytes(frame[4:], "little")
    return "zstd"


def _magic(magic: bytes) -> Callable[[bytes], bool]:
    return lambda head: magic.startswith(head[: len(magic)])


def _begins_gzip(head: bytes) -> bool:
    """Whether a member of gzip may begin with ``head``: method 8 and no reserved flag (RFC 1952,
    2.3)."""
    return b"\x1f\x8b\x08".startswith(head[:3]) and not any(flag & 0xE0 for flag in head[3:4])


def _begins_bzip2(head: bytes) -> bool:
    if not b"BZh".startswith(head[:3]) or not b"123456789".count(head[3:4]):
        return False
    return any(start.startswith(head[4:10]) for start in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"))


def _begins_lzma(head: bytes) -> bool:
    """Whether a file of lzma that is not empty may begin with ``head``.

    lzma has no magic number. Checked is what xz checks (liblzma, alone_decoder.c): the properties
    that all tools write, a dictionary of 2^n or 2^n + 2^(n - 1) bytes, a size below 2^38 or
    unknown, and the first byte of the coded data, which is 0.
    """
    if not b"\x5d\0\0".startswith(head[:3]):
        return False
    dictionary, size = (int.from_bytes(head[a:b], "little") for a, b in ((1, 5), (5, 13)))
    if len(head) >= 5 and (dictionary not in _LZMA_DICTIONARIES):
        return False
    if len(head) >= 13 and not (0 < size < 1 << 38 or size == (1 << 64) - 1):
        return False
    return head[13:14] in (b"", b"\0")


KINDS = (
    Kind("gzip", (".gz",), _begins_gzip, _gzip),
    Kind("zstd", (".zst", ".zstd"), lambda h: _magic(_ZSTD)(h) or is_skippable(h), _zstd),
    Kind("bzip2", (".bz2",), _begins_bzip2, _bzip2),
    Kind("xz", (".xz",), _magic(b"\xfd7zXZ\x00"), _xz),
    # A file of plain numbers may begin so, too, unless the size is said to be unknown (eight bytes
    # 0xFF), as xz writes it.
    Kind("lzma", (".lzma",), _begins_lzma, _lzma, lambda head: head[5:13] == b"\xff" * 8),
    Kind("LZ4", (".lz4",), lambda h: _magic(_LZ4)(h) or is_skippable(h), _lz4),
    Kind("brotli", (".br",), lambda _: False, _brotli, by_name=True),
)
