"""What ``inspect`` says of an array, and how volumes are read as values."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.api import first_records
from serialpack.cli.app import run
from serialpack.detection.detect import detect, looks_like
from serialpack.errors import SerialpackError
from serialpack.inspection.look import ArrayLook
from tests.formats.test_arrays_layout import mrc, nifti
from tests.formats.test_npy import RECORDS, lying, saved

REAL = Path(__file__).parents[3] / "shared/data/imaging"


def facts(
    data: bytes, tmp_path: Path, *, packed: bool = False, block_size: int = 1 << 12
) -> ArrayLook | None:
    (tmp_path / "a.npy").write_bytes(data)
    if not packed:
        shape = serialpack.inspect(tmp_path / "a.npy").shape
        assert shape is not None
        return shape.array
    serialpack.pack(tmp_path / "a.npy", tmp_path / "a.spk", block_size=block_size)
    return serialpack.inspect(tmp_path / "a.spk").members[0].array


#: An array, and its least, its greatest, and how many are none.
RANGES: dict[str, tuple[Any, Any]] = {
    "integers": (np.array([[3, -2]], ">i2"), (-2, 3, 0)),
    "unsigned": (np.array([2**64 - 1, 7], "u8"), (7, 2**64 - 1, 0)),
    "half": (np.array([0.5, np.nan], "<f2"), (0.5, 0.5, 1)),
    "NaN only": (np.array([np.nan, -np.nan]), (None, None, 2)),
    "infinities": (np.array([-np.inf, 1.0, np.inf]), ("-Infinity", "Infinity", 0)),
    "negative zero": (np.array([-0.0]), (0.0, 0.0, 0)),
    "booleans": (np.array([True, False]), (False, True, 0)),
    "times": (np.array(["2020-01-02", "NaT"], "M8[D]"), ("2020-01-02", "2020-01-02", 1)),
    "none": (np.zeros((0, 3)), (None, None, 0)),
    "no dimension": (np.array(7, "i1"), (7, 7, 0)),
    "Fortran": (np.asfortranarray([[1, 2], [3, 4]]), (1, 4, 0)),
    "complex": (np.array([1j]), "complex numbers have no order"),
    "texts": (np.array(["a"]), "its items are no numbers"),
    "records": (RECORDS, "its items are records"),
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("packed", [False, True])
def test_least_and_greatest(name: str, packed: bool, tmp_path: Path) -> None:
    """``inspect`` showed neither."""
    array, expected = RANGES[name]
    found = facts(saved(array), tmp_path, packed=packed)
    assert found is not None
    assert found.shape == array.shape
    assert found.order == ("F" if name == "Fortran" else "C")
    told = (found.minimum, found.maximum, found.nan)
    assert (found.why if isinstance(expected, str) else told) == expected
    if not isinstance(expected, str):
        assert not found.why
        assert found.dtype == array.dtype.str


def test_items_are_whole_across_pieces(tmp_path: Path) -> None:
    """The header's length is no multiple of an item's, pieces end within items."""
    array = np.arange(400_001, dtype="<f8")
    array[[3, 131_070, 400_000]] = np.nan, -1, 9e9
    found = facts(saved(array), tmp_path)
    assert found is not None
    assert (found.minimum, found.maximum, found.nan) == (-1.0, 9e9, 1)


def test_what_is_not_at_hand_is_told(tmp_path: Path) -> None:
    """No more than 64 MiB are looked at; of a cut file the last numbers are missing."""
    data = saved(np.zeros(8_400_000))
    found = facts(data, tmp_path, packed=True, block_size=4 << 20)
    assert found is not None
    assert found.why == "the numbers take 64.1 MiB, of which the first 64.0 MiB are looked at"
    assert (found.minimum, found.shape) == (None, (8_400_000,))
    found = facts(data[:-9], tmp_path)
    assert found is not None
    assert found.why == "9 bytes of the array are missing"


def test_the_numbers_of_a_packed_array_are_looked_at_in_all_blocks(tmp_path: Path) -> None:
    """Of one that is damaged behind the first, the shape is told all the same."""
    data = saved(np.arange(2000.0))
    found = facts(data, tmp_path, packed=True)
    assert found is not None
    assert (found.minimum, found.maximum, found.why) == (0.0, 1999.0, "")
    (packed,) = tmp_path.glob("*.spk")
    last = serialpack.inspect(packed).members[0].blocks[-1]
    whole = bytearray(packed.read_bytes())
    whole[last.end - 1] ^= 1
    packed.write_bytes(whole)
    found = serialpack.inspect(packed).members[0].array
    assert found is not None
    assert found.why == "the numbers take 15.6 KiB, of which the first 4.0 KiB are looked at"
    assert (found.minimum, found.shape) == (None, (2000,))


@pytest.mark.parametrize("descr", ["{1, 2}", "1j", "b'x'", "[('a', '|O')]", "'<f3'"])
def test_a_type_that_is_none_is_shown_as_text(descr: str, tmp_path: Path) -> None:
    """JSON has no word for what stands there."""
    data = lying(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}", bytes(16))
    found = facts(data, tmp_path)
    assert found is not None
    assert isinstance(json.loads(json.dumps(found))[0], str)
    assert found.why


def test_what_is_inside_a_compressed_file(tmp_path: Path) -> None:
    (tmp_path / "a.nii.gz").write_bytes(gzip.compress(nifti("<", (2, 3), 4) + bytes(range(12))))
    shape = serialpack.inspect(tmp_path / "a.nii.gz").shape
    assert shape is not None
    assert shape.inside is not None
    assert shape.inside.look is not None
    assert shape.inside.look.array == ArrayLook("<i2", (2, 3), "F", 256, 2826, 0)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("end", [b" ", b"\0"])
def test_an_mrc_map_is_known_by_its_content(order: str, end: bytes) -> None:
    """One whose word ended in NUL was read by its name alone, and from a pipe not at all."""
    data = mrc(order, (4, 3, 2), 1).replace(b"MAP ", b"MAP" + end) + bytes(48)
    shape = serialpack.inspect(io.BytesIO(data)).shape
    assert shape is not None
    assert shape.array is not None
    assert (shape.array.dtype, shape.array.shape) == (order + "i2", (2, 3, 4))


VOLUME = np.arange(24, dtype="i2").reshape(2, 3, 4)
VOLUMES = {
    "nifti": (nifti(">", (2, 3, 4), 4), VOLUME.astype(">i2").tobytes("F"), ">i2"),
    "mrc": (mrc("<", (4, 3, 2), 1, 80) + bytes(80), VOLUME.tobytes(), "<i2"),
}


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes_are_values(name: str) -> None:
    head, numbers, dtype = VOLUMES[name]
    data = head + numbers
    assert detect("x.map", data) == detect(None, data) == name
    assert f": {dtype}, 2 x 3 x 4, " in (looks_like(data) or "")
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, to="json")
    assert json.loads(out.getvalue()) == VOLUME.tolist()
    assert [loss.rule for loss in report.carried] == ["header"]
    with pytest.raises(SerialpackError, match="no place for headers"):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), to="json", strict=True)
    corner = io.BytesIO()
    first_records(io.BytesIO(data), corner, 1)
    assert json.loads(corner.getvalue()) == VOLUME[0].tolist()


BAD = {
    "a wrong offset": nifti("<", (2, 3), 4, 12.0) + bytes(12),
    "an offset beyond the data": nifti("<", (2, 3), 4, 9e6) + bytes(12),
    "no offset": nifti("<", (2, 3), 4, float("nan")) + bytes(12),
    "an infinite offset": nifti("<", (2, 3), 4, float("inf")) + bytes(12),
    "eight dimensions": nifti("<", (1,) * 7, 4)[:40] + b"\x08" + nifti("<", (1,) * 7, 4)[41:],
    "a negative length": nifti("<", (2, -3), 4) + bytes(12),
    "a type that is none": nifti("<", (2, 3), 77) + bytes(12),
    "colours that are not all there": nifti("<", (2, 3), 128) + bytes(17),
    "numbers missing": nifti("<", (2, 3), 4) + bytes(11),
    "more behind": nifti("<", (2, 3), 4) + bytes(13),
    "cut in its header": nifti("<", (2, 3), 4)[:348],
    "a map's negative length": mrc("<", (2, -3, 4), 2),
    "a map of more than there is": mrc("<", (1 << 30, 1 << 30, 1 << 30), 2),
    "a map's negative header": mrc("<", (2, 3, 4), 2, -2000),
    "a map's huge header": mrc("<", (2, 3, 4), 2, (1 << 31) - 1),
}


@pytest.mark.parametrize("name", BAD)
def test_a_volume_that_lies_is_one_line_as_values_and_kept_as_bytes(
    name: str, tmp_path: Path
) -> None:
    data = BAD[name]
    format = "mrc" if name.startswith("a map") else "nifti"
    with pytest.raises(SerialpackError) as caught:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), format=format, to="json")
    assert "\n" not in str(caught.value)
    (tmp_path / "a").write_bytes(data)
    serialpack.inspect(tmp_path / "a")
    serialpack.pack(tmp_path / "a", tmp_path / "a.spk")
    serialpack.unpack(tmp_path / "a.spk", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == data


@pytest.mark.skipif(not REAL.is_dir(), reason="the shared data are not here")
def test_real_volumes() -> None:
    """As nibabel and mrcfile read them."""
    for path, dtype, shape, least, greatest in (
        ("nifti/anatomical.nii", ">i2", (33, 41, 25), -610, 30393),
        ("mrc/EMD-3197.map", "<f4", (20, 20, 20), -4.1337456703186035, 5.576736927032471),
    ):
        found = serialpack.inspect(REAL / path).shape
        assert found is not None
        assert found.array is not None
        assert (found.array.dtype, found.array.shape) == (dtype, shape)
        assert (found.array.minimum, found.array.maximum) == (least, greatest)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (saved(np.arange(9))[:-5], "5 bytes of the array are missing"),
        (saved(np.ones(9, "c16"))[:-5], "5 bytes of the array are missing"),
        (saved(np.array(["a", "bc"]))[:-1], "1 byte of the array is missing"),
        (saved(RECORDS)[:-5], "5 bytes of the array are missing"),
        (
            lying("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", bytes(4)),
            "its header has an order or a shape that is none",
        ),
        (b"\x93NUMPY\x04" + saved(np.arange(9))[7:], "a version that is none of 1, 2 and 3"),
    ],
)
def test_what_is_wrong_is_told(
    data: bytes, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A header that lies was passed over in silence; and the exit code was 0. So it was where what
    is missing are no numbers that have a range."""
    (tmp_path / "a.npy").write_bytes(data)
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(data))
    for name in ("a.npy", "a.npy.gz"):
        serialpack.pack(tmp_path / name, tmp_path / f"{name}.spk")
        for each in (name, f"{name}.spk"):
            for options in ([], ["--json"]):
                assert run(["inspect", *options, str(tmp_path / each)]) == 3
                assert f"{each}: a damaged npy: {said}" in capfd.readouterr().err
