"""Sparse matrices and arrays of SciPy: held without pickle, and no memory beside theirs is read."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import sys
import warnings
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.formats.python.buffers import LARGE, take_frame
from serialpack.pipeline.small import expand
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.objects.of_scipy import OF_SCIPY
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

_FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
_NAMES = [f"{format}_{what}" for format in _FORMATS for what in ("matrix", "array")]
_DENSE = np.array([[0, 1.5, 0, 0], [2, 0, 0, 3], [0, 0, 0, 0], [0, float("nan"), -1, 0]])


@pytest.fixture(name="sparse")
def the_library() -> Any:
    return pytest.importorskip("scipy.sparse")


def _again(value: Any, chain: str = "auto") -> Any:
    """What comes back, which needed no trust, and is the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = serialpack.dumps(value, chain)
    found = serialpack.loads(data)
    assert difference(value, found) is None
    assert serialpack.inspect(io.BytesIO(data)).members[0].format == "object"
    return found


@pytest.mark.parametrize("name", _NAMES)
def test_they_need_no_pickle(sparse: Any, name: str) -> None:
    """They were pickled, with a warning, and so needed trust."""
    cls = getattr(sparse, name)
    for kind in ("f8", "f4", "c16", "i1", "u8", "?"):
        with np.errstate(invalid="ignore"):
            value = cls(_DENSE.astype(kind))
        found = _again({"a": value})["a"]
        assert found.toarray().tobytes() == value.toarray().tobytes()
        assert (found @ np.ones(4)).tobytes() == (value @ np.ones(4)).tobytes()
    for empty in (cls((0, 3)), cls((3, 0)), cls((3, 4), dtype="i2")):
        assert _again(empty).shape == empty.shape


def test_what_is_found_out_of_indices_is_kept_and_what_is_not_is_not(sparse: Any) -> None:
    for cls in (sparse.csr_array, sparse.csc_matrix, sparse.bsr_array):
        new = cls(_DENSE)
        assert "_has_sorted_indices" not in vars(_again(new))
        assert new.has_canonical_format
        assert vars(_again(new))["_has_canonical_format"] is True
        new.has_sorted_indices = False
        assert not _again(new).has_sorted_indices
        odd = cls(np.ones((2, 2)), **({"blocksize": (1, 1)} if cls is sparse.bsr_array else {}))
        odd.indices = odd.indices[::-1].copy()
        assert not odd.has_sorted_indices
        assert not _again(odd).has_sorted_indices
    twice = sparse.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2))
    assert not _again(twice).has_canonical_format
    twice.sum_duplicates()
    assert _again(twice).has_canonical_format


def test_indices_stay_as_wide_as_they_are(sparse: Any) -> None:
    for name in ("csr_array", "csc_matrix", "bsr_array"):
        value = getattr(sparse, name)(_DENSE)
        value.indices, value.indptr = value.indices.astype("i8"), value.indptr.astype("i8")
        assert _again(value).indices.dtype == np.int64
    value = sparse.coo_array(_DENSE)
    value.coords = tuple(each.astype("i8") for each in value.coords)
    assert _again(value).coords[0].dtype == np.int64
    assert _again(sparse.csr_array((3, 1 << 40))).shape == (3, 1 << 40)


def test_other_shapes_and_unused_room(sparse: Any) -> None:
    _again(sparse.bsr_array(np.kron(np.eye(3), np.ones((2, 3))), blocksize=(2, 3)))
    row = np.array([0, 1, 0, 2])
    for name in ("csr_array", "coo_array", "dok_array"):
        assert _again(getattr(sparse, name)(row)).shape == (4,)
    cube = sparse.coo_array(np.arange(24).reshape(2, 3, 4) % 5)
    assert _again(cube).shape == (2, 3, 4)
    roomy = sparse.csr_array(_DENSE)
    roomy.data, roomy.indices = np.resize(roomy.data, 9), np.resize(roomy.indices, 9)
    assert len(_again(roomy).data) == 9
    beside = sparse.dia_array((np.ones((2, 3)), [-2, 5]), shape=(3, 5))
    assert _again(beside).offsets.tolist() == [-2, 5]
    turned = sparse.dia_array(_DENSE)
    turned.data = np.asfortranarray(turned.data)
    assert _again(turned).data.flags.f_contiguous


def test_keys_and_items_of_any_numbers(sparse: Any) -> None:
    value = sparse.dok_array((3, 4), dtype="f4")
    value[0, 1] = 2
    assert list(_again(value).keys()) == [(0, 1)]
    value[np.int64(1), 2] = 3
    value._dict[2, 2] = 5
    assert list(map(type, _again(value).values())) == list(map(type, value.values()))
    rows = sparse.lil_matrix((3, 4), dtype="i4")
    rows[1, 2] = 3
    rows[1, 0] = 4
    assert _again(rows).rows[1] == [0, 2]


def test_one_stays_one_and_is_shown(sparse: Any) -> None:
    value = sparse.csr_array(_DENSE)
    once, again = _again([value, value])
    assert once is again
    serializer: Any = SERIALIZERS.create("objects")
    message = b"".join(serializer.dump_object([{"m": value}]))
    shown = serializer.outline(message).value["m"]["csr_array"]
    assert shown[:2] == [[4, 4], 50]
    assert "<f8" in shown[2]


def test_large_arrays_stand_beside_the_message(sparse: Any) -> None:
    value = sparse.random_array((4000, 4000), density=0.01, format="csr", rng=1)
    again = _again({"m": value})["m"]
    assert again.indices.nbytes > LARGE
    serializer: Any = SERIALIZERS.create("objects")
    frame = b"".join(serializer.dump_object([value]))
    assert len(take_frame(memoryview(frame), 0).buffers) == 2


def test_what_is_more_than_numbers_goes_to_pickle(sparse: Any) -> None:
    named = sparse.csr_array(_DENSE)
    named.note = "mine"

    class Own(sparse.csr_array):  # type: ignore[misc]
        pass

    wrong = sparse.csr_array(_DENSE)
    wrong.indices = wrong.indices + 9
    believed = sparse.csr_array(np.ones((2, 2)))
    believed.indices = believed.indices[::-1].copy()
    believed.has_canonical_format = True
    for value in (named, Own(_DENSE), wrong, believed):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(value, "objects")


def test_without_the_library_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(UnsupportedError, match="needs SciPy") as caught:
        serialpack.loads(made_of(_message(BAD["starts of rows"])))
    assert caught.value.hint == "pip install scipy"


def test_a_file_that_is_kept_for_ever_has_them(sparse: Any) -> None:
    assert sparse
    found = serialpack.load(Path(__file__).parents[2] / "golden" / "object-sparse.spk")
    assert [type(each).__name__ for each in found[:-1]] == _NAMES[::2]
    for each in found[:-1]:
        assert each.dtype == "i2"
        assert each.toarray().tolist() == [[0, 7], [8, 0]]
    assert found[0].has_sorted_indices
    assert found[-1] is found[0]


def _array(values: Any, kind: str = "<i4") -> msgpack.ExtType:
    array = np.array(values, kind)
    parts = [array.tobytes(), repr(kind), list(array.shape), False, True]
    return msgpack.ExtType(18, msgpack.packb(parts))


def _lists(*rows: Any) -> msgpack.ExtType:
    return msgpack.ExtType(37, msgpack.packb([list(rows), [len(rows)], False, True]))


def _message(parts: list[Any]) -> msgpack.ExtType:
    return msgpack.ExtType(OF_SCIPY, msgpack.packb(parts))


_ONE, _TWO = _array([1.0], "<f8"), _array([1.0, 2.0], "<f8")
_NONE = _array([], "<f8")
_I2, _F8 = (msgpack.ExtType(42, msgpack.packb(["dtype", repr(kind)])) for kind in ("<i2", "<f8"))
_BLOCK = _array([[[1.0, 2.0]]], "<f8")


def _rows(indices: Any, starts: Any, shape: Any = (2, 2), data: Any = _ONE, *told: Any) -> Any:
    return ["csr_array", list(shape), 50, data, indices, starts, *(told or (None, None))]


BAD: dict[str, list[Any]] = {
    "no class": ["bdia_array", [1, 1], 50],
    "no format": ["eye_array", [1, 1], 50],
    "a shape of text": _rows(_array([0]), _array([0, 1, 1]), "ab"),
    "a negative shape": _rows(_array([0]), _array([0, 1, 1]), (-2, 2)),
    "another number of parts": ["csr_array", [2, 2], 50, _ONE],
    "an index beyond": _rows(_array([2]), _array([0, 1, 1])),
    "an index below": _rows(_array([-1]), _array([0, 1, 1])),
    "starts of rows": _rows(_array([0]), _array([0, 1])),
    "starts that go down": _rows(_array([0]), _array([0, 2, 1])),
    "starts that go down to nothing": _rows(_array([]), _array([0, 5, 0]), (2, 2), _NONE),
    "starts that go round": _rows(
        _array([]), _array([0, 2**31 - 1, -(2**31), 0]), (3, 2), _NONE
    ),
    "starts before the first": _rows(_array([0]), _array([-1, 1, 1])),
    "starts behind the last": _rows(_array([0]), _array([0, 1, 3])),
    "more indices than items": _rows(_array([0, 1]), _array([0, 1, 2])),
    "indices of one byte": _rows(_array([0], "|i1"), _array([0, 1, 1], "|i1")),
    "indices of two types": _rows(_array([0]), _array([0, 1, 1], "<i8")),
    "indices the other way round": _rows(_array([0], ">i4"), _array([0, 1, 1], ">i4")),
    "indices of two dimensions": _rows(_array([[0]]), _array([0, 1, 1])),
    "fractions": _rows(_array([0.5], "<f8"), _array([0, 1, 1], "<f8")),
    "texts": _rows(_array([0]), _array([0, 1, 1]), (2, 2), _array(["a"], "<U1")),
    "a list": _rows([0], _array([0, 1, 1])),
    "a plane": _rows(_array([0]), _array([0, 1, 1]), (2, 2), _BLOCK),
    "three dimensions": _rows(_array([0]), _array([0, 1, 1]), (2, 2, 2)),
    "none": _rows(_array([0]), _array([0, 1, 1]), ()),
    "sorted by its own words": _rows(_array([1, 0]), _array([0, 2, 2]), (2, 2), _TWO, True, None),
    "once by its own words": _rows(_array([0, 0]), _array([0, 2, 2]), (2, 2), _TWO, True, True),
    "sorted by other words": _rows(_array([0]), _array([0, 1, 1]), (2, 2), _ONE, "yes", None),
    "blocks that do not fit": ["bsr_array", [3, 3], 50, _BLOCK, _array([0]), _array([0, 1, 1, 1]),
                               None, None],
    "no blocks": ["bsr_array", [2, 2], 50, _array(np.zeros((1, 0, 2)), "<f8"), _array([0]),
                  _array([0, 1, 1]), None, None],
    "a block beyond": ["bsr_array", [1, 2], 50, _BLOCK, _array([1]), _array([0, 1]), None, None],
    "a place beyond": ["coo_array", [2, 2], 50, _ONE, True, _array([0]), _array([2])],
    "a place below": ["coo_array", [2, 2], 50, _ONE, True, _array([-1]), _array([0])],
    "fewer places": ["coo_array", [2, 2], 50, _ONE, True, _array([0])],
    "shorter places": ["coo_array", [2, 2], 50, _TWO, True, _array([0]), _array([0])],
    "a cube of a matrix": ["coo_matrix", [1, 1, 1], 50, _ONE, True, *[_array([0])] * 3],
    "more diagonals": ["dia_array", [2, 2], 50, _array([[1.0]], "<f8"), _array([0, 1])],
    "a diagonal far beyond": ["dia_array", [2, 2], 50, _array([[1.0]], "<f8"), _array([2**31 - 1])],
    "a diagonal far below": ["dia_array", [2, 2], 50, _array([[1.0]], "<f8"), _array([-(2**31)])],
    "a diagonal too long": ["dia_array", [2**31 - 1, 2], 50, _array([[1.0]], "<f8"), _array([5])],
    "a diagonal twice": ["dia_array", [2, 2], 50, _array([[1.0], [2]], "<f8"), _array([1, 1])],
    "a key beyond": ["dok_array", [2, 2], 50, _F8, _ONE, [0], [2]],
    "a key of text": ["dok_array", [2, 2], 50, _F8, _ONE, [0], ["a"]],
    "a key of a fraction": ["dok_array", [2, 2], 50, _F8, _ONE, [0], [0.5]],
    "a key twice": ["dok_array", [2, 2], 50, _F8, _TWO, [0, 0], [1, 1]],
    "more keys than items": ["dok_array", [2, 2], 50, _F8, _ONE, [0, 1], [1, 1]],
    "a text for a key": ["dok_array", [2, 2], 50, _F8, ["a"], [0], [0]],
    "one key": ["dok_array", [2, 2], 50, _F8, _ONE, [0]],
    "no type": ["dok_array", [2, 2], 50, "<f8", _ONE, [0], [1]],
    "a column beyond": ["lil_array", [1, 2], 50, _I2, _lists([2]), _lists([1])],
    "columns not sorted": ["lil_array", [1, 2], 50, _I2, _lists([1, 0]), _lists([1, 1])],
    "fewer items": ["lil_array", [1, 2], 50, _I2, _lists([0, 1]), _lists([1])],
    "items of text": ["lil_array", [1, 2], 50, _I2, _lists([0]), _lists(["a"])],
    "rows that are not there": ["lil_array", [1 << 40, 2], 50, _I2, _lists([0]), _lists([1])],
    "no lists": ["lil_array", [1, 2], 50, _I2, _lists(1), _lists(1)],
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_stored_bytes_that_lie_are_one_error(sparse: Any, name: str) -> None:
    """SciPy's own code looks at no index again: it would read, or write, elsewhere in memory."""
    assert sparse
    data = made_of(_message(BAD[name]))
    with pytest.raises(DamagedError) as caught:
        serialpack.loads(data)
    assert "\n" not in str(caught.value)
    with contextlib.suppress(serialpack.SerialpackError):
        serialpack.inspect(io.BytesIO(expand(data)))


@dataclasses.dataclass
class Odd:
    """Would run code of its class where it is asked for what an array, or a number, has."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)

    def __index__(self) -> int:
        raise AssertionError


@pytest.mark.parametrize("name", _NAMES[::2])
def test_no_class_is_asked_by_what_reads(sparse: Any, name: str) -> None:
    assert sparse
    odd = msgpack.ExtType(16, msgpack.packb([__name__, "Odd", {}]))
    good = {
        "csr": _rows(_array([0]), _array([0, 1, 1]))[1:],
        "coo": ["", [2, 2], 50, _ONE, True, _array([0]), _array([1])][1:],
        "dia": [[2, 2], 50, _array([[1.0]], "<f8"), _array([0])],
        "dok": [[2, 2], 50, _F8, [1.0], [0], [1]],
        "lil": [[1, 2], 50, _I2, _lists([0]), _lists([1])],
    }
    parts = good.get(name[:3], good["csr"])
    for number in range(len(parts)):
        bad = [*parts[:number], odd, *parts[number + 1 :]]
        with contextlib.suppress(DamagedError):
            serialpack.loads(made_of(_message([name, *bad])))
