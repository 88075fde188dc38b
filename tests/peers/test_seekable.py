"""The file is one of zstd's seekable format.

The reader here is written from zstd's contrib/seekable_format/zstd_seekable_compression_format.md
alone.
"""

from __future__ import annotations

import struct
from random import Random
from typing import NamedTuple

import pytest

from tests.peers.conftest import Sample

pytestmark = pytest.mark.peers

_SEEK_TABLE = 0x184D2A5E
_SEEKABLE = 0x8F92EAB1
_ZSTD = 0xFD2FB528


class Frame(NamedTuple):
    """An entry of the table: where the frame and what it restores to begin, and their sizes."""

    offset: int
    stored: int
    start: int
    size: int


def seek_table(data: bytes) -> list[Frame]:
    """The entries of the seek table that ``data`` ends with; AssertionError where it has none."""
    count, descriptor, magic = struct.unpack("<IBI", data[-9:])
    assert magic == _SEEKABLE
    assert descriptor & 0b0111_1111 == 0, "reserved bits"
    entry = struct.Struct("<III" if descriptor & 0x80 else "<II")
    length = count * entry.size + 9
    begin = len(data) - length - 8
    assert struct.unpack("<II", data[begin : begin + 8]) == (_SEEK_TABLE, length)
    frames, offset, start = [], 0, 0
    for number in range(count):
        stored, size = entry.unpack_from(data, begin + 8 + number * entry.size)[:2]
        frames.append(Frame(offset, stored, start, size))
        offset, start = offset + stored, start + size
    assert offset == begin, "the frames and the table are the whole file"
    return frames


def restore(data: bytes, frame: Frame) -> bytes:
    """A frame on its own. A skippable one restores to nothing."""
    import zstandard

    stored = data[frame.offset : frame.offset + frame.stored]
    magic, length = struct.unpack("<II", stored[:8])
    if magic >> 4 == 0x184D2A5:
        assert len(stored) == 8 + length
        return b""
    assert magic == _ZSTD
    restorer = zstandard.ZstdDecompressor().decompressobj()
    restored = restorer.decompress(stored)
    assert restorer.eof
    assert restorer.unused_data == b""
    return restored


#: Of one member; a short one has no seek table.
SINGLE = ["blocks", "stored", "blocks and stored"]


@pytest.mark.parametrize("name", SINGLE)
def test_the_seek_table_tells_every_frame_and_what_it_restores_to(
    samples: dict[str, Sample], name: str
) -> None:
    data, packed = samples[name].data, samples[name].packed.read_bytes()
    frames = seek_table(packed)
    pieces = [restore(packed, frame) for frame in frames]
    assert [len(piece) for piece in pieces] == [frame.size for frame in frames]
    assert b"".join(pieces) == data


def test_any_byte_is_found_by_the_table_with_one_frame_read(samples: dict[str, Sample]) -> None:
    data, packed = (
        samples["blocks and stored"].data,
        samples["blocks and stored"].packed.read_bytes(),
    )
    frames = seek_table(packed)
    random = Random(4)
    for _ in range(100):
        at = random.randrange(len(data))
        (frame,) = [f for f in frames if f.start <= at < f.start + f.size]
        assert restore(packed, frame)[at - frame.start] == data[at]


@pytest.mark.parametrize("name", SINGLE)
def test_pyzstd_seeks_in_it(samples: dict[str, Sample], name: str) -> None:
    pyzstd = pytest.importorskip("pyzstd")
    data, packed = samples[name].data, samples[name].packed
    with pyzstd.SeekableZstdFile(packed) as file:
        assert file.seek(0, 2) == len(data)
        random = Random(5)
        for _ in range(20):
            at = random.randrange(len(data) + 1)
            file.seek(at)
            assert file.read(100) == data[at : at + 100]


def test_after_a_bare_cat_pyzstd_refuses_to_seek_and_gives_no_wrong_byte(
    samples: dict[str, Sample],
) -> None:
    pyzstd = pytest.importorskip("pyzstd")
    with pytest.raises(pyzstd.SeekableFormatError):
        pyzstd.SeekableZstdFile(samples["joined"].packed)
