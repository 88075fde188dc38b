"""Arrays of which only what is asked for is read."""

from __future__ import annotations

import copy
import io
import os
import pickle
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.formats.arrays.header import npy_header
from tests.formats.test_array_facts import VOLUMES
from tests.formats.test_arrays_layout import mrc, nifti
from tests.pipeline.damage import flipped

np = pytest.importorskip("numpy")

#: 6 MB: blocks of 4 MiB, in which no row ends where one does.
CUBE = np.arange(90 * 101 * 83, dtype="f8").reshape(90, 101, 83)

INDEXES: list[Any] = [
    *(0, -1, np.int64(7), slice(10, 20), slice(None, None, 7), slice(80, 3, -9), slice(5, 5)),
    *(..., (), (3, 4, 5), (..., 5), (slice(2, 40, 3), ..., slice(0, 80, 20)), (-2, ..., 0)),
    (slice(10, 12), slice(None), 5),
    (slice(None), 100, slice(None, None, -1)),
    (slice(None), slice(3, 60, 11), slice(7, 9)),
    *([1, 5, 80], np.array([2, 2]), (slice(0, 3), [4, 5]), None, (slice(0, 2), None, 3)),
    CUBE[:, 0, 0] > 700_000,
]


def dumped(path: Path, obj: Any, chain: str = "objects+blosc-lz4", **how: Any) -> Any:
    serialpack.dump(obj, path, chain, force=True, **how)
    return serialpack.load(path, mmap_mode="r")


@pytest.mark.parametrize(
    ("chain", "order"), [("objects+shuffle:8+none", "C"), ("objects+blosc-lz4", "F"), ("auto", "C")]
)
def test_an_index_gives_what_it_gives_of_the_array(tmp_path: Path, chain: str, order: Any) -> None:
    cube = np.asarray(CUBE, order=order)
    lazy = dumped(tmp_path / "cube.spk", cube, chain)
    assert repr(lazy) == "<LazyArray (90, 101, 83) float64>"
    for name in ("shape", "dtype", "ndim", "size", "nbytes"):
        assert getattr(lazy, name) == getattr(cube, name)
    assert len(lazy) == 90
    for index in INDEXES:
        found, wanted = lazy[index], cube[index]
        assert type(found) is type(wanted), index
        assert np.array_equal(found, wanted), index
        assert found.shape == wanted.shape
        assert found.dtype == wanted.dtype
    lazy[3, 4, 5, ...][()] = 1  # which is nobody else's
    for index in (90, -91, (0, 0, 0, 0), (..., ...), 1.5):
        with pytest.raises(IndexError):
            lazy[index]
    assert np.array_equal(np.asarray(lazy), cube)
    assert np.asarray(lazy, "f4").dtype == "f4"
    assert sum(1 for _ in lazy) == 90


def test_what_only_an_array_in_memory_has_is_said(tmp_path: Path) -> None:
    lazy = dumped(tmp_path / "a.spk", CUBE)
    with pytest.raises(AttributeError, match=r"has no mean: numpy\.asarray\(array\)\.mean is"):
        lazy.mean()
    with pytest.raises(AttributeError, match=r"has no nothing$"):
        lazy.nothing  # noqa: B018
    assert not hasattr(lazy, "__array_interface__")
    assert np.mean(lazy) == CUBE.mean()


def test_it_is_compared_and_reckoned_with_item_by_item(tmp_path: Path) -> None:
    """Without a word, lazy == 5 was False and lazy == lazy True; other operators raised."""
    lazy, more = (dumped(tmp_path / f"{name}.spk", CUBE) for name in "ab")
    for found, wanted in (
        (lazy == 5, CUBE == 5),
        (lazy != CUBE, CUBE != CUBE),
        (lazy == more, CUBE == CUBE),
        (1 - lazy, 1 - CUBE),
        (CUBE * lazy, CUBE * CUBE),
        (-lazy, -CUBE),
        (np.maximum(lazy, 7), np.maximum(CUBE, 7)),
        (np.add.reduce(lazy), np.add.reduce(CUBE)),
    ):
        assert type(found) is np.ndarray
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
    with pytest.raises(TypeError):
        lazy += 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(lazy)
    with pytest.raises(ValueError, match="copy is not False"):
        np.asarray(lazy, copy=False)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(70_000, dtype=">u4"),
        np.zeros(300_000, "?"),
        np.array([1 + 2j, np.nan] * 20_000).reshape(2, 1, -1),
        np.array([("a", 1.5)] * 40_000, [("name", "S3"), ("x", "<f4")]),
        np.array(["2001-01-01"] * 40_000, "M8[ns]"),
        np.array(["é"] * 90_000),
    ],
    ids=lambda array: array.dtype.str,
)
def test_items_of_any_type(tmp_path: Path, array: Any) -> None:
    lazy = dumped(tmp_path / "a.spk", array)
    assert lazy[...].tobytes() == array.tobytes()
    assert lazy[-1].tobytes() == array[-1].tobytes()
    assert lazy.dtype == array.dtype


def test_only_what_is_touched_is_read(tmp_path: Path) -> None:
    """1 % of an array reads 3 % of its file at most, as parts are no smaller; whatever the order
    and the place, a slice of the first axis, or the last one, of small parts."""
    array = np.random.default_rng(1).random((1000, 100, 40))
    for order in "CF":
        path = tmp_path / f"{order}.spk"
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("serialpack.pipeline.in_place._PART", 1 << 18)
            dumped(path, np.asarray(array, order=order), "objects+none")
        # What is in memory cannot be mapped.
        lazy = serialpack.load(io.BytesIO(path.read_bytes()), mmap_mode="r")
        size = path.stat().st_size
        part = lazy[500:510] if order == "C" else lazy[..., 17]
        assert part.nbytes <= size * (0.011 if order == "C" else 0.026)
        assert lazy.bytes_read <= part.nbytes + 3 * (1 << 18)
        before = lazy.bytes_read
        lazy[505:507, 3] if order == "C" else lazy[3:9, 50, 17]
        assert lazy.bytes_read - before <= 2 * (1 << 18) + 1000
        assert len(lazy.chunks) == 3
        assert all(0 < each <= of for each, of in zip(lazy.chunks, lazy.shape, strict=True))


def test_arrays_within_other_values(tmp_path: Path) -> None:
    model = {"weights": [CUBE, CUBE.astype("i4")], "small": np.arange(3), "name": ("a", 1)}
    lazy = dumped(tmp_path / "model.spk", model)
    assert type(lazy["small"]) is np.ndarray
    assert lazy["name"] == ("a", 1)
    assert [type(each).__name__ for each in lazy["weights"]] == ["LazyArray"] * 2
    assert lazy["weights"][1][5, 6, 7] == CUBE[5, 6, 7]
    assert lazy["weights"][0].bytes_read < (tmp_path / "model.spk").stat().st_size
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lazy["weights"][0].__getitem__, [*range(90)] * 2))
    assert np.array_equal(rows[:90], CUBE)


def test_a_packed_npy_file(tmp_path: Path) -> None:
    for order in "CF":
        path = tmp_path / f"{order}.npy"
        np.save(path, np.asarray(CUBE, order=order))
        serialpack.pack(path, tmp_path / "a.spk", force=True)
        lazy = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
        assert np.array_equal(lazy[7:9, ::50], CUBE[7:9, ::50])
    path.write_bytes(path.read_bytes()[:-8])
    serialpack.pack(path, tmp_path / "a.spk", force=True)
    with pytest.raises(serialpack.DamagedError, match="fewer or more"):
        serialpack.load(tmp_path / "a.spk", mmap_mode="r")


@pytest.mark.parametrize("name", VOLUMES)
def test_a_packed_volume(name: str, tmp_path: Path) -> None:
    """It was said to be no object."""
    head, _, dtype = VOLUMES[name]
    shape = (20, 30, 40)
    head = nifti(">", shape, 4) if name == "nifti" else mrc("<", shape[::-1], 1, 80) + bytes(80)
    volume = np.arange(24_000, dtype=dtype).reshape(shape)
    path = tmp_path / "volume"
    path.write_bytes(head + volume.tobytes("F" if name == "nifti" else "C"))
    serialpack.pack(path, tmp_path / "a.spk", format=name, block_size=1 << 13)
    lazy = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
    assert (lazy.dtype, lazy.shape) == (volume.dtype, shape)
    assert np.array_equal(lazy[3:5, ::-7, 30], volume[3:5, ::-7, 30])
    assert np.array_equal(lazy, volume)
    path.write_bytes(path.read_bytes()[:-1])
    serialpack.pack(path, tmp_path / "a.spk", format=name, force=True)
    with pytest.raises(serialpack.DamagedError, match="fewer or more"):
        serialpack.load(tmp_path / "a.spk", mmap_mode="r")


def test_what_has_no_large_arrays_is_loaded(tmp_path: Path) -> None:
    for number, obj in enumerate(({"a": 1}, [1.5] * 90_000, np.arange(3))):
        path = tmp_path / f"{number}.spk"
        serialpack.dump(obj, path)
        for source in (path, io.BytesIO(b"before" + path.read_bytes())):
            if isinstance(source, io.BytesIO):
                source = io.BytesIO(path.read_bytes())
            found = serialpack.load(source, mmap_mode="r")
            assert found is not obj
            assert np.array_equal(found, obj)
    serialpack.dump(CUBE, path, "pickle", force=True)
    with pytest.raises(serialpack.RefusedError):
        serialpack.load(path, mmap_mode="r")
    assert type(serialpack.load(path, mmap_mode="r", trust=True)) is np.ndarray


def test_what_cannot_be_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "cube.spk"
    serialpack.dump(CUBE, path, "objects+none")
    for mode in ("r+", "w+", "copyonwrite"):
        with pytest.raises(ValueError, match="read, not written") as caught:
            serialpack.load(path, mmap_mode=mode)
        assert isinstance(caught.value, serialpack.UsageError)
    with pytest.raises(FileNotFoundError):
        serialpack.load(tmp_path / "none.spk", mmap_mode="r")
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read, "rb") as pipe, pytest.raises(serialpack.UsageError, match="not a pipe"):
        serialpack.load(pipe, mmap_mode="r")
    serialpack.dump(CUBE, path, "objects+blosc-lz4", force=True)
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, len(whole) - 5000))
    lazy = serialpack.load(path, mmap_mode="r")
    assert np.array_equal(lazy[:9], CUBE[:9])
    with pytest.raises(serialpack.DamagedError, match=re.escape(f"{path}: block ")):
        lazy[...]


def test_a_pickle_has_the_name_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Dask's workers get it. It could not be pickled, nor copied, nor dumped."""
    serialpack.dump([CUBE, CUBE + 1, "x"], tmp_path / "a.spk", "objects+zstd:1")
    monkeypatch.chdir(tmp_path)
    found = serialpack.load("a.spk", mmap_mode="r")
    monkeypatch.chdir("/")
    data = pickle.dumps(found)
    assert len(data) < 2000
    again = pickle.loads(data)
    for lazy, array in zip(again[:2], (CUBE, CUBE + 1), strict=True):
        assert type(lazy) is serialpack.LazyArray
        assert np.array_equal(lazy[3:5], array[3:5])
    assert again[0]._stored is again[1]._stored
    assert copy.deepcopy(found)[1] is found[1]
    dumped_again = serialpack.loads(serialpack.dumps(found))
    assert type(dumped_again[0]) is np.ndarray
    assert np.array_equal(dumped_again[0], CUBE)
    serialpack.dump([CUBE + 2], tmp_path / "a.spk", "objects+zstd:1", force=True)
    with pytest.raises(serialpack.FileError, match="is not the file that was pickled"):
        pickle.loads(data)
    with (tmp_path / "a.spk").open("rb") as file:
        (lazy,) = serialpack.load(file, mmap_mode="r")
        with pytest.raises(TypeError, match="has no name"):
            pickle.dumps(lazy)


def test_records_are_compared(tmp_path: Path) -> None:
    """NumPy has no ufunc for it."""
    array = np.array([("a", 1.5)] * 40_000, [("name", "S3"), ("x", "<f4")])
    lazy = dumped(tmp_path / "a.spk", array)
    assert (lazy == lazy).all()
    assert (lazy == array).all()
    assert not (lazy != lazy).any()


def test_a_shape_beyond_what_numpy_has(tmp_path: Path) -> None:
    """Of no items, so that none are missing; each index of it raised what no error of ours is."""
    data = npy_header("<f8", (0, 1 << 62), fortran=False)
    serialpack.pack(io.BytesIO(data), tmp_path / "a.spk", format="npy")
    with pytest.raises(serialpack.DamagedError, match="beyond what NumPy has"):
        serialpack.load(tmp_path / "a.spk", mmap_mode="r")


@pytest.mark.parametrize(
    "rows",
    [
        [3, 1, 1, -1],
        np.arange(90) % 7 == 0,
        np.zeros(90, "?"),
        [True] * 90,
        np.array([5], "u1"),
        np.arange(89, -1, -1),
        [],
    ],
    ids=str,
)
def test_rows_by_number_or_mask(tmp_path: Path, rows: Any) -> None:
    lazy = dumped(tmp_path / "a.spk", CUBE)
    fortran = dumped(tmp_path / "b.spk", np.asfortranarray(CUBE))
    for key in (rows, (rows, slice(3, 40, 2)), (rows, slice(None), slice(None, None, -1))):
        for found in (lazy[key], fortran[key]):
            assert type(found) is np.ndarray
            assert found.dtype == CUBE.dtype
            assert np.array_equal(found, CUBE[key])


def test_few_rows_read_few_blocks(tmp_path: Path) -> None:
    """All of it was read for them."""
    array = np.random.default_rng(1).normal(size=(40_000, 100))
    serialpack.dump(array, tmp_path / "a.spk", "objects+zstd:1")
    lazy = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
    before = lazy.bytes_read
    assert np.array_equal(lazy[[9, 7, 30_001]], array[[9, 7, 30_001]])
    assert lazy.bytes_read - before < (tmp_path / "a.spk").stat().st_size / 3
    many = np.arange(0, 40_000, 3)
    assert np.array_equal(lazy[many], array[many])
    with pytest.raises(IndexError, match="index 40000 is out of bounds for axis 0"):
        lazy[[0, 40_000]]


def test_truth_and_contents_are_those_of_an_array(tmp_path: Path) -> None:
    """Any that had a row was true; and what is in one was compared with its rows."""
    np.save(tmp_path / "a.npy", np.arange(6).reshape(2, 3))
    np.save(tmp_path / "one.npy", np.zeros((1, 1)))
    for name in ("a", "one"):
        serialpack.pack(tmp_path / f"{name}.npy", tmp_path / f"{name}.spk")
    lazy = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
    assert 5 in lazy
    assert 6 not in lazy
    with pytest.raises(ValueError, match="ambiguous"):
        bool(lazy)
    assert not serialpack.load(tmp_path / "one.spk", mmap_mode="r")


def test_it_is_gone_over_row_by_row(tmp_path: Path) -> None:
    """Also by those who ask whether it can be: pandas took it for one value."""
    lazy = dumped(tmp_path / "cube.spk", CUBE)
    assert isinstance(lazy, Iterable)
    assert all(np.array_equal(row, again) for row, again in zip(CUBE, lazy, strict=True))
    with pytest.raises(TypeError):
        iter(dumped(tmp_path / "array.spk", np.zeros(100_000))[0])
