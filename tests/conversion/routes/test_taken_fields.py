"""Fields of the records of an array that becomes an array again: their items stay, bit for bit."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack

KIND = [
    ("id", "<i4"),
    ("place", ">f4", (2,)),
    ("name", "<U5"),
    ("at", "<M8[s]"),
    ("in", [("a", "|u1"), ("b", "<c8")]),
]


def records(count: int) -> np.ndarray[Any, Any]:
    made = np.zeros(count, KIND)
    made["id"] = np.arange(count)
    made["place"][:, 1] = np.arange(count) / 3
    made["name"] = "é"
    made["at"] = np.arange(count).astype("M8[s]")
    made["in"]["b"] = np.arange(count) * 1j
    return made


def taken(path: Path, *fields: str, **how: Any) -> Any:
    target = io.BytesIO()
    serialpack.convert(path, target, to="npy", fields=fields, **how)
    target.seek(0)
    return np.load(target)


@pytest.mark.parametrize("count", [0, 7, 100_000])
def test_items_keep_their_types(tmp_path: Path, count: int) -> None:
    """Integers became int64, floats float64, times microseconds, and nothing was said."""
    array = records(count)
    np.save(tmp_path / "a.npy", array)
    found = taken(tmp_path / "a.npy", "at", "place", "id")
    assert found.dtype.descr == [KIND[0], KIND[1], KIND[3]]
    for name in ("id", "place", "at"):
        assert found[name].tobytes() == array[name].tobytes()


def test_a_field_within_another(tmp_path: Path) -> None:
    array = records(9)
    np.save(tmp_path / "a.npy", array)
    found = taken(tmp_path / "a.npy", "in.b", "name")
    assert found.dtype.descr == [KIND[2], ("in", [("b", "<c8")])]
    assert found["in"]["b"].tobytes() == array["in"]["b"].tobytes()


def test_what_lies_between_fields_is_left(tmp_path: Path) -> None:
    array = np.zeros(5, np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True))
    array["b"] = range(5)
    np.save(tmp_path / "a.npy", array)
    assert taken(tmp_path / "a.npy", "b").dtype == np.dtype([("b", "f8")])


def test_bits_of_a_nan_stay(tmp_path: Path) -> None:
    array = np.zeros(2, [("x", "<f4"), ("y", "<i2")])
    array["x"] = np.array([0x7FA00001, 0xFFC00123], "u4").view("f4")
    np.save(tmp_path / "a.npy", array)
    assert taken(tmp_path / "a.npy", "x")["x"].tobytes() == array["x"].tobytes()


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", records(3))
    np.save(tmp_path / "b.npy", np.zeros((3, 2)))
    for fields in (["nope"], ["id", "nope"]):
        with pytest.raises(serialpack.ValueRefusedError, match="nope"):
            taken(tmp_path / "a.npy", *fields)
    assert taken(tmp_path / "a.npy", "id", "nope", lossy=["fields"]).dtype.names == ("id",)
    with pytest.raises(serialpack.RefusedError, match="it has no fields"):
        taken(tmp_path / "b.npy", "id")


def test_too_few_and_too_many_bytes_are_told_by_the_source(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, records(300_000))
    data = path.read_bytes()
    path.write_bytes(data[:-1000])
    with pytest.raises(serialpack.InputError, match="1,000 bytes of the array are missing"):
        taken(path, "id")
    path.write_bytes(data + b"xx")
    with pytest.raises(serialpack.InputError, match=f"byte {len(data)}: .* behind the array"):
        taken(path, "id")
