"""Arrays that have bytes between their numbers, or are read-only where pickle cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import serialpack
from serialpack.values.equality import difference

np = pytest.importorskip("numpy")

pytestmark = pytest.mark.filterwarnings("ignore::serialpack.PickleWarning")


class Holder:
    """Of no kind that is held without pickle."""

    def __init__(self, held: Any) -> None:
        self.held = held


def _filled(kind: Any) -> Any:
    """Records whose every byte is set, those between the fields too."""
    kind = np.dtype(kind)
    return np.frombuffer(bytes(range(1, 1 + kind.itemsize)) * 6, kind)


_TABLE = [("a", "i4"), ("b", "f8"), ("c", "i2")]
_ALIGNED = np.dtype([("a", "i1"), ("b", "f8")], align=True)
_NESTED = np.dtype([("in", _ALIGNED, (2,)), ("n", "i2")])


@pytest.mark.parametrize("name", ["some", "turned", "aligned", "nested"])
@pytest.mark.parametrize("chain", ["auto", "pickle"])
def test_what_lies_between_fields_is_no_value(name: str, chain: str) -> None:
    array = {
        "some": lambda: _filled(_TABLE)[["a", "c"]][::2],
        "turned": lambda: _filled(_TABLE)[["c", "a"]][::-2],
        "aligned": lambda: _filled(_ALIGNED).reshape(3, 2)[:, 0],
        "nested": lambda: _filled(_NESTED)[::2],
    }[name]()
    back = serialpack.loads(serialpack.dumps(array, chain), trust=True)
    assert back.dtype == array.dtype
    assert str(back) == str(array)


def test_a_field_counts_whatever_lies_beside_it() -> None:
    array = _filled(_TABLE)[["a", "c"]][::2]
    other = array.copy()
    assert difference(array, other) is None
    other["c"][1] += 1
    assert difference(array, other) is not None


def test_what_lies_between_fields_is_written_as_zeros() -> None:
    table = np.ones(9, _TABLE)
    assert len({serialpack.dumps(table[["a", "c"]][::2], "objects+none") for _ in range(3)}) == 1
    written = serialpack.dumps(_filled(_TABLE)[["a", "c"]][::2], "objects+none")
    assert bytes(range(5, 13)) not in written


def _long(text: str) -> Any:
    """A long double, behind whose number are bytes as it is."""
    return np.frombuffer(bytearray(np.longdouble(text).tobytes()[:10] + bytes(range(6))), "g")


@pytest.mark.skipif(np.finfo("g").nmant != 63, reason="has no long doubles of 80 bits")
def test_what_lies_behind_a_long_double_is_no_value() -> None:
    one, other = _long("1.1"), np.array([np.longdouble("1.1")])
    assert difference(one, other) is None
    assert difference(one[0], other[0]) is None
    assert difference(one, np.nextafter(other, np.longdouble(2))) is not None
    pair = one.repeat(2).view("G"), other.repeat(2).view("G")
    assert difference(*pair) is None
    for _ in range(3):
        assert serialpack.loads(serialpack.dumps(_long("1.1")[0], "objects")) == other[0]


def test_a_record_of_an_array_needs_no_trust() -> None:
    record = np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")])[0]
    back = serialpack.loads(serialpack.dumps(record))
    assert type(back) is np.void
    assert back == record
    back["a"] = 3  # as what pickle reads


READ_ONLY: dict[str, Callable[[], Any]] = {
    "objects": lambda: np.array([1, "a", None], object),
    "times": lambda: np.array(["2020-01-01"], "M8[ns]"),
    "durations": lambda: np.array([1], "m8[s]"),
    "records with times": lambda: np.zeros(2, [("at", "M8[s]"), ("n", "i4")]),
    "a subclass": lambda: np.array([[1, 2]]).view(np.matrix),
    "fields in another order": lambda: np.zeros(2, _TABLE)[["c", "a"]],
    "no byte": lambda: np.zeros(3, "V0"),
}


@pytest.mark.parametrize("name", READ_ONLY)
def test_what_is_read_only_is_pickled_where_pickle_cannot_say_so(name: str) -> None:
    """As pandas 3 gives out all its columns."""
    array = READ_ONLY[name]()
    array.flags.writeable = False
    for chain in ("auto", "pickle"):
        back = serialpack.loads(serialpack.dumps(Holder(array), chain), trust=True)
        assert type(back.held) is type(array)
        assert back.held.dtype == array.dtype
        assert back.held.tolist() == array.tolist()


def test_an_attribute_of_the_class_may_be_kept_with_the_object() -> None:
    """Polynomials of NumPy tell pickle their domain, which they have of their class, and a symbol,
    which is a property."""
    line = np.polynomial.Polynomial([1, 2])
    assert serialpack.loads(serialpack.dumps(line), trust=True) == line


def test_another_attribute_than_that_of_the_class_is_a_difference() -> None:
    one, other = np.polynomial.Polynomial([1, 2]), np.polynomial.Polynomial([1, 2], [0, 1])
    lost = difference(one, other)
    assert lost is not None
    assert lost.value_path == "$.domain"
    assert difference(other, one) is not None


@pytest.mark.parametrize("number", [np.longlong(-5), np.ulonglong((1 << 64) - 1)])
@pytest.mark.parametrize("chain", ["objects", "pickle"])
def test_an_integer_of_a_second_name_comes_back_as_of_the_first(number: Any, chain: str) -> None:
    """It was refused, where an array of it was not."""
    assert np.longlong is not np.int64
    back = serialpack.loads(serialpack.dumps([number], chain), trust=True)[0]
    assert back.dtype == number.dtype
    assert back == number
    assert difference(number, type(back)(int(number) // 2)) is not None
    assert difference(np.int32(5), np.int64(5)) is not None
