"""What auto packs is not larger than what zstd makes of it at the level of that effort.

Larger by one per cent and 500 bytes is allowed for what a container adds: checksums, the index,
and blocks that do not know of each other.
"""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import zstandard

import serialpack

#: Efforts, and the levels that people who type them know from zstd.
LEVELS = {1: 1, 3: 3, 9: 19}
SHARE, BYTES = 0.01, 500

#: Of shared files, -9 packs those up to so many bytes: it takes a second for 2 MB.
_MOST_AT_9 = 16 << 10

R = random.Random(11)
DRAW = np.random.default_rng(11)


def over(source: Path | bytes, effort: int) -> float:
    """By how many bytes it is packed larger than it may be; below 0 where it is not."""
    if isinstance(source, Path):
        data = source.read_bytes()
        file: io.BytesIO | Path = source
    else:
        data = source
        file = io.BytesIO(source)
    compressor = zstandard.ZstdCompressor(level=LEVELS[effort], write_checksum=True)
    report = serialpack.pack(file, io.BytesIO(), effort=effort, verify=False)
    return report.packed - (1 + SHARE) * len(compressor.compress(data)) - BYTES


def program(size: int = 2_500_000) -> bytes:
    """Short instructions whose operands vary, calls, tables of addresses, names."""
    code = [bytes(R.choices(range(256), k=R.randrange(1, 5))) for _ in range(400)]
    names = [f"_ZN{R.randrange(99)}module{R.randrange(999)}call{R.randrange(99)}Ev\0" for _ in "ab"]
    parts = []
    left = size
    while left > 0:
        kind = R.random()
        if kind < 0.85:
            part = R.choice(code) + (R.choice(code) if kind < 0.6 else R.randbytes(1))
        elif kind < 0.97:
            part = b"\xe8" + struct.pack("<i", R.randrange(-(1 << 18), 1 << 18))
        elif kind < 0.99:
            part = struct.pack("<Q", 0x400000 + 16 * R.randrange(1 << 16))
        else:
            part = R.choice(names).encode()
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def tiles(count: int = 1200) -> bytes:
    """Small pictures, each a record of varints and short names, as maps are stored."""
    parts = []
    for _ in range(count):
        points = np.abs(DRAW.normal(0, 40, 300)).astype("<u2")
        names = b"".join(R.choice([b"road", b"water", b"name:en", b"class"]) for _ in range(40))
        parts.append(struct.pack(">I", 600) + points.tobytes() + names + R.randbytes(120))
    return b"".join(parts)


def volume(shape: tuple[int, ...] = (33, 41, 25)) -> bytes:
    """A header, and a noisy picture of two bytes a voxel: a file of some 68 kB."""
    middle = np.hypot(*np.ogrid[-1 : 1 : shape[0] * 1j, -1 : 1 : shape[1] * 1j])[..., None]
    voxels = np.maximum(0, 30_000 * (1 - middle) + DRAW.normal(0, 9_000, shape))
    return bytes(348) + voxels.astype("<u2").tobytes()


def doubles() -> bytes:
    """A table's columns one after another: doubles, whole numbers, and flags."""
    walk = np.cumsum(DRAW.normal(size=150_000)).round(3)
    return walk.tobytes() + np.arange(150_000).tobytes() + DRAW.integers(0, 2, 90_000).tobytes()


def prose_records() -> bytes:
    """Lines whose values are what people write: columns find nothing in them."""
    words = ["".join(R.choices("etaoinshrdlu", k=R.randrange(2, 10))) for _ in range(6000)]
    line = '{"id": %d, "%s": "%s"}\n'
    return "".join(
        line % (n, R.choice(words), " ".join(R.choices(words, k=R.randrange(20, 90))))
        for n in range(18_000)
    ).encode()


GENERATED: dict[str, Callable[[], bytes]] = {
    "program": program,
    "tiles": tiles,
    "volume": volume,
    "doubles": doubles,
    "prose.ndjson": prose_records,
    "a tenth of noise": lambda: b"".join(R.randbytes(950) + bytes(50) for _ in range(60)),
    "noise with a page of text": lambda: (
        R.randbytes(60_000) + b"a page " * 9000 + R.randbytes(900_000)
    ),
    "noise twice": lambda: R.randbytes(90_000) * 2,
    "small": lambda: b"\0\1\2\3" * 25 + R.randbytes(3000),
    "nothing": bytes,
}


@cache
def generated(kind: str) -> bytes:
    return GENERATED[kind]()


@pytest.mark.parametrize("effort", LEVELS)
@pytest.mark.parametrize("kind", GENERATED)
def test_no_larger_than_zstd(kind: str, effort: int, tmp_path: Path) -> None:
    path = tmp_path / kind
    path.write_bytes(generated(kind)[: 200_000 if effort == 9 else None])
    assert over(path, effort) <= 0


@pytest.mark.parametrize("effort", LEVELS)
def test_no_shared_file_is_larger_than_zstd(shared_data: Path, effort: int) -> None:
    larger = {}
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    for path in files:
        if effort != 9 or path.stat().st_size <= _MOST_AT_9:
            by = over(path, effort)
            if by > 0:
                larger[str(path.relative_to(shared_data))] = by
    assert files
    assert not larger
