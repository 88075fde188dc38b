"""What stands behind an array in its file, or lacks there: ``skip_bad`` leaves out nothing else."""

from __future__ import annotations

import gzip
import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import InputError
from serialpack.formats.arrays import rows
from tests.formats.test_npy import converted, saved

ITEMS = np.arange(12, dtype="<i2").reshape(4, 3)


def nifti() -> bytes:
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 2, 4, 3, 1, 1, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 4, 16)
    struct.pack_into("<f", head, 108, 352)
    head[344:348] = b"n+1\0"
    return bytes(head) + ITEMS.tobytes("F")


def mrc() -> bytes:
    head = bytearray(1024)
    struct.pack_into("<4i", head, 0, 3, 4, 1, 1)
    head[208:212] = b"MAP "
    return bytes(head) + ITEMS.tobytes()


FILES: dict[str, tuple[str, bytes, Any]] = {
    "C order": ("npy", saved(ITEMS), ITEMS),
    "Fortran order": ("npy", saved(np.asfortranarray(ITEMS)), ITEMS),
    "one dimension": ("npy", saved(ITEMS[0]), ITEMS[0]),
    "one row": ("npy", saved(ITEMS[:1]), ITEMS[:1]),
    "no dimension": ("npy", saved(ITEMS[0, 1]), ITEMS[0, 1]),
    "no items": ("npy", saved(ITEMS[:, :0]), ITEMS[:, :0]),
    "NIfTI": ("nifti", nifti(), ITEMS),
    "MRC": ("mrc", mrc(), ITEMS[np.newaxis]),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("to", ["json", "npy", "npz"])
@pytest.mark.parametrize("seen", ["file", "pipe", "gz", "packed"])
def test_only_what_is_behind_an_array_is_left_out(
    name: str, to: str, seen: str, tmp_path: Path
) -> None:
    """The last row was, too, or all of an array in Fortran order; and items got another type."""
    fmt, data, items = FILES[name]
    path, source, out = tmp_path / f"a.{fmt}", io.BytesIO(data + bytes(5)), io.BytesIO()
    how: dict[str, Any] = {"to": to, "lossy": ["header"] if fmt != "npy" else ()}
    how |= {"format": fmt} if seen == "pipe" else {}
    path.write_bytes(source.getvalue())
    places: dict[str, Any] = {"file": path, "pipe": source, "gz": tmp_path / "a.gz"}
    if seen == "gz":
        how |= {"format": fmt}
        places["gz"].write_bytes(gzip.compress(source.getvalue()))
    if seen == "packed":
        places["packed"] = tmp_path / "a.spk"
        serialpack.pack(path, places["packed"], format=fmt)
    with pytest.raises(InputError, match=rf"byte {len(data)}: .* behind the array"):
        serialpack.convert(places[seen], io.BytesIO(), **how)
    source.seek(0)
    report = serialpack.convert(places[seen], out, skip_bad=True, **how)
    (place,) = report.places
    assert (report.left_out, place.offset, place.records) == (1, len(data), 0)
    assert place.record == (len(items) if items.ndim else 1)
    assert place.error.endswith("5 bytes are behind the array")
    if to == "json":
        assert json.loads(out.getvalue()) == items.tolist()
        return
    found = np.load(io.BytesIO(out.getvalue()))
    found = found if to == "npy" else found[found.files[0]]
    assert (found.dtype, found.tolist()) == (items.dtype, items.tolist())


def test_the_way_out_is_named() -> None:
    for to in ("json", "npy", "npz"):
        with pytest.raises(InputError, match=r"behind the array; skip_bad=True leaves out"):
            converted(saved(ITEMS) + b"x", to)


@pytest.mark.parametrize("order", ["C", "F"])
def test_bytes_behind_a_large_array(
    order: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one that is not read at once in Fortran order."""
    monkeypatch.setattr(rows, "MAX_BLOCK", 2000)
    items = np.asarray(np.arange(3000, dtype="<i4").reshape(-1, 3), order=order)
    (tmp_path / "a.npy").write_bytes(saved(items) + bytes(2001))
    out = io.BytesIO()
    report = serialpack.convert(tmp_path / "a.npy", out, to="json", skip_bad=True, block_size=500)
    assert json.loads(out.getvalue()) == items.tolist()
    (place,) = report.places
    assert place.error.endswith("at least 2,000 bytes are behind the array")


@pytest.mark.parametrize("to", ["json", "npy", "npz"])
def test_rows_that_are_there_are_kept(to: str) -> None:
    """Bytes behind the array were told where it was too short, and items got another type."""
    out, data = io.BytesIO(), io.BytesIO(saved(ITEMS)[:-8])
    report = serialpack.convert(data, out, format="npy", to=to, skip_bad=True)
    (place,) = report.places
    assert (place.record, place.offset) == (2, 128 + 12)
    if to == "json":
        assert json.loads(out.getvalue()) == ITEMS[:2].tolist()
        return
    found = np.load(io.BytesIO(out.getvalue()))
    found = found if to == "npy" else found["arr_0"]
    assert (found.dtype, found.tolist()) == (ITEMS.dtype, ITEMS[:2].tolist())
