"""Memory is bounded whatever the input's size: the largest resident size of the real command."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import serialpack
from tests.cli.conftest import environment
from tests.faults.conftest import KIB, MIB, Start, records
from tests.noise import noise

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")

#: Runs the command as its child and tells the largest resident size, of the command and of each
#: of its workers. A process in between, for Linux begins a child's figure with its parent's.
_MEASURE = """
import json, os, sys
command = [sys.executable, "-m", "serialpack", *sys.argv[2:]]
child = os.posix_spawn(sys.executable, command, os.environ)
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    json.dump([used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)], file)
"""


def peak(folder: Path, *args: str, pieces: Iterable[bytes] | None = None) -> float:
    """MiB at most resident; ``pieces`` are written to standard input."""
    report = folder / "used"
    process = subprocess.Popen(
        [sys.executable, "-c", _MEASURE, report, *args],
        stdin=subprocess.DEVNULL if pieces is None else subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(folder),
    )
    if pieces is not None:
        assert process.stdin is not None
        for piece in pieces:
            process.stdin.write(piece)
    _, said = process.communicate(timeout=1200)
    used, code = json.loads(report.read_text())
    assert code == 0, said.decode()
    return float(used)


def ndjson(size: int) -> Iterator[bytes]:
    page = records(MIB)
    for _ in range(size // len(page)):
        yield page


def json_array(size: int) -> Iterator[bytes]:
    yield b"["
    page = records(MIB).rstrip(b"\n").replace(b"\n", b",")
    for number in range(size // len(page)):
        yield b"," + page if number else page
    yield b"]"


def json_map(size: int) -> Iterator[bytes]:
    """One object of many keys, each its own."""
    written, key = 0, 0
    yield b"{"
    while written < size:
        page = b",".join(
            b'"%024x":{"n":%d,"v":"x%d"}' % (k * k, k, k) for k in range(key, key + 10_000)
        )
        yield b"," + page if key else page
        key += 10_000
        written += len(page)
    yield b"}"


def flat(
    measure: Callable[[int], float], small: int, large: int, most: float, within: float
) -> None:
    """``measure(large)`` is at most ``most``, and not ``within`` above ``measure(small)``.

    How many blocks are on their way at once is chance, so there are three tries.
    """
    tries = []
    for _ in range(3):
        before, after = measure(small), measure(large)
        tries.append((before, after))
        if after <= most and after - before < within:
            return
    raise AssertionError(f"{tries} MiB, wanted at most {most}, and {within} between them")


def test_packing_through_a_pipe_takes_as_much_for_256_mib_as_for_128(tmp_path: Path) -> None:
    def measure(size: int) -> float:
        # Columns have a bound of their own: tests/serializers/test_columns_sizes.py.
        return peak(tmp_path, "pack", "-s", "raw", "-j", "2", pieces=ndjson(size * MIB))

    flat(measure, 128, 256, 150, 15)


@pytest.mark.parametrize("pipe", [False, True], ids=["from a file", "from a pipe"])
def test_unpacking_takes_as_much_for_256_mib_as_for_128(tmp_path: Path, pipe: bool) -> None:
    packed = tmp_path / "x.spk"
    with (tmp_path / "x").open("wb") as file:
        file.writelines(ndjson(32 * MIB))
    serialpack.pack(tmp_path / "x", packed, effort=1, verify=False)
    member = packed.read_bytes()

    def measure(size: int) -> float:
        pieces = [member] * (size // 32)
        packed.write_bytes(b"".join(pieces))
        if pipe:
            return peak(tmp_path, "unpack", "-j", "2", pieces=pieces)
        return peak(tmp_path, "unpack", "-j", "2", "-o", "-", str(packed))

    flat(measure, 128, 256, 150, 15)


@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_a_reader_that_stalls_stops_the_reading_too(
    start: Start, tmp_path: Path, verb: str
) -> None:
    """At most some blocks are on their way, however fast the input comes."""
    given = noise(64 * MIB)
    if verb == "unpack":
        (tmp_path / "x").write_bytes(given)
        serialpack.pack(tmp_path / "x", tmp_path / "x.spk", block_size=MIB, verify=False)
        given = (tmp_path / "x.spk").read_bytes()
    options = ["--block-size", "1M"] if verb == "pack" else []
    process = start(verb, "-j", "2", *options)
    assert process.stdin is not None
    pipe, taken = process.stdin.fileno(), 0
    os.set_blocking(pipe, False)
    # A second without any progress is taken for a stop, once it is at work: until then, the more so
    # on a busy machine, all that was taken may be what the pipe holds.
    while taken < len(given) and select.select([], [pipe], [], 1.0 if taken > MIB else 30.0)[1]:
        taken += os.write(pipe, given[taken : taken + 64 * KIB])
    assert MIB < taken < 12 * MIB
    process.kill()


#: MiB that a chain of values may take, far from any size of input. A block is objects by then,
#: some 20 times its bytes. Seen here: 44 to 62 with blocks of 1 MiB.
VALUES = 100


@pytest.mark.parametrize("make", [ndjson, json_array, json_map])
def test_values_are_packed_in_memory_for_their_blocks_alone(
    tmp_path: Path, make: Callable[[int], Iterator[bytes]]
) -> None:
    args = ("pack", "-s", "json", "-j", "1", "--block-size", "1M", "--no-verify")
    flat(lambda size: peak(tmp_path, *args, pieces=make(size * MIB)), 8, 24, VALUES, 20)


@pytest.mark.soak
@pytest.mark.parametrize("make", [ndjson, json_array, json_map])
def test_100_mib_of_values_with_the_default_blocks_workers_and_the_proof(
    tmp_path: Path, make: Callable[[int], Iterator[bytes]]
) -> None:
    """Each process for itself; seen here: 130 to 210."""
    for serializer in "json", "msgpack":
        args = ("pack", "-s", serializer, "-j", "2")
        assert peak(tmp_path, *args, pieces=make(100 * MIB)) <= 300


@pytest.mark.soak
def test_4_gib_through_a_pipe_and_back(tmp_path: Path) -> None:
    assert peak(tmp_path, "pack", pieces=ndjson(4096 * MIB)) <= 150
    with (tmp_path / "x").open("wb") as file:
        file.writelines(ndjson(512 * MIB))
    serialpack.pack(tmp_path / "x", tmp_path / "x.spk")
    (tmp_path / "x").unlink()
    member = (tmp_path / "x.spk").read_bytes()
    assert peak(tmp_path, "unpack", pieces=[member] * 8) <= 150
