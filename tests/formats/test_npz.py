"""NumPy's .npz files: arrays by name as a map, each out of it bit for bit; a line for bad ones."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.api import first_records
from serialpack.conversion.tables.shaping import Shaping
from serialpack.detection.detect import detect
from serialpack.errors import (
    InputError,
    RefusedError,
    SerialpackError,
    UsageError,
    ValueRefusedError,
)
from serialpack.formats.arrays import zipped
from serialpack.inspection.look import ArrayLook
from tests.formats.test_npy import RECORDS, lying, saved

REAL = Path(__file__).parents[3] / "shared/data/numeric/npy"

FIELD = np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3))
ARRAYS: dict[str, Any] = {
    "field": FIELD,
    "one": np.array(7, "i2"),
    "none": np.zeros((0, 2)),
    "rows": RECORDS,
    "a.b/c": np.array(["x", "\u00e9"]),
}
VALUES = {
    "field": [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
    "one": 7,
    "none": [],
    "rows": [{"a": 1, "b": 2.5, "c": "x", "d": [1, 2]}, {"a": -1, "b": 0.1, "c": "", "d": [3, 4]}],
    "a.b/c": ["x", "\u00e9"],
}


def archive(*, compressed: bool = True, **arrays: Any) -> bytes:
    out = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(out, **(arrays or ARRAYS))
    return out.getvalue()


def entries(packed: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, data in packed.items():
            made.writestr(name, data)
    return out.getvalue()


def encrypted(data: bytes) -> bytes:
    """As if its one entry were."""
    at = data.index(b"PK\x01\x02")
    return data[:6] + b"\x01" + data[7 : at + 8] + b"\x01" + data[at + 9 :]


def converted(data: bytes, to: str, source: str = "npz", **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format=source, to=to, threads=1, **how)
    return out.getvalue()


def test_a_zip_that_begins_with_an_array_is_one_of_arrays() -> None:
    """Out of a pipe it was a zip, which is not converted."""
    assert detect(None, archive()) == detect("x.npz", b"") == "npz"
    assert detect(None, entries({"notes.txt": b"x"})) == "bytes"
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(archive()), out, to="json")
    assert json.loads(out.getvalue()) == VALUES


@pytest.mark.parametrize("compressed", [False, True])
def test_a_map_of_arrays(compressed: bool, tmp_path: Path) -> None:
    data = archive(compressed=compressed)
    assert json.loads(converted(data, "json")) == VALUES
    (tmp_path / "a.npz").write_bytes(data)
    report = serialpack.pack(tmp_path / "a.npz", tmp_path / "a.spk")
    assert (report.format, report.exact) == ("npz", True)
    serialpack.unpack(tmp_path / "a.spk", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == data
    with pytest.raises(
        UsageError, match=r'has arrays by name; convert\(\.\.\., shaping=Shaping\(at="NAME"\)'
    ):
        serialpack.pack(tmp_path / "a.npz", tmp_path / "b.spk", serializer="msgpack")


@pytest.mark.parametrize("name", ["field", "one", "rows", "a.b/c"])
def test_one_array_comes_out_as_it_is(name: str, tmp_path: Path) -> None:
    """Type, order and bits, out of a file, a container and a pipe."""
    (tmp_path / "a.npz").write_bytes(archive())
    serialpack.pack(tmp_path / "a.npz", tmp_path / "a.spk")
    for source in (tmp_path / "a.npz", tmp_path / "a.spk", io.BytesIO(archive())):
        out = io.BytesIO()
        given = "npz" if isinstance(source, io.BytesIO) else None
        serialpack.convert(source, out, to="npy", format=given, shaping=Shaping(at=name))
        found, wanted = np.load(io.BytesIO(out.getvalue())), ARRAYS[name]
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.flags.f_contiguous == wanted.flags.f_contiguous
        assert found.tobytes() == wanted.tobytes()


def test_of_two_archives_in_one_file_none_is_taken(tmp_path: Path) -> None:
    """Which NAME is of both."""
    serialpack.pack(io.BytesIO(archive(x=np.arange(3))), tmp_path / "a.spk")
    both = (tmp_path / "a.spk").read_bytes() * 2
    (tmp_path / "a.spk").write_bytes(both)
    for source in (tmp_path / "a.spk", io.BytesIO(both)):
        with pytest.raises(RefusedError, match=r"several files.*; unpack it without to"):
            serialpack.convert(source, io.BytesIO(), to="npy", shaping=Shaping(at="x"))


def test_an_array_that_there_is_not_is_named() -> None:
    with pytest.raises(SerialpackError, match="there are: field, one"):
        converted(archive(), "npy", shaping=Shaping(at="nope"))


def test_a_map_of_lists_becomes_arrays() -> None:
    document = {"a": [1, 2], "b": [[1.5], [2.5]], "c": "text", "d": [], "e": {"x": True}}
    made = converted(json.dumps(document).encode(), "npz", "json")
    with np.load(io.BytesIO(made)) as found:
        assert {name: (array.dtype.str, array.shape) for name, array in found.items()} == {
            "a": ("<i8", (2,)),
            "b": ("<f8", (2, 1)),
            "c": ("<U4", ()),
            "d": ("<f8", (0,)),
            "e": ("|V1", ()),
        }
    assert json.loads(converted(made, "json")) == document


@pytest.mark.parametrize(
    ("source", "text", "wanted"),
    [
        (
            "ndjson",
            '{"a": 1, "b": "x"}\n{"a": 2.5, "b": "yy"}\n',
            {"a": [1.0, 2.5], "b": ["x", "yy"]},
        ),
        ("json", '[{"a": 1}, {"a": 2}]', {"a": [1, 2]}),
        ("csv", "a,b\n1,x\n", {"a": ["1"], "b": ["x"]}),
    ],
)
def test_the_columns_of_a_table_become_arrays(source: str, text: str, wanted: Any) -> None:
    """Which is told, and refused with strict."""
    out = io.BytesIO()
    how: dict[str, Any] = {"to": "npz", "format": source, "threads": 1}
    report = serialpack.convert(io.BytesIO(text.encode()), out, **how)
    assert "by-column" in [loss.rule for loss in report.carried]
    with np.load(io.BytesIO(out.getvalue())) as found:
        assert {name: array.tolist() for name, array in found.items()} == wanted
    with pytest.raises(ValueRefusedError, match="a row would be items of arrays"):
        serialpack.convert(io.BytesIO(text.encode()), io.BytesIO(), strict=True, **how)


def test_rows_of_other_keys_are_no_table() -> None:
    with pytest.raises(RefusedError, match="a map of 'b', before it are maps of 'a'"):
        converted(b'{"a": 1}\n{"b": 1}\n', "npz", "ndjson")


@pytest.mark.parametrize("source", ["json", "ndjson"])
def test_rows_of_a_list_are_one_array(source: str) -> None:
    text = b"[[1, 2], [3, 4]]" if source == "json" else b"[1, 2]\n[3, 4]\n"
    with np.load(io.BytesIO(converted(text, "npz", source))) as found:
        assert found.files == ["arr_0"]
        assert found["arr_0"].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": [1], "b": [1, "x"]}', r"\$\.b\[1\]: npz cannot hold .*: 'x' beside 1"),
        ('[1, "x"]', "record 1, .*: npz cannot hold .*: 'x' beside 1"),
        ('{"a": [1, null]}', r'null beside 1; lossy=\["null"\]'),
    ],
)
def test_what_is_no_array_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueRefusedError, match=said):
        converted(text.encode(), "npz", "json")


def test_the_entries_are_listed_with_type_and_shape(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(archive())
    shape = serialpack.inspect(tmp_path / "a.npz").shape
    assert shape is not None
    assert shape.listing is not None
    found = {entry.name: entry.array for entry in shape.listing.entries}
    assert found["field.npy"] == (">f4", (2, 3), "F")
    assert found["one.npy"] == ("<i2", (), "C")
    rows = found["rows.npy"]
    assert rows is not None
    assert rows.words == "records, 2, C order"
    assert isinstance(shape.array, ArrayLook | None)


def test_the_head_is_a_corner_of_each_also_of_packed_ones(tmp_path: Path) -> None:
    """Of a packed array the records were said not to be told apart."""
    (tmp_path / "a.npz").write_bytes(archive(x=np.arange(36).reshape(3, 12), y=np.array(1.5)))
    (tmp_path / "a.npy").write_bytes(saved(np.arange(36).reshape(3, 12)))
    row = [*range(10), "..."]
    for name, wanted in (("npz", [{"x": [row]}, {"y": 1.5}]), ("npy", [row])):
        path = tmp_path / f"a.{name}"
        serialpack.pack(path, tmp_path / f"{name}.spk")
        for source in (path, tmp_path / f"{name}.spk"):
            out = io.BytesIO()
            first_records(source, out, 1)
            assert [json.loads(line) for line in out.getvalue().splitlines()] == wanted


def test_a_corner_of_those_that_can_be_read(tmp_path: Path) -> None:
    """Nothing was shown where one was of objects; of a large file neither."""
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 30)), o=np.array([None], object))
    out = io.BytesIO()
    first_records(tmp_path / "a.npz", out, 1)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines[0] == {"x": [[*[0.0] * 10, "..."]]}
    assert "Python objects" in lines[1]["o"]


WHOLE = archive(a=np.arange(500.0))
BAD = {
    "empty": b"",
    "no zip": b"x" * 100,
    "cut in its directory": WHOLE[:-30],
    "cut in an entry": WHOLE[:200],
    "an entry damaged": WHOLE[:100] + bytes(20) + WHOLE[120:],
    "an entry that is no array": entries({"a.npy": b"text"}),
    "an array cut": entries({"a.npy": saved(np.zeros(9))[:-3]}),
    "an array with more behind": entries({"a.npy": saved(np.zeros(9)) + b"x"}),
    "objects": entries({"a.npy": saved(np.array([{}], object))}),
    "a shape beyond the data": entries(
        {"a.npy": lying("{'descr': '<f8', 'fortran_order': False, 'shape': (99, 99)}", bytes(8))}
    ),
    "a negative shape": entries(
        {"a.npy": lying("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", bytes(8))}
    ),
    "far more than its bytes": entries({"a.npy": saved(np.zeros(3 << 20, "u1"))[:99] * 99_999}),
    "encrypted": encrypted(WHOLE),
    "a method that is none": WHOLE.replace(b"\x08\x00", b"\x63\x00"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("at", [False, True])
def test_what_lies_is_one_line_and_kept_as_bytes(name: str, at: bool, tmp_path: Path) -> None:
    data = BAD[name]
    with pytest.raises(SerialpackError) as caught:
        if at:
            converted(data, "npy", shaping=Shaping(at="a"))
        else:
            converted(data, "json")
    assert isinstance(caught.value, InputError | RefusedError)
    assert "\n" not in str(caught.value)
    (tmp_path / "a.npz").write_bytes(data)
    serialpack.inspect(tmp_path / "a.npz")
    serialpack.pack(tmp_path / "a.npz", tmp_path / "a.spk")
    serialpack.unpack(tmp_path / "a.spk", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == data


@pytest.mark.parametrize("packed", [False, True])
def test_no_more_is_read_of_a_directory_that_lies(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the file was, into memory."""
    monkeypatch.setattr(zipped, "_MOST_READ", 1000)
    data = bytearray(archive(compressed=False, a=np.arange(500.0)))
    ends = data.rindex(b"PK\5\6") + 12
    size, at = struct.unpack_from("<II", data, ends)
    struct.pack_into("<II", data, ends, at + size, 0)
    path = tmp_path / "a.npz"
    path.write_bytes(data)
    if packed:
        serialpack.pack(path, path := tmp_path / "a.spk")
    with pytest.raises(InputError, match=r"no whole zip: a directory of 4,\d+ bytes"):
        serialpack.convert(path, io.BytesIO(), to="npy", shaping=Shaping(at="a"))


def test_rows_may_be_longer_than_what_is_read_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were told as a directory that lies."""
    pytest.importorskip("h5py")
    monkeypatch.setattr(zipped, "_MOST_READ", 10_000)
    source = tmp_path / "a.npz"
    source.write_bytes(archive(compressed=False, a=np.arange(4000.0).reshape(2, 2000)))
    made, back = tmp_path / "a.h5", tmp_path / "b.npz"
    serialpack.convert(source, made, to="hdf5")
    serialpack.convert(made, back, to="npz")
    with np.load(back) as found:
        assert found["a"].tolist() == np.arange(4000.0).reshape(2, 2000).tolist()


def test_one_array_is_the_array() -> None:
    """It became a record with a field for the array; so did several."""
    out = io.BytesIO(converted(archive(field=FIELD), "npy"))
    found = np.load(out)
    assert (found.dtype, found.tolist(), found.flags.f_contiguous) == (
        FIELD.dtype,
        FIELD.tolist(),
        True,
    )
    with pytest.raises(
        UsageError, match=r'has 5 arrays: field, one, none, rows, .*at="NAME"\) takes'
    ):
        converted(archive(), "npy")
    with pytest.raises(UsageError, match="there is no array in it"):
        converted(entries({}), "npy")


@pytest.mark.parametrize("packed", [False, True])
def test_one_array_is_read_some_rows_at_a_time(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As values the whole file was, up to 64 MiB, and what is beside the array would be lost."""
    monkeypatch.setattr(zipped, "_LEAST", 0)
    monkeypatch.setattr(zipped, "_TIMES", 0)
    (tmp_path / "a.npz").write_bytes(archive())
    if packed:
        serialpack.pack(tmp_path / "a.npz", tmp_path / "a.spk")
    source = tmp_path / ("a.spk" if packed else "a.npz")
    for name, wanted in (
        ("field", b"0.0,1.0,2.0\n3.0,4.0,5.0\n"),
        ("a.b/c", b"value\nx\n\xc3\xa9\n"),
    ):
        out = io.BytesIO()
        serialpack.convert(source, out, to="csv", shaping=Shaping(at=name))
        assert out.getvalue() == wanted
    with pytest.raises(InputError, match="no such array; there are: field, one"):
        serialpack.convert(source, io.BytesIO(), to="json", shaping=Shaping(at="nope"))


@pytest.mark.parametrize("given", ["a file", "a container", "a pipe"])
@pytest.mark.parametrize("to", ["json", "npy", "npz"])
def test_what_is_beside_the_arrays_is_lost_only_where_that_is_asked_for(
    given: str, to: str, tmp_path: Path
) -> None:
    """The whole was said to be no valid npz, also where one array was named."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.mkdir("folder")
        made.writestr("folder/a.npy", saved(FIELD))
        made.writestr("README.txt", "notes")
    (tmp_path / "a.npz").write_bytes(out.getvalue())
    serialpack.pack(tmp_path / "a.npz", tmp_path / "a.spk")

    def became(**how: Any) -> tuple[serialpack.ConvertReport, bytes]:
        source = tmp_path / ("a.spk" if given == "a container" else "a.npz")
        piped = io.BytesIO(out.getvalue()) if given == "a pipe" else source
        target = io.BytesIO()
        format = "npz" if given == "a pipe" else None
        return serialpack.convert(piped, target, to=to, format=format, **how), target.getvalue()

    if given == "a container" and to == "npz":
        assert became()[1] == out.getvalue()
        return
    with pytest.raises(ValueRefusedError, match=r"no arrays would be lost: 'README.txt'; .*around"):
        became()
    report, data = became(lossy=["around"])
    assert [(loss.rule, loss.count) for loss in report.losses] == [("around", 1)]
    if to == "json":
        assert json.loads(data) == {"folder/a": VALUES["field"]}
    else:
        loaded: Any = np.load(io.BytesIO(data))
        array = loaded if to == "npy" else loaded["folder/a"]
        assert (array.dtype, array.tolist()) == (FIELD.dtype, FIELD.tolist())
    report, data = became(shaping=Shaping(at="folder/a"))
    assert not report.losses  # one array was asked for


def test_two_entries_of_one_name_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("a.npy", saved(np.zeros(1)))
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a.npy", saved(np.ones(1)))
    with pytest.raises(InputError, match=r"two of its entries are called 'a\.npy'"):
        converted(out.getvalue(), "json")


@pytest.mark.skipif(not REAL.is_dir(), reason="the shared data are not here")
def test_a_real_volume_comes_out_of_its_archive() -> None:
    with np.load(REAL / "stent.npz") as wanted:
        out = io.BytesIO()
        serialpack.convert(REAL / "stent.npz", out, to="npy", shaping=Shaping(at="arr_0"))
        assert out.getvalue()[128:] == wanted["arr_0"].tobytes()
    with pytest.raises(RefusedError, match="its array 'x': its items are Python objects"):
        serialpack.convert(REAL / "py3-objarr.npz", io.BytesIO(), to="json")
