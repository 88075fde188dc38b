"""Pipes that close, drip, do not block or were never there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import serialpack
from tests.faults.conftest import COMMAND, KIB, MIB, Start, feed, finish, hidden
from tests.noise import noise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX pipes and shells")

CLOSED_PIPE = 141


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Noise in many blocks, far more than a pipe holds."""
    source = tmp_path / "noise"
    source.write_bytes(noise(4 * MIB))
    serialpack.pack(source, tmp_path / "noise.spk", block_size=64 * KIB)
    return tmp_path / "noise.spk"


def closed_pipe() -> int:
    """The writing end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


EVERY = [
    ["pack", "-o", "-", "noise"],
    ["pack", "-q", "--json", "-f", "noise"],
    ["unpack", "-o", "-", "noise.spk"],
    ["unpack", "--bytes", "0:10", "-o", "-", "noise.spk"],
    ["inspect", "noise.spk"],
    ["inspect", "--blocks", "--json", "noise.spk"],
    ["inspect", "--stages"],
    ["--help"],
    ["pack", "--help"],
    ["unpack", "--help"],
    ["inspect", "--help"],
    ["--version"],
]


@pytest.mark.parametrize("args", EVERY, ids=" ".join)
def test_a_closed_pipe_ends_quietly(
    start: Start, packed: Path, tmp_path: Path, args: list[str]
) -> None:
    assert packed.exists()
    writer = closed_pipe()
    process = start(*args, stdout=writer)
    os.close(writer)
    assert finish(process, CLOSED_PIPE) == ""
    assert not hidden(tmp_path)


@pytest.mark.parametrize("args", [EVERY[0], EVERY[2]], ids=" ".join)
def test_head_takes_its_byte_and_the_rest_ends_quietly(
    start: Start, packed: Path, args: list[str]
) -> None:
    assert packed.exists()
    process = start(*args)
    assert process.stdout is not None
    assert len(os.read(process.stdout.fileno(), 1)) == 1
    process.stdout.close()
    process.stdout = None
    assert finish(process, CLOSED_PIPE) == ""


def test_inspect_blocks_into_head_ends_quietly(start: Start, tmp_path: Path) -> None:
    """A table longer than the pipe holds."""
    source = tmp_path / "x"
    source.write_bytes(b"x" * (64 * KIB))
    serialpack.pack(source, tmp_path / "x.spk", block_size=16)
    process = start("inspect", "--blocks", "x.spk")
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 1)
    process.stdout.close()
    process.stdout = None
    assert finish(process, CLOSED_PIPE) == ""


def shell(
    line: str, folder: Path, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The program run by a shell, as ``spk`` in ``line``."""
    done = subprocess.run(
        ["sh", "-c", f'spk() {{ "$PYTHON" -m serialpack "$@"; }}; {line}'],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHON": sys.executable, "HOME": str(folder)},
        timeout=60,
        check=False,
    )
    assert b"internal error" not in done.stderr, done.stderr.decode()
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def test_a_closed_standard_input_is_one_line(tmp_path: Path) -> None:
    for verb in "pack", "unpack", "inspect -":
        done = shell(f"spk {verb} <&-", tmp_path)
        assert done.returncode == 1
        assert done.stdout == b""
        assert done.stderr == b"serialpack: standard input: cannot read: bad file descriptor\n"


def test_a_closed_standard_output_is_one_line(packed: Path, tmp_path: Path) -> None:
    for call in (
        "pack -o - noise",
        "unpack -o - noise.spk",
        "inspect noise.spk",
        "pack -q --json noise -o named.spk",
        "--help",
        "--version",
    ):
        done = shell(f"spk {call} >&-", tmp_path)
        assert done.returncode == 1, call
        said = b"serialpack: standard output: cannot write: bad file descriptor\n"
        assert done.stderr == said, call
    assert packed.exists()


def test_what_needs_no_standard_stream_works_without_any(packed: Path, tmp_path: Path) -> None:
    """Nor do files that are opened get the numbers, and what is meant for the streams."""
    before = (tmp_path / "noise").read_bytes()
    for closed in "<&-", ">&-", "2>&-", "<&- >&- 2>&-":
        assert shell(f"spk pack -f -v noise -o new.spk {closed}", tmp_path).returncode == 0
        assert shell(f"spk unpack -f -v new.spk -o new {closed}", tmp_path).returncode == 0
        assert (tmp_path / "new").read_bytes() == before
        assert not hidden(tmp_path)
    assert packed.exists()


def test_a_closed_standard_error_sends_no_error_into_the_data(tmp_path: Path) -> None:
    done = shell("spk pack no-such-file -o - 2>&-", tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_full_standard_output_is_one_line_for_words_too(packed: Path, tmp_path: Path) -> None:
    for call in "pack -o - noise", "inspect noise.spk", "--help", "--version":
        done = shell(f"spk {call} >/dev/full", tmp_path)
        assert done.returncode == 1, call
        assert done.stderr.count(b"\n") == 1
        assert b"no space left on device" in done.stderr
    assert packed.exists()


def test_a_slow_writer_gives_the_same_as_a_file(start: Start, tmp_path: Path) -> None:
    """Drops of odd sizes, with pauses, some below a block and some above."""
    data = noise(300 * KIB)
    whole = start("pack", "-q", "--block-size", "64K")
    packed, _ = whole.communicate(data, timeout=60)
    for chain, want in ((("pack", "-q", "--block-size", "64K"), packed), (("unpack",), data)):
        given = data if chain[0] == "pack" else packed
        with (tmp_path / "out").open("wb") as out:
            process = start(*chain, stdout=out)
        at = 0
        for size in (1, 7, 3, 4096, 65_536, 100_001, 1, 60_000):
            feed(process, given[at : at + size])
            at += size
            time.sleep(0.02)
        feed(process, given[at:]).close()
        process.stdin = None
        finish(process, 0)
        assert (tmp_path / "out").read_bytes() == want


def test_a_pipe_that_does_not_block_loses_nothing(tmp_path: Path) -> None:
    """O_NONBLOCK belongs to the pipe, not to the descriptor: any program that shares it sets it."""
    data = noise(3 * MIB)
    (tmp_path / "noise").write_bytes(data)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    packer = subprocess.Popen([*COMMAND, "pack", "-o", "-", "noise"], stdout=writer, cwd=tmp_path)
    os.close(writer)
    time.sleep(1)  # the pipe is full by now; if not, the test is only easier
    packed = b""
    while piece := os.read(reader, MIB):
        packed += piece
    os.close(reader)
    assert packer.wait(60) == 0

    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    unpacker = subprocess.Popen(
        [*COMMAND, "unpack", "-o", "again"], stdin=reader, cwd=tmp_path, stderr=subprocess.PIPE
    )
    os.close(reader)
    time.sleep(0.5)  # it finds nothing to read at first
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(packed)
    _, said = unpacker.communicate(timeout=60)
    assert unpacker.returncode == 0, said.decode()
    assert (tmp_path / "again").read_bytes() == data
