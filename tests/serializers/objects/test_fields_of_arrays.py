"""Arrays whose types have fields that an .npy file has no words for."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

_ALIGNED = np.dtype([("a", "u1"), ("b", "<f8")], align=True)
_TABLE = [("a", "<i4"), ("b", "<f8"), ("c", "u1")]

TYPES: dict[str, Any] = {
    "aligned": _ALIGNED,
    "big-endian": np.dtype([("é", ">U3"), ("b", ">i8")], align=True),
    "in a field": np.dtype([("x", _ALIGNED), ("y", "u1")]),
    "arrays of it": np.dtype([("x", _ALIGNED, (2, 3)), ("y", "<M8[s]")]),
    "turned": np.dtype({"names": ["b", "a"], "formats": ["<f8", "u1"], "offsets": [8, 0]}),
    "selected": np.zeros(2, _TABLE)[["c", "a"]].dtype,
    "with room": np.dtype(
        {"names": ["b", "a"], "formats": ["<f8", "S3"], "offsets": [9, 1], "itemsize": 40}
    ),
    "titles": np.dtype([(("The first", "a"), "u1"), ("b", "<c16")], align=True),
}


def _filled(name: str, count: int = 6) -> Any:
    kind = TYPES[name]
    numbers = np.arange(kind.itemsize * count) % 100 + 1
    return np.frombuffer(numbers.astype("u1").tobytes(), kind).copy()


def _same(found: Any, array: Any) -> None:
    assert difference(array, found) is None
    assert repr(found.dtype) == repr(array.dtype)
    assert found.dtype.isalignedstruct == array.dtype.isalignedstruct


@pytest.mark.parametrize("name", TYPES)
def test_they_need_no_pickle(name: str, tmp_path: Path) -> None:
    """All of them were pickled, with a warning, and so needed trust."""
    array = _filled(name)
    value = {
        "all": array,
        "one": array[0],
        "rows": array.reshape(2, 3)[::-1, ::2],
        "fortran": np.asfortranarray(array.reshape(2, 3)),
        "masked": np.ma.array(array, mask=False),
        "shown": array.view(np.recarray),
        "none": array[:0],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = serialpack.loads(serialpack.dumps(value))
    for key, each in value.items():
        assert type(again[key]) is type(each)
        _same(np.asarray(again[key]), np.asarray(each))
    many = _filled(name, 9000)
    for chain in ("auto", "auto+none"):
        serialpack.dump(many, tmp_path / "a.spk", chain, force=True)
        _same(serialpack.load(tmp_path / "a.spk"), many)
        lazy = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
        _same(np.asarray(lazy[5:900:7]), many[5:900:7])
        assert "records, 9000, C order" in repr(serialpack.inspect(tmp_path / "a.spk"))


def _spelled(**said: Any) -> str:
    usual: dict[str, Any] = {"names": ["b", "a"], "formats": ["<u4", "|u1"], "offsets": [4, 0]}
    return repr({**usual, "itemsize": 8, **said})


@pytest.mark.parametrize(
    "spelled",
    [
        _spelled(offsets=[0, 4]),  # which NumPy spells as an .npy file does, with a gap
        _spelled(offsets=[4, 2**40]),
        _spelled(offsets=[4, -1]),
        _spelled(offsets=[4]),
        _spelled(offsets=4),
        _spelled(names=["a", "a"]),
        _spelled(names=["a"]),
        _spelled(names=[1, 2]),
        _spelled(formats=["|O", "|u1"]),
        _spelled(formats=["<u4", ("|u1", -1)]),
        _spelled(formats=["<u4", ("|u1", 2**62)]),
        _spelled(formats=["<u4", {"names": 1}]),
        _spelled(itemsize=4),
        _spelled(itemsize=2**70),
        _spelled(itemsize=-1),
        _spelled(itemsize=None),
        _spelled(aligned="x"),
        _spelled(aligned=False),
        _spelled(aligned=True, offsets=[3, 0]),
        _spelled(titles=[None, 5]),
        _spelled(titles=["b", "a"]),
        _spelled(more=1),
        repr({"names": ["a", "b"], "formats": ["|u1", "|u1"], "offsets": [0, 1], "itemsize": 2}),
        repr({"names": ["a", "b"], "formats": ["<u8", "<u8"], "offsets": [0, 0], "itemsize": 8}),
        repr({"a": ("<u4", 4), "b": ("|u1", 0)}),
        repr({}),
        _spelled(names=["b", "a" * 70_000]),
        "{'names': ['a'], 'formats': [" * 300 + "'|u1'" + "], 'offsets': [0], 'itemsize': 1}" * 300,
    ],
)
def test_a_spelling_that_is_none_is_one_error(spelled: str) -> None:
    data = made_of(msgpack.ExtType(18, msgpack.packb([bytes(8), spelled, [1], False, True])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DamagedError):
            serialpack.loads(data)


def test_the_spelling_that_these_are_made_of_is_one() -> None:
    data = made_of(msgpack.ExtType(18, msgpack.packb([bytes(8), _spelled(), [1], False, True])))
    assert serialpack.loads(data).dtype == np.dtype(
        {"names": ["b", "a"], "formats": ["<u4", "u1"], "offsets": [4, 0], "itemsize": 8}
    )


def test_fields_that_share_bytes_are_not_multiplied() -> None:
    """A thousand fields of one item of a thousand bytes would be a megabyte of values."""
    names = [f"f{n}" for n in range(1000)]
    said = {"names": names, "formats": ["|S1000"] * 1000, "offsets": [0] * 1000, "itemsize": 1000}
    data = made_of(msgpack.ExtType(18, msgpack.packb([bytes(1000), repr(said), [1], False, True])))
    with pytest.raises(DamagedError, match="share bytes"):
        serialpack.loads(data)


@pytest.mark.parametrize("to", ["npy", "npz", "json", "csv"])
def test_they_are_converted_as_records(to: str) -> None:
    """Or refused, by a line; never otherwise."""
    for name in TYPES:
        array = _filled(name)
        out = io.BytesIO()
        try:
            serialpack.convert(io.BytesIO(serialpack.dumps(array)), out, to=to, lossy=["all"])
        except serialpack.SerialpackError:
            continue
        if to == "npy":
            found = np.load(io.BytesIO(out.getvalue()))
            assert difference(array, found.astype(array.dtype)) is None
