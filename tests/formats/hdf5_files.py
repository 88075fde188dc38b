"""Files of HDF5 to read, and how tests read them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.formats.arrays.hdf5 import child, hdf5, reader
from serialpack.formats.arrays.hdf5 import listed as hdf5_listed
from serialpack.formats.shared.random_access import FileRead
from serialpack.inspection.listed import Listing

h5py = pytest.importorskip("h5py")

MAGIC = b"\x89HDF\r\n\x1a\n"
NAN = np.array([0x7FF8000000000001, 0x7FF4000000000000, 0], "<u8").view("<f8")

#: Each comes back in an .npy file with the same type and the same bytes.
EXACT: dict[str, Any] = {
    "big": np.arange(12, dtype=">f4").reshape(3, 4),
    "g/deep/small": np.arange(-3, 3, dtype="i1"),
    "nan": NAN,
    "half": np.array([1.5, np.inf], "<f2"),
    "long": np.array([1.5], np.longdouble),
    "complex": np.array([1 + 2j, complex(np.nan, -0.0)]),
    "truth": np.array([[True], [False]]),
    "one": np.array(7, "<u2"),
    "none": np.zeros((0, 3)),
    "thin": np.zeros((3, 0), "<i4"),
    "rows": np.array(
        [(1, [1.5, 2], (True, b"\x01\xff")), (-1, [0, -0.0], (False, b"\0\0"))],
        [("a", "<i2"), ("b", "<f4", (2,)), ("c", [("d", "?"), ("e", "V2")])],
    ),
    "bytes": np.array([b"\x80", b"\xff\xfe"]),
    "opaque": np.array([b"\x01\0\x02", b"\0\0\0"], "V3"),
}


def made_of_all(path: Path) -> Path:
    """A file with a dataset of each kind, and of what is none."""
    with h5py.File(path, "w") as made:
        for name, array in EXACT.items():
            made[name] = array
        made["big"].attrs["unit"] = "m"
        made["text"] = np.array(["a", "\u00f6\U0001f600", ""], dtype=h5py.string_dtype())
        fixed = np.array([b"x", "\u00e9".encode()], h5py.string_dtype("utf-8", 4))
        made["g/fixed"] = fixed
        made["enum"] = np.array([1, 0], h5py.enum_dtype({"off": 0, "on": 1}, "u1"))
        made["time"] = np.array(["2020-01-01", "NaT"], "M8[D]").astype(h5py.opaque_dtype("M8[D]"))
        lists = made.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
        lists[0], lists[1] = [1, 2], []
        space = h5py.h5s.create_simple((2,))
        wide = h5py.h5t.STD_I64LE.copy()
        wide.set_size(16)
        h5py.h5d.create(made.id, b"wide", wide, space)
        made["null"] = h5py.Empty("f4")
        made["refs"] = np.array([made["big"].regionref[:1]], h5py.regionref_dtype)
        made["soft"] = h5py.SoftLink("g/deep/../deep/small".replace("../deep/", ""))
        made["round"] = h5py.SoftLink("/round")
        made["out"] = h5py.ExternalLink("secret.h5", "/x")
        made["xagain"] = made["g"]
        made["g/up"] = made["/"]
        made.create_dataset(
            "packed", data=np.arange(600).reshape(30, 20), chunks=(7, 20), compression="gzip"
        )
    return path


def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files be read in this process, which takes a third of the time."""

    def asked(read: FileRead, do: str, **how: Any) -> Iterator[Any]:
        reader.check_installed()
        with read.file() as path:
            yield from child.answers(do, str(path), **how)

    for module in (reader, hdf5):
        monkeypatch.setattr(module, "asked", asked)
    for module in (child, hdf5_listed):
        monkeypatch.setattr(module, "no_more_files", lambda: None)


def converted(path: Any, to: str, at: str | None = None, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.convert(path, out, to=to, threads=1, shaping=Shaping(at=at), **how)
    return out.getvalue()


def array_of(data: bytes) -> Any:
    return np.load(io.BytesIO(data))


def values(path: Any, at: str | None = None) -> Any:
    return json.loads(converted(path, "json", at))


def made_with(path: Path, **datasets: Any) -> Path:
    with h5py.File(path, "w") as made:
        for name, data in datasets.items():
            made[name] = data
    return path


def listed(path: Path) -> Listing:
    shape = serialpack.inspect(path).shape
    assert shape is not None
    assert shape.listing is not None
    return shape.listing
