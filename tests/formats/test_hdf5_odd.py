"""Types of HDF5 that h5py reads not at all (times, integers of three bytes), or as what no array
holds (references). They were refused, and with them all tables of PyTables that have times."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.formats.arrays.hdf5.odd import sound
from tests.formats.hdf5_files import array_of, converted, listed, read_here

h5py = pytest.importorskip("h5py")

h5t: Any = h5py.h5t


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


def _written(made: Any, name: str, kind: Any, array: Any, **how: Any) -> None:
    """A dataset of a type of HDF5's, and the very bytes of its items."""
    shape = array.shape
    dataset = h5py.h5d.create(made.id, name.encode(), kind, h5py.h5s.create_simple(shape), **how)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array, mtype=kind)


def _packed(*seconds: float) -> Any:
    """Times as PyTables stores them: seconds, and millionths in the lower four bytes."""
    pairs = [(int(each) << 32) + (round((each - int(each)) * 1e6) & 0xFFFFFFFF) for each in seconds]
    return np.array(pairs, "<i8")


KINDS = {"<i4": h5t.UNIX_D32LE, ">i4": h5t.UNIX_D32BE, "<i8": h5t.UNIX_D64LE, ">i8": h5t.UNIX_D64BE}


@pytest.mark.parametrize("order", KINDS)
def test_times_are_seconds(tmp_path: Path, order: str) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as made:
        _written(made, "t", KINDS[order], np.array([[0, -1], [1_600_000_000, 1]], order))
    array = array_of(converted(tmp_path / "a.h5", "npy"))
    assert array.dtype == "<M8[s]"
    assert array.astype("i8").tolist() == [[0, -1], [1_600_000_000, 1]]
    assert array_of(converted(tmp_path / "a.h5", "npz"))["t"].tolist() == array.tolist()
    dataset = listed(tmp_path / "a.h5").entries[0].dataset
    assert dataset is not None
    assert dataset.minimum == "1969-12-31T23:59:59"


@pytest.mark.parametrize("rows", [16, 1000])
def test_a_table_of_pytables(tmp_path: Path, rows: int) -> None:
    """As it writes it: times of eight bytes have millionths, before 1970 too."""
    times = (1_600_000_000.25, -1.25)
    kind = h5t.create(h5t.COMPOUND, 32)
    kind.insert(b"n", 0, h5t.STD_I32LE)
    kind.insert(b"t32", 4, h5t.UNIX_D32LE)
    kind.insert(b"t64", 8, h5t.array_create(h5t.UNIX_D64LE, (2,)))
    kind.insert(b"s", 24, h5py.h5t.py_create(np.dtype("S8")))
    fields = [("n", "<i4"), ("t32", "<i4"), ("t64", "<i8", (2,)), ("s", "S8")]
    table = np.zeros(rows, fields)
    table["n"], table["t32"], table["t64"] = np.arange(rows), 7, _packed(*times)
    table["s"] = b"ab"
    chunked = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    chunked.set_chunk((16,))
    with h5py.File(tmp_path / "a.h5", "w") as made:
        made.attrs["PYTABLES_FORMAT_VERSION"] = "2.1"
        _written(made, "table", kind, table, dcpl=chunked)
    found = array_of(converted(tmp_path / "a.h5", "npy", "table"))
    assert found.dtype["t64"].base == "<M8[us]"
    assert (found["t64"].astype("i8") == [round(each * 1e6) for each in times]).all()
    assert found["n"].tolist() == list(range(rows))
    line = converted(tmp_path / "a.h5", "ndjson", "table").splitlines()[-1]
    assert json.loads(line) == {
        "n": rows - 1,
        "t32": "1970-01-01T00:00:07",
        "t64": ["2020-09-13T12:26:40.250000", "1969-12-31T23:59:58.750000"],
        "s": "ab",
    }


@pytest.mark.parametrize(("size", "made"), [(3, "i4"), (5, "i8"), (7, "i8")])
def test_integers_of_odd_widths(tmp_path: Path, size: int, made: str) -> None:
    kind = h5t.STD_I64LE.copy()
    kind.set_size(size)
    stored = b"".join((n).to_bytes(size, "little", signed=True) for n in (-2, 1 << 20))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        _written(file, "n", kind, np.frombuffer(stored, f"V{size}"))
    array = array_of(converted(tmp_path / "a.h5", "npy"))
    assert array.dtype == made
    assert array.tolist() == [-2, 1 << 20]


def test_references_are_paths_and_that_is_told(tmp_path: Path) -> None:
    row = np.dtype([("n", "i4"), ("to", h5py.ref_dtype)])
    with h5py.File(tmp_path / "a.h5", "w") as made:
        made["g/a"] = np.arange(3)
        made.create_dataset("refs", (2, 2), h5py.ref_dtype)[0, 0] = made["g/a"].ref
        made["rows"] = np.array([(1, made["g"].ref)], row)
        made.create_dataset("one", (), h5py.ref_dtype)[()] = made["g"].ref
    out = io.BytesIO()
    report = serialpack.convert(tmp_path / "a.h5", out, to="json", threads=1)
    assert json.loads(out.getvalue()) == {
        "g/a": [0, 1, 2],
        "one": "/g",
        "refs": [["/g/a", ""], ["", ""]],
        "rows": [{"n": 1, "to": "/g"}],
    }
    assert [(each.rule, each.count) for each in report.carried] == [("attributes", 3)]
    with pytest.raises(serialpack.SerialpackError, match="references, which are paths now"):
        serialpack.convert(
            tmp_path / "a.h5", io.BytesIO(), to="npy", strict=True, shaping=Shaping(at="refs")
        )


def test_paths_of_references_are_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library looked through the whole file for each: of MATLAB's, with thousands of cells, for
    more than a minute, after which they were taken for damaged."""
    with h5py.File(tmp_path / "a.h5", "w") as made:
        for n in range(50):
            made[f"b/{n}"] = n
        made["a"] = made["z"] = made["b/7"]
        found = [made, *(made[f"b/{n}"] for n in range(50))]
        made["refs"] = np.array([each.ref for each in found], h5py.ref_dtype)
        expected = [h5py.h5r.get_name(each.ref, made.id) for each in found]
        gone = made["b/9"].ref
        del made["b/9"]
    with h5py.File(tmp_path / "a.h5") as file:
        by_library, calls = h5py.h5r.get_name, []

        def counted(*asked: Any) -> Any:
            calls.append(asked)
            return by_library(*asked)

        monkeypatch.setattr(h5py.h5r, "get_name", counted)
        paths = sound(file["refs"])[()].tolist()
        expected[10] = by_library(gone, file.id) or b""
        assert paths == expected
        assert len(calls) <= 1
