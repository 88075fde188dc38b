"""Types with others filled in, and objects that keep theirs, come back without pickle."""

from __future__ import annotations

import datetime
import logging
import typing
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Optional, TypeVar, Union

import msgpack
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.serializers.objects.objects import ObjectsSerializer
from serialpack.values.equality import difference
from tests.fidelity.things import Colour, Point
from tests.serializers.objects.test_own_objects import made_of

T = TypeVar("T")
_KEPT: Any = T
_ran: list[Any] = []


class Box(Generic[T]):
    def __init__(self, held: Any) -> None:
        self.held = held


@dataclass
class Pair(Generic[T]):
    x: Any


class Filled(Generic[T]):
    """It says itself what is filled in."""

    def __class_getitem__(cls, item: Any) -> Any:
        _ran.append(item)
        return super().__class_getitem__(item)  # type: ignore[misc]


class Meta(type):
    def __or__(cls, other: Any) -> Any:
        _ran.append(other)
        return int


class Asked(metaclass=Meta):
    pass


TYPES = {
    "builtin": list[int],
    "several": dict[str, tuple[int, ...]],
    "empty": tuple[()],
    "own": Box[int],
    "own of own": Box[Box[Point]],
    "of an enum": Box[Colour],
    "of plain types": Box[datetime.datetime | Decimal],
    "of None": dict[str, None],
    "union": int | None | list[str],
    "optional": Optional[int],  # noqa: UP045
    "Union": Union[int, Box[str]],  # noqa: UP007
    "any": Box[Any],
    "type": type[int],
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_comes_back(name: str) -> None:
    value = TYPES[name]
    again = serialpack.loads(serialpack.dumps({"a": value}, "objects"))["a"]
    assert type(again) is type(value)
    assert again == value
    assert repr(again) == repr(value)
    assert difference(value, again) is None


@pytest.mark.parametrize("value", [Box[int](1), Box[list[str]](["a"]), Pair[int](1)])
def test_an_object_keeps_its_type(value: Any) -> None:
    """It needed pickle, and so trust."""
    first, second = serialpack.loads(serialpack.dumps([value, value]))
    assert first is second
    assert first.__orig_class__ == value.__orig_class__  # one object while typing remembers it
    assert difference(value, first) is None


def test_secrets_of_any_type_come_back() -> None:
    pydantic = pytest.importorskip("pydantic")
    secret = pydantic.Secret[list[int]]([1])
    again = serialpack.loads(serialpack.dumps({"a": secret}))["a"]
    assert again == secret
    assert again.__orig_class__ == secret.__orig_class__
    # One that changes is one in two places; what it holds must be.
    first, second = serialpack.loads(serialpack.dumps([secret, secret]))
    assert first is second


@pytest.mark.parametrize(
    "value",
    [typing.List[int], Filled[int], Box["int"], Box[logging.Logger], Box[_KEPT]],  # noqa: UP006
)
def test_others_are_left_to_pickle(value: Any) -> None:
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "objects", verify=False)


def test_types_that_stand_in_many_places_are_left_to_pickle() -> None:
    """Each was written as often as it stands in others: 30 levels of two would be a thousand
    million."""
    value: Any = int
    for _ in range(18):
        value = tuple[value, value]
    with pytest.raises(serialpack.ValueRefusedError, match="too many others filled in"):
        serialpack.dumps(value, "objects")
    again = serialpack.loads(serialpack.dumps(value, "pickle"), trust=True)
    assert difference(value, again, identity=True) is None


def _box(*parts: Any) -> list[Any]:
    return ["generic", ["class", __name__, "Box"], *parts]


def _deep(levels: int) -> Any:
    told: Any = "int"
    for _ in range(levels):
        told = _box(told)
    return told


BAD: dict[str, Any] = {
    "nothing": [],
    "no kind": ["other", "int"],
    "a class": ["class", __name__, "Box"],
    "one word": ["int"],
    "alone": ["|", "int"],
    "no word": ["|", "int", "eval"],
    "a class of the system": _box(["class", "subprocess", "Popen"]),
    "said itself": ["generic", ["class", __name__, "Filled"], "int"],
    "of a metaclass": ["|", ["class", __name__, "Asked"], "int"],
    "too many for it": _box("int", "str"),
    "no names": _box(["class", 1, 2]),
    "a plain type": ["generic", "int", "str"],
    "deep": _deep(30),
    "many": ["Union", *(_box("int") for _ in range(200))],
    "many in all": ["Union", *(_box(*["int"] * 20) for _ in range(20))],
    "no arguments": [None],
    "dots": ["|", "...", "..."],
}


@pytest.mark.parametrize("name", BAD)
def test_other_parts_are_damage(name: str) -> None:
    _ran.clear()
    with pytest.raises(DamagedError):
        serialpack.loads(made_of(msgpack.ExtType(54, msgpack.packb(BAD[name]))))
    assert not _ran


def test_a_class_that_is_not_here_is_named() -> None:
    data = made_of(msgpack.ExtType(54, msgpack.packb(_box(["class", "far.away", "Thing"]))))
    with pytest.raises(UnsupportedError, match=r"far\.away\.Thing"):
        serialpack.loads(data)


def test_it_is_shown_without_its_classes() -> None:
    serializer = ObjectsSerializer("objects")
    told = msgpack.ExtType(54, msgpack.packb(["|", _box(["class", "far.away", "Thing"]), "None"]))
    assert serializer.outline(msgpack.packb(told)).value == "Box[Thing] | None"
