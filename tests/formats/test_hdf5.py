"""HDF5: each dataset comes out as it is, whatever its type; other files are never opened."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.api import first_records
from serialpack.conversion.tables.shaping import Shaping
from serialpack.detect import detect
from serialpack.errors import (
    InputError,
    MissingLibraryError,
    RefusedError,
    SerialpackError,
    UsageError,
    ValueRefusedError,
)
from serialpack.formats.arrays.hdf5 import child, hdf5, reader
from serialpack.formats.arrays.hdf5 import listed as hdf5_listed
from serialpack.formats.shared.filed import FileRead
from serialpack.listing import ListedDataset, Listing
from tests.formats.test_npz import archive

h5py = pytest.importorskip("h5py")

MAGIC = b"\x89HDF\r\n\x1a\n"
NAN = np.array([0x7FF8000000000001, 0x7FF4000000000000, 0], "<u8").view("<f8")

#: Each comes back in an .npy file with the same type and the same bytes.
EXACT: dict[str, Any] = {
    "big": np.arange(12, dtype=">f4").reshape(3, 4),
    "g/deep/small": np.arange(-3, 3, dtype="i1"),
    "nan": NAN,
    "half": np.array([1.5, np.inf], "<f2"),
    "long": np.array([1.5], np.longdouble),
    "complex": np.array([1 + 2j, complex(np.nan, -0.0)]),
    "truth": np.array([[True], [False]]),
    "one": np.array(7, "<u2"),
    "none": np.zeros((0, 3)),
    "thin": np.zeros((3, 0), "<i4"),
    "rows": np.array(
        [(1, [1.5, 2], (True, b"\x01\xff")), (-1, [0, -0.0], (False, b"\0\0"))],
        [("a", "<i2"), ("b", "<f4", (2,)), ("c", [("d", "?"), ("e", "V2")])],
    ),
    "bytes": np.array([b"\x80", b"\xff\xfe"]),
    "opaque": np.array([b"\x01\0\x02", b"\0\0\0"], "V3"),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hdf5") / "all.h5"
    with h5py.File(path, "w") as made:
        for name, array in EXACT.items():
            made[name] = array
        made["big"].attrs["unit"] = "m"
        made["text"] = np.array(["a", "\u00f6\U0001f600", ""], dtype=h5py.string_dtype())
        fixed = np.array([b"x", "\u00e9".encode()], h5py.string_dtype("utf-8", 4))
        made["g/fixed"] = fixed
        made["enum"] = np.array([1, 0], h5py.enum_dtype({"off": 0, "on": 1}, "u1"))
        made["time"] = np.array(["2020-01-01", "NaT"], "M8[D]").astype(h5py.opaque_dtype("M8[D]"))
        lists = made.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
        lists[0], lists[1] = [1, 2], []
        made["null"] = h5py.Empty("f4")
        made["refs"] = np.array([made["big"].ref], h5py.ref_dtype)
        made["soft"] = h5py.SoftLink("g/deep/../deep/small".replace("../deep/", ""))
        made["round"] = h5py.SoftLink("/round")
        made["out"] = h5py.ExternalLink("secret.h5", "/x")
        made["xagain"] = made["g"]
        made["g/up"] = made["/"]
        made.create_dataset(
            "packed", data=np.arange(600).reshape(30, 20), chunks=(7, 20), compression="gzip"
        )
    return path


@pytest.fixture(autouse=True)
def _here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process, which takes a third of the time; some in one of their own."""
    if "own_process" in request.fixturenames:
        return

    def asked(read: FileRead, do: str, **how: Any) -> Iterator[Any]:
        reader.check_installed()
        with read.file() as path:
            yield from child.answers(do, str(path), **how)

    for module in (reader, hdf5):
        monkeypatch.setattr(module, "asked", asked)
    for module in (child, hdf5_listed):
        monkeypatch.setattr(module, "no_more_files", lambda: None)


@pytest.fixture
def own_process() -> None:
    """Files are read as they are anywhere else."""


def converted(path: Any, to: str, at: str | None = None, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.convert(path, out, to=to, threads=1, shaping=Shaping(at=at), **how)
    return out.getvalue()


def array_of(data: bytes) -> Any:
    return np.load(io.BytesIO(data))


def values(path: Any, at: str | None = None) -> Any:
    return json.loads(converted(path, "json", at))


def made_with(path: Path, **datasets: Any) -> Path:
    with h5py.File(path, "w") as made:
        for name, data in datasets.items():
            made[name] = data
    return path


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
    with pytest.raises(ValueRefusedError, match="no place for attributes: /table has CLASS"):
        converted(path, "npy", strict=True)


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
        ("out", "in another file, secret.h5, which is not opened; name that file, with --at /x"),
        ("refs", "references to others"),
        ("null", "holds nothing"),
        (None, "has 21 datasets: big, bytes, complex"),
    ],
)
def test_what_is_not_there_is_named(file: Path, name: str | None, message: str) -> None:
    with pytest.raises(SerialpackError, match=message):
        converted(file, "csv", name)


def test_what_no_array_holds_is_left_out_when_asked(file: Path) -> None:
    with pytest.raises(ValueRefusedError, match=r"lists \(lists of any length\).*--lossy around"):
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
    serialpack.convert(tmp_path / "a.h5", tmp_path / "b.npz", to="npz")
    with np.load(tmp_path / "a.npz") as before, np.load(tmp_path / "b.npz") as after:
        assert {*before} == {*after}
        for name in before:
            assert before[name].shape == after[name].shape
            assert before[name].tobytes() == after[name].tobytes(), name
    np.save(tmp_path / "a.npy", more["fortran"])
    serialpack.convert(tmp_path / "a.npy", tmp_path / "c.h5", to="hdf5")
    assert values(tmp_path / "c.h5", "data") == more["fortran"].tolist()


def test_values_become_datasets() -> None:
    document = {"z": [1, 2], "b": {"x": 1.5}, "c/z": ["x", ""], "c/d": [], "a": 3}
    made = converted(io.BytesIO(json.dumps(document).encode()), "hdf5", format="json")
    again = values(io.BytesIO(made))
    assert (again, [*again]) == (document, [*document])
    table = converted(io.BytesIO(b"a,b\n1,x\n2,y\n"), "hdf5", format="csv")
    assert values(io.BytesIO(table)) == {"a": ["1", "2"], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([1, 2], "hdf5 has arrays by name"),
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


def listed(path: Path) -> Listing:
    shape = serialpack.inspect(path).shape
    assert shape is not None
    assert shape.listing is not None
    return shape.listing


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
    assert entries["out"].about == "-> /x in the file secret.h5"
    assert (entries["round"].type, entries["g"].type) == ("link", "group")
    assert {name.partition("/")[0] for name in entries} >= {*(n.partition("/")[0] for n in EXACT)}


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
    with pytest.raises(UsageError, match="has datasets by name; unpack --at NAME"):
        serialpack.pack(file, tmp_path / "b.spk", serializer="msgpack")


def test_other_files_are_never_opened(tmp_path: Path) -> None:
    """Whatever of the ways out of a file there are."""
    (tmp_path / "secret").write_bytes(bytes(range(16)))
    made_with(tmp_path / "other.h5", x=np.arange(4))
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        made.create_dataset("far", (16,), "u1", external=[(tmp_path / "secret", 0, 16)])
        made["out"] = h5py.ExternalLink("other.h5", "x")
        for name, source, inner in (("v", "other.h5", "x"), ("w", ".", "out"), ("u", ".", "v")):
            layout = h5py.VirtualLayout((4,), "<i8")
            layout[:] = h5py.VirtualSource(source, inner, (4,))
            made.create_virtual_dataset(name, layout)
        made["x"] = np.arange(4)
        layout = h5py.VirtualLayout((8,), "<i8")
        layout[:4] = layout[4:] = h5py.VirtualSource(".", "x", (4,))
        made.create_virtual_dataset("inside", layout)
    assert values(path, "inside") == [0, 1, 2, 3, 0, 1, 2, 3]
    for name in ("far", "out", "v", "w", "u"):
        with pytest.raises(RefusedError, match="not opened"):
            values(path, name)
    found = {entry.name: entry.dataset for entry in listed(path).entries}
    assert found["far"] is not None
    assert found["far"].why == "it cannot be read here"


def test_without_the_library(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serialpack.formats.arrays.hdf5.reader.is_installed", lambda _: False)
    with pytest.raises(MissingLibraryError, match=r"pip install 'serialpack\[hdf5\]'"):
        values(file)
    assert "pip install" in listed(file).why
    serialpack.pack(file, tmp_path / "a.spk")


def test_a_filter_that_is_not_here(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        made.create_dataset("x", data=np.arange(100), chunks=(10,), compression="gzip")
    data = path.read_bytes()
    at = data.index(b"deflate\0") - 8  # its number stands so far before its name
    path.write_bytes(data[:at] + (557).to_bytes(2, "little") + data[at + 2 :])
    with pytest.raises(SerialpackError, match=r"filter 557.*not here"):
        values(path, "x")


@pytest.mark.usefixtures("own_process")
def test_blosc(tmp_path: Path) -> None:
    """As PyTables has it."""
    plugin = pytest.importorskip("hdf5plugin")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        made.create_dataset("x", data=np.arange(1000), **plugin.Blosc("lz4"))
    (entry,) = listed(path).entries
    assert entry.dataset is not None
    assert entry.dataset.filters == ("blosc",)
    assert values(path, "x") == [*range(1000)]


@pytest.mark.usefixtures("own_process")
def test_damaged_files_are_told(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    for name, broken in {"cut": data[:3000], "empty": MAGIC, "none": b"x" * 5000}.items():
        path = tmp_path / f"{name}.h5"
        path.write_bytes(broken)
        with pytest.raises(InputError, match="no sound HDF5 file"):
            values(path, "big")


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.usefixtures("own_process")
def test_a_library_that_breaks_down_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is one that works without end: a signal ends it."""
    child = "serialpack.formats.arrays.hdf5.reader._CHILD"
    for end, words in (("SIGSEGV", "SIGSEGV"), ("SIGPROF", "a minute without an end")):
        monkeypatch.setattr(child, f"import os, signal; os.kill(os.getpid(), signal.{end})")
        with pytest.raises(InputError, match=f"broke down over it .*{words}"):
            values(file, "big")
