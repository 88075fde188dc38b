"""What only C code knows of an object (a lock, a handle) nobody can compare: the class of whatever
keeps it answers for it, by what it tells pickle. And frames of classes derived from those of
pandas, which tell pickle more than these."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.values.equality import difference


class Guarded:
    """Leaves its lock out, and makes another one."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.lock: Any = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"x": self.x}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["x"])  # type: ignore[misc]


class Forgets(Guarded):
    """Leaves out more than that."""

    def __getstate__(self) -> dict[str, Any]:
        return {"x": None}


class Adds(Guarded):
    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.found = None


def test_its_class_answers_for_a_lock() -> None:
    """It was refused: no two locks are equal."""
    for value in (Guarded([1, ("a",)]), Adds(2)):
        again = serialpack.loads(serialpack.dumps(value, "pickle"), trust=True)
        assert again.x == value.x
        assert again.lock.acquire(blocking=False)


def test_it_answers_for_nothing_else() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match=r"^\$\.x: "):
        serialpack.dumps(Forgets(1), "pickle")
    added = Adds(1)
    added.__setstate__({"x": 1})
    added.found = 0  # type: ignore[assignment]
    found = difference(Adds(1), added)
    assert found is not None
    assert found.value_path == "$.found"


class Cached:
    """Leaves its cache out, and its connection by giving pickle None, which it makes anew."""

    def __init__(self, x: Any) -> None:
        self.x, self.connection = x, [x]

    def __getstate__(self) -> dict[str, Any]:
        return {"x": self.x, "connection": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.x, self.connection = state["x"], []


class Reduced:
    """Says what it is made of, and no more."""

    def __init__(self, x: Any) -> None:
        self.x, self.cache, self.met, self.count = x, {}, [x], 0  # type: ignore[var-annotated]

    def __reduce__(self) -> Any:
        return Reduced, (self.x,)


def test_what_its_class_leaves_out_is_told() -> None:
    """It was refused: answers of web servers, sessions, URLs of yarl."""
    value = Cached(1)
    value.cache = {"a": 1}  # type: ignore[attr-defined]
    for chain in ("pickle", "cloudpickle"):
        with pytest.warns(serialpack.DroppedWarning, match=r"^\$\[0\]\.cache: dict became") as told:
            data = serialpack.dumps([value], chain)
        assert told[0].filename == __file__
        (again,) = serialpack.loads(data, trust=True)
        assert (again.x, again.connection, hasattr(again, "cache")) == (1, [], False)


def test_all_that_classes_leave_out_is_told() -> None:
    """The first attribute alone was named: a cache, and not the readings after it."""
    value, other = Cached(1), Cached(2)
    for each in (value, other):
        each.cache, each.readings = {"a": 1}, [1, 2, 3]  # type: ignore[attr-defined]
    with pytest.warns(serialpack.DroppedWarning) as told:
        serialpack.dumps([value, other], "pickle")
    words = str(told[0].message)
    named = "cache", "connection", "readings"
    assert [words.count(f"$[0].{name}: ") for name in named] == [1, 1, 1]
    assert "$[1]" not in words  # an attribute of a class once
    for name in "abcd":
        setattr(value, name, [name])
    with pytest.warns(serialpack.DroppedWarning, match="; 2 more, which classes leave out"):
        serialpack.dumps(value, "pickle")


class Replaces:
    """Gives pickle something else in the place of what is of this process alone."""

    def __init__(self) -> None:
        self.x: Any = [1, 2]
        self.lock: Any = threading.Lock()
        self.cache, self.view = {"a": [1]}, memoryview(b"a")

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "lock": None, "cache": {}, "view": "none yet"}


class ReplacesSo(Replaces):
    """Says the same by its other word."""

    __getstate__ = object.__getstate__  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return ReplacesSo, (), {**vars(self), "lock": None, "cache": None, "view": None}


class Rounds(Replaces):
    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "x": [1, 2.5]}


class Restores(Replaces):
    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, cache={"b": 1})


@pytest.mark.parametrize("cls", [Replaces, ReplacesSo])
def test_what_its_class_puts_in_its_place_is_told(cls: type[Replaces]) -> None:
    """It was refused: a lock that becomes None, a cache that is emptied."""
    value = {"m": cls()}
    with pytest.warns(serialpack.DroppedWarning) as told:
        data = serialpack.dumps([value, value], "pickle")
    words = str(told[0].message)
    for name, was in ("lock", "<unlocked"), ("cache", ""), ("view", ""):
        assert words.count(f"$[0].m.{name}: {was}") == 1
    assert words.count(" became ") == 3
    again, twice = serialpack.loads(data, trust=True)
    assert again is twice
    assert again["m"].x == [1, 2]
    assert again["m"].lock is None
    assert not again["m"].cache


@pytest.mark.parametrize(
    ("value", "path"), [(Rounds(), r"\.x\[1\]"), (Restores(), r"\.cache"), (Forgets(1), r"\.x")]
)
def test_what_it_changes_or_makes_of_that_is_refused(value: Any, path: str) -> None:
    """Also by the name of what is changed, and not of what is left out beside it."""
    with pytest.raises(serialpack.ValueRefusedError, match=f"^\\${path}: "):
        serialpack.dumps(value, "pickle")


class Labelled(np.ndarray):
    """NumPy tells pickle nothing of attributes that a class derived from its own has."""


class Counts(defaultdict[str, int]):
    pass


@pytest.mark.parametrize("note", [None, "a", ["a"], {"unit": "m"}])
def test_what_its_class_does_not_know_of_is_not_left_out(note: Any) -> None:
    """Classes that only say how they are made anew lose what was added since."""
    for value in (Reduced((1, 2)), np.zeros(2).view(Labelled), Counts(int, a=1)):
        value.note = note  # type: ignore[union-attr]
        with pytest.raises(serialpack.ValueRefusedError, match=r"^\$\.note: "):
            serialpack.dumps(value, "pickle")


def test_a_cache_that_is_empty_anew_is_told() -> None:
    """It was refused where the class says only of what it is made: ``__reduce__`` without a
    state."""
    value = Reduced(1)
    value.cache["a"] = 1
    with pytest.warns(serialpack.DroppedWarning, match=r"^\$\.cache: 1 key became 0 keys"):
        data = serialpack.dumps(value, "pickle")
    assert serialpack.loads(data, trust=True).x == 1
    for name, lost in {"met": [1, 2], "count": 3, "x": [5], "cache": ()}.items():
        other = Reduced(1)
        setattr(other, name, lost)
        if name != "x":
            with pytest.raises(serialpack.ValueRefusedError, match=f"^\\$\\.{name}: "):
                serialpack.dumps(other, "pickle")


def test_what_it_tells_must_be_the_same() -> None:
    one, other = Cached(1), Cached(2)
    found = difference(one, other, left_out=[])
    assert found is not None
    assert found.value_path == "$.x"
    assert difference(Reduced(1), Reduced(2), left_out=[]) is not None
    assert difference([one], [Cached(1)], left_out=[]) is None
    other.x, other.connection = 1, 5  # type: ignore[assignment]
    found = difference(one, other, left_out=[])
    assert found is not None
    assert found.value_path == "$.connection"


class Months(timedelta):
    """As pendulum's, it tells pickle the days that it lasts, and no months."""

    months = 0

    def __reduce__(self) -> Any:
        return Months, (self.days,)


def test_another_number_is_not_left_out() -> None:
    value = Months(days=30)
    value.months, value.note = 1, None  # type: ignore[attr-defined]
    with pytest.raises(serialpack.ValueRefusedError, match=r"^\$\.months: .* 1 became 0"):
        serialpack.dumps(value, "pickle")


def test_what_an_error_came_from_is_not_left_out() -> None:
    error = ValueError("a")
    error.__cause__ = KeyError("b")
    found = difference(error, ValueError("a"), left_out=[])
    assert found is not None
    assert found.value_path == "$.__cause__"


def test_what_has_no_word_for_pickle_drops_nothing() -> None:
    one, other = Plain(1), Plain(1)
    one.y = 2  # type: ignore[attr-defined]
    assert difference(one, other, left_out=[]) is not None


class Plain:
    def __init__(self, x: int) -> None:
        self.x = x


def _made(x: Any) -> Any:
    """An object of a class that is made for it, as pint makes some for each of its registries."""
    words = {"__reduce__": lambda self: (_made, (self.x,)), "__repr__": lambda self: f"<{self.x}>"}
    return type("Made", (), {"x": x, **words})()


def test_another_class_of_that_name_is_told() -> None:
    with pytest.warns(serialpack.DroppedWarning, match="of another class of that name"):
        serialpack.dumps(_made(1), "pickle")
    assert difference(_made(1), _made(2), left_out=[]) is not None


class Quantity(np.ndarray):
    pass


def test_the_order_of_attributes_of_an_array_is_no_value() -> None:
    """What Astropy has for places on the sky was refused for it."""
    one, other = np.zeros(2).view(Quantity), np.zeros(2).view(Quantity)
    vars(one).update(a=1, b=2)
    vars(other).update(b=2, a=1)
    assert difference(one, other) is None
    vars(other).update(a=2)
    assert difference(one, other) is not None


@pytest.mark.parametrize(
    "make",
    [
        lambda n: memoryview(bytes([n])),
        lambda n: lambda: n,
        lambda n: [threading.Lock, threading.RLock][n](),
        lambda n: [threading.Lock(), None][n],
        lambda n: [threading.Lock()] * n,
    ],
    ids=["memory", "function", "type", "nothing", "list"],
)
def test_what_can_be_compared_is(make: Callable[[int], Any]) -> None:
    one, other = Guarded(1), Guarded(1)
    one.lock, other.lock = make(0), make(1)
    assert difference(one, other) is not None
    other.lock = one.lock
    assert difference(one, other) is None


def test_who_tells_pickle_of_it_is_refused() -> None:
    one, other = threading.Event(), threading.Event()
    assert difference(one, other) is not None


def test_frames_of_derived_classes_come_back() -> None:
    pd = pytest.importorskip("pandas")

    class Named(pd.Series):  # type: ignore[misc, name-defined]
        _metadata = ("_name", "unit")
        _constructor = property(lambda _: Named)

    class Measured(pd.DataFrame):  # type: ignore[misc, name-defined]
        _metadata = ("unit", "_scale")
        _constructor = property(lambda _: Measured)

    made: list[Any] = [Measured({"a": [1, 2], "b": ["x", None]}), Named([1, 2], name="a")]
    for value in made:
        value.unit, value._scale = "m", [1]
        again = value.copy()
        vars(again).update(unit="m", _scale=[1])
        assert difference(value, again) is None
        for name, part in {"unit": "s", "_scale": [2]}.items():
            other = again.copy()
            vars(other).update({"unit": "m", "_scale": [1], name: part})
            found = difference(value, other)
            assert found is not None
            assert found.value_path.startswith(f"$.{name}")
        other = again.copy()
        vars(other).update(unit="m", _scale=[1])
        other.iloc[0] = other.iloc[1]
        assert difference(value, other) is not None


class Items(dict[str, Any]):
    def items(self) -> Any:
        return {}.items()


class Ordered(OrderedDict[str, Any]):
    def items(self) -> Any:
        return {}.items()


class Listed(list[Any]):
    def __iter__(self) -> Any:
        return iter(())


class Gathered(set[Any]):
    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


class Hidden:
    def __init__(self, x: int) -> None:
        self.x = x

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return {}


class HiddenItems(dict[str, Any]):
    def __init__(self, x: int) -> None:
        self.x = x

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return {}


LYING: dict[str, Callable[[int], Any]] = {
    "items": lambda n: Items(a=n),
    "ordered": lambda n: Ordered(a=n),
    "elements": lambda n: Listed([n]),
    "set": lambda n: Gathered([n]),
    "attributes": Hidden,
    "attributes of a map": HiddenItems,
}


@pytest.mark.parametrize("name", LYING)
def test_a_class_that_tells_less_than_it_keeps_is_seen(name: str) -> None:
    """pickle wrote what it tells, and the proof asked it too: what it keeps was lost."""
    one, same, other = LYING[name](1), LYING[name](1), LYING[name](2)
    assert difference(one, other) is not None
    assert difference([one] * 300, [other] * 300) is not None
    assert difference(one, same) is None
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(one, "pickle")
    if name.startswith("attributes"):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(one, "objects", verify=False)
    else:
        assert difference(one, serialpack.loads(serialpack.dumps(one, "objects"))) is None
