"""Datasets of which few chunks are stored: read by these, and the same as h5py reads."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping

h5py = pytest.importorskip("h5py")

from serialpack.formats.arrays.hdf5.chunked import ChunkedDataset, is_sparse  # noqa: E402
from serialpack.formats.arrays.hdf5.streams import arrays  # noqa: E402

RECORDS = np.dtype([("n", "<i4"), ("s", "S3")])


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Datasets in chunks, of which a few have numbers of their own."""
    draw = random.Random(3)
    with h5py.File(tmp_path / "a.h5", "w") as made:
        how: dict[str, dict[str, Any]] = {
            "plain": {"dtype": "<f4"},
            "filled": {"dtype": ">i2", "fillvalue": -7, "compression": "gzip"},
            "records": {"dtype": RECORDS},
        }
        for name, options in how.items():
            dataset = made.create_dataset(
                name, (203, 30, 22), chunks=(4, 3, 5), maxshape=(None,) * 3, **options
            )
            for _ in range(30):
                at = tuple(draw.randrange(length) for length in dataset.shape)
                value = draw.randrange(99)
                dataset[at] = (value, b"ab") if name == "records" else value
            dataset[202, 29, 21] = (1, b"z") if name == "records" else 1
        # What is stored beyond the end is no part of it.
        made["plain"].resize((190, 30, 21))
        yield made


@pytest.mark.parametrize("name", ["plain", "filled", "records"])
def test_every_region_is_what_h5py_reads(file: Any, name: str) -> None:
    dataset = file[name]
    assert is_sparse(dataset)
    sparse = ChunkedDataset(dataset)
    end = dataset.shape[0] - 1
    regions: list[tuple[Any, ...]] = [
        (slice(0, 1),),
        (slice(3, 150),),
        (slice(3, 3),),
        (end,),
        (end, slice(2, 30)),
        (7, 5, slice(1, 20)),
        (slice(0, 9), slice(4, 6), slice(0, 50)),
    ]
    for region in regions:
        wanted, found = dataset[region], sparse[region]
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tobytes() == wanted.tobytes(), region
    assert b"".join(a.tobytes() for a in arrays(dataset)) == dataset[...].tobytes()


def test_the_chunks_that_are_stored_are_all_that_is_read(
    file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that might be stored were looked for: 4,000,000 of them took more than a minute."""
    read: list[tuple[int, ...]] = []
    chunk = ChunkedDataset._chunk

    def counted(self: ChunkedDataset, origin: tuple[int, ...]) -> Any:
        read.append(origin)
        return chunk(self, origin)

    monkeypatch.setattr(ChunkedDataset, "_chunk", counted)
    assert len(list(arrays(file["filled"]))) == 1
    assert len(read) == len({*read}) == file["filled"].id.get_num_chunks() <= 31


def test_what_is_not_sparse_is_read_by_the_library(file: Any) -> None:
    file["dense"] = np.arange(9)
    file.create_dataset("stored", data=np.zeros((64, 64)), chunks=(4, 4))
    file.create_dataset("text", (4000,), chunks=(4,), dtype=h5py.string_dtype())
    file.create_dataset("empty", (0, 9), dtype="f4", chunks=(4, 4), maxshape=(None, 9))
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((4,))
    made.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple((4000,))
    h5py.h5d.create(file.id, b"never", h5py.h5t.NATIVE_INT32, space, made)
    for name in ("dense", "stored", "text", "empty", "never"):
        assert not is_sparse(file[name]), name


def test_a_sparse_dataset_becomes_an_array(file: Any, tmp_path: Path) -> None:
    wanted = file["filled"][...]
    path = file.filename
    file.close()
    serialpack.convert(path, tmp_path / "a.npy", to="npy", shaping=Shaping(at="filled"))
    found = np.load(tmp_path / "a.npy")
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()
