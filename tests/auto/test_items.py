"""Stages that are named without a size of items take that of the array."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.reports import PackReport

RECORDS = [("at", "<f4"), ("count", "<u2")]


def packed(path: Path, array: np.ndarray, *filters: str, codec: str = "zstd:3") -> PackReport:
    """How ``array`` is packed as a file; it comes back."""
    np.save(path, array)
    target = io.BytesIO()
    report = serialpack.pack(path, target, filters=filters, codec=codec)
    back = io.BytesIO()
    serialpack.unpack(io.BytesIO(target.getvalue()), back)
    assert back.getvalue() == path.read_bytes()
    return report


def chain_of(array: np.ndarray, asked: str) -> str:
    """The chain of ``array``, dumped; it comes back."""
    data = serialpack.dumps(array, asked)
    assert (serialpack.loads(data, trust=True) == array).all()
    return str(serialpack.inspect(io.BytesIO(data)).members[0].chain)


@pytest.mark.parametrize("dtype", ["<f8", ">u2", "<c8", "<M8[s]", "|b1"])
def test_filters_and_pcodec_take_the_type_of_an_array(tmp_path: Path, dtype: str) -> None:
    array = np.arange(30_000).astype("i8").astype(dtype)
    size = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    kind = {"c": "f", "M": "i", "b": "u"}.get(array.dtype.kind, array.dtype.kind)
    report = packed(tmp_path / "a.npy", array, "delta", "shuffle")
    assert report.chain == f"raw+delta:{size}+shuffle:{size}+zstd:3"
    report = packed(tmp_path / "b.npy", array, codec="pcodec:5")
    assert report.chain == f"raw+pcodec:5@{kind}{size}/128"


def test_numbers_are_smaller_by_their_type(tmp_path: Path) -> None:
    walk = np.random.default_rng(1).normal(size=30_000).cumsum()
    own = packed(tmp_path / "a.npy", walk, codec="pcodec")
    other = packed(tmp_path / "b.npy", walk, codec="pcodec@u1")
    assert own.packed < 0.9 * other.packed


def test_what_is_named_stays(tmp_path: Path) -> None:
    array = np.arange(30_000)
    report = packed(tmp_path / "a.npy", array, "shuffle:4", codec="pcodec:5@u1")
    assert report.chain == "raw+shuffle:4+pcodec:5@u1"
    report = packed(tmp_path / "b.npy", array, "delta:8@3", "bitshuffle")
    assert report.chain == "raw+delta:8@3+bitshuffle:8+zstd:3"


def test_a_filter_that_takes_no_such_items_stays(tmp_path: Path) -> None:
    array = np.zeros(30_000, RECORDS)
    report = packed(tmp_path / "a.npy", array, "delta", "shuffle")
    assert report.chain == "raw+delta:4+shuffle:6+zstd:3"


def test_a_source_of_no_array_has_the_usual_size() -> None:
    source = io.BytesIO(np.arange(30_000).tobytes())
    report = serialpack.pack(source, io.BytesIO(), filters=["shuffle"], codec="zstd:3")
    assert report.chain == "raw+shuffle:4+zstd:3"


def test_arrays_of_objects_too() -> None:
    array = np.arange(30_000.0)
    assert chain_of(array, "objects+shuffle+zstd:3") == "objects+shuffle:8+zstd:3"
    assert chain_of(array, "auto+pcodec:5") == "objects+pcodec:5@f8"
    assert chain_of(array, "pickle:5+shuffle:2+lz4") == "pickle:5+shuffle:2+lz4:0"
