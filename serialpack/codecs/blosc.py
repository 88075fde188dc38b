"""Blosc 1: a blocked shuffle and compressor, with six codecs of its own."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from serialpack.codecs.base import Codec, check_ratio, check_size
from serialpack.errors import CodecError, RefusedError
from serialpack.stages.stage import Buffer, Param, dialled
from serialpack.text import number_of

#: The number in a chunk's flags of the format that each codec writes.
_FORMATS = {"blosclz": 0, "lz4": 1, "lz4hc": 1, "snappy": 2, "zlib": 3, "zstd": 4}

#: BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE; and the flags by which a chunk says so.
_FILTERS = {"": (0, 0x00), "shuffle": (1, 0x01), "bitshuffle": (2, 0x04)}

#: version, compressor's version, flags, item size, nbytes, block size, cbytes.
_HEADER = struct.Struct("<BBBBIII")

#: BLOSC_MAX_BUFFERSIZE
_LARGEST = 2**31 - 1 - 16

#: The most that any of the codecs can expand (a block of zstd: 4 bytes to 128 KiB).
_MOST = 32 << 10


#: Levels worth comparing: from its fastest that still compresses to where it gains no more.
_LEVELS = {"blosc-lz4hc": (":9",), "blosc-zstd": (":1", ":5")}


class Blosc(Codec):
    """Data format: one Blosc 1 chunk (c-blosc, README_CHUNK_FORMAT.rst), version 2.

    The chunk's header must name the codec, the filter and the item size that the chain says;
    without a filter the item size is 1. ``threads`` are Blosc's own, in each call: more than
    one write a chunk's blocks in whatever order they are done, so the bytes differ from run to
    run. It may be set; reading uses it too, whence it is no more than there are processors.
    """

    library = "blosc"
    restores_in_place = True
    params = (
        dialled("level", 0, 9, (1, 3, 5, 6, 7, 8, 9, 9, 9)),
        Param("block", 1 << 10, 64 << 20, 0, "@", is_size=True),
        Param("threads", 1, 256, 0, "/"),
    )
    about = "blocked, with byte or bit shuffle built in"
    bound = (
        "The chunk's header must state the size promised, possible for its length, the exact "
        "length of the stored bytes, and the chain's codec and filter; then the library writes "
        "into memory of that size."
    )

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        import blosc

        self._blosc = blosc
        self._codec = name.removeprefix("blosc-")
        self._level, self._block, threads = self.values
        self._filter, self._itemsize = "", 1
        self.threads = min(threads or 1, os.cpu_count() or 1)

    @classmethod
    def worth_trying(cls, name: str) -> tuple[str, ...]:
        return _LEVELS.get(name, cls.levels)

    @classmethod
    def missing(cls, name: str) -> str | None:
        install = super().missing(name)
        if install is not None:
            return install
        import blosc

        codec = name.removeprefix("blosc-")
        if codec in blosc.compressor_list():
            return None
        return (
            f"this blosc is built without {codec}; build one with it: "
            f"CMAKE_ARGS=-DDEACTIVATE_{codec.upper()}=OFF pip install --no-binary blosc blosc"
        )

    def with_filter(self, kind: str, itemsize: int) -> None:
        """Have Blosc itself apply ``shuffle`` or ``bitshuffle``, block by block as it compresses.

        For the filter that stands right before this codec in the chain, both ways.
        """
        if kind not in ("shuffle", "bitshuffle") or not 1 <= itemsize <= 255:
            raise ValueError(f"blosc has no filter {kind}:{itemsize}")
        self._filter, self._itemsize = kind, itemsize

    def _compress(self, data: Buffer) -> bytes:
        if len(data) > _LARGEST:
            raise RefusedError(f"{self.name} holds at most {_LARGEST:,} bytes in a block")
        shuffle, _ = _FILTERS[self._filter]
        with _settings(self._block, self.threads):
            stored: bytes = self._blosc.compress(
                data, self._itemsize, self._level, shuffle, self._codec
            )
        return stored

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        self._check_header(stored, size)
        with _settings(self._block, self.threads):
            data: bytes = self._blosc.decompress(stored)
        check_size(len(data), size)
        return data

    def _decompress_into(self, stored: Buffer, room: memoryview) -> Buffer:
        # The library believes the header once more: nobody else must be able to change it.
        stored = bytes(stored)
        self._check_header(stored, len(room))
        if not room:
            return room
        import ctypes

        with _settings(self._block, self.threads):
            place = ctypes.addressof(ctypes.c_char.from_buffer(room))
            self._blosc.decompress_ptr(stored, place)
        return room

    def _check_header(self, stored: Buffer, size: int) -> None:
        if len(stored) < _HEADER.size:
            raise CodecError("is too short for a blosc chunk")
        version, _, flags, itemsize, nbytes, _, cbytes = _HEADER.unpack_from(stored)
        if version != 2:
            raise CodecError(f"is of blosc's format {version}, not 2")
        check_size(nbytes, size)
        check_ratio(len(stored), size, _MOST)
        if cbytes != len(stored) or (size == 0 and cbytes != _HEADER.size):
            raise CodecError(
                f"says it takes {number_of(cbytes, 'byte')}, there are {len(stored):,}"
            )
        if flags >> 5 != _FORMATS[self._codec]:
            raise CodecError(f"is not written by {self.name}")
        if (flags & 0x05, itemsize) != (_FILTERS[self._filter][1], self._itemsize):
            raise CodecError("is filtered in another way than its chain says")


# Blosc's settings are the process's, and its compressor reads them after it has let go of the
# GIL. So calls with the same settings run at once, and others wait until those are done. Then
# the settings are what they were, for other users of the library in this process.
_gate = threading.Condition()
_current: tuple[int, int] | None = None
_before: tuple[bool, int, int] = (False, 0, 1)
_running = 0


@contextmanager
def _settings(block: int, threads: int) -> Iterator[None]:
    global _current, _before, _running
    import blosc

    with _gate:
        while _running and _current != (block, threads):
            _gate.wait()
        if not _running:
            before = blosc.set_releasegil(True), blosc.get_blocksize(), blosc.set_nthreads(threads)
            blosc.set_blocksize(block)
            _before, _current = before, (block, threads)
        _running += 1
    try:
        yield
    finally:
        with _gate:
            _running -= 1
            if not _running:
                gil, old_block, old_threads = _before
                blosc.set_releasegil(gil)
                blosc.set_blocksize(old_block)
                blosc.set_nthreads(old_threads)
                _gate.notify_all()
