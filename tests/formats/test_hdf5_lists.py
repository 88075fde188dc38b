"""HDF5 datasets of lists of any length, and of nothing, beside arrays."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.errors import ValueRefusedError

h5py = pytest.importorskip("h5py")


def lists_beside_arrays(path: Path, *, odd: bool = False) -> Path:
    with h5py.File(path, "w") as file:
        lists = file.create_dataset("run/v", (3,), dtype=h5py.vlen_dtype("i4"))
        lists[0], lists[2] = [1, 2], [3]
        lists.attrs["unit"] = "m"
        file["x"] = np.arange(4, dtype="f4").reshape(2, 2)
        file["s"] = ["a", "\u00e9"]
        file["none"] = h5py.Empty("f4")
        file["empty"] = np.zeros((0, 2))
        file["one"] = 7
        if odd:
            file["c"] = np.array([1 + 2j])
    return path


def test_lists_of_any_length_stand_beside_arrays(tmp_path: Path) -> None:
    """One such dataset, or a null one, was enough for all of the file to be refused."""
    path = lists_beside_arrays(tmp_path / "a.h5")
    wanted = {
        "empty": [],
        "none": None,
        "one": 7,
        "run/v": [[1, 2], [], [3]],
        "run/v@unit": "m",
        "s": ["a", "\u00e9"],
        "x": [[0.0, 1.0], [2.0, 3.0]],
    }
    for to in ("json", "yaml"):
        out = io.BytesIO()
        report = serialpack.convert(path, out, to=to)
        assert report.losses == []
        again = io.BytesIO()
        serialpack.convert(io.BytesIO(out.getvalue()), again, format=to, to="json")
        assert json.loads(again.getvalue()) == wanted


@pytest.mark.parametrize(("to", "odd"), [("npz", False), ("json", True)])
def test_what_has_no_place_for_lists_names_them(tmp_path: Path, to: str, odd: bool) -> None:
    """Arrays hold none; and of complex numbers there are no rows."""
    path = lists_beside_arrays(tmp_path / "a.h5", odd=odd)
    with pytest.raises(ValueRefusedError, match=r"none \(nothing.*run/v \(lists of any length\)"):
        serialpack.convert(path, io.BytesIO(), to=to)
    out = io.BytesIO()
    serialpack.convert(path, out, to=to, lossy=["around"])
    assert out.getvalue()
