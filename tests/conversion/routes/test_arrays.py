"""Records become arrays of the type that they all have; one array becomes another bit for bit."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import InputError, RefusedError, ValueRefusedError
from tests.formats.test_array_facts import VOLUMES
from tests.formats.test_arrays_layout import nifti
from tests.formats.test_npy import saved


def made(data: bytes, source: str, **how: Any) -> Any:
    """The array that NumPy itself loads from what ``data`` became, and the report."""
    out = io.BytesIO()
    report = serialpack.convert(
        io.BytesIO(data), out, format=source, to="npy", trust=True, threads=1, **how
    )
    return np.load(io.BytesIO(out.getvalue()), allow_pickle=False), report


WHEN = datetime(2020, 1, 2, 3, 4, 5, 678901)
#: Records, the type that their array has, and its shape.
TYPED: dict[str, tuple[list[Any], str, tuple[int, ...]]] = {
    "integers": ([1, -2], "<i8", (2,)),
    "unsigned": ([0, 2**64 - 1], "<u8", (2,)),
    "floats": ([1.5, float("nan"), -0.0], "<f8", (3,)),
    "booleans": ([True, False], "|b1", (2,)),
    "texts": (["", "a\0b", "\u00e9\u6f22"], "<U3", (3,)),
    "bytes": ([b"ab", b""], "|S2", (2,)),
    "bytes that end in zero": ([b"a\0", b"\0\0"], "|V2", (2,)),
    "complex": ([1j, complex("nan")], "<c16", (2,)),
    "dates": ([date(1, 1, 1), None], "<M8[D]", (2,)),
    "times": ([WHEN, None], "<M8[us]", (2,)),
    "durations": ([timedelta(days=-1, microseconds=1)], "<m8[us]", (1,)),
    "a matrix": ([[1, 2, 3], [4, 5, 6]], "<i8", (2, 3)),
    "a cube": ([[[1.0], [2.0]], [[3.0], [4.0]]], "<f8", (2, 2, 1)),
    "rows of nothing": ([[], []], "<f8", (2, 0)),
}


@pytest.mark.parametrize("name", TYPED)
def test_the_type_is_the_narrowest_that_holds_all(name: str) -> None:
    records, dtype, shape = TYPED[name]
    array, report = made(pickle.dumps(records), "pickle")
    assert (array.dtype.str, array.shape) == (dtype, shape)
    assert not report.carried
    assert not report.losses
    back = io.BytesIO()
    serialpack.convert(io.BytesIO(saved(array)), back, format="npy", to="pickle")
    assert repr(pickle.loads(back.getvalue())) == repr(records)


def test_maps_are_records_with_fields() -> None:
    rows = [{"a": 1, "b": [1.5, 2.5], "c": {"d": "x"}}, {"a": 2, "b": [0.0, 1.0], "c": {"d": "yy"}}]
    array, report = made("".join(json.dumps(row) + "\n" for row in rows).encode(), "ndjson")
    assert array.dtype.descr == [("a", "<i8"), ("b", "<f8", (2,)), ("c", [("d", "<U2")])]
    assert array["c"]["d"].tolist() == ["x", "yy"]
    assert not report.carried


def test_cells_have_types_where_they_are_asked_for() -> None:
    data = b"a,b,when\n1,2.5,2020-01-02\n-3,1.0,\n"
    array, _ = made(data, "csv")
    assert array.dtype.descr == [("a", "<U2"), ("b", "<U3"), ("when", "<U10")]
    array, _ = made(data, "csv", shaping=Shaping(infer=True))
    assert array.dtype.descr == [("a", "<i8"), ("b", "<f8"), ("when", "<M8[D]")]
    assert np.isnat(array["when"][1])


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        ("[1, 2.5, -3]", "numbers", [1.0, 2.5, -3.0]),
        ("[[1, 2], [3, 4.5]]", "numbers", [[1.0, 2.0], [3.0, 4.5]]),
        ('[{"a": 1, "b": 2}, {"b": 3, "a": 4}]', "key-order", [(1, 2), (4, 3)]),
    ],
)
def test_what_is_carried_is_told_and_refused_with_strict(
    text: str, rule: str, expected: list[Any]
) -> None:
    array, report = made(text.encode(), "json")
    assert array.tolist() == expected
    assert [loss.rule for loss in report.carried] == [rule]
    with pytest.raises(ValueRefusedError):
        made(text.encode(), "json", strict=True)


def test_null_beside_numbers_is_nan_where_that_is_allowed() -> None:
    with pytest.raises(ValueRefusedError, match=r'lossy=\["null"\] lets it go'):
        made(b"[1, null]", "json")
    array, report = made(b"[1, null]", "json", lossy=["null"])
    assert array[0] == 1.0
    assert np.isnan(array[1])
    assert [loss.rule for loss in report.losses] == ["null"]


REFUSED = {
    "lists of other lengths": ("[[1, 2], [3]]", "a list of 1, before it are lists of 2"),
    "maps of other keys": ('[{"a": 1}, {"b": 1}]', "a map of 'b', before it are maps of 'a'"),
    "a key less": (
        '[{"a":1,"b":1,"c":1,"d":1},{"a":1,"b":1,"c":1}]',
        "a map without 'd', unlike those before it",
    ),
    "another key far behind": (
        '[{"a":1,"b":1,"c":1,"d":1,"e":1},{"a":1,"b":1,"c":1,"e":1,"f":1}]',
        "a map without 'd' and with 'f', unlike those before it",
    ),
    "text beside numbers": ('[1, "a"]', "'a' beside 1"),
    "a boolean beside numbers": ("[1, true]", "True beside 1"),
    "a map beside a list": ('[[1], {"a": 1}]', "dict beside list"),
    "an integer that no double is": ("[2.5, 9007199254740993]", "9007199254740993 beside 2.5"),
    "more than 64 bits together": ("[-1, 18446744073709551615]", "18446744073709551615 beside -1"),
    "more than 64 bits": ("[18446744073709551616]", "an integer beyond 64 bits"),
    "text that ends in NUL": ('["a\\u0000"]', "text that ends in NUL"),
    "no keys": ("[{}]", "no names of fields"),
    "an empty key": ('[{"": 1}]', "no names of fields"),
    "lists too deep": ("[" * 40 + "]" * 40, "nested too deeply"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_one_line_with_a_way(name: str) -> None:
    text, said = REFUSED[name]
    with pytest.raises(ValueRefusedError, match=said) as caught:
        made(text.encode(), "json")
    assert "\n" not in str(caught.value)
    assert 'to="' in str(caught.value)


def test_one_long_text_is_not_the_room_of_all() -> None:
    data = pickle.dumps(["x" * 100_000, *["y"] * 2000])
    with pytest.raises(RefusedError, match="as much as the longest, which has 100,000"):
        made(data, "pickle")


@pytest.mark.parametrize("name", VOLUMES)
def test_an_array_stays_as_it_is_bit_for_bit(name: str) -> None:
    """Type, order and bytes: through values each number would be of 64 bits."""
    head, numbers, dtype = VOLUMES[name]
    array, report = made(head + numbers, name)
    assert (array.dtype.str, array.shape) == (dtype, (2, 3, 4))
    assert array.tobytes("A") == numbers
    assert [loss.rule for loss in report.carried] == ["header"]
    with pytest.raises(ValueRefusedError, match="no place for headers"):
        made(head + numbers, name, strict=True)


def test_not_a_number_keeps_its_bits() -> None:
    bits = np.array([0x7FC00001, 0xFFC12345, 0x7F800001], ">u4").view(">f4")
    array, _ = made(saved(bits), "npy")
    assert array.dtype.str == ">f4"
    assert array.tobytes() == bits.tobytes()
    long, _ = made(saved(np.array([1], "g")), "npy")  # which no value holds
    assert long.dtype == np.dtype("g")


def test_an_array_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    whole = saved(np.asfortranarray(np.zeros((2, 3), "<f4")))
    volume = nifti("<", (2, 3), 4) + bytes(12)
    for data, source in ((whole, "npy"), (volume, "nifti")):
        with pytest.raises(InputError, match="1 byte of the array is missing"):
            made(data[:-1], source)
        with pytest.raises(InputError, match="there are bytes behind the array"):
            made(data + b"x", source)
    with pytest.raises(RefusedError, match="Python objects"):
        serialpack.convert(
            io.BytesIO(saved(np.array([{}], object))), io.BytesIO(), format="npy", to="npy"
        )
    (tmp_path / "a.npy").write_bytes(whole[:-1])
    with pytest.raises(InputError):
        serialpack.convert(tmp_path / "a.npy", tmp_path / "b.npy", to="npy")
    assert not (tmp_path / "b.npy").exists()


def in_archive(source: Path | io.BytesIO, **how: Any) -> dict[str, Any]:
    """What NumPy itself loads from the npz that ``source`` becomes."""
    out = io.BytesIO()
    serialpack.convert(source, out, to="npz", threads=1, **how)
    with np.load(io.BytesIO(out.getvalue()), allow_pickle=False) as found:
        return dict(found)


MANY = {
    "narrow": np.arange(3, dtype="f4"),
    "other order of bytes": np.arange(4, dtype=">i2").reshape(2, 2),
    "by columns": np.asfortranarray(np.arange(6, dtype="u1").reshape(2, 3)),
    "one item": np.array(1.5),
    "rows": np.array([(1, 2.5)], dtype=[("a", "<i4"), ("b", "<f8")]),
    "not a number": np.array([0x7FF8000000000123], "<u8").view("<f8"),
}


def assert_same(found: Any, wanted: Any) -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.flags.f_contiguous == wanted.flags.f_contiguous
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", MANY)
def test_an_array_becomes_an_archive_of_it(name: str) -> None:
    """It was refused, and one of records taken apart."""
    data = saved(MANY[name])
    found = in_archive(io.BytesIO(data), format="npy")
    report = serialpack.convert(io.BytesIO(data), io.BytesIO(), format="npy", to="npz")
    assert report.read == len(data)
    assert list(found) == ["arr_0"]
    assert_same(found["arr_0"], MANY[name])


@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_becomes_an_archive_of_the_very_arrays(packed: bool, tmp_path: Path) -> None:
    """They became what values are: float32 doubles, with not a word; one of them was refused."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, **MANY)  # type: ignore[arg-type]  # its second argument is a flag
    if packed:
        serialpack.pack(path, path := tmp_path / "a.spk")
    for given in (path, io.BytesIO(path.read_bytes())):
        found = in_archive(given, format=None if packed else "npz")
        assert list(found) == list(MANY)
        for name, array in found.items():
            assert_same(array, MANY[name])
    one = in_archive(path, shaping=Shaping(at="by columns"))
    assert list(one) == ["by columns"]
    assert_same(one["by columns"], MANY["by columns"])


def test_what_is_wrong_in_an_archive_is_told_with_the_name_of_the_array() -> None:
    for bad, said in ((saved(np.zeros(9))[:-3], "3 bytes of"), (saved(np.zeros(9)) + b"x", "behi")):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("good.npy", saved(np.zeros(2)))
            archive.writestr("bad.npy", bad)
        with pytest.raises(InputError, match=f"not valid npz: its array 'bad': .*{said}"):
            in_archive(io.BytesIO(out.getvalue()), format="npz")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("to", ["npz", "json"])
def test_a_damaged_entry_is_named_once(save: Any, to: str) -> None:
    """It was named as an array, as its entry, and once more by zipfile."""
    out = io.BytesIO()
    save(out, x=np.random.default_rng(1).random(500))
    data = bytearray(out.getvalue())
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(InputError, match=r"not valid npz: its entry 'x\.npy': ") as bad:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), format="npz", to=to)
    assert str(bad.value).count("'x") == 1


@pytest.mark.parametrize("to", ["npz", "hdf5"])
def test_some_arrays_of_an_archive_are_the_very_arrays(to: str, tmp_path: Path) -> None:
    """float32 became doubles, without a word."""
    if to == "hdf5":
        pytest.importorskip("h5py")
    path, made, back = (tmp_path / name for name in ("a.npz", "made", "back.npz"))
    arrays = {"narrow": np.zeros((0, 2), "f4"), "a.b": np.arange(3, dtype="u1"), "c": np.ones(2)}
    np.savez(path, **arrays)  # type: ignore[arg-type]
    serialpack.convert(path, made, to=to, fields=["narrow", "a.b"])
    serialpack.convert(made, back, to="npz")
    with np.load(back) as found:
        assert sorted(found) == ["a.b", "narrow"]
        for name, array in found.items():
            assert_same(array, arrays[name])
    with pytest.raises(ValueRefusedError, match="no record has a field nope"):
        serialpack.convert(path, made, to=to, fields=["narrow", "nope"], force=True)
    with pytest.raises(ValueRefusedError, match="no record has a field nope"):
        serialpack.convert(path, made, to=to, fields=["nope"], force=True)


def test_hdf5_has_records_within_the_records_of_an_array(tmp_path: Path) -> None:
    """They were refused with words of Python's about None."""
    pytest.importorskip("h5py")
    inner = [("x", "<i4"), ("s", "U2", (2,))]
    array = np.zeros(2, [("a", inner, (2, 3)), ("b", [("y", inner, (1,))])])
    array["a"]["x"], array["b"]["y"]["s"] = np.arange(12).reshape(2, 2, 3), "\u00e9s"
    (tmp_path / "a.npy").write_bytes(saved(array))
    serialpack.convert(tmp_path / "a.npy", tmp_path / "a.h5")
    serialpack.convert(tmp_path / "a.h5", tmp_path / "b.npy")
    again = np.load(tmp_path / "b.npy")
    assert (again.dtype, again.tobytes()) == (array.dtype, array.tobytes())


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_is_compressed_where_its_source_was(save: Any, tmp_path: Path) -> None:
    path, made = tmp_path / "a.npz", tmp_path / "b.npz"
    save(path, a=np.zeros(10_000), b=np.ones(10_000))
    serialpack.convert(path, made)
    assert made.stat().st_size == pytest.approx(path.stat().st_size, rel=0.2)
    with np.load(made) as found:
        assert found["b"].sum() == 10_000


def test_a_packed_archive_is_checked_without_values(tmp_path: Path) -> None:
    """That took 14 times the file in memory: a list of Python's numbers for each array."""
    path, packed = tmp_path / "a.npz", tmp_path / "a.spk"
    np.savez(path, a=np.arange(1 << 18) * 0.5)
    serialpack.pack(path, packed)
    out = io.BytesIO()
    tracemalloc.start()
    try:
        serialpack.convert(packed, out, to="npz", threads=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert out.getvalue() == path.read_bytes()
    assert peak < 6 * path.stat().st_size
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", saved(np.zeros(9))[:-3])
    serialpack.pack(path, packed, force=True)
    with pytest.raises(InputError, match="its array 'a': it ends too early"):
        serialpack.convert(packed, io.BytesIO(), to="npz")


@pytest.mark.parametrize(("to", "wanted"), [("csv", "NaN,2.0\n"), ("yaml", "- - .nan\n  - 2.0\n")])
def test_the_sign_of_a_nan_is_dropped_and_told(to: str, wanted: str) -> None:
    """As processors make of 0/0. It was refused whatever was allowed: it was taken for a NaN
    without one, which these have a word for. Other bits of its own are lost, not dropped."""
    data, out = saved(nans(0xFFF8 << 48)), io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, to=to)
    assert out.getvalue().decode() == wanted
    assert ("signs", 1) in [(each.rule, each.count) for each in report.carried]
    with pytest.raises(ValueRefusedError, match=r"bits fff8000000000000\)"):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), to=to, strict=True)
    data, out = saved(nans(0x7FF8 << 48 | 1)), io.BytesIO()
    with pytest.raises(ValueRefusedError, match=r"bits 7ff8000000000001\).*lossy=\[\"nan\"\]"):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), to=to)
    serialpack.convert(io.BytesIO(data), out, to=to, lossy=["nan"])
    assert out.getvalue().decode() == wanted


def test_a_nan_with_a_sign_is_null_in_json_where_that_is_allowed() -> None:
    data, out = saved(nans(0xFFF8 << 48)), io.BytesIO()
    with pytest.raises(ValueRefusedError, match=r"bits fff8000000000000\).*lossy=\[\"nan\"\]"):
        serialpack.convert(io.BytesIO(data), out, to="json")
    serialpack.convert(io.BytesIO(data), out, to="json", lossy=["nan"])
    assert json.loads(out.getvalue()) == [[None, 2.0]]


def nans(bits: int) -> np.ndarray:
    """A NaN of these bits beside a number."""
    return np.array([[bits, 2 << 61]], "<u8").view("<f8")
