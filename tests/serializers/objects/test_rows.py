"""Lists of many tuples of one length, which objects writes as one extension each."""

from __future__ import annotations

import io
import sys
from collections import namedtuple
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.objects import write
from serialpack.serializers.objects.arrays import array_over
from serialpack.serializers.objects.read import load_over
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

Pair = namedtuple("Pair", "a b")

MANY = range(write._MANY_TUPLES + 100)
ROWS = [(n, f"{n}", n * 0.5) for n in MANY]
ARRAY = np.arange(3)


def _deep(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


VALUES: dict[str, Any] = {
    "alone": ROWS,
    "in maps": {"a": {"b": ROWS}, "c": [ROWS, 1]},
    "within each other": [(n, [(m, (m,)) for m in range(20)], {"r": ROWS[:20]}) for n in MANY],
    "deep": _deep(ROWS, 490),
    "of bytearrays": [(bytearray(b"x"), n) for n in MANY],
    "beside bytearrays": [bytearray(b"x"), ROWS],
    "of integers": [(1 << 70, -(1 << 70))] * len(MANY),
    "of one item": [(n,) for n in MANY],
    "of several lengths": [(1,) * (n % 3) for n in MANY],
    "empty": [()] * len(MANY),
    "with another value": [*ROWS, None],
    "named": [Pair(1, 2)] * len(MANY),
    "in a tuple": ([(1, 2)] * 20, tuple(ROWS)),
    "keys": {(n, n): [(n, n)] * 20 for n in MANY},
    "few": [ROWS, [(1, 2)] * 2],
}


@pytest.mark.parametrize("name", VALUES)
def test_they_come_back(name: str) -> None:
    data = serialpack.dumps(VALUES[name], "objects")
    assert difference(VALUES[name], serialpack.loads(data)) is None
    assert data == serialpack.dumps(VALUES[name])


def test_no_tuple_of_them_is_asked_about() -> None:
    """Each was an extension of its own: that took 2 us to dump, proved, and is 0.8 now."""
    asked = 0

    def count(frame: Any, event: str, _argument: Any) -> None:
        nonlocal asked
        asked += event == "call" and frame.f_code.co_name == "_extension"

    serializer: Any = SERIALIZERS.create("objects")
    sys.setprofile(count)
    try:
        serializer.dump_object([{"rows": ROWS * 10}])
    finally:
        sys.setprofile(None)
    assert asked <= write._MANY_TUPLES + 2


def test_an_array_in_several_of_them_stays_one() -> None:
    value = {"rows": [(ARRAY, n) for n in MANY], "array": ARRAY}
    again = serialpack.loads(serialpack.dumps(value, "objects"))
    assert again["rows"][0][0] is again["rows"][-1][0] is again["array"]


def test_what_nobody_proves_is_refused_as_ever() -> None:
    serializer: Any = SERIALIZERS.create("objects")
    message, _ = serializer.message([ROWS, {"a": ROWS}])
    assert load_over(message, [], array_over) == [[ROWS, {"a": ROWS}]]
    for value in ([bytearray(b"x"), ROWS], [(n, bytearray()) for n in MANY]):
        with pytest.raises(TypeError, match="bytearray"):
            serializer.message(value)


def test_people_see_them() -> None:
    (member,) = serialpack.inspect(io.BytesIO(serialpack.dumps({"a": ROWS}, "objects"))).members
    assert member.holds["a"][1] == [1, "1", 0.5]


@pytest.mark.parametrize("parts", [[], [0], [0, 1], [-1, 1], [2, 1], [True, 1], ["a", 1], [1.0, 1]])
def test_stored_bytes_that_lie_are_one_error(parts: list[Any]) -> None:
    with pytest.raises(DamagedError):
        serialpack.loads(made_of(msgpack.ExtType(48, msgpack.packb(parts))))
