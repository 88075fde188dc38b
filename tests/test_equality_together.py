"""Long lists of objects, which are compared by what tells all of each."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID

import numpy as np
import pytest

from serialpack.values import equality, quick_states
from serialpack.values.equality import difference
from tests.fidelity import things

MANY = 300


class Pair(things.Pair):
    """A named tuple that may have attributes."""


class Meta(type):
    def __hash__(cls) -> int:
        raise ValueError("no hash")


class Odd(metaclass=Meta):
    pass


def _with(**attributes: Any) -> Any:
    pair = Pair(1, 2)
    pair.__dict__.update(attributes)
    return pair


#: Two values that differ, each of which is one of many.
DIFFER: dict[str, tuple[Any, Any]] = {
    "attribute": (things.Plain(x=1), things.Plain(x=2)),
    "type of an attribute": (things.Plain(x=1), things.Plain(x=True)),
    "zero": (things.Plain(x=0.0), things.Plain(x=-0.0)),
    "one more": (things.Plain(x=1), things.Plain(x=1, y=None)),
    "class": (things.Plain(value=1), things.Point(1, 1.0)),
    "object and its map": (things.Plain(x=1), {"x": 1}),
    "slot": (things.Slotted(1), things.Slotted(1.0)),
    "inside": (things.Plain(x=[{1: 2}]), things.Plain(x=[{1: 2.0}])),
    "item": (things.Pair(1, 2), things.Pair(1, 2.0)),
    "tuple": (things.Pair(1, 2), (1, 2)),
    "attribute of a tuple": (_with(a=1), _with(a=2)),
    "path": (PurePosixPath("a/b"), PurePosixPath("a/c")),
    "kind of path": (PurePosixPath("a"), PureWindowsPath("a")),
    "path and text": (PurePosixPath("a"), "a"),
    "digits": (Decimal("1.0"), Decimal("1.00")),
    "signalling": (Decimal("sNaN"), Decimal("NaN")),
    "fraction": (Fraction(1, 3), Fraction(2, 3)),
    "day": (date(2024, 1, 1), date(2024, 1, 2)),
    "day and number": (date(1, 1, 1), 1),
    "safe": (UUID(int=1), UUID(int=1, is_safe=SafeUUID.safe)),
    "none": (things.Plain(x=1), None),
    "number of an array": (np.array([1, 2]), np.array([1, 3])),
    "bits of an array": (np.array([0.0]), np.array([-0.0])),
    "type of an array": (np.array([1], "<i4"), np.array([1], "<u4")),
    "shape of an array": (np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2)),
    "order of an array": (np.arange(4).reshape(2, 2), np.arange(4).reshape(2, 2).T),
    "array and list": (np.array([1, 2]), [1, 2]),
}


@pytest.mark.parametrize("name", DIFFER)
@pytest.mark.parametrize(
    "place", [lambda v: v, lambda v: {"a": (v,)}, lambda v: dict(enumerate(v))]
)
def test_each_difference_is_found(name: str, place: Callable[[list[Any]], Any]) -> None:
    both = DIFFER[name]
    for which in ([0] * MANY, [0, 1] * MANY, [1, *[0] * MANY]):
        values = [copy.copy(both[each]) for each in which]
        for at in (0, 150, len(values) - 1):
            others = [*values[:at], both[1 - which[at]], *values[at + 1 :]]
            assert difference(place(values), place(others)) is not None
        assert difference(place(values), place(values[1:])) is not None


@pytest.mark.parametrize("name", DIFFER)
def test_they_are_found_the_same_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = [*DIFFER[name] * MANY]
    again = pickle.loads(pickle.dumps(values))
    monkeypatch.setattr(equality, "_Walk", lambda *_, **__: pytest.fail("one by one"))
    assert difference({"a": [values]}, {"a": [again]}) is None


def test_whether_arrays_may_be_written_counts() -> None:
    arrays = [np.arange(3) for _ in range(MANY)]
    others = copy.deepcopy(arrays)
    others[-1].flags.writeable = False
    assert difference(arrays, others) is not None
    halves = [array[:2] for array in others]
    assert difference([array[:2] for array in arrays], halves) is not None


def test_what_is_not_known_is_left_as_it_is() -> None:
    for value in (
        [*range(MANY)],
        [Odd() for _ in range(MANY)],
        [things.Plain()] * 9,
        {"a": ({"b": {"c": [things.Plain()] * MANY}},)},
    ):
        assert quick_states.told_together(value) is value
