"""Arrays whose records have thousands of fields, and so a long header."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run

_FIELDS = 4000


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    kind = np.dtype([(f"column_{number:05}", "<i2") for number in range(_FIELDS)])
    value = np.arange(3 * _FIELDS, dtype="<i2").view(kind)
    for name, save in (("a.npy", np.save), ("z.npz", np.savez)):
        with pytest.warns(UserWarning, match="format 2.0"):
            save(tmp_path / name, value)
    return tmp_path


def test_they_are_told(run: Run) -> None:
    """From 64 KiB of header on it was "a damaged npy"."""
    for name in ("a.npy", "z.npz"):
        told = run("inspect", name)
        assert b"damaged" not in told.stderr
        assert b"records, 3, C order" in told.stdout
    (line,) = run("inspect", "--head", "1", "a.npy").stdout.splitlines()
    assert len(json.loads(line)) == _FIELDS


@pytest.mark.parametrize("to", ["json", "ndjson", "npz", "csv"])
def test_they_become_other_files_and_come_back(run: Run, folder: Path, to: str) -> None:
    typed = ["--typed"] if to == "csv" else []
    run("unpack", "a.npy", "--to", to, "-o", f"b.{to}")
    run("unpack", f"b.{to}", *typed, "--to", "npy", "-o", "c.npy")
    was, back = (np.load(folder / name, max_header_size=1 << 20) for name in ("a.npy", "c.npy"))
    assert back.dtype.names == was.dtype.names
    assert back.tolist() == was.tolist()
