"""Arrays of NumPy whose items are objects of Python."""

from __future__ import annotations

import contextlib
import datetime
import io
import warnings
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of


def _of(*items: Any) -> Any:
    array = np.empty(len(items), object)
    for number, item in enumerate(items):
        array[number] = item
    return array


_TWO = _of(1, "a", None, [1, 2], {"b": (3,)}, np.float32(1)).reshape(2, 3)

ARRAYS: dict[str, Any] = {
    "labels": np.array(["a", "bc", None], object),
    "fortran": np.asfortranarray(_TWO),
    "turned": _TWO[::-1, ::2],
    "lists": _of([1, 2], [3, 4]),
    "arrays": _of(np.arange(3), np.arange(100_000), np.arange(3)),
    "dates": _of(datetime.date(2020, 1, 1), np.str_("x"), 1 << 70),
    "in itself": _of(_TWO, _TWO),
    "no dimension": np.array(None, object),
    "empty": np.zeros((0, 3), object),
    "masked": np.ma.array(["a", None], object, mask=[False, True]),
    "several": _TWO,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_they_need_no_pickle(name: str) -> None:
    """They were pickled, with a warning, and so needed trust."""
    array = ARRAYS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = serialpack.dumps({"a": array, "b": [array]})
    again = serialpack.loads(data)
    assert difference(array, again["a"]) is None
    assert again["a"].flags.f_contiguous == array.flags.f_contiguous
    assert again["a"].flags.writeable
    assert again["a"] is again["b"][0]
    assert "|O" in repr(serialpack.inspect(io.BytesIO(data)).members[0].holds)


def test_a_read_only_one_stays_so() -> None:
    array = _of("a")
    array.flags.writeable = False
    assert not serialpack.loads(serialpack.dumps(array, "objects")).flags.writeable


def test_items_that_only_pickle_holds_are_refused() -> None:
    itself = _of(None)
    itself[0] = itself
    for array in (_of(1, print), itself, np.zeros(2, [("a", object)])[0]):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(array, "objects")


@pytest.mark.parametrize(
    "parts",
    [
        [[1], [2], False, True],
        [[1], [-1], False, True],
        [[1], [True], False, True],
        [[], [0, 2**60], False, True],
        [[1], [1] * 65, False, True],
        [[1], ["1"], False, True],
        [[1], 1, False, True],
        ["a", [1], False, True],
        [{"a": 1}, [1], False, True],
        [[1], [1], False],
        [[1]],
    ],
)
def test_one_that_lies_is_one_error(parts: Any) -> None:
    data = made_of(msgpack.ExtType(37, msgpack.packb(parts)))
    with pytest.raises(DamagedError):
        serialpack.loads(data)
    with contextlib.suppress(serialpack.SerialpackError):
        serialpack.inspect(io.BytesIO(data))


def test_what_only_gives_values_is_refused_with_what_makes_them() -> None:
    """Serializers were named that refuse it too."""
    for value, made in (
        ((each for each in "a"), "list"),
        ({1: 2}.keys(), "list"),
        (vars(io.IOBase), "dict"),
    ):
        with pytest.raises(serialpack.ValueRefusedError, match=rf"{made}\(it\) can be held"):
            serialpack.dumps([value])
    with pytest.raises(serialpack.ValueRefusedError, match=r"list\(it\) can be held"):
        serialpack.dumps([map(str, "a")], "json")
