"""Models of pydantic come back without pickle, with all that they keep, and run nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgpack
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.values.equality import difference
from serialpack.values.quick_equality import quickly_same
from tests.serializers.objects.test_own_objects import made_of

#: Not by an import: mypy runs without it, too.
pydantic: Any = pytest.importorskip("pydantic", minversion="2")

_ran: list[Any] = []


class Address(pydantic.BaseModel):  # type: ignore[misc]
    street: str
    number: int = 1


class User(pydantic.BaseModel):  # type: ignore[misc]
    name: str
    tags: list[str] = pydantic.Field(default_factory=list)
    address: Any = None
    _seen: int = pydantic.PrivateAttr(3)
    _late: int

    @pydantic.field_validator("name")  # type: ignore[untyped-decorator]
    @classmethod
    def _checked(cls, name: str) -> str:
        _ran.append(name)
        return name + "!"

    def model_post_init(self, _: Any) -> None:
        _ran.append(self)
        super().model_post_init(_)

    @cached_property
    def words(self) -> list[str]:
        return [self.name]


class Open(pydantic.BaseModel):  # type: ignore[misc]
    model_config = pydantic.ConfigDict(extra="allow", frozen=True)
    a: Any


class Numbers(pydantic.RootModel):  # type: ignore[misc]
    root: list[int]


class Slotted(pydantic.BaseModel):  # type: ignore[misc]
    __slots__ = ("beside",)
    a: int


def _late() -> Any:
    user = User(name="a", tags=["b"], address=Address(street="c"))
    user._late = 4
    assert user.words
    return user


MODELS: dict[str, Callable[[], Any]] = {
    "nested": lambda: User(name="a", address=Address(street="b", number=2)),
    "late": _late,
    "of some fields": lambda: User.model_construct(tags=("a", {1})),
    "given others": lambda: User.model_construct({"tags", "name"}, name="a"),
    "open": lambda: Open(a={"x": 1}, b=2, c=Open(a=1)),
    "a list": lambda: Numbers([1, 2]),
    "of more classes": lambda: [Open(a=Numbers([])), Address(street="")],
}


@pytest.mark.parametrize("name", MODELS)
def test_they_need_no_pickle_and_run_nothing(name: str) -> None:
    value = MODELS[name]()
    data = serialpack.dumps([value], "objects")
    assert data == serialpack.dumps([value])
    _ran.clear()
    (again,) = serialpack.loads(data)
    assert not _ran
    assert quickly_same(value, again, identity=False)
    assert again == value
    if name != "of more classes":
        assert again.model_fields_set == value.model_fields_set
        assert again.__pydantic_private__ == value.__pydantic_private__


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (User(name="a"), User(name="a", tags=[])),
        (User(name="a", address=1), User(name="a", address=1.0)),
        (Open(a=1, b=2), Open(a=1, b=True)),
        (User(name="a"), _late()),
    ],
    ids=["given", "type", "extra", "private"],
)
def test_what_differs_is_seen(one: Any, other: Any) -> None:
    assert difference(one, one.model_copy()) is None
    assert not quickly_same(one, other, identity=False)
    assert difference(one, other) is not None


def test_what_holds_more_than_its_fields_is_refused() -> None:
    more, slotted = User(name="a"), Slotted(a=1)
    more.__dict__["note"] = "a"
    object.__setattr__(slotted, "beside", 1)
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(more, "objects", verify=False)
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(slotted, "objects")


def _stored(name: str, *parts: Any) -> bytes:
    return made_of(msgpack.ExtType(47, msgpack.packb([__name__, name, *parts])))


def test_the_bytes() -> None:
    data = _stored("User", {"name": "a", "tags": [], "address": None}, None, ["name"], {"_seen": 3})
    again = serialpack.loads(data)
    assert type(again) is User
    assert (again.name, again.model_fields_set, again._seen) == ("a", {"name"}, 3)
    assert serialpack.dumps(again, "objects+none") == data
    assert serialpack.loads(_stored("Numbers", {"root": []}, False, [], False)) == Numbers([])


@pytest.mark.parametrize(
    "parts",
    [
        ({"z": 1}, None, [], None),
        ({"__class__": 1}, None, [], None),
        ({}, {"z": 1}, [], None),
        ({}, None, [1], None),
        ({}, None, 1, None),
        ({}, None, [], {"_z": 1}),
        ({}, True, [], None),
        ([], None, [], None),
        ({}, None, []),
    ],
    ids=repr,
)
def test_stored_bytes_that_lie_are_one_error(parts: tuple[Any, ...]) -> None:
    with pytest.raises(DamagedError):
        serialpack.loads(_stored("User", *parts))


def test_other_classes_are_none() -> None:
    for name in ("pydantic.BaseModel", "_ran"):
        with pytest.raises((DamagedError, UnsupportedError)):
            serialpack.loads(_stored(name, {}, None, [], None))
    away = msgpack.ExtType(47, msgpack.packb(["none_models", "User", {}, None, [], None]))
    with pytest.raises(UnsupportedError, match="none_models"):
        serialpack.loads(made_of(away))
    assert "none_models" not in sys.modules


_Item = TypeVar("_Item")


class Page(pydantic.BaseModel, Generic[_Item]):  # type: ignore[misc]
    items: list[_Item]


def test_models_of_filled_classes_need_no_pickle() -> None:
    """No serializer held them: their class stands in no module."""
    for value in (Page[int](items=[1]), Page[Page[Address]](items=[]), Page(items=[1])):
        (again,) = serialpack.loads(serialpack.dumps([value], "objects"))
        assert type(again) is type(value)
        assert difference(value, again) is None


def test_a_filled_class_that_is_not_there_is_named() -> None:
    away = msgpack.ExtType(47, msgpack.packb([__name__, "Page[bytes]", {}, None, [], None]))
    with pytest.raises(UnsupportedError, match=r"Page\[bytes\]"):
        serialpack.loads(made_of(away))


def test_one_of_two_filled_classes_of_one_name_is_refused() -> None:
    def other() -> Any:
        class Address(pydantic.BaseModel):  # type: ignore[misc]
            street: str

        return Page[Address]

    one, two = other(), other()
    for cls in (one, two):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(cls(items=[]), "objects")
