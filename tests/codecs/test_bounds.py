"""Hostile stored bytes for the decoders that have no limit of their own, and what keeps them."""

from __future__ import annotations

import lzma
import struct
import subprocess
import sys

import pytest

from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.codecs.xz import _dict_size
from serialpack.errors import CodecError


def create(name: str, *values: int) -> Codec:
    install = CODECS.cls(name).missing(name)
    if install is not None:
        pytest.skip(f"{name}: {install}")
    return CODECS.create(name, values)


def test_lz4_stores_no_size_and_reads_hc() -> None:
    assert bytes(create("lz4").compress(b"abc")) == b"\x30abc"
    data = b"abcd" * 1000
    stored = create("lz4", 12).compress(data)
    assert create("lz4").decompress(stored, len(data)) == data


@pytest.mark.parametrize("length", ["ffffffff0f", "808080800c", "e907"])
def test_snappy_length_is_checked_before_decoding(length: str) -> None:
    codec = create("snappy")
    with pytest.raises(CodecError, match="the block header says 1,000"):
        codec.decompress(bytes.fromhex(length) + b"abc", 1000)
    with pytest.raises(CodecError, match="cannot restore"):
        codec.decompress(bytes.fromhex("ffffffff0f") + b"abc", 2**32 - 1)


LZO_BOMB = """
import resource, sys
from serialpack.codecs import CODECS
from serialpack.errors import CodecError
codec = CODECS.create("lzo")
codec.decompress(codec.compress(b"warm"), 4)
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (160 << 20), -1))
try:
    codec.decompress(sys.stdin.buffer.read(), 1000)
except CodecError as error:
    print("refused:", error)
# Not ru_maxrss: that begins with what the process had that started this one.
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS and /proc")
def test_lzo_piece_that_grows_takes_bounded_memory() -> None:
    """One match of 33 MB in a piece; a stored block could otherwise ask for 255 times its size."""
    create("lzo")
    run = b"\x12a\x20" + bytes(130_000) + b"\x01\x00\x00" + b"\x11\0\0"
    child = subprocess.run(
        [sys.executable, "-c", LZO_BOMB],
        input=struct.pack("<I", len(run)) + run,
        capture_output=True,
        check=False,
    )
    assert child.stdout.startswith(b"refused: has a piece of 33,150,"), child.stderr.decode()
    assert int(child.stdout.split()[-1]) < 160 << 10


def test_lzo_layout() -> None:
    codec = create("lzo")
    assert bytes(codec.compress(b"")) == b""
    assert bytes(codec.compress(b"a")) == bytes.fromhex("05000000 12 61 110000")
    stored = bytes(codec.compress(bytes(600 << 10)))
    lengths = []
    while stored:
        (length,) = struct.unpack_from("<I", stored)
        lengths.append(length)
        stored = stored[4 + length :]
    assert len(lengths) == 5
    with pytest.raises(CodecError, match="takes 4,294,967,295 bytes"):
        codec.decompress(b"\xff" * 4 + bytes(100), 50)


@pytest.mark.parametrize("quality", [0, 5, 9])
def test_brotli_is_drained_wherever_the_output_limit_falls(quality: int) -> None:
    codec = create("brotli", quality)
    lines = b"".join(b"%d: %d\n" % (i, i * i % 9973) for i in range(250_000))
    for size in (32_752, 65_536, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, 2 << 20, 3_000_000):
        for data in (lines[:size], bytes(size)):
            stored = bytes(codec.compress(data))
            assert codec.decompress(stored, size) == data
            for wrong in (size - 1, size + 1):
                with pytest.raises(CodecError):
                    codec.decompress(stored, wrong)
            with pytest.raises(CodecError):
                codec.decompress(stored + b"x", size)


def test_brotli_window_spans_the_data() -> None:
    codec = create("brotli")
    # The first bits of a stream (RFC 7932, 9.1): 0 is a window of 64 KiB, 1111 one of 16 MiB.
    assert codec.compress(bytes(300))[0] & 0x01 == 0
    assert codec.compress(bytes(12 << 20))[0] & 0x0F == 0x0F


@pytest.mark.parametrize(
    ("size", "dict_size"),
    [
        (0, 4 << 10),
        (1, 4 << 10),
        (4096, 4 << 10),
        (4097, 6 << 10),
        (6 << 10, 6 << 10),
        ((6 << 10) + 1, 8 << 10),
        (1 << 20, 1 << 20),
        ((1 << 20) + 1, 3 << 19),
        (64 << 20, 64 << 20),
    ],
)
def test_xz_dictionary_is_clipped_to_the_data(size: int, dict_size: int) -> None:
    assert _dict_size(size) == dict_size
    if size <= 1 << 20:
        stored = bytes(create("xz", 9).compress(bytes(size)))
        if size:
            bits = stored[16]
            assert stored[14:16] == b"\x21\x01", "LZMA2, one byte of properties"
            assert (2 | bits & 1) << bits // 2 + 11 == dict_size
        assert create("xz", 0).decompress(stored, size) == bytes(size)


def test_xz_dictionary_beyond_the_limit_is_refused() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 128 << 20}]
    # Encoding it takes memory that is never touched; the decoder refuses on the header alone.
    stored = lzma.compress(b"abc", lzma.FORMAT_XZ, filters=filters)
    with pytest.raises(CodecError, match=r"[Mm]emory"):
        create("xz").decompress(stored, 3)
