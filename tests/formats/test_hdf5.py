"""HDF5: each dataset comes out as it is, whatever its type."""

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
from serialpack.conversion.tables.shaping import Shaping
from serialpack.detection.detect import detect
from serialpack.errors import (
    RefusedError,
    SerialpackError,
    UsageError,
    ValueRefusedError,
)
from serialpack.inspection.listed import ListedDataset
from tests.formats.hdf5_files import (
    EXACT,
    MAGIC,
    array_of,
    converted,
    listed,
    made_with,
    values,
)
from tests.formats.test_npz import archive

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.usefixtures("hdf5_here")


def test_it_is_told_by_its_name_and_its_first_bytes() -> None:
    assert detect("a.h5", b"") == detect("a.hdf5", MAGIC) == detect(None, MAGIC) == "hdf5"
    for before in (512, 1024, 4096):
        assert detect("matlab.mat", b"MATLAB 7.3".ljust(before, b"\0") + MAGIC) == "hdf5"
    assert detect(None, bytes(100) + MAGIC) == "bytes"


def test_each_dataset_comes_out_bit_for_bit(file: Path) -> None:
    """All of them by way of .npz, and some alone."""
    data = converted(file, "npz", lossy=["around"])
    with np.load(io.BytesIO(data)) as found:
        for name, wanted in EXACT.items():
            array = found[name]
            assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape), name
            assert array.tobytes() == wanted.tobytes(), name
        assert found["text"].tolist() == ["a", "\u00f6\U0001f600", ""]
        assert found["packed"].tolist() == np.arange(600).reshape(30, 20).tolist()
        assert not {"lists", "null", "refs", "soft", "xagain"} & {*found}
    for name in ("rows", "one"):
        array = array_of(converted(file, "npy", name))
        assert (array.dtype, array.tobytes()) == (EXACT[name].dtype, EXACT[name].tobytes())


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("text", ["a", "\u00f6\U0001f600", ""]),
        ("lists", [[1, 2], []]),
        ("soft", [-3, -2, -1, 0, 1, 2]),
        ("xagain/fixed", ["x", "\u00e9"]),
    ],
)
def test_values_of_one(file: Path, name: str, wanted: Any) -> None:
    assert values(file, name) == wanted


def test_a_table(tmp_path: Path) -> None:
    """The fields of records are columns, text among them is text; attributes are told."""
    rows = np.array(
        [(1, 0.5, b"x"), (2, 1.5, b"\xc3\xa9")], [("a", "i4"), ("b", "f8"), ("c", "S2")]
    )
    path = made_with(tmp_path / "a.h5", table=rows)
    assert converted(path, "csv").decode() == "a,b,c\n1,0.5,x\n2,1.5,\u00e9\n"
    with h5py.File(path, "a") as opened:
        opened["table"].attrs["CLASS"] = "TABLE"
    report = serialpack.convert(path, tmp_path / "a.csv", to="csv")
    assert [loss.rule for loss in report.carried if loss.rule == "attributes"] == ["attributes"]
    with pytest.raises(
        ValueRefusedError, match="no place for attributes, links and the like: /table has CLASS"
    ):
        converted(path, "npy", strict=True)


def test_types_within_types(tmp_path: Path) -> None:
    """Text in arrays of records in records; a list that is all of a dataset."""
    inner = np.dtype([("t", "S3"), ("n", "<i2")])
    rows = np.zeros(2, [("a", inner, (2,)), ("s", "S4", (2,))])
    rows["a"]["t"][1, 1], rows["s"][0, 1] = "\u00e9".encode(), "\u00f6x".encode()
    path = made_with(tmp_path / "a.h5", rows=rows)
    with h5py.File(path, "a") as opened:
        opened.create_dataset("list", (), h5py.vlen_dtype("i4"))[()] = np.arange(3)
    none = {"t": "", "n": 0}
    assert values(path, "rows") == [
        {"a": [none, none], "s": ["", "\u00f6x"]},
        {"a": [none, {"t": "\u00e9", "n": 0}], "s": ["", ""]},
    ]
    assert values(path, "list") == [0, 1, 2]


def test_what_is_beside_datasets_is_told(file: Path, tmp_path: Path) -> None:
    """Links, other names, empty groups, names of numbers."""
    report = serialpack.convert(file, tmp_path / "a.npz", to="npz", lossy=["around"])
    dropped = {loss.rule: loss.count for loss in report.carried}
    assert dropped == {"attributes": 6}


def test_text_that_is_far_longer_once_is_no_array(tmp_path: Path) -> None:
    texts = np.array(["x" * (1 << 20), *["y"] * 300], dtype=h5py.string_dtype())
    path = made_with(tmp_path / "a.h5", text=texts)
    assert values(path, "text") == texts.tolist()
    with pytest.raises(RefusedError, match="far longer than the others"):
        converted(path, "npy")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "no such dataset; there are: big, bytes"),
        ("g/deep", "names no dataset; there are: g/deep/small"),
        ("big/x", "no such dataset"),
        ("round", "round in a circle"),
        ("out", "in another file, secret.h5, which is not opened; name that file, with .*/x"),
        ("refs", "references to others"),
        ("null", "holds nothing"),
        ("wide", "holds a type that is not read"),
        (None, "has 22 datasets: big, bytes, complex"),
    ],
)
def test_what_is_not_there_is_named(file: Path, name: str | None, message: str) -> None:
    with pytest.raises(SerialpackError, match=message):
        converted(file, "csv", name)


def test_what_no_array_holds_is_left_out_when_asked(file: Path) -> None:
    with pytest.raises(
        ValueRefusedError, match=r'lists \(lists of any length\).*lossy=\["around"\]'
    ):
        converted(file, "npz")


def test_arrays_become_datasets_and_arrays_again(tmp_path: Path) -> None:
    """In Fortran order too, and in pieces."""
    more: dict[str, Any] = {
        "fortran": np.asfortranarray(np.arange(700_000, dtype=">f8").reshape(7, -1)),
        "text": np.array([["\u00f6\U0001f600", ""], ["ab", "c"]]),
        "time": np.array(["2020-01-01", "NaT"], "M8[us]"),
        "mixed": np.array([(np.datetime64(3, "ns"), "xy")], [("t", "M8[ns]"), ("u", "U2")]),
    }
    (tmp_path / "a.npz").write_bytes(archive(**EXACT, **more))
    serialpack.convert(tmp_path / "a.npz", tmp_path / "a.h5", to="hdf5")
    with h5py.File(tmp_path / "a.h5") as found:
        assert found["g/deep/small"][:].tolist() == [-3, -2, -1, 0, 1, 2]
        assert found["fortran"].dtype == ">f8"
        assert found["mixed"].dtype.names == ("t", "u")
    serialpack.convert(tmp_path / "a.h5", tmp_path / "b.npz", to="npz")
    with np.load(tmp_path / "a.npz") as before, np.load(tmp_path / "b.npz") as after:
        assert {*before} == {*after}
        for name in before:
            assert before[name].shape == after[name].shape
            assert before[name].tobytes() == after[name].tobytes(), name
    np.save(tmp_path / "a.npy", more["fortran"])
    serialpack.convert(tmp_path / "a.npy", tmp_path / "c.h5", to="hdf5")
    assert values(tmp_path / "c.h5", "data") == more["fortran"].tolist()


def test_text_keeps_its_width(tmp_path: Path) -> None:
    """S16 became S64, or as wide as its longest. What is no ASCII, and fills it, is wider."""
    path, npz = tmp_path / "a.h5", tmp_path / "a.npz"
    utf8 = h5py.string_dtype("utf-8", 16)
    with h5py.File(path, "w") as file:
        file["ascii"] = np.array([b"ab", b"cde"], "S16")
        file.create_dataset("utf8", (2,), utf8)[:] = np.array(["\u00f6".encode(), b""], utf8)
        file["records"] = np.array([(1, b"x")], [("n", "i4"), ("s", "S9")])
        file.create_dataset("any", data=["a", "bcd"], dtype=h5py.string_dtype())
    serialpack.convert(path, npz, to="npz")
    with np.load(npz) as found:
        assert {name: found[name].dtype.str for name in ("ascii", "utf8", "any")} == {
            "ascii": "<U16",
            "utf8": "<U16",
            "any": "<U3",
        }
        assert found["records"].dtype["s"] == "<U9"
        assert found["utf8"].tolist() == ["\u00f6", ""]
    for source in (path, npz):
        serialpack.convert(source, tmp_path / "b.h5", to="hdf5", force=True)
        with h5py.File(tmp_path / "b.h5") as file:
            assert (file["ascii"].dtype, file["utf8"].dtype) == ("S16", "S16")
            assert file["records"].dtype["s"] == "S9"


def test_text_that_turns_out_longer_makes_its_array_wider(tmp_path: Path) -> None:
    """Only what comes late has more bytes than characters: what was written by then stays."""
    # More than is written at a time.
    long = np.array(["ab"] * 530_000 + ["\u00f6\U0001f600"], "U2")
    arrays: dict[str, Any] = {
        "rows": long.reshape(-1, 1),
        "fortran": np.asfortranarray(long.reshape(1, -1)),
        "records": np.array(
            [(n, "\u00f6" * (n % 3)) for n in range(9)], [("n", "u1"), ("s", "U2")]
        ),
        "one": np.array("\u00f6"),
    }
    (tmp_path / "a.npz").write_bytes(archive(**arrays))
    serialpack.convert(tmp_path / "a.npz", tmp_path / "a.h5", to="hdf5")
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["rows"].dtype == "S6"
        assert [*file] == [*arrays]
    serialpack.convert(tmp_path / "a.h5", tmp_path / "b.npz", to="npz")
    with np.load(tmp_path / "b.npz") as found:
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            assert found[name].tolist() == array.tolist()


def test_values_become_datasets() -> None:
    document = {"z": [1, 2], "b": {"x": 1.5}, "c/z": ["x", ""], "c/d": [], "a": 3, "t": "\u00f6"}
    made = converted(io.BytesIO(json.dumps(document).encode()), "hdf5", format="json")
    again = values(io.BytesIO(made))
    assert (again, [*again]) == (document, [*document])
    table = converted(io.BytesIO(b"a,b\n1,x\n2,y\n"), "hdf5", format="csv")
    assert values(io.BytesIO(table)) == {"a": ["1", "2"], "b": ["x", "y"]}


def test_names_stand_together_by_group(tmp_path: Path) -> None:
    """Which is told, of values and of arrays, and refused where that is asked."""
    (tmp_path / "a.json").write_text('{"g/x":[1],"a":[2],"g/h/y":[3],"b":[4],"g/h/z":[5]}')
    (tmp_path / "a.npz").write_bytes(converted(tmp_path / "a.json", "npz"))
    for name in ("a.json", "a.npz"):
        report = serialpack.convert(tmp_path / name, tmp_path / "a.h5", to="hdf5", force=True)
        assert [(loss.rule, loss.was, loss.became) for loss in report.carried] == [
            ("key-order", "'a'", "'g/h/y'")
        ]
        again = values(tmp_path / "a.h5")
        assert again == json.loads((tmp_path / "a.json").read_text())
        assert [*again] == ["g/x", "g/h/y", "g/h/z", "a", "b"]
        with pytest.raises(ValueRefusedError, match="order"):
            converted(tmp_path / name, "hdf5", strict=True)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([1, "x"], "record 1, .*: hdf5 cannot hold .*: 'x' beside 1"),
        ({"a/": [1]}, "no such name"),
        ({"a": [1], "a/b": [2]}, "does not hold the array 'a/b'"),
        ({"a": ["\ud800"]}, "surrogates not allowed"),
        ({"a": [1, "x"]}, "mixed|several types|beside"),
    ],
)
def test_what_is_no_dataset_is_refused(document: Any, message: str) -> None:
    source = io.BytesIO(json.dumps(document).encode())
    with pytest.raises(RefusedError, match=message):
        converted(source, "hdf5", format="json")


def test_rows_of_a_list_are_one_dataset(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_bytes(b"[[1, 2], [3, 4]]")
    serialpack.convert(tmp_path / "rows.json", tmp_path / "rows.h5")
    with h5py.File(tmp_path / "rows.h5") as file:
        assert {name: file[name][()].tolist() for name in file} == {"data": [[1, 2], [3, 4]]}


def test_inspect_lists_what_there_is(file: Path) -> None:
    entries = {entry.name: entry for entry in listed(file).entries}
    packed = entries["packed"]
    assert packed.array is not None
    assert packed.array.words == "<i8, 30 x 20, C order"
    assert packed.dataset == ListedDataset((7, 20), ("gzip:4",), 0, 0, 599, 0)
    assert packed.packed is not None
    assert packed.packed < packed.size == 4800
    big = entries["big"].dataset
    assert big is not None
    assert (big.attributes, big.minimum, big.maximum) == (1, 0.0, 11.0)
    nan = entries["nan"].dataset
    assert nan is not None
    assert (nan.minimum, nan.nan) == (0.0, 2)
    assert entries["wide"].about.startswith("a type that is not read")
    assert entries["out"].about == "-> /x in the file secret.h5"
    assert (entries["round"].type, entries["g"].type) == ("link", "group")
    assert {name.partition("/")[0] for name in entries} >= {*(n.partition("/")[0] for n in EXACT)}


def test_inspect_calls_text_in_records_text(tmp_path: Path) -> None:
    """It was said to be objects of Python."""
    text = h5py.string_dtype()
    rows = np.array([("x", (["y", "z"],))] * 2, [("a", text), ("b", [("c", text, (2,))])])
    made = made_with(tmp_path / "a.h5", rows=rows)
    array = listed(made).entries[0].array
    assert array is not None
    assert array.words == "records, 2, C order"
    assert array.dtype == [("a", "text"), ("b", [("c", "text", (2,))])]


def test_inspect_lists_what_is_packed_or_streamed(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    wanted = listed(file).entries
    (tmp_path / "a.h5.gz").write_bytes(gzip.compress(data))
    for path in (file, tmp_path / "a.h5.gz"):
        serialpack.pack(path, tmp_path / "a.spk", force=True)
        (member,) = serialpack.inspect(tmp_path / "a.spk").members
        assert member.listing is not None
        assert member.listing.entries == wanted
    for source in (tmp_path / "a.h5.gz", io.BytesIO(data)):
        shape = serialpack.inspect(source).shape
        assert shape is not None
        assert shape.listing is not None
        assert shape.listing.entries == wanted


@pytest.mark.usefixtures("own_process")
def test_a_corner_of_each(file: Path) -> None:
    out = io.BytesIO()
    first_records(file, out, 1)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    shown = {name: value for line in lines for name, value in line.items()}
    assert shown["packed"] == [[*range(10), "..."]]
    assert shown["one"] == 7
    assert shown["null"] == "(nothing (a null dataspace))"


@pytest.mark.usefixtures("own_process")
def test_packing_keeps_the_bytes(file: Path, tmp_path: Path) -> None:
    report = serialpack.pack(file, tmp_path / "a.spk")
    assert (report.format, report.exact) == ("hdf5", True)
    serialpack.unpack(tmp_path / "a.spk", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()
    assert values(tmp_path / "a.spk", "one") == 7
    with pytest.raises(UsageError, match=r'has datasets by name; convert\(.*at="NAME"\)'):
        serialpack.pack(file, tmp_path / "b.spk", serializer="msgpack")


@pytest.mark.usefixtures("own_process")
def test_rows_are_a_way_out_only_where_there_are_some(file: Path) -> None:
    """It was named for what --to ndjson refuses too."""
    for name, way in (("null", None), ("lists", "--to ndjson takes its rows")):
        with pytest.raises(SerialpackError, match="no value is made of here") as caught:
            serialpack.convert(file, io.BytesIO(), to="npy", shaping=Shaping(at=name))
        assert caught.value.hint == way


def test_bytes_that_only_another_program_knows_are_left_out(tmp_path: Path) -> None:
    """Items with a tag of somebody's, of a dataset and of an attribute: the file is sound, and all
    else in it is read."""
    path = made_with(tmp_path / "a.h5", x=np.arange(3))
    kind = h5py.h5t.create(h5py.h5t.OPAQUE, 7)
    kind.set_tag(b"somebody's")
    with h5py.File(path, "a") as made:
        space = h5py.h5s.create_simple((2,))
        h5py.h5d.create(made.id, b"odd", kind, space)
        h5py.h5a.create(made.id, b"odder", kind, space)
    assert json.loads(converted(path, "json", lossy=["around"])) == {"x": [0, 1, 2]}
    with pytest.raises(RefusedError, match=r"odd \(a type that is not read \(\|V7\)\)"):
        converted(path, "npz")
    with pytest.raises(RefusedError, match="/odd holds a type that is not read"):
        converted(path, "npy", "odd")
    shown = io.BytesIO()
    first_records(path, shown, 1)
    assert b'{"odd": "(a type that is not read (|V7))"}' in shown.getvalue()


@pytest.mark.parametrize("to", ["npz", "hdf5"])
def test_a_file_of_which_no_array_is_left(tmp_path: Path, to: str) -> None:
    """It was said to be no valid npz: what was read of it was read again."""
    with h5py.File(tmp_path / "a.h5", "w") as made:
        made["null"] = h5py.Empty("f4")
    made = tmp_path / f"b.{to}"
    made.write_bytes(converted(tmp_path / "a.h5", to, lossy=["around"]))
    assert values(made) == {}


@pytest.mark.parametrize("to", ["npz", "hdf5", "json"])
def test_fields_of_datasets(tmp_path: Path, to: str) -> None:
    """Those of a table in it, and one that is not there."""
    path = made_with(tmp_path / "a.h5", a=np.array([(1, 2.5)], "i4,f4"), b=np.arange(2))
    (tmp_path / "b").write_bytes(converted(path, to, fields=["a.f1"]))
    assert values(tmp_path / "b") == {"a": [{"f1": 2.5}]}
    with pytest.raises(SerialpackError, match="no record has a field c"):
        converted(path, to, fields=["c"])
