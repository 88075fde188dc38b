"""Types of .npy files in all the spellings that NumPy itself reads."""

from __future__ import annotations

import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import InputError, RefusedError
from tests.formats.test_npy import converted, lying


@pytest.mark.parametrize(
    "descr",
    [
        *("float32", "<f", "i", "double", "?", "c", "S3", "a2", "str", "M8[s]", "datetime64[D]"),
        *(">i04", "longdouble", "i4,>f4", "V"),
        [("a", "float32"), ("b", "i")],
        [("a", "i2,(2,)f4")],
    ],
)
def test_types_are_read_in_all_spellings_of_numpy(descr: Any, tmp_path: Path) -> None:
    """They were said to be no types, where NumPy reads the file."""
    dtype_of: Any = np.lib.format.descr_to_dtype
    size = 6 * dtype_of("S2" if descr == "a2" else descr).itemsize
    said = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': (2, 3)}}"
    data = lying(said, bytes(range(48, 48 + size)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the letter a
        expected = np.load(io.BytesIO(data))
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    out = io.BytesIO()
    serialpack.convert(path, out, to="npy")
    serialpack.pack(path, tmp_path / "a.spk")
    serialpack.unpack(tmp_path / "a.spk", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == data
    for found in serialpack.load(path), np.load(io.BytesIO(out.getvalue())):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()
    shape = serialpack.inspect(path).shape
    assert shape is not None
    assert shape.array is not None
    assert dtype_of(shape.array.dtype) == expected.dtype


@pytest.mark.parametrize("descr", ["O", "object", "i4,O", [("a", "O")]])
def test_objects_are_found_in_all_spellings(descr: Any) -> None:
    said = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': (1,)}}"
    with pytest.raises(RefusedError, match="Python objects"):
        converted(lying(said, pickle.dumps([0])))


@pytest.mark.parametrize(
    "descr",
    [
        *(" f4", "Float32", "<double", "3f4", ("f4", 2), "T", "f4\n", "i3", "", b"f4"),
        *("(" * 9000, "i4," + "(9,)" * 2000, "i4,{}", "__import__('os').abort()"),
        {"a": ("f4", 0)},
    ],
    ids=range(15),
)
def test_types_that_numpy_does_not_read_are_none(descr: Any) -> None:
    said = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': (1,)}}"
    with pytest.raises(InputError, match="its items are of no type of numbers or text"):
        converted(lying(said, bytes(8)))
