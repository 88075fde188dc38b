"""Volumes whose header says a slope and an intercept: loaded as stored, with a word, or scaled."""

from __future__ import annotations

import gzip
import io
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import ScaleWarning, UsageError
from tests.formats.test_arrays_layout import nifti
from tests.formats.test_nifti import VOLUME, nifti1, nifti2, numbers

SCALED = nifti1(">", 0.1, -10.5) + numbers(">")
SLOPE = float(np.float32(0.1))


@pytest.mark.parametrize("seen", ["a.nii", "a.nii.gz", "a.nii.spk", "a.nii.gz.spk", "bytes"])
def test_a_scale_is_told_or_applied(seen: str, tmp_path: Path) -> None:
    """``load`` gave the numbers as they are stored, without a word."""
    (tmp_path / "a.nii").write_bytes(SCALED)
    (tmp_path / "a.nii.gz").write_bytes(gzip.compress(SCALED))
    serialpack.pack(tmp_path / "a.nii", tmp_path / "a.nii.spk")
    serialpack.pack(tmp_path / "a.nii.gz", tmp_path / "a.nii.gz.spk")

    def load(**how: Any) -> Any:
        if seen == "bytes":
            return serialpack.loads(SCALED, **how)
        return serialpack.load(tmp_path / seen, **how)

    with pytest.warns(ScaleWarning, match=r"0\.10000000149011612 x - 10\.5.*scaled=True") as told:
        stored = load()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_stored, measured = load(scaled=False), load(scaled=True)
    for found in stored, as_stored:
        assert found.dtype == ">i2"
        np.testing.assert_array_equal(found, VOLUME)
    assert measured.dtype == "f8"
    np.testing.assert_array_equal(measured, VOLUME * SLOPE - 10.5)


@pytest.mark.parametrize("name", ["a.nii", "a.nii.spk"])
def test_mapped_numbers_are_as_stored(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.nii").write_bytes(SCALED)
    serialpack.pack(tmp_path / "a.nii", tmp_path / "a.nii.spk")
    with pytest.warns(ScaleWarning):
        found = serialpack.load(tmp_path / name, mmap_mode="r")
    np.testing.assert_array_equal(found, VOLUME)
    with pytest.raises(UsageError, match="leave one of them out"):
        serialpack.load(tmp_path / name, mmap_mode="r", scaled=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = serialpack.load(tmp_path / name, mmap_mode="r", scaled=False)
    np.testing.assert_array_equal(found, VOLUME)


@pytest.mark.parametrize("scale", [(0.0, 7.0), (1.0, 0.0), (float("nan"), 1.0)])
def test_without_a_scale_numbers_are_as_stored(scale: tuple[float, float], tmp_path: Path) -> None:
    (tmp_path / "a.nii").write_bytes(nifti1("<", *scale) + numbers("<"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scaled in (None, False, True):
            found = serialpack.load(tmp_path / "a.nii", scaled=scaled)
            assert found.dtype == "<i2"
            np.testing.assert_array_equal(found, VOLUME)


def test_colours_have_no_scale(tmp_path: Path) -> None:
    """By the standard it is ignored; it was shown."""
    head = bytearray(nifti("<", (2, 1), 128))
    struct.pack_into("<2f", head, 112, 2.0, 1.0)
    (tmp_path / "a.nii").write_bytes(bytes(head) + bytes(range(6)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = serialpack.load(tmp_path / "a.nii", scaled=True)
    assert found["G"].ravel().tolist() == [1, 4]


def test_what_is_no_volume_is_as_ever() -> None:
    assert serialpack.loads(serialpack.dumps([1]), scaled=True) == [1]
    out = io.BytesIO()
    np.save(out, VOLUME)
    np.testing.assert_array_equal(serialpack.loads(out.getvalue(), scaled=True), VOLUME)


@pytest.mark.parametrize("kind", ["u1", "i2", "i4", "f4", "f8", "c8", "i1", "u2", "u4", "i8", "u8"])
@pytest.mark.parametrize("scale", [(0.1, -10.5), (1.0, 3.0), (-1e-7, 0.0), (1e30, 1e30)])
@pytest.mark.parametrize("head", [nifti1, nifti2])
def test_scaled_numbers_are_those_of_nibabel(
    head: Any, scale: tuple[float, float], kind: str, tmp_path: Path
) -> None:
    nibabel = pytest.importorskip("nibabel")
    codes = {"u1": 2, "i2": 4, "i4": 8, "f4": 16, "c8": 32, "f8": 64, "i1": 256, "u2": 512}
    codes |= {"u4": 768, "i8": 1024, "u8": 1280}
    made = bytearray(head("<", *scale))
    at = 12 if head is nifti2 else 70
    struct.pack_into("<2h", made, at, codes[kind], 8 * np.dtype(kind).itemsize)
    random = np.random.default_rng(1)
    items = random.integers(0, 256, VOLUME.size * np.dtype(kind).itemsize, "u1").tobytes()
    (tmp_path / "a.nii").write_bytes(bytes(made) + items)
    with np.errstate(all="ignore"):
        expected = np.asarray(nibabel.load(tmp_path / "a.nii").dataobj)
        found = serialpack.load(tmp_path / "a.nii", scaled=True)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
