"""Starts the real command, breaks it, and looks at what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import IO, Any

import pytest

from tests.cli.conftest import environment
from tests.noise import noise

Command = subprocess.Popen[bytes]
Start = Callable[..., Command]

COMMAND = [sys.executable, "-m", "serialpack"]
KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """``start("pack", path)``: the running command, its streams pipes; ended after the test."""
    home = tmp_path / "home"
    home.mkdir()
    started: list[Command] = []

    def call(
        *args: str | os.PathLike[str],
        env: dict[str, str] | None = None,
        before: list[str] | None = None,
        **more: Any,
    ) -> Command:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(
            [*(before or []), *COMMAND, *(os.fspath(arg) for arg in args)],
            env=environment(home, **(env or {})),
            **{"cwd": tmp_path, **streams, **more},
        )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait()


def wait_for(what: Callable[[], Any], words: str, seconds: float = 60) -> Any:
    """What ``what`` gives once that is true. ``seconds``: only so that a failure ends."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"waited in vain for {words}"
        time.sleep(0.005)
    return found


def hidden(folder: Path) -> list[Path]:
    """The files in which outputs are written: hidden ones, and those without a name, of whatever
    process."""
    named = [path for path in folder.iterdir() if path.name.startswith(".serialpack-")]
    return [*named, *unnamed(folder)]


def written(folder: Path) -> int:
    """The bytes in these."""
    sizes = 0
    for path in hidden(folder):
        with suppress(FileNotFoundError):  # it has its name meanwhile, or is removed
            sizes += path.stat().st_size
    return sizes


def unnamed(folder: Path) -> list[Path]:
    """The files without a name in ``folder`` that any process has open."""
    found = []
    for process in Path("/proc").iterdir() if Path("/proc/self/fd").exists() else ():
        with suppress(OSError):  # it has ended, or is none, or another user's
            for place in (process / "fd").iterdir():
                with suppress(FileNotFoundError):  # closed meanwhile
                    link = str(place.readlink())
                    if link.startswith(f"{folder}/#") and link.endswith(" (deleted)"):
                        found.append(place)
    return found


def catches_signals(process: Command) -> bool:
    """Whether the program has come so far that it decides itself how a signal ends it."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> 14 & 1)  # SIGTERM, which Python leaves alone
    return False


def finish(process: Command, code: int, most: int = 1) -> str:
    """Wait for the end. What it said on standard error: at most ``most`` lines, no traceback."""
    _, said = process.communicate(timeout=120)
    text = said.decode() if said else ""
    assert "Traceback" not in text, text
    assert "internal error" not in text, text
    assert "Fatal Python error" not in text, text
    assert process.returncode == code, (process.returncode, text)
    assert len(text.splitlines()) <= most, text
    return text


def feed(process: Command, data: bytes) -> IO[bytes]:
    """Write to the standard input of ``process``, and leave it open."""
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()
    return process.stdin


def records(size: int) -> bytes:
    """NDJSON of some ``size`` bytes, which compresses about as real logs do."""
    random = Random(1)
    lines = [
        b'{"id":%d,"key":"%x","level":"info","text":"took %d of %d"}\n'
        % (n, random.getrandbits(64), random.randrange(1000), random.randrange(10**6))
        for n in range(10_000)
    ]
    page = b"".join(lines)
    return page * (size // len(page)) + page[: size % len(page)].rpartition(b"\n")[0] + b"\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A megabyte that does not shrink."""
    path = tmp_path / "source"
    path.write_bytes(noise(MIB))
    return path


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 MiB that take effort -9 many seconds."""
    path = tmp_path_factory.mktemp("large") / "large.ndjson"
    path.write_bytes(records(16 * MIB))
    return path


@pytest.fixture(scope="session")
def packed_large(large: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same several times over, by a slow codec in small blocks: it takes long to unpack."""
    import serialpack

    path = tmp_path_factory.mktemp("packed") / "large.spk"
    serialpack.pack(large, path, codec="bz2:1", block_size=256 * KIB)
    path.write_bytes(path.read_bytes() * 6)
    return path
