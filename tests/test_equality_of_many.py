"""Containers of many values, beside or within what the quick look does not know."""

from __future__ import annotations

import collections
import dataclasses
import enum
import pickle
import types
import uuid
from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

import numpy as np
import pytest

from serialpack.values import equality, quick_equality
from serialpack.values.equality import difference
from serialpack.values.parts import whole
from serialpack.values.quick_columns import lists_same
from serialpack.values.quick_equality import quickly_same
from tests.fidelity import things

MANY = 2 * equality._MANY

#: What the quick look does not know.
ODD: types.MappingProxyType[str, Any] = types.MappingProxyType({})

#: How many values are made, of two places that are changed.
_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "counter": lambda v: collections.Counter({n: v[n] for n in range(MANY)}),
    "ordered": lambda v: collections.OrderedDict((n, [v[n]]) for n in range(MANY)),
    "default": lambda v: collections.defaultdict(list, {(n, "a"): (v[n],) for n in range(MANY)}),
    "beside": lambda v: [v, ODD],
    "map beside": lambda v: [dict(enumerate(v)), ODD],
    "scalars": lambda v: [[np.float64(n) for n in v], ODD],
    "pairs": lambda v: collections.OrderedDict(
        ((np.int32(n), np.int8(n // 3 % 9)), np.float32(v[n])) for n in range(MANY)
    ),
}


@pytest.mark.parametrize("name", _MAKERS)
def test_they_are_compared_quickly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sparse matrix of 200,000 items took ten seconds to prove, a Counter five."""
    monkeypatch.setattr(equality, "_maps", lambda *_: pytest.fail("item by item"))
    make, values = _MAKERS[name], [float(n) for n in range(MANY)]
    with monkeypatch.context() as patch:
        patch.setattr(equality, "_attributes", lambda *_: ())
        assert difference(make(values), make(list(values))) is None


@pytest.mark.parametrize("name", _MAKERS)
@pytest.mark.parametrize(("was", "became"), [(1.0, 2.0), (0.0, -0.0), (1.0, np.nan)])
def test_each_difference_is_found(name: str, was: float, became: float) -> None:
    make, values = _MAKERS[name], [float(n) for n in range(MANY)]
    values[-7] = was
    others = [*values[:-7], became, *values[-6:]]
    found = difference(make(values), make(others))
    assert found is not None
    assert (found.was, found.became) != ("", "")


def test_types_lengths_and_places_count() -> None:
    one: list[Any] = [(n, n) for n in range(MANY)]
    odd: list[list[Any]] = [
        [*one[:-1], (MANY - 1.0, MANY - 1)],
        [*one[:-1], one[-1] * 2],
        [*one[:-1], list(one[-1])],
        [one[1], one[0], *one[2:]],
        [(np.int64(n), n) for n in range(MANY)],
        [(np.int32(n), np.int32(n)) for n in range(MANY - 1)] + [(np.int32(1), 1)],
    ]
    for other in odd:
        assert not lists_same(one, other)
        assert not lists_same(other, one)
        assert lists_same(other, list(other))
        assert difference([one, {1: ...}.keys()], [other, {1: ...}.keys()]) is not None
    assert lists_same([], [])
    assert lists_same([()] * 3, [()] * 3)


@dataclasses.dataclass
class Tagged:
    x: Any
    tags: Any


class Slotted:
    __slots__ = ("tags", "x")

    def __init__(self, x: Any, tags: Any) -> None:
        self.x, self.tags = x, tags


def _turned(elements: Any) -> set[Any]:
    """A set of these that most likely gives them in another order: it has lost some."""
    turned = {*range(10_000), *elements}
    turned.difference_update(set(range(10_000)) - set(elements))
    return turned


#: What holds sets.
_HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "a list": lambda sets: sets,
    "frozen": lambda sets: [frozenset(each) for each in sets],
    "a map": lambda sets: dict(enumerate(sets)),
    "rows": lambda sets: [{"n": n, "tags": each} for n, each in enumerate(sets)],
    "tuples": lambda sets: [(n, each) for n, each in enumerate(sets)],
    "objects": lambda sets: [Tagged(n, each) for n, each in enumerate(sets)],
    "slots": lambda sets: [Slotted(n, each) for n, each in enumerate(sets)],
    "rows in rows": lambda sets: [{"n": n, "in": (each, 1)} for n, each in enumerate(sets)],
}


def _sets(*last: Any) -> list[set[Any]]:
    return [{n, 7 * n, f"t{n}", (n, f"u{n}"), b"v", None} for n in range(MANY)] + [*map(set, last)]


@pytest.mark.parametrize("name", _HOLDERS)
def test_sets_are_compared_quickly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 sets took 0.5 s, 45 times what pickle takes with zlib: each was walked through, as
    the elements of two that are the same may stand in another order."""
    make, sets = _HOLDERS[name], _sets()
    turned = [_turned(each) for each in sets]
    assert [*map(list, sets)] != [*map(list, turned)]
    monkeypatch.setattr(equality, "_sets", lambda *_: pytest.fail("set by set"))
    assert difference(make(sets), make(turned)) is None


@pytest.mark.parametrize("name", _HOLDERS)
@pytest.mark.parametrize(
    ("was", "became"),
    [
        ((1,), (2,)),
        ((1,), (True,)),
        ((1,), (1.0,)),
        ((0.0,), (-0.0,)),
        (("a", (1, "b")), ("a", (True, "b"))),
        (("a", ((1,),)), ("a", ((1.0,),))),
        (("a",), (things.Text("a"),)),
        (("a",), ("a", "b")),
        ((), (None,)),
    ],
    ids=str,
)
def test_each_difference_of_sets_is_found(name: str, was: Any, became: Any) -> None:
    make = _HOLDERS[name]
    assert difference(make(_sets(was)), make(_sets(was))) is None
    assert difference(make(_sets(was)), make(_sets(became))) is not None
    assert difference(make(_sets(became)), make(_sets(was))) is not None


@pytest.mark.parametrize("key", ["a", things.Text("n"), "N"])
def test_names_of_rows_count(key: str) -> None:
    """Also one that is equal to the other, of another class."""
    rows = [{"n": n, "tags": {n}} for n in range(MANY)]
    others = [*rows[:-1], {key: MANY - 1, "tags": {MANY - 1}}]
    assert difference(rows, others) is not None
    assert difference(others, rows) is not None


def test_columns_of_deep_tuples_need_no_more_calls_than_there_are() -> None:
    value: Any = ()
    for _ in range(400):
        value = (value,)
    both = ([*[value] * MANY, collections.deque()] for _ in range(2))
    assert difference(*both) is None


class Kind(enum.Enum):
    ONE = 1
    ALSO = 1.5


class Level(enum.IntEnum):
    ONE = 1


class Named(NamedTuple):
    x: Any
    y: Any = Kind.ONE


class Other(NamedTuple):
    x: Any
    y: Any = Kind.ONE


class Noted(Named):
    """One that has attributes."""


class Told(collections.namedtuple("Told", "x")):
    def __getnewargs__(self) -> tuple[Any, ...]:
        return (1,)


def _noted(note: str) -> Any:
    value = Noted(1)
    vars(value)["note"] = note
    return value


@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize(
    ("one", "others"),
    [
        (Named(1), [Named(1.0), Named(1, Kind.ALSO), Other(1), (1, Kind.ONE)]),
        (Kind.ONE, [Kind.ALSO, Level.ONE, 1]),
        (_noted("a"), [_noted("b"), Noted(1), Named(1)]),
        (PurePosixPath("a"), [PurePosixPath("b"), PureWindowsPath("a"), "a"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_named_tuples_members_and_paths_are_compared_quickly(
    one: Any, others: list[Any], identity: bool
) -> None:
    """A record with one of them was walked through value by value."""
    check_told_apart(one, others, identity=identity)
    assert not quickly_same([Told(1)], [Told(2)], identity=identity)


@dataclasses.dataclass(frozen=True, slots=True)
class Tight:
    """A class that tells pickle its fields by a function in Python."""

    x: Any


def _with(value: Any, **attributes: Any) -> Any:
    vars(value).update(attributes)
    return value


def _forgetful(lost: int) -> Any:
    return _with(things.Forgetful(), lost=lost)


@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize(
    ("one", "others"),
    [
        (_forgetful(1), [_forgetful(2), _forgetful(True)]),
        (Tight(1), [Tight(2), Tight(1.0)]),
        (collections.deque([1], 3), [collections.deque([1]), collections.deque([2], 3), [1]]),
        (
            collections.OrderedDict(a=1, b=2),
            [collections.OrderedDict(b=2, a=1), _with(collections.OrderedDict(a=1, b=2), c=3)],
        ),
        (collections.Counter("a"), [_with(collections.Counter("a"), c=3), {"a": 1}]),
        (complex(0.0, 1), [complex(-0.0, 1), complex(0.0, -1)]),
        (timezone(timedelta(0), "UTC"), [UTC, timezone(timedelta(0), "Z")]),
        (uuid.UUID(int=1), [uuid.UUID(int=2), uuid.UUID(int=1, is_safe=uuid.SafeUUID.safe)]),
        (Tight, [things.Forgetful, "Tight"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_tells_pickle_little_is_compared_by_all_that_it_has(
    one: Any, others: list[Any], identity: bool
) -> None:
    """A list of such was walked through value by value, in five times the time."""
    check_told_apart(one, others, identity=identity)


def check_told_apart(one: Any, others: list[Any], *, identity: bool) -> None:
    """``one`` is the same as itself by the quick look, and neither look takes another for it."""
    assert quickly_same([one, [1]], [one, [1]], identity=identity)
    for other in others:
        assert not quickly_same([one], [other], identity=identity)
        assert difference([one], [other], identity=identity) is not None


def test_objects_of_more_classes_than_are_numbered() -> None:
    made = [
        type(f"C{n}", (), {"__module__": __name__}) for n in range(2 * quick_equality._MOST_NAMED)
    ]
    assert quickly_same([c() for c in made], [c() for c in made], identity=False) is False
    globals().update({cls.__name__: cls for cls in made})
    try:
        assert quickly_same([c() for c in made], [c() for c in made], identity=False)
        turned = [*made[1:], made[0]]
        assert not quickly_same([c() for c in made], [c() for c in turned], identity=False)
    finally:
        for cls in made:
            del globals()[cls.__name__]


class Bunch(dict[str, Any]):
    """As that of scikit-learn."""

    def __init__(self, **items: Any) -> None:
        super().__init__(items)
        vars(self)["_deprecated_key_to_warnings"] = {}

    def __setstate__(self, state: Any) -> None:
        pass


def test_a_bunch_without_its_warnings_is_the_same() -> None:
    """Data sets of scikit-learn were refused, under pickle too."""
    was = Bunch(data=[1])
    again = pickle.loads(pickle.dumps(was))
    assert not vars(again)
    assert difference(was, again) is None
    vars(was)["note"] = "a"
    assert difference(was, again) is not None


def test_a_wide_frame_is_compared_by_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each column as a series, with an index, attributes and flags, took five times as long."""
    pandas = pytest.importorskip("pandas")
    looked_at: list[type] = []

    def seen(value: Any) -> Any:
        looked_at.append(type(value))
        return whole(value)

    monkeypatch.setattr(equality, "whole", seen)
    frames = [pandas.DataFrame(np.arange(600.0).reshape(2, 300)) for _ in range(3)]
    assert difference(frames[0], frames[1]) is None
    assert len(looked_at) < 100
    frames[2].iloc[1, 299] = 7
    assert difference(frames[0], frames[2]) is not None
    frames[1].columns = [*range(299), "x"]
    assert difference(frames[0], frames[1]) is not None
