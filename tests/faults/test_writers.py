"""Several that write one output at once."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import serialpack
from tests.faults.conftest import Start, hidden, wait_for
from tests.noise import noise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX limits, mounts and users")


_WRITER = """
import os, sys, time
import serialpack
from serialpack.errors import FileError

number, writers, rounds, force = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
for turn in range(rounds):
    open(f"ready-{turn}-{number}", "x").close()
    while not all(os.path.exists(f"ready-{turn}-{n}") for n in range(writers)):
        time.sleep(0.0005)
    try:
        serialpack.pack(f"source-{number}", f"out-{turn}", force=force == "force")
        print(turn, flush=True)
    except FileError as error:
        assert "exists already" in str(error), error
"""
WRITERS, ROUNDS = 8, 20


@pytest.mark.parametrize("force", [False, True], ids=["without -f", "with -f"])
def test_eight_writers_of_one_output(tmp_path: Path, force: bool) -> None:
    """One wins without -f and is told so; with -f the last one's stands, whole. 20 times over."""
    sources = [noise(50_000, seed) for seed in range(WRITERS)]
    for number, data in enumerate(sources):
        (tmp_path / f"source-{number}").write_bytes(data)
    words = ["force" if force else "never"]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(n), str(WRITERS), str(ROUNDS), *words],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        for n in range(WRITERS)
    ]
    won = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * WRITERS
    for turn in range(ROUNDS):
        winners = [n for n in range(WRITERS) if b"%d" % turn in won[n]]
        again = io.BytesIO()
        serialpack.unpack(tmp_path / f"out-{turn}", again)
        assert again.getvalue() in [sources[n] for n in winners]
        assert len(winners) == (WRITERS if force else 1)
    assert not hidden(tmp_path)


def test_eight_commands_at_once(start: Start, tmp_path: Path) -> None:
    for number in range(WRITERS):
        (tmp_path / f"source-{number}").write_bytes(noise(50_000, number))
    running = [start("pack", "-q", f"source-{number}", "-o", "out") for number in range(WRITERS)]
    wait_for(lambda: all(process.poll() is not None for process in running), "all writers")
    codes = [process.returncode for process in running]
    assert sorted(codes) == [0] + [1] * (WRITERS - 1)
    again = io.BytesIO()
    serialpack.unpack(tmp_path / "out", again)
    assert again.getvalue() == noise(50_000, codes.index(0))
    assert not hidden(tmp_path)
