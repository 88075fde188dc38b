"""Attributes of HDF5: beside the datasets in all that has arrays by name, and attributes again."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.api import first_records
from serialpack.errors import ValueRefusedError
from serialpack.formats.arrays.hdf5.attributes import with_attributes
from tests.formats.hdf5_files import converted, listed, made_with, values

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.usefixtures("hdf5_here")

#: What becomes of the attributes in ``file``.
NAMED: dict[str, Any] = {
    "@title": "a walk",
    "g@unit": "m",
    "g/x@scale": 2.5,
    "g/x@axes": ["a", "\u00f6"],
    "g/x@a/b@c": [[1, 2], [3, 4]],
    **{f"y@n{number}": number for number in range(20)},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = made_with(tmp_path / "a.h5", **{"g/x": np.arange(6.0), "y": np.arange(2)})
    with h5py.File(path, "a") as made:
        for name, value in NAMED.items():
            of, _, own = name.partition("@")
            made[of or "/"].attrs[own] = np.float32(value) if own == "scale" else value
    return path


@pytest.mark.parametrize("between", ["json", "msgpack", "npz", "hdf5"])
def test_they_stand_beside_datasets_and_become_attributes_again(
    file: Path, tmp_path: Path, between: str
) -> None:
    """They were dropped. More than eight, in their order, and text as text."""
    found = values(file)
    assert {name: value for name, value in found.items() if "@" in name} == NAMED
    report = serialpack.convert(file, tmp_path / "between", to=between)
    assert not report.carried
    source = None if between in ("npz", "hdf5") else between
    serialpack.convert(tmp_path / "between", tmp_path / "b.h5", to="hdf5", format=source)
    assert list(values(tmp_path / "b.h5").items()) == list(found.items())
    with h5py.File(tmp_path / "b.h5") as made:
        assert (made.attrs["title"], made["g"].attrs["unit"]) == ("a walk", "m")
        assert made["g/x"].attrs["axes"].tolist() == NAMED["g/x@axes"]
        assert list(made["y"].attrs) == sorted(made["y"].attrs)  # as they were read
        assert made["g/x"].attrs["scale"].dtype == ("f4" if source is None else "f8")


def test_what_no_array_holds_is_told(file: Path, tmp_path: Path) -> None:
    """And of a dataset that is taken alone, all are."""
    with h5py.File(file, "a") as made:
        made["y"].attrs["nothing"] = h5py.Empty("f4")
        made["y"].attrs["refers"] = made["g"].ref
        made.create_group("empty").attrs["a"] = 1
    report = serialpack.convert(file, tmp_path / "a.json", to="json")
    assert [(loss.rule, loss.count) for loss in report.carried] == [("attributes", 4)]
    with pytest.raises(ValueRefusedError, match="/empty has a"):
        converted(file, "json", strict=True)
    with pytest.raises(
        ValueRefusedError, match="no place for attributes, links and the like: /g/x has a/b@c"
    ):
        converted(file, "csv", "g/x", strict=True)


def test_a_dataset_that_is_called_like_one_is_not_made_one(tmp_path: Path) -> None:
    path = made_with(tmp_path / "a.h5", x=[1], **{"x@unit": [2], "who@where": [3]})
    with h5py.File(path, "a") as made:
        made["who@where"].attrs["a"] = 1
    with pytest.raises(ValueRefusedError, match=r"x@unit \(what an attribute would be called"):
        converted(path, "hdf5")
    report = serialpack.convert(path, tmp_path / "b.h5", to="hdf5", lossy=["around"])
    assert {loss.rule: loss.count for loss in report.carried} == {"attributes": 1}
    with h5py.File(tmp_path / "b.h5") as made:
        assert (sorted(made), made["who@where"][:].tolist()) == (["who@where", "x"], [3])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"x": [1], "x@a": list(range(9000))}, "72,000 bytes, and an attribute has at most"),
        ({"x": [1], "x@a": "a\0b"}, "does not hold the array 'x@a'"),
    ],
)
def test_what_is_no_attribute_is_refused(document: Any, message: str) -> None:
    with pytest.raises(ValueRefusedError, match=message):
        converted(io.BytesIO(json.dumps(document).encode()), "hdf5", format="json")


def test_names_in_another_order_are_told(tmp_path: Path) -> None:
    """An attribute stands behind its dataset, before what is in its group."""
    document = {"x@a": 1, "g/y": [1], "x": [2], "g@b": [3]}
    (tmp_path / "a.json").write_text(json.dumps(document))
    (tmp_path / "a.npz").write_bytes(converted(tmp_path / "a.json", "npz"))
    for name in ("a.json", "a.npz"):
        report = serialpack.convert(tmp_path / name, tmp_path / "a.h5", to="hdf5", force=True)
        assert [loss.rule for loss in report.carried] == ["key-order"]
        again = values(tmp_path / "a.h5")
        assert (again, [*again]) == (document, ["x", "x@a", "g@b", "g/y"])


def test_inspect_has_a_line_for_each(file: Path) -> None:
    entries = {entry.name: entry for entry in listed(file).entries}
    assert [*entries][:4] == ["@title", "g", "g@unit", "g/x"]
    assert (entries["g/x@axes"].type, entries["g/x@axes"].about) == ("attribute", '["a", "\u00f6"]')
    out = io.BytesIO()
    first_records(file, out, 1)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {"g/x@scale": 2.5} in lines


def test_attributes_are_not_all_open_at_once(file: Path) -> None:
    """To open another took the library the longer, the more there were: thousands took minutes."""
    with h5py.File(file) as opened:
        held, _ = with_attributes(opened, [], {})
        assert held
        assert h5py.h5f.get_obj_count(opened.id, h5py.h5f.OBJ_ATTR) == 0
