"""Zstd's frames: what is refused by the header, and the frame of raw blocks."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
import zstandard

from serialpack.codecs import CODECS
from serialpack.codecs.base import DIFFERENCES
from serialpack.codecs.zstd import Zstd, stored_frame
from serialpack.errors import CodecError

MAGIC = "28b52ffd"
SIZES = [0, 1, 2, 255, 256, 257, 65791, 65792, (128 << 10) - 1, 128 << 10, (128 << 10) + 1, 1 << 20]


def test_what_comes_again_is_found_from_any_place_of_a_block() -> None:
    """Levels up to 16 have windows of 2 or 4 MiB, blocks at their efforts are larger."""
    noise = random.Random(1).randbytes(1 << 20)
    block = noise + bytes(9 << 20) + noise
    for level in (5, 8, 12):
        codec = Zstd("zstd", (level,))
        stored = codec.compress(block)
        assert len(stored) < 1.1 * len(noise)
        assert codec.decompress(stored, len(block)) == block


def test_copies_are_found_that_are_farther_apart_than_a_level_remembers() -> None:
    """Archives have two versions of a large file in one block: the second took as much again."""
    noise = random.Random(1).randbytes(9 << 19)
    kept = [noise[at : at + 1024] for at in range(0, len(noise), 1024)]
    one, other = (
        b"".join(part + text * 80 for part in kept) for text in (b"a row of text", b"one more")
    )
    codec = Zstd("zstd", (5,))
    stored = codec.compress(one + other)
    assert len(stored) < 1.1 * len(codec.compress(one))
    assert codec.decompress(stored, len(one + other)) == one + other


@pytest.mark.parametrize("size", [30_000, 300_000, 3 << 20])
def test_differences_are_taken_by_another_strategy(size: int) -> None:
    """Of the highest levels: it looks for less that comes again, and leaves as much."""
    draw = random.Random(1)
    numbers = bytes(min(int(draw.expovariate(0.1)), 255) for _ in range(1 << 16))
    block = b"".join(numbers[draw.randrange(1 << 15) :][:999] for _ in range(size // 999))
    high, told, low = (Zstd("zstd", (level,)) for level in (19, 19, 9))
    for codec in (told, low):
        codec.begins(source=True, learned=DIFFERENCES)
    stored = told.compress(block)
    assert stored != high.compress(block)
    assert len(stored) < 1.01 * len(high.compress(block))
    assert low.compress(block) == Zstd("zstd", (9,)).compress(block)
    assert high.decompress(stored, len(block)) == block
    told.begins(source=False)
    assert told.compress(block) == high.compress(block)


@pytest.fixture
def codec() -> Zstd:
    return Zstd("zstd")


def data(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.mark.parametrize("size", SIZES)
def test_stored_frame_is_read_by_libzstd(codec: Zstd, size: int) -> None:
    frame = stored_frame(data(size))
    assert codec.decompress(frame, size) == data(size)
    facts = zstandard.get_frame_parameters(frame)
    assert (facts.content_size, facts.has_checksum, facts.dict_id) == (size, True, 0)
    assert facts.window_size <= 128 << 10
    assert len(frame) <= size + 14 + 3 * max(1, -(-size // (128 << 10)))
    reader = zstandard.ZstdDecompressor(max_window_size=128 << 10).stream_reader(frame)
    assert reader.read() == data(size)


@pytest.mark.parametrize("size", [*SIZES, 9 << 20])
def test_stored_frame_is_read_by_the_zstd_program(size: int) -> None:
    zstd = shutil.which("zstd")
    if zstd is None:
        pytest.skip("no zstd program")
    frame = stored_frame(memoryview(data(size)))
    subprocess.run([zstd, "-t", "-q", "--memory=8MB"], input=frame, check=True)
    done = subprocess.run([zstd, "-dc"], input=frame, check=True, capture_output=True)
    assert done.stdout == data(size)
    damaged = bytearray(frame)
    damaged[-5] ^= 1
    assert subprocess.run([zstd, "-tq"], input=damaged, capture_output=True, check=False).returncode


def test_stored_frame_bytes() -> None:
    # Magic, descriptor (single segment, checksum), content size, last raw block, XXH64's low half.
    frames = {
        b"": "28b52ffd 24 00 010000 99e9d851",
        b"hello": "28b52ffd 24 05 290000 68656c6c6f a36d9f88",
    }
    for content, frame in frames.items():
        assert stored_frame(content) == bytes.fromhex(frame)
    # From 256 bytes on: 4 bytes of content size, window of 128 KiB (no single segment).
    assert stored_frame(bytes(300))[:13] == bytes.fromhex("28b52ffd 84 38 2c010000 610900")
    long = stored_frame(bytes(131_073))
    assert long[:13] == bytes.fromhex("28b52ffd 84 38 01000200 000010")
    assert long[131_085:131_089] == bytes.fromhex("090000 00")


def test_compressed_frames_have_size_and_checksum(codec: Zstd) -> None:
    for content in (b"", b"x", bytes(1000)):
        facts = zstandard.get_frame_parameters(codec.compress(content))
        assert (facts.content_size, facts.has_checksum) == (len(content), True)


@pytest.mark.parametrize(
    ("frame", "size", "says"),
    [
        (zstandard.compress(b"abc"), 3, "checksum"),
        (
            zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(
                b"abc" * 100
            ),
            300,
            "content size",
        ),
        (f"{MAGIC} 84 90 2c010000 610900 00", 300, "window of 268,435,456"),
        (f"{MAGIC} 85 38 07 2c010000 610900 00", 300, "dictionary 7"),
        (f"{MAGIC} e4 0000000000010000 01000000000000", 2**40, "cannot restore"),
        ("502a4d18 03000000 616263", 3, "not a zstd frame"),
        ("502a4d18 00000000", 0, "not a zstd frame"),
        (f"{MAGIC} 24 00 010000 99e9d850", 0, "checksum"),
        (f"{MAGIC} 24 00 010000", 0, "end"),
    ],
)
def test_frames_that_are_refused(codec: Zstd, frame: str | bytes, size: int, says: str) -> None:
    stored = bytes.fromhex(frame) if isinstance(frame, str) else frame
    with pytest.raises(CodecError, match=says):
        codec.decompress(stored, size)


@pytest.mark.parametrize("header", ["a4 e8030000", "84 38 e8030000", "24 00"])
def test_runs_beyond_the_stated_size_are_refused(codec: Zstd, header: str) -> None:
    """1 GiB of zeros in 32 KiB: blocks of 128 KiB that one byte fills."""
    size = 0 if header == "24 00" else 1000
    rle = ((128 << 10) << 3 | 2).to_bytes(3, "little") + b"\0"
    frame = bytes.fromhex(MAGIC + header) + rle * 8192
    for stored in (frame, frame[:30]):
        with pytest.raises(CodecError):
            codec.decompress(stored, size)


def test_a_codec_told_of_records_writes_frames_like_any_other(codec: Zstd) -> None:
    told = Zstd("zstd")
    told.for_records()
    line = b'{"id": %d, "name": "n%d", "tag": "t%d"}\n'
    text = b"".join(line % (n, n * 7919, n % 9) for n in range(90_000))
    assert len(text) > 3 << 20
    for content in (text, text[: 2 << 20], text[:1000], b""):
        frame = told.compress(content)
        assert codec.decompress(frame, len(content)) == content
        assert zstandard.get_frame_parameters(frame).has_checksum
    assert told.compress(text) != codec.compress(text)
    assert told.compress(text[: 2 << 20]) == codec.compress(text[: 2 << 20])


def test_pieces_end_where_they_are_promised_to(codec: Zstd) -> None:
    content = data(300_000)
    frame = codec.compress(content)
    first = next(iter(codec.decompress_pieces(frame, len(content))))
    assert 0 < len(first) < len(content)
    assert content.startswith(first)
    with pytest.raises(CodecError, match="says it restores to"):
        next(iter(codec.decompress_pieces(frame, len(content) - 1)))
    with pytest.raises(CodecError, match="ends before"):
        list(codec.decompress_pieces(frame[:200_000], len(content)))
    # Whatever its blocks hold, no more than the promised size comes out.
    rle = ((128 << 10) << 3 | 2).to_bytes(3, "little") + b"\0"
    false = bytes.fromhex(MAGIC + "a4 e8030000") + rle * 100
    with pytest.raises(CodecError):
        assert len(b"".join(codec.decompress_pieces(false, 1000))) > 1000


def test_largest_window_that_a_block_needs() -> None:
    codec = CODECS.create("zstd", (22,))
    facts = zstandard.get_frame_parameters(codec.compress(bytes(64 << 20)))
    assert facts.window_size <= 128 << 20
