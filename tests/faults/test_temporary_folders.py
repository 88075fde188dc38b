"""What is kept beside for a while goes, however the command ends."""

from __future__ import annotations

import io
import signal
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.faults.conftest import Start, finish


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where temporary files are made."""
    place = tmp_path / "temporary"
    place.mkdir()
    return place


def npz(**arrays: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def database(path: Path, rows: int) -> bytes:
    with sqlite3.connect(path) as made:
        made.execute("create table t (a)")
        made.executemany("insert into t values (?)", [("x" * 100,)] * rows)
    made.close()
    return path.read_bytes()


def test_a_refusal_of_what_a_pipe_gave_leaves_no_copy(
    start: Start, tmp_path: Path, place: Path
) -> None:
    cut = npz(a=np.arange(100.0), b=np.arange(100.0))
    cut = cut.replace(b"<f8", b"<q8", 1)
    for data, to in (
        (cut, "ndjson"),
        (cut, "hdf5"),
        (npz(a=np.arange(3), b=np.array([{}], dtype=object)), "ndjson"),
        (database(tmp_path / "d", 9)[:-4096], "ndjson"),
    ):
        process = start("unpack", "--to", to, "-o", tmp_path / "out", env={"TMPDIR": str(place)})
        _, said = process.communicate(data, 60)
        assert process.returncode in (3, 4), said
        assert not any(place.iterdir())


@pytest.mark.parametrize("kind", ["npz", "sqlite"])
def test_a_signal_while_a_copy_is_read_leaves_none(
    start: Start, tmp_path: Path, place: Path, kind: str
) -> None:
    """Nobody takes what is written, so that it is at work whenever the signal comes."""
    source = tmp_path / "source"
    source.write_bytes(
        npz(a=np.arange(1_000_000.0)) if kind == "npz" else database(tmp_path / "d", 100_000)
    )
    with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
        process = start("unpack", "--to", "ndjson", env={"TMPDIR": str(place)}, stdin=cat.stdout)
    assert isinstance(process.stdout, io.BufferedReader)
    assert process.stdout.peek()
    assert any(place.iterdir())
    process.send_signal(signal.SIGTERM)
    finish(process, 128 + signal.SIGTERM)
    assert not any(place.iterdir())
