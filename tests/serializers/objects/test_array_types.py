"""Arrays of NumPy beside the plain ones: with a mask, of types that say more than .npy files do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

_ITEMS = np.arange(12.0).reshape(3, 4)

MASKED: dict[str, Any] = {
    "some": np.ma.masked_less(_ITEMS, 5),
    "fortran": np.ma.masked_less(_ITEMS.T, 5),
    "none": np.ma.array([1, 2]),
    "all false": np.ma.array([1, 2], mask=[False, False]),
    "filled": np.ma.array(["a", "bcd"], mask=[False, True], fill_value="zz"),
    "hard": np.ma.array([1, 2], mask=[False, True], hard_mask=True),
    "records": np.ma.array([(1, 2.0)], [("a", "<i4"), ("b", "<f8")], mask=[(True, False)]),
    "no dimension": np.ma.array(5, mask=True),
    "empty": np.ma.zeros((0, 3)),
    "times": np.ma.array(["2020-01-01", "NaT"], "M8[D]", mask=[True, False]),
    "big": np.ma.masked_greater(np.arange(40_000), 7),
}


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_needs_no_pickle(name: str) -> None:
    """Each was refused: what pickle makes of it has an attribute more."""
    value = {"x": MASKED[name]}
    again = serialpack.loads(serialpack.dumps(value))["x"]
    assert difference(value["x"], again) is None
    assert type(again) is np.ma.MaskedArray
    assert (again.mask is np.ma.nomask) == (MASKED[name].mask is np.ma.nomask)
    assert again.data.tobytes() == MASKED[name].data.tobytes()
    assert np.array_equal(np.ma.getmaskarray(again), np.ma.getmaskarray(MASKED[name]))
    assert str(again.fill_value) == str(MASKED[name].fill_value)
    assert again.hardmask == MASKED[name].hardmask
    assert again.flags.f_contiguous == MASKED[name].flags.f_contiguous


@pytest.mark.parametrize("kind", ["M8[7D]", ">m8[25s]"])
def test_times_in_units_of_several_need_no_item_for_what_is_masked(kind: str) -> None:
    """NumPy has none for them, and so they were refused."""
    value = np.ma.array(np.array([1, 2], kind), mask=[False, True])
    again = serialpack.loads(serialpack.dumps(value))
    assert difference(value, again) is None
    assert difference(value, np.ma.array(np.array([3, 2], kind), mask=[False, True])) is not None
    assert (again.dtype, again.tolist()) == (value.dtype, value.tolist())


def test_pickle_holds_a_mask_but_not_that_it_is_hard() -> None:
    for name in set(MASKED) - {"hard"}:
        assert serialpack.dumps(MASKED[name], "pickle")
    with pytest.raises(serialpack.ValueRefusedError, match=r"_hardmask"):
        serialpack.dumps(MASKED["hard"], "pickle")


def test_what_is_under_a_mask_counts() -> None:
    """Two that are equal wherever they are not masked."""
    one, other = np.ma.array([1, 2], mask=[False, True]), np.ma.array([1, 3], mask=[False, True])
    assert (one == other).all()
    assert difference(one, other) is not None
    assert difference(one, np.ma.array([1, 2], mask=[True, True])) is not None
    assert difference(one, np.ma.array([1, 2], mask=[False, True], fill_value=7)) is not None
    objects: list[Any] = [np.ma.array([None, each], "O", mask=[False, True]) for each in "ab"]
    assert difference(*objects) is not None


@pytest.mark.parametrize("chain", ["auto", "auto+none"])
@pytest.mark.parametrize("mode", ["r", "c"])
def test_a_mask_over_what_is_mapped(tmp_path: Path, chain: str, mode: str) -> None:
    value = MASKED["big"]
    serialpack.dump(value, tmp_path / "a.spk", chain)
    found = serialpack.load(tmp_path / "a.spk", mmap_mode=mode)
    assert np.array_equal(found.data, value.data)
    assert np.array_equal(found.mask, value.mask)
    assert serialpack.dumps(found)
    np.save(tmp_path / "b.npy", value.data)
    mapped = np.ma.array(np.load(tmp_path / "b.npy", mmap_mode="r"), mask=value.mask)
    assert difference(mapped, serialpack.loads(serialpack.dumps(mapped))) is None


def test_inspect_tells_of_a_mask(tmp_path: Path) -> None:
    serialpack.dump([MASKED["big"]], tmp_path / "a.spk")
    (member,) = serialpack.inspect(tmp_path / "a.spk").members
    assert "40000" in str(member)
    assert "masked" in str(member)


def _array(data: bytes, descr: str, *shape: int) -> Any:
    return msgpack.ExtType(18, msgpack.packb([data, repr(descr), shape, False, True]))


@pytest.mark.parametrize(
    "parts",
    [
        [[1, 2], None, None, False],
        [_array(b"ab", "|u1", 2), _array(b"\0", "|b1", 1), None, False],
        [_array(b"ab", "|u1", 2), _array(b"\0\0", "|u1", 2), None, False],
        [_array(b"ab", "|u1", 2), None, "text", False],
        [_array(b"ab", "|u1", 2), None, None],
        [_array(b"ab", "|u1", 2), None, 1 << 40, False],
    ],
)
def test_a_mask_that_lies_is_one_error(parts: Any) -> None:
    data = made_of(msgpack.ExtType(33, msgpack.packb(parts)))
    with pytest.raises(DamagedError):
        serialpack.loads(data)


def test_a_text_of_no_characters_is_one_error() -> None:
    """NumPy raises a SystemError."""
    parts = [b"\x04x\x00@", "'<U1'"]
    with pytest.raises(DamagedError, match="extension 19"):
        serialpack.loads(made_of(msgpack.ExtType(19, msgpack.packb(parts))))


_RECORDS = np.rec.array([(1, 2.5, b"x"), (3, np.nan, b"")], "<i4,>f8,S1")

SHOWN: dict[str, Any] = {
    "records": _RECORDS,
    "records of two dimensions": _RECORDS.reshape(1, 2),
    "records of one type": np.arange(3).view(np.recarray),
    "large": np.zeros(40_000).view(np.recarray),
    "matrix": np.eye(3).view(np.matrix),
    "fortran": np.asfortranarray(_ITEMS).view(np.matrix),
    "empty": np.zeros((0, 2)).view(np.matrix),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_recarray_or_matrix_needs_no_pickle(name: str) -> None:
    """Each needed trust, though it is an array of numbers under another class."""
    value = SHOWN[name]
    again = serialpack.loads(serialpack.dumps([value]))[0]
    assert type(again) is type(value)
    assert again.dtype == value.dtype
    assert again.dtype.type is value.dtype.type
    assert again.tobytes() == value.tobytes()
    assert difference(value, again) is None


@pytest.mark.parametrize("mode", ["r", "c"])
def test_a_matrix_over_what_is_mapped(tmp_path: Path, mode: str) -> None:
    value = np.arange(90_000.0).reshape(300, 300).view(np.matrix)
    for chain in ("auto+none", "auto"):
        serialpack.dump(value, tmp_path / "a.spk", chain, force=True)
        found = serialpack.load(tmp_path / "a.spk", mmap_mode=mode)
        assert type(found) is np.matrix
        assert np.array_equal(found, value)


@pytest.mark.parametrize("chain", ["auto", "auto+none"])
def test_items_that_are_records_stay_so(tmp_path: Path, chain: str) -> None:
    """They became such as have no attributes, and nobody said so; then they needed pickle."""
    value = _RECORDS[[0, 1] * 4500].view(np.ndarray)
    assert value.dtype.type is np.record
    serialpack.dump(value, tmp_path / "a.spk", chain)
    for mode in (None, "r"):
        again = serialpack.load(tmp_path / "a.spk", mmap_mode=mode)
        assert again.dtype.type is np.record
        assert again.tobytes() == value.tobytes()


def test_attributes_of_a_recarray_are_not_lost() -> None:
    value = _RECORDS.copy()
    value.unit = "mm"
    with pytest.raises(serialpack.ValueRefusedError, match=r"\$\.unit"):
        serialpack.dumps(value)


@pytest.mark.parametrize(
    "parts",
    [
        ["matrix", _array(b"ab", "|u1", 2)],
        ["matrix", _array(b"a", "|u1")],
        ["recarray", _array(b"a", "|u1")],
        ["recarray", [1, 2]],
        ["memmap", _array(b"ab", "|u1", 2)],
        [["matrix"], _array(b"ab", "|u1", 1, 2)],
        ["matrix"],
    ],
)
def test_a_class_of_arrays_that_lies_is_one_error(parts: Any) -> None:
    data = made_of(msgpack.ExtType(34, msgpack.packb(parts)))
    with pytest.raises(DamagedError):
        serialpack.loads(data)


@pytest.mark.filterwarnings("ignore::serialpack.PickleWarning")
@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype({"names": ["a", "b"], "formats": ["u4", "u1"], "offsets": [0, 1]}),
        np.dtype(("i4", [("low", "i2"), ("high", "i2")])),
        np.dtype([("a", "i4")], metadata={"unit": len}),
    ],
)
def test_types_that_nothing_but_pickle_says(dtype: Any) -> None:
    """Unproved, as between the workers of Dask, records and numbers with fields were so no more."""
    value = np.zeros(3, dtype)
    again = serialpack.loads(serialpack.dumps(value), trust=True)
    assert again.dtype == dtype
    assert again.dtype.type is dtype.type
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "objects", verify=False)


class Matrix(dict[Any, Any]):
    """A map that has neither a length nor a truth, and other items, as sparse ones of SciPy."""

    def __init__(self, made: Any) -> None:
        self.made = made

    def __len__(self) -> int:
        raise TypeError("its length is ambiguous")

    def __bool__(self) -> bool:
        raise ValueError("its truth is ambiguous")

    def __iter__(self) -> Any:
        return iter([[]])

    def __reduce__(self) -> Any:
        return Matrix, (self.made,)


@pytest.mark.filterwarnings("ignore::serialpack.PickleWarning")
def test_a_map_that_says_other_things_of_itself() -> None:
    """Asking it for its truth, or for its keys, was an internal error."""
    assert serialpack.loads(serialpack.dumps(Matrix(1)), trust=True).made == 1
    with pytest.raises(serialpack.ValueRefusedError, match="cannot hold"):
        serialpack.dumps(Matrix(lambda: 1))


class Kept(dict[Any, Any]):
    """A map whose items stand elsewhere; loaded, it has them in itself too."""

    def __init__(self, inside: Any = ()) -> None:
        self.inside = dict(inside)

    def items(self) -> Any:
        return self.inside.items()

    def __reduce__(self) -> Any:
        return Kept, (), {"inside": self.inside}, None, iter(self.inside.items())


@pytest.mark.filterwarnings("ignore::serialpack.PickleWarning")
def test_a_map_with_items_of_its_own_has_those() -> None:
    again = serialpack.loads(serialpack.dumps(Kept({1: 2})), trust=True)
    assert again.inside == {1: 2}


class Forgetful:
    """Tells pickle less than it holds."""

    def __init__(self) -> None:
        self.kept, self.cache = 1, 2

    def __getstate__(self) -> Any:
        return {"kept": self.kept}


@pytest.mark.filterwarnings("ignore::serialpack.PickleWarning")
def test_a_refusal_says_why_pickle_refuses_and_what_takes_it() -> None:
    """It named serializers that hold no such object, and no way to have what pickle makes of it."""
    with pytest.raises(serialpack.ValueRefusedError, match=r"\(cannot pickle 'generator' object\)"):
        serialpack.dumps([(each for each in "a")])
    with pytest.raises(
        serialpack.ValueRefusedError, match=r"cache: .*; verify=False takes what its class tells"
    ):
        serialpack.dumps(Forgetful())
    assert serialpack.loads(serialpack.dumps(Forgetful(), verify=False), trust=True).kept == 1


def test_a_refusal_by_marshal_names_who_holds_an_array() -> None:
    """It said to leave the proof out, and then bytes came back."""
    with pytest.raises(serialpack.ValueRefusedError, match=r"objects or pickle can$"):
        serialpack.dumps({"a": np.arange(2)}, "marshal")


@pytest.mark.parametrize("value", [(1, 2), {"a": (1,)}, {1: 2}, np.float64(1.5), {(1, 2): "x"}])
def test_auto_without_the_proof_takes_nobody_who_changes_it(value: Any) -> None:
    """Tuples became lists, and scalars of NumPy floats: json was asked before objects."""
    again = serialpack.loads(serialpack.dumps(value, verify=False))
    assert difference(value, again) is None


def test_what_is_no_file_of_bytes_is_named(tmp_path: Path) -> None:
    """To None nothing was written, without a word; a file of text failed at its first write."""
    with pytest.raises(TypeError, match=r"target must be .*, not None"):
        serialpack.dump(1, None)  # type: ignore[arg-type]
    with (tmp_path / "a").open("w") as file, pytest.raises(TypeError, match="a file of text"):
        serialpack.dump(1, file)  # type: ignore[arg-type]
    with (tmp_path / "a").open() as file, pytest.raises(TypeError, match="a file of text"):
        serialpack.load(file)  # type: ignore[arg-type]
    with (tmp_path / "b").open("w+b") as both:
        serialpack.dump(1, both)
        serialpack.dump(2, both)
        both.seek(0)
        assert [serialpack.load(both), serialpack.load(both)] == [1, 2]
    with pytest.raises(serialpack.UsageError, match="holds several, one after another, not"):
        serialpack.load(tmp_path / "b")


@pytest.mark.parametrize(
    "value", [b"a\0", b"\0\0", "a\0b\0", "\ud800\0", "\0\0", "", b""], ids=repr
)
def test_scalars_keep_the_zeros_at_their_end(value: Any) -> None:
    """Those of bytes and of text: an array has none there, and neither has a pickle."""
    scalar = np.bytes_(value) if isinstance(value, bytes) else np.str_(value)
    again = serialpack.loads(serialpack.dumps([scalar], "objects"))[0]
    assert type(again) is type(scalar)
    assert again == scalar
    assert len(again) == len(value)


@pytest.mark.filterwarnings("error::serialpack.PickleWarning")
def test_what_h5py_reads_needs_no_trust(tmp_path: Path) -> None:
    """Texts of one length, enumerations and tables with texts have words in their types."""
    h5py = pytest.importorskip("h5py")
    text, colour = h5py.string_dtype("ascii", 4), h5py.enum_dtype({"RED": 0, "BLUE": -1}, "i4")
    table = np.zeros(3, [("n", "f8"), ("name", text), ("colour", colour)])
    for value in (np.array([b"ab", b"c"], text), np.array([[0, -1]], colour), table):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["x"] = value
            read = file["x"][()]
        serialpack.dump(read, tmp_path / "a.spk", force=True)
        again = serialpack.load(tmp_path / "a.spk")
        assert again.tobytes() == read.tobytes()
        kinds = [again.dtype] if read.dtype.names is None else [again.dtype[n] for n in (1, 2)]
        assert all(h5py.check_string_dtype(kind) or h5py.check_enum_dtype(kind) for kind in kinds)
        assert difference([again], [read]) is None
    (member,) = serialpack.inspect(tmp_path / "a.spk").members
    assert member.holds == "records, 3, C order"
    serialpack.dump(np.array([0, 1], colour), tmp_path / "a.spk", force=True)
    (member,) = serialpack.inspect(tmp_path / "a.spk").members
    assert member.holds == "<i4, 2, C order"
