"""What is kept beside for a while goes, however the command ends."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import fastavro
import numpy as np
import pytest

from tests.faults.conftest import Start, finish
from tests.faults.disk import limited


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


def test_a_folder_of_a_killed_run_goes_with_the_next(
    start: Start, tmp_path: Path, place: Path
) -> None:
    """That of a living one stays."""
    source = tmp_path / "source"
    source.write_bytes(npz(a=np.arange(100_000.0)))
    with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
        process = start("unpack", "--to", "ndjson", env={"TMPDIR": str(place)}, stdin=cat.stdout)
    assert isinstance(process.stdout, io.BufferedReader)
    assert process.stdout.peek()
    (living,) = place.iterdir()
    how = ("unpack", "--to", "ndjson", "-q", "-o", tmp_path / "out")
    for left in ([living], []):
        again = start(*how, "-f", env={"TMPDIR": str(place)})
        _, said = again.communicate(source.read_bytes(), 60)
        assert again.returncode == 0, said
        assert list(place.iterdir()) == left
        process.kill()
        process.wait()


def test_what_is_on_hold_at_the_end_is_no_warning(
    start: Start, tmp_path: Path, place: Path
) -> None:
    """Python's own temporary folders say it where they have to be removed at the end."""
    env = {"TMPDIR": str(place), "PYTHONWARNINGS": "error"}
    process = start("unpack", "--to", "ndjson", "-q", "-o", tmp_path / "out", env=env)
    _, said = process.communicate(npz(a=np.arange(3)), 60)
    assert (process.returncode, said) == (0, b"")
    assert not any(place.iterdir())


@pytest.mark.parametrize("to", ["avro", "ndjson"])
def test_a_small_pipe_needs_no_disk(start: Start, to: str) -> None:
    """Its copy was brought to the disk, and taken for an empty file where that was full."""
    rows = "".join(f"{n},n{n}\n" for n in range(1000)).encode()
    process = start("unpack", "-F", "csv", "--to", to, "--infer", before=limited("-f 1"))
    made, said = process.communicate(b"a,b\n" + rows, 60)
    assert process.returncode == 0, said
    records = fastavro.reader(io.BytesIO(made)) if to == "avro" else map(json.loads, made.split())
    assert [*records] == [{"a": n, "b": f"n{n}"} for n in range(1000)]


def test_no_room_for_the_copy_of_a_large_pipe(start: Start) -> None:
    """It was said that the pipe could not be read."""
    process = start("unpack", "-F", "csv", "--to", "avro", before=limited("-f 1"))
    _, said = process.communicate(b"a,b\n" + b"1,23456\n" * (17 << 17), 60)
    assert (process.returncode, said) == (
        1,
        b"serialpack: standard input: its temporary copy cannot be written: file too large;"
        b" TMPDIR names a folder with more room\n",
    )


def test_what_a_pipe_becomes_has_the_usual_mode(start: Start, tmp_path: Path) -> None:
    """It was that of the temporary copy, which nobody else may read."""
    (tmp_path / "usual").touch()
    process = start("unpack", "-F", "csv", "--to", "avro", "-q", "-o", "out")
    _, said = process.communicate(b"a,b\n1,2\n", 60)
    assert process.returncode == 0, said
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_program_that_ends_while_it_reads_leaves_nothing(tmp_path: Path, place: Path) -> None:
    """A child that it forks, and that ends before, takes nothing from it."""
    code = (
        "import atexit, os, sys\n"
        "from serialpack.hidden import hide, temporary_folder\n"
        "made = os.path.join(sys.argv[1], 'hidden')\n"
        "open(made, 'w').close()\n"
        "hide(made)\n"
        "if os.fork() == 0:\n"
        "    sys.exit(0)\n"
        "os.wait()\n"
        "assert os.path.exists(made)\n"
        "held = temporary_folder()\n"
        "held.__enter__()\n"
        "atexit._held = held\n"
    )
    env = {**os.environ, "TMPDIR": str(place)}
    subprocess.run([sys.executable, "-c", code, tmp_path], env=env, check=True)
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
    assert not any(place.iterdir())


@pytest.mark.parametrize(("arrays", "items"), [(1, 10_000), (40, 40)])
def test_hdf5_without_room_is_one_line(
    start: Start, tmp_path: Path, place: Path, arrays: int, items: int
) -> None:
    """The library says nothing of its own, neither where it writes an array nor where it closes
    objects, which are on the disk only then."""
    (tmp_path / "a.npz").write_bytes(npz(**{f"a{n}": np.arange(items) for n in range(arrays)}))
    process = start(
        "unpack", "a.npz", "-o", "a.h5", env={"TMPDIR": str(place)}, before=limited("-f 16")
    )
    assert finish(process, 1) == (
        "serialpack: a.npz: the temporary HDF5 file cannot be written: file too large;"
        " TMPDIR names a folder with more room\n"
    )
    assert not any(place.iterdir())
    assert not (tmp_path / "a.h5").exists()
