"""Variables, labelled arrays and data sets of xarray come back without pickle, with all of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

#: Not by an import: mypy runs without it, too.
xarray: Any = pytest.importorskip("xarray")
pandas: Any = pytest.importorskip("pandas")


def _set() -> Any:
    variables = {
        "t": (("x", "time"), np.arange(6.0).reshape(3, 2), {"unit": "K"}, {"dtype": "i2"}),
        "o": ("x", np.array([None, "a", 1], object)),
    }
    labels = {
        "x": [1, 2, 4],
        "time": pandas.date_range("2020", periods=2),
        "name": ("x", ["a", "b", "c"]),
        "whole": 3.5,
    }
    made = xarray.Dataset(variables, labels, {"source": (1, "b")})
    made.encoding = {"unlimited_dims": {"time"}}
    return made


def _large() -> Any:
    return xarray.Dataset({"t": (("x", "y"), np.ones((300, 400)))}, {"x": np.arange(300)})


VALUES: dict[str, Callable[[], Any]] = {
    "set": _set,
    "of none": xarray.Dataset,
    "array": lambda: _set()["t"],
    "labels": lambda: _set()["x"],
    "no labels": lambda: xarray.DataArray(np.arange(3), name=2),
    "of one": lambda: xarray.DataArray(np.array(3)),
    "variable": lambda: _set()["t"].variable,
    "of an index": lambda: _set()["time"].variable,
    "a label taken away": lambda: _set().drop_vars("x"),
    "an index taken away": lambda: _set().drop_indexes("x"),
    "another index": lambda: _set().set_xindex("name"),
    "text as labels": lambda: _set().assign_coords(x=["a", "b", "c"]),
    "categories": lambda: _set().assign_coords(x=pandas.CategoricalIndex(["a", "b", "a"])),
    "of pandas": lambda: pandas.DataFrame({"a": [1]}, index=["b"]).to_xarray(),
    "turned": lambda: _set().transpose("time", "x"),
    "means": lambda: _set()[["t"]].mean("x"),
    "large": _large,
}


@pytest.mark.parametrize("name", VALUES)
def test_they_need_no_pickle(name: str) -> None:
    value = VALUES[name]()
    data = serialpack.dumps([value], "objects")
    assert data == serialpack.dumps([value])
    (again,) = serialpack.loads(data)
    assert difference(value, again) is None
    assert again.identical(value)
    assert again.encoding == value.encoding
    assert serialpack.dumps([again]) == data


def test_what_several_hold_stays_one() -> None:
    held = _large()
    value = {"set": held, "array": held["t"], "items": held["t"].values}
    data = serialpack.dumps(value, "objects+none")
    assert len(data) < 1.01 * held["t"].nbytes
    again = serialpack.loads(data)
    assert np.shares_memory(again["set"]["t"].values, again["items"])
    assert np.shares_memory(again["array"].values, again["items"])


def test_large_arrays_lie_beside_the_message() -> None:
    (member,) = serialpack.inspect(io.BytesIO(serialpack.dumps(_large()))).members
    assert str(member.holds["Dataset"]["t"]["x x y"]).startswith("<f8, 300 x 400")
    assert [block.size for block in member.blocks][1:] == [_large()["t"].nbytes]


def test_large_arrays_are_mapped(tmp_path: Path) -> None:
    serialpack.dump(_large(), tmp_path / "a.spk", "auto+none")
    again = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
    assert type(again["t"].values.base) is np.memmap
    assert again.identical(_large())


def test_large_arrays_that_are_packed_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    serialpack.dump(_large(), tmp_path / "a.spk")
    again = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
    assert not isinstance(again["t"].variable._data, np.ndarray)
    assert again["t"][3:5, ::7].values.tolist() == [[1.0] * 58] * 2
    assert again["t"][[5, 1], 0].values.tolist() == [1.0, 1.0]
    assert again.identical(_large())


@pytest.mark.parametrize("name", ["levels", "dask", "open", "more"])
def test_what_is_not_held_is_refused(name: str) -> None:
    value = _set()[["t"]]
    if name == "levels":
        value = value.stack(both=("x", "time"))
    elif name == "dask":
        pytest.importorskip("dask.array")
        value = value.chunk()
    elif name == "open":
        value.set_close(lambda: None)
    else:
        value = type("Own", (xarray.Dataset,), {"__slots__": ()})()
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "objects", verify=False)


def test_a_set_of_an_open_file_is_held_once_that_is_closed() -> None:
    """The message said that it holds more than variables, and not what to do."""
    value = _set()[["t"]]
    value.set_close(lambda: None)
    with pytest.raises(serialpack.ValueRefusedError, match=r"its load\(\) and close\(\) let it go"):
        serialpack.dumps(value, "objects")
    value.close()
    assert serialpack.loads(serialpack.dumps(value, "objects")).identical(value)


def _ext(code: int, *parts: Any) -> msgpack.ExtType:
    return msgpack.ExtType(code, msgpack.packb([*parts]))


_NUMBERS = _ext(18, bytes(16), "'<i8'", [2], False, True)
_INDEX = _ext(30, "index", "x", _NUMBERS, None)
_KIND = _ext(42, "dtype", "'<i8'")
_X = _ext(50, "IndexVariable", ["x"], [_INDEX, _KIND], None, None)
_T = _ext(50, "Variable", ["x"], _NUMBERS, None, None)
_Y = _ext(50, "Variable", ["x"], _ext(18, bytes(8), "'<i8'", [1], False, True), None, None)
_TEXT = _ext(49, "tests.fidelity.things", "Text", "str", "x", None)

BAD: dict[str, msgpack.ExtType] = {
    "another word": _ext(50, "Coordinates", []),
    "nothing": _ext(50),
    "too few names": _ext(50, "Variable", [], _NUMBERS, None, None),
    "a name twice": _ext(50, "Variable", ["x", "x"], _NUMBERS, None, None),
    "a list as a name": _ext(50, "Variable", [["x"]], _NUMBERS, None, None),
    "an own name": _ext(50, "Variable", [_TEXT], _NUMBERS, None, None),
    "no array": _ext(50, "Variable", ["x"], "a", None, None),
    "no index": _ext(50, "IndexVariable", ["x"], [_NUMBERS, _KIND], None, None),
    "no type": _ext(50, "IndexVariable", ["x"], [_INDEX, "a"], None, None),
    "no map": _ext(50, "Variable", ["x"], _NUMBERS, [1], None),
    "no variable": _ext(50, "DataArray", "t", _NUMBERS, [], [], []),
    "no labels": _ext(50, "DataArray", "t", _T, ["x"], [_NUMBERS], []),
    "other sizes": _ext(50, "DataArray", "t", _T, ["x"], [_Y], []),
    "an index of none": _ext(50, "DataArray", "t", _T, [], [], [["x", _INDEX, "x", _KIND]]),
    "no variables": _ext(50, "Dataset", ["x"], [1], [], [], [], None, None),
    "too many names": _ext(50, "Dataset", ["x", "t"], [_X], [], ["x"], [], None, None),
    "two sizes": _ext(50, "Dataset", ["x", "y"], [_X, _Y], [], ["x"], [], None, None),
    "labels of none": _ext(50, "Dataset", ["x"], [_X], ["y"], ["x"], [], None, None),
    "other dimensions": _ext(50, "Dataset", ["x"], [_X], [], ["y"], [], None, None),
    "a short index": _ext(
        *(50, "Dataset", ["x"], [_Y], ["x"], ["x"], [["x", _INDEX, "x", _KIND]], None, None)
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_stored_bytes_that_lie_are_one_error(name: str) -> None:
    with pytest.raises(DamagedError):
        serialpack.loads(made_of(BAD[name]))


@pytest.mark.parametrize("name", BAD)
def test_inspect_tells_less_of_bytes_that_lie(name: str) -> None:
    (member,) = serialpack.inspect(io.BytesIO(made_of(BAD[name]))).members
    assert member.format == "object"
