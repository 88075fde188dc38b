"""Floats of an array are rounded to multiples of a step, where that is asked for by name."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.conversion.losses.rounding import nearest
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import UsageError
from tests.formats.test_npy import saved

DRAW = np.random.default_rng(5)


def rounded(array: Any, *lossy: str, to: str = "npy") -> tuple[Any, Any]:
    """The array that came of it, and the report."""
    out = io.BytesIO()
    source = io.BytesIO(saved(array))
    report = serialpack.convert(source, out, format="npy", to=to, lossy=lossy)
    return np.load(io.BytesIO(out.getvalue())), report


@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8", ">c8", "<c16"])
@pytest.mark.parametrize("step", [0.01, 0.25, 1 / 3, 7.0, 1e-300, 1e300])
def test_no_number_is_off_by_more_than_half_a_step(dtype: str, step: float) -> None:
    """Those without a multiple so near stay as they are, and keep all their bits."""
    kind = np.dtype(dtype)
    width = kind.itemsize // (2 if kind.kind == "c" else 1)
    floats = f"{dtype[0]}f{width}"
    odd = [0.0, -0.0, np.nan, np.inf, -np.inf, 0.005, 0.015, 1.005, 6e4, -6e4]
    numbers = np.array([*odd, *DRAW.normal(scale=30, size=90)], floats)
    found, report = rounded(numbers.view(kind).reshape(-1, 5), f"fixed:{step!r}")
    assert found.dtype.str == kind.str
    pairs = list(zip(numbers, found.reshape(-1).view(floats), strict=True))
    changed = 0
    for was, became in pairs:
        if was.tobytes() == became.tobytes():
            continue
        changed += was != became
        assert abs(float(was) - float(became)) <= step / 2
    assert [loss.count for loss in report.losses] == [changed][: bool(changed)]


def test_decimals_are_those_that_people_write() -> None:
    """Also of what is between two, where the one above seems farther off than half a step."""
    numbers = np.array([0.29 + 1e-9, 0.57, 0.015, 0.005, -0.015, 1.005, 2.675, 1 / 3])
    assert all(each == round(each, 2) for each in nearest(numbers, 0.01))


def test_arrays_of_archives_and_datasets_are_rounded_too(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    array = DRAW.normal(size=30)
    np.savez(tmp_path / "a.npz", data=array)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"] = array
    for name in ("a.npz", "a.h5"):
        out = tmp_path / f"{name}.npy"
        how: dict[str, Any] = {"lossy": ["fixed:0.5"], "shaping": Shaping(at="data")}
        report = serialpack.convert(tmp_path / name, out, to="npy", **how)
        assert [loss.rule for loss in report.losses] == ["fixed"]
        assert np.array_equal(np.load(out), np.rint(array * 2) / 2)


def test_it_is_told_where_and_what() -> None:
    _, report = rounded(np.array([[1.0, 2.0], [3.0, 4.25]]), "fixed:0.5")
    (loss,) = report.losses
    assert loss[:] == ("fixed", 1, 1, "$[1]", "4.25", "4.0")
    assert not report.exact


def test_nothing_is_rounded_unasked() -> None:
    array = DRAW.normal(size=50)
    for lossy in ((), ("all",)):
        found, report = rounded(array, *lossy)
        assert found.tobytes() == array.tobytes()
        assert not report.losses


def test_what_is_rounded_is_small() -> None:
    """Of what the numbers are multiples, auto finds by itself; the container is exact."""
    array = np.cumsum(DRAW.normal(size=20_000))
    found, _ = rounded(array, "fixed:0.01")
    sizes = [len(serialpack.dumps(each, "objects+pcodec@f8")) for each in (array, found)]
    assert sizes[1] < 0.3 * sizes[0]


@pytest.mark.parametrize("step", ["", "0", "-1", "nan", "inf", "two"])
def test_a_step_is_a_number_above_zero(step: str) -> None:
    with pytest.raises(UsageError, match="needs a step above zero"):
        rounded(np.zeros(3), f"fixed:{step}")


def test_what_is_no_array_of_floats_is_refused() -> None:
    with pytest.raises(UsageError, match="rounds floats, and this is an array of <i8"):
        rounded(np.arange(3), "fixed:1")
    with pytest.raises(UsageError, match='what to="json" makes of this is none'):
        rounded(np.zeros(3), "fixed:1", to="json")
