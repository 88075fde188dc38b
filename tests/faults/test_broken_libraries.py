"""Libraries that are installed, and cannot be imported."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import serialpack
from tests.faults.conftest import Start, finish
from tests.injected import ROOT

HOW = "cannot be imported: a file is gone; pip install --force-reinstall"


def made(folder: Path) -> None:
    (folder / "rows.json").write_bytes(b'[{"a":1}]' + b" " * 999)
    np.save(folder / "numbers.npy", np.arange(5000.0) ** 0.5)
    serialpack.pack(folder / "rows.json", folder / "lz4.spk", codec="lz4", serializer="raw")
    np.savez(folder / "some.npz", a=np.arange(3), b=np.arange(3))
    serialpack.convert(folder / "some.npz", folder / "some.h5", to="hdf5")


def breaking(site: Path, library: str, why: str) -> dict[str, str]:
    """An environment in which ``library`` cannot be imported."""
    site.mkdir()
    (site / f"{library}.py").write_text(f"raise ImportError({why!r})\n")
    return {"PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))}


@pytest.mark.parametrize(
    ("library", "installed_by", "words"),
    [
        ("lz4", "lz4", "unpack lz4.spk -o out"),
        ("lz4", "lz4", "pack -c lz4 rows.json -o out"),
        ("pcodec", "pcodec", "pack numbers.npy -o out"),
        ("yaml", "PyYAML", "pack -s yaml rows.json -o out"),
        ("h5py", "h5py", "unpack some.h5 --at a --to json -o out"),
    ],
)
def test_a_library_that_cannot_be_imported_is_named(
    start: Start, tmp_path: Path, library: str, installed_by: str, words: str
) -> None:
    """It was a mistake of ours, to be reported, or the file was called damaged."""
    made(tmp_path)
    env = breaking(tmp_path / "site", library, "a file is gone")
    said = finish(start(*words.split(), env=env), 1)
    assert said.endswith(f"the library {library} {HOW} {installed_by}\n")
    assert not (tmp_path / "out").exists()


def test_one_that_finds_no_memory_is_whole(start: Start, tmp_path: Path) -> None:
    """It was to be installed again, in the process that reads HDF5."""
    made(tmp_path)
    env = breaking(tmp_path / "site", "h5py", "x.so: failed to map segment")
    said = finish(start("unpack", "some.h5", "--at", "a", "--to", "json", env=env), 4)
    assert "memory" in said
    assert "install" not in said
