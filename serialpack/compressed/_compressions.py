"""Compressions, each undone piece by piece, with the place where one fails."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from serialpack.container.reader import SNIFF
from serialpack.errors import DamagedError, TruncatedError, UnsupportedError
from serialpack.files.source import Source
from serialpack.stages.stage import import_library

#: The most bytes that are read, or restored, at a time.
_READ = 128 << 10
_PIECE = 1 << 20

#: The most bytes of a window, or of a dictionary, that are kept for the data.
_WINDOW = 128 << 20

_ZSTD = b"\x28\xb5\x2f\xfd"
_LZ4 = b"\x04\x22\x4d\x18"

#: Block_Maximum_Size of zstd (RFC 8878).
_ZSTD_BLOCK = 128 << 10

#: Bytes of skippable frames that are looked over to tell whether they are zstd's or LZ4's.
_MOST_SKIPPED = 64 << 10


#: The sizes of the dictionary that a file of lzma may ask for.
_LZMA_DICTIONARIES = {size << n for n in range(31) for size in (2, 3)}

_ZEROS = re.compile(rb"\0*+")


class Kind(NamedTuple):
    """A compression: how it is told, and how it is undone.

    ``begins``: whether bytes are the begin of a member, or a piece of one. ``is_marked``: whether
    no other file begins so; where one may, the name of the file must say the compression, too.
    ``by_name``: only the name tells it, as its data may begin with any bytes.
    """

    name: str
    extensions: tuple[str, ...]
    begins: Callable[[bytes], bool]
    pieces: "Callable[[CompressedInput, Kind], Iterator[bytes]]"
    is_marked: Callable[[bytes], bool] = lambda _: True
    by_name: bool = False


class CompressedInput:
    """The compressed bytes. ``offset``: how many of them were taken."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunk = b""
        self._at = 0
        self.path = source.path
        self.offset = 0

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, none only at the end."""
        if self._at == len(self._chunk):
            self._chunk, self._at = self._source.read(_READ), 0
        data = self._chunk[self._at : self._at + size]
        self._at += len(data)
        self.offset += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes, fewer only at the end; they stay to be read."""
        if self._at + size <= len(self._chunk):
            return self._chunk[self._at : self._at + size]
        head = self.read(size)
        while len(head) < size and (data := self.read(size - len(head))):
            head += data
        self.put_back(head)
        return head

    def exactly(self, size: int, kind: Kind) -> bytes:
        """The next ``size`` bytes; TruncatedError where there are fewer."""
        end = self._at + size
        if end <= len(self._chunk):
            data = self._chunk[self._at : end]
            self._at = end
            self.offset += size
            return data
        data = self.read(size)
        while len(data) < size:
            more = self.read(size - len(data))
            if not more:
                raise truncated(kind, self.offset, self.path)
            data += more
        return data

    def skip_zeros(self) -> int:
        """Read over zeros; how many there were."""
        start = self.offset
        while self.peek(1) == b"\0":
            zeros = _ZEROS.match(self._chunk, self._at)
            assert zeros
            self.offset += zeros.end() - self._at
            self._at = zeros.end()
        return self.offset - start

    def put_back(self, data: bytes) -> None:
        """Take back ``data``, the end of what was read last: it is read again next."""
        self.offset -= len(data)
        if self._at >= len(data):
            self._at -= len(data)
        else:
            self._chunk, self._at = data + self._chunk[self._at :], 0


def truncated(kind: Kind, at: int, path: str) -> TruncatedError:
    return TruncatedError(
        f"{kind.name} data that ends too early", start=at, path=path, hint="get the file again"
    )


def _damaged(
    kind: Kind, error: Exception, start: int, source: CompressedInput
) -> DamagedError | UnsupportedError:
    """The error for ``error``, which a library raised in the member that begins at ``start``."""
    why = " ".join(str(error).split()).rpartition(": ")[2].rstrip(".")
    if "memory" in why.lower() or "dictionary" in why.lower():
        return UnsupportedError(
            f"{kind.name} data that ask too much of a reader: {why}", start=start, path=source.path
        )
    return DamagedError(
        f"damaged {kind.name} data: {why}", start=start, end=source.offset, path=source.path
    )


def _following(source: CompressedInput, kind: Kind, padding: int = 0) -> bool:
    """Whether another member follows here; DamagedError where something else does.

    ``padding``: zeros may stand between members and at the end, in multiples of so many; 0: none.
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
    """zlib's decompressor of a gzip member, used as those of bz2 and lzma are."""

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
    """What all members hold, in pieces. ``new`` makes a decompressor, which raises ``errors``."""
    while True:
        if not _skipped(source, kind):
            yield from _member(source, kind, new(), errors)
        if not _following(source, kind, padding):
            return


def _member(
    source: CompressedInput, kind: Kind, decoder: Any, errors: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    start = source.offset
    # The library copies what is behind a member's end, so a little is read first: it may be short.
    size = 1 << 10
    while not decoder.eof:
        data = b""
        if decoder.needs_input:
            data, size = source.read(size), min(2 * size, _READ)
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

    # One for all frames: to make it takes twenty times as long as an empty frame does.
    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    while True:
        if not _skipped(source, kind):
            yield from _zstd_frame(source, kind, decompressor)
        if not _following(source, kind):
            return


def _zstd_frame(source: CompressedInput, kind: Kind, decompressor: Any) -> Iterator[bytes]:
    """What a frame holds, block by block (RFC 8878, 3.1.1).

    The library alone does not tell a frame that is cut, and restores as much as it is given.
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
        data = source.read(_READ)
        if not data:
            raise truncated(kind, source.offset, source.path)
        # The library drops bytes behind the end that come in the same call: so the last byte goes
        # alone, and what follows is seen.
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
    _following(source, kind)


def _zstd_block(header: bytes) -> tuple[bool, int, int]:
    """Whether a block is the last one, its type, and its size."""
    fields = int.from_bytes(header, "little")
    return bool(fields & 1), fields >> 1 & 3, fields >> 3


def is_skippable(head: bytes) -> bool:
    """Whether ``head`` begins a skippable frame, or is a piece of that begin (RFC 8878, 3.1.2)."""
    return 0x50 <= head[0] <= 0x5F and b"\x2a\x4d\x18".startswith(head[1:4])


def _skipped(source: CompressedInput, kind: Kind) -> bool:
    """Read over a skippable frame, where one stands here; whether one did."""
    if kind.name not in ("zstd", "LZ4") or not is_skippable(source.peek(4)):
        return False
    left = int.from_bytes(source.exactly(8, kind)[4:], "little")
    while left:
        data = source.read(min(left, _READ))
        if not data:
            raise truncated(kind, source.offset, source.path)
        left -= len(data)
    return True


def behind_skippable(source: Source) -> str:
    """``zstd`` or ``LZ4``, which share skippable frames: told by what follows those in front."""
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
    """Whether ``head`` begins a member of gzip: method 8, and no reserved flag (RFC 1952, 2.3)."""
    return b"\x1f\x8b\x08".startswith(head[:3]) and not any(flag & 0xE0 for flag in head[3:4])


def _begins_bzip2(head: bytes) -> bool:
    if not b"BZh".startswith(head[:3]) or not b"123456789".count(head[3:4]):
        return False
    return any(start.startswith(head[4:10]) for start in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"))


def _begins_lzma(head: bytes) -> bool:
    """Whether ``head`` begins a file of lzma that is not empty, by what xz checks (liblzma,
    alone_decoder.c).

    These are the properties that all tools write, a dictionary of 2^n or 2^n + 2^(n - 1) bytes, a
    size below 2^38 or unknown, and the first byte of the coded data.
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
    # Where the size is known, numbers may begin so, too; xz writes it as unknown.
    Kind("lzma", (".lzma",), _begins_lzma, _lzma, lambda head: head[5:13] == b"\xff" * 8),
    Kind("LZ4", (".lz4",), lambda h: _magic(_LZ4)(h) or is_skippable(h), _lz4),
    Kind("brotli", (".br",), lambda _: False, _brotli, by_name=True),
)
