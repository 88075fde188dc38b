"""Compresses what is written to a file whose name has the extension of a compression.

Each compression has the level that its own tool has by default; only brotli has a lower one. The
compressed bytes are decompressed again as they are written, and checksums compared.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from serialpack.compressed._compressions import KINDS
from serialpack.errors import FileError, UsageError
from serialpack.stages.stage import Buffer, Write, import_library

#: The most bytes that are given to the compressor in one call.
_PIECE = 1 << 20

#: How many bytes at the front tell whether what is written is compressed already.
_HEAD = 16


class _BothWays(NamedTuple):
    """A compressor (with methods ``compress`` and ``flush``), and a decompressor that undoes it
    (``decompress``). ``begin``: bytes to write before everything else."""

    compressor: Any
    undo: Any
    begin: bytes = b""


def _gzip() -> _BothWays:
    import zlib

    return _BothWays(zlib.compressobj(6, zlib.DEFLATED, 31), zlib.decompressobj(31))


def _zstd() -> _BothWays:
    import zstandard

    compressor = zstandard.ZstdCompressor(level=3, write_checksum=True).compressobj()
    return _BothWays(compressor, zstandard.ZstdDecompressor().decompressobj())


def _bzip2() -> _BothWays:
    import bz2

    return _BothWays(bz2.BZ2Compressor(9), bz2.BZ2Decompressor())


def _xz() -> _BothWays:
    import lzma

    return _BothWays(lzma.LZMACompressor(preset=6), lzma.LZMADecompressor())


def _lzma() -> _BothWays:
    import lzma

    compressor = lzma.LZMACompressor(lzma.FORMAT_ALONE, preset=6)
    return _BothWays(compressor, lzma.LZMADecompressor(lzma.FORMAT_ALONE))


def _lz4() -> _BothWays:
    lz4 = import_library("lz4.frame", "lz4")
    compressor = lz4.LZ4FrameCompressor(content_checksum=True)
    return _BothWays(compressor, lz4.LZ4FrameDecompressor(), compressor.begin())


class _Brotli:
    """Brotli's compressor or decompressor, with the methods that those of bz2 and lzma have."""

    def __init__(self, codec: Any) -> None:
        self.compress = self.decompress = codec.process
        self.flush = getattr(codec, "finish", None)


def _brotli() -> _BothWays:
    brotli = import_library("brotli", "brotli")
    # Its own default, 11, takes a hundred times as long.
    compressor = brotli.Compressor(quality=5)
    return _BothWays(_Brotli(compressor), _Brotli(brotli.Decompressor()))


_MAKERS: dict[str, Callable[[], _BothWays]] = {
    "gzip": _gzip,
    "zstd": _zstd,
    "bzip2": _bzip2,
    "xz": _xz,
    "lzma": _lzma,
    "LZ4": _lz4,
    "brotli": _brotli,
}


class CompressedWrite:
    """A function that compresses the bytes it is called with and gives them to ``write``.

    ``written``: how many compressed bytes were written so far. ``verify``: decompress them again,
    for ``finish`` to compare.
    """

    def __init__(self, write: Write, compression: str, *, verify: bool) -> None:
        from xxhash import xxh3_128

        if compression not in _MAKERS:
            known = ", ".join(_MAKERS)
            raise UsageError(f"unknown compression {compression!r}; known: {known}")
        self._write = write
        self._compression = compression
        self._codec = _MAKERS[compression]()
        self._verify = verify
        self._given, self._undone = xxh3_128(), xxh3_128()
        self.written = 0
        self._begun = False

    def __call__(self, data: Buffer) -> None:
        self._begin()
        view = memoryview(data)
        for at in range(0, len(view), _PIECE):
            piece = bytes(view[at : at + _PIECE])
            if self._verify:
                self._given.update(piece)
            self._put(self._codec.compressor.compress(piece))

    def finish(self) -> None:
        """Write the rest. FileError where the compressed bytes do not decompress to what was
        given."""
        self._begin()
        self._put(self._codec.compressor.flush())
        if self._verify and self._given.digest() != self._undone.digest():
            raise FileError(
                f"{self._compression} would give back other bytes",
                hint="name an output that is not compressed",
            )

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._put(self._codec.begin)

    def _put(self, data: bytes) -> None:
        if not data:
            return
        if self._verify:
            self._undone.update(self._codec.undo.decompress(data))
        self._write(data)
        self.written += len(data)


class _CompressOnce:
    """Looks at the first bytes that it is called with: if they are compressed already, it passes
    all bytes on as they are; else it compresses them."""

    def __init__(self, write: Write, compression: str) -> None:
        self._write = write
        self._out = CompressedWrite(write, compression, verify=True)
        self._begins = next(kind.begins for kind in KINDS if kind.name == compression)
        self._head: bytes | None = b""
        self._is_already = False

    def __call__(self, data: Buffer) -> None:
        if self._head is None:
            (self._write if self._is_already else self._out)(data)
            return
        self._head += bytes(data)
        if len(self._head) >= _HEAD:
            self._decide()

    def _decide(self) -> None:
        head, self._head = self._head or b"", None
        self._is_already = len(head) >= _HEAD and self._begins(head)
        self(head)

    def finish(self) -> None:
        """Write what is left."""
        if self._head is not None:
            self._decide()
        if not self._is_already:
            self._out.finish()


@contextmanager
def compressed_once(write: Write, compression: str | None) -> Iterator[Write]:
    """A function to write with: it compresses what it is given, unless that is compressed already,
    and gives it to ``write``. ``compression`` None: ``write`` itself.

    MissingLibraryError where the library of the compression is not installed, UsageError for an
    unknown compression.
    """
    if compression is None:
        yield write
        return
    out = _CompressOnce(write, compression)
    yield out
    out.finish()


@contextmanager
def compressed_as(
    write: Write, compression: str | None, *, verify: bool
) -> Iterator[CompressedWrite | None]:
    """A function that compresses what it is given and gives it to ``write``, whatever it begins
    with; None where ``compression`` is None. ``verify``: see ``CompressedWrite``. Errors as of
    ``compressed_once``.
    """
    if compression is None:
        yield None
        return
    out = CompressedWrite(write, compression, verify=verify)
    yield out
    out.finish()
