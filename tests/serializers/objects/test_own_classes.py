"""Objects of classes of attrs and msgspec, and of what is like a dict by having one, which come
back as those of dataclasses do: without pickle."""

from __future__ import annotations

import sys
from collections import UserDict, UserList, UserString
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import msgpack
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

pytest.importorskip("attrs")
pytest.importorskip("msgspec")

import attr
import attrs
import msgspec

_ran: list[Any] = []


@attrs.define
class Slotted:
    x: int
    y: list[Any] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        _ran.append(self)


@attrs.frozen
class Frozen(Slotted):
    z: Any = None


@attr.s
class Old:
    x: Any = attr.ib()


@attrs.frozen(cache_hash=True)
class Hashed:
    x: int


@attr.s(auto_attribs=True, hash=True, cache_hash=True)
class HashedInMap:
    x: int


class Apart(Old):
    """Not of attrs itself, and may have more."""


@dataclass(frozen=True)
class Asked:
    x: int

    @cached_property
    def drawn(self) -> object:
        _ran.append(self)
        return [self.x]


class Struct(msgspec.Struct):
    x: int
    y: list[Any] = []


class Inner(Struct, kw_only=True, tag=True, array_like=True, dict=True):
    z: Struct | None = None


class Ran(Struct):
    def __post_init__(self) -> None:
        _ran.append(self)


@dataclass
class Point:
    x: int


class Pair(NamedTuple):
    x: int
    y: int


class Config(UserDict[str, Any]):
    pass


@pytest.mark.parametrize(
    "value",
    [
        *(Slotted(1, [2]), Frozen(1, [], (3,)), Old({}), Apart(1), Hashed(1), HashedInMap(2)),
        *(Struct(1), Inner(1, [2], z=Struct(3)), Config(a=(1,))),
        *(UserDict({1: 2}), UserList([()]), UserString("a")),
    ],
    ids=repr,
)
def test_they_need_no_pickle_and_run_nothing(value: Any) -> None:
    data = serialpack.dumps([value], "objects")
    _ran.clear()
    (again,) = serialpack.loads(data)
    assert not _ran
    assert difference(value, again) is None
    assert again == value


@pytest.mark.parametrize("cls", [Hashed, HashedInMap])
def test_a_hash_that_is_kept_is_made_anew(cls: Any) -> None:
    """Texts have another one in each process."""
    value = cls("a")
    hash(value)
    again = serialpack.loads(serialpack.dumps(value, "objects"))
    assert again._attrs_cached_hash is None
    assert {value: 1}[again] == 1


def test_what_a_property_keeps_comes_back_with_it() -> None:
    value = Asked(1)
    drawn = value.drawn
    _ran.clear()
    again = serialpack.loads(serialpack.dumps(value, "objects"))
    assert again.drawn == drawn
    assert not _ran
    vars(again)["drawn"] = [2]
    found = difference(value, again)
    assert found is not None
    assert found.value_path == "$.drawn[0]"


def test_what_holds_more_than_its_fields_is_refused() -> None:
    inner = Inner(1)
    vars(inner)["note"] = "a"
    library: Any = UserDict()
    vars(library)["note"] = "a"
    for value in (inner, library, Ran(1)):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(value, "objects", verify=False)


@dataclass
class Counted:
    x: int

    def __post_init__(self) -> None:
        self.times = [self.x]


@dataclass
class Failed(Exception):
    x: int


@dataclass
class Titled(dict[str, Any]):
    x: int


def test_an_object_with_more_than_its_fields_comes_back_with_it() -> None:
    """Only pickle held one whose class sets itself attributes, as in ``__post_init__``."""
    config, titled = Config(a=1), Titled(3)
    vars(config)["note"], titled["y"] = "a", 2
    for value in (Counted(2), config, Failed(1), titled):
        again = serialpack.loads(serialpack.dumps(value, "objects"))
        assert difference(value, again) is None
        assert vars(again) == vars(value)


def test_one_with_more_than_its_fields_stays_one() -> None:
    """Of a class whose other objects are written wherever they stand, nobody knows it."""
    counted, plain = Counted(1), Counted(2)
    one, other = serialpack.loads(serialpack.dumps([counted, counted], "objects"))
    assert one is other
    del plain.times
    for value in ([counted, counted, plain], [counted, plain, plain]):
        with pytest.raises(serialpack.ValueRefusedError, match="two places"):
            serialpack.dumps(value, "objects")


def test_stored_bytes_that_lie_are_one_error() -> None:
    lies: list[Any] = [{"z": 1}, {"__class__": 1}, {"__weakref__": 1}, []]
    of_struct: list[Any] = [{}, {"x": 1, "z": 1}, {"x": 1, "_attrs_cached_hash": None}]
    for name, fields in [
        *(("Slotted", each) for each in lies),
        *(("Struct", each) for each in of_struct),
        ("Ran", {"x": 1, "y": []}),
        ("HashedInMap", {"x": 1, "_attrs_cached_hash": 1}),
    ]:
        parts = [__name__, name, fields]
        with pytest.raises(DamagedError):
            serialpack.loads(made_of(msgpack.ExtType(16, msgpack.packb(parts))))


@pytest.mark.parametrize("make", [Point, lambda n: Pair(n, n), lambda n: (n,)])
def test_many_of_a_class_take_few_calls_each(make: Callable[[int], Any]) -> None:
    """All that is true of a class was found anew for each object of it: 90 calls and more."""
    values = [make(n) for n in range(1000)]
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    serialpack.loads(serialpack.dumps(values[:2]))  # what is made once is made
    sys.setprofile(count)
    try:
        assert serialpack.loads(serialpack.dumps(values)) == values
    finally:
        sys.setprofile(None)
    assert calls < 50 * len(values)


class Amount(int):
    def __reduce__(self) -> Any:
        return Amount, (int(self),)


@pytest.mark.parametrize(
    ("value", "said"), [(Amount(3), "Amount(3)"), ({"a": Amount(0)}, "Amount(0)")]
)
def test_a_refusal_names_the_class_of_what_looks_plain(value: Any, said: str) -> None:
    """It said "an object of a class: 3"."""
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        serialpack.dumps(value, "objects")
    assert said in str(caught.value)
