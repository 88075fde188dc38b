"""columns: very many records, and a very large one, in bounded memory."""

from __future__ import annotations

import random
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import serialpack
from serialpack.stages.stage import MAX_BLOCK
from tests.faults.test_memory import peak

MIB = 1 << 20
THREADS = 2

#: What packing and unpacking may take above what the command takes for next to nothing: in MiB,
#: with blocks of 4 MiB. Seen here: 85 and 49.
MOST = 12 * 4 * THREADS


def back(folder: Path, data: bytes) -> tuple[serialpack.PackReport, int]:
    """Pack, unpack and compare; the size of the container."""
    (folder / "x.ndjson").write_bytes(data)
    source, small = folder / "x.ndjson", folder / "x.spk"
    report = serialpack.pack(source, small, serializer="columns", threads=THREADS, verify=False)
    serialpack.unpack(small, folder / "y", threads=THREADS)
    assert (folder / "y").read_bytes() == data
    return report, small.stat().st_size


def taken(source: Path) -> tuple[float, float]:
    """MiB that the command takes to pack and to unpack a file."""
    folder, target = source.parent, str(source.with_suffix(".spk"))
    return (
        peak(folder, "pack", "-s", "columns", "-j", "2", "-f", "-o", target, str(source)),
        peak(folder, "unpack", "-j", "2", "-o", "-", target),
    )


@cache
def taken_at_all() -> tuple[float, float]:
    """The same of next to nothing; measured once."""
    with TemporaryDirectory() as name:
        little = Path(name) / "little.ndjson"
        little.write_bytes(b'{"a":1}\n' * 100)
        return taken(little)


def taken_above(folder: Path) -> float:
    """MiB that the command takes for ``x.ndjson``, above what it takes at all."""
    much, little = taken(folder / "x.ndjson"), taken_at_all()
    return max(much[0] - little[0], much[1] - little[1])


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False], ids=["alike", "of three digits"])
def test_a_million_tiny_records(tmp_path: Path, same: bool) -> None:
    numbers = random.Random(1)
    data = b"".join(
        b'{"a":%d}\n' % (1 if same else numbers.randrange(1000)) for _ in range(1_000_000)
    )
    report, size = back(tmp_path, data)
    assert report.records == 1_000_000
    assert report.exact
    # Ten bits a number, or nothing at all.
    assert size < (1000 if same else 1.01 * 1_000_000 * 9.966 / 8)
    if sys.platform == "linux":
        assert taken_above(tmp_path) <= MOST


@pytest.mark.slow
def test_a_record_of_100_mb(tmp_path: Path) -> None:
    """It comes in pieces of the largest block, which are no records: they stay text."""
    page = b",".join(b'{"id":%d,"v":"%x"}' % (n, n * 7919**5) for n in range(20_000))
    data = b'{"all":[' + b",".join([page] * (100_000_000 // len(page) + 1)) + b"]}\n"
    assert len(data) > 100_000_000 > MAX_BLOCK
    report, _ = back(tmp_path, data)
    assert report.records == 1
    if sys.platform == "linux":
        assert taken_above(tmp_path) <= 2 * MAX_BLOCK / MIB
