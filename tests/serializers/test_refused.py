"""Of many parts, the first that is refused alone is found by trying few of them alone."""

from __future__ import annotations

import sys
import uuid
from dataclasses import dataclass
from threading import Lock
from typing import Any

import attrs
import pydantic
import pytest

import serialpack
from serialpack.serializers.refused import first_refused
from serialpack.values.equality import difference


@dataclass
class Data:
    held: Any


@attrs.define
class Slotted:
    held: Any
    other: int = 1


class Model(pydantic.BaseModel):
    held: Any


class Plain:
    def __init__(self, held: Any) -> None:
        self.held = held


class Without:
    """Tells pickle that it leaves its lock out."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.held = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"held": self.held}


@pytest.mark.parametrize("bad", [[], [0], [999], [500, 501], [3, 998]])
def test_the_first_is_found_in_few_tries(bad: list[int]) -> None:
    """Each part was tried alone, a minute for a map of half a million."""
    tries = []

    def refused(some: list[int]) -> bool:
        tries.append(len(some))
        return not set(bad).isdisjoint(some)

    assert first_refused(list(range(1000)), refused) == (bad[0] if bad else -1)
    assert len(tries) < 25


def test_what_is_refused_together_alone_is_not_found() -> None:
    assert first_refused([1, 2, 3], lambda some: len(some) > 1) == -1
    assert first_refused([], lambda _: True) == -1


@pytest.mark.parametrize("chain", ["auto", "pickle", "objects"])
@pytest.mark.parametrize("cls", [Data, Slotted, Model, Plain])
def test_the_path_leads_into_objects(cls: Any, chain: str) -> None:
    """It ended at the whole object."""
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        serialpack.dumps({"a": [1, cls(held={"b": cls(held=Lock())})]}, chain)
    assert caught.value.value_path == "$.a[1].held.b.held"


def test_the_path_ends_where_a_class_says_itself_what_is_pickled() -> None:
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        serialpack.dumps([Without()], "pickle")
    assert caught.value.value_path == "$[0]"


def test_a_serializer_without_objects_names_the_object() -> None:
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        serialpack.dumps([Data(Lock())], "msgpack")
    assert caught.value.value_path == "$[0]"


@pytest.mark.parametrize("chain", ["auto", "objects", "msgpack", "cbor"])
def test_memory_of_several_pieces_is_refused_in_a_line(chain: str) -> None:
    """BufferError of the library went through."""
    for verify in (True, False):
        with pytest.raises(serialpack.ValueRefusedError, match=r"^\$\.a: .*bytes\(view\)"):
            serialpack.dumps({"a": memoryview(b"abcdef")[::2]}, chain, verify=verify)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (lambda: 1, "cloudpickle can"),
        ([{"a": lambda: 1}], "cloudpickle can"),
        (sys.flags, "no serializer here can"),
        ([lambda: 1, Lock()], "no serializer here can"),
    ],
)
def test_the_way_out_was_tried(value: Any, hint: str) -> None:
    """It said that cloudpickle may, of what that refused, too."""
    pytest.importorskip("cloudpickle")
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        serialpack.dumps(value)
    assert caught.value.hint == hint


@pytest.mark.parametrize("chain", ["cbor", "json", "msgpack", "bson", "xml", "yaml", "pickle"])
@pytest.mark.parametrize(
    "value",
    [
        uuid.UUID("fa975560-ec6e-11ef-8000-000000000001", is_safe=uuid.SafeUUID.safe),
        {"a": uuid.UUID(int=1)},
        (1, {2}),
        [(1,), Plain(1)],
        {(1, 2): 3},
        "\ud800",
        2**70,
    ],
)
def test_whoever_is_named_holds_all_of_it(value: Any, chain: str) -> None:
    """It named bson for what is no map, and xml for UUIDs that say how safe they are."""
    try:
        serialpack.dumps(value, chain)
    except serialpack.ValueRefusedError as refused:
        names, _, can = str(refused.hint).rpartition(" ")
        assert can == "can"
        for name in names.replace(" or ", ", ").split(", "):
            again = serialpack.loads(serialpack.dumps(value, name), trust=True)
            assert type(again) is type(value)


class Proxy:
    """Stands for another object, as those of wrapt, Werkzeug and Django do, and says that it is of
    that one's class."""

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "_value", value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(object.__getattribute__(self, "_value"))


class Told(Proxy):
    def __reduce__(self) -> Any:
        return Told, (object.__getattribute__(self, "_value"),)


class Becomes(Proxy):
    def __reduce__(self) -> Any:
        return type(self._value), (self._value,)  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [{"a": 1}, [1], (1,), {1}, 1, "a", 1.5, b"a", bytearray(b"a")])
def test_what_stands_for_another_object_is_refused_or_the_same(value: Any) -> None:
    """It was a TypeError: a method of that class was called."""
    for proxy in (Proxy(value), Becomes(value)):
        for held in (proxy, [{"a": proxy}], (proxy,)):
            for chain in ("msgpack", "json", "cbor", "marshal", "cloudpickle"):
                try:
                    again = serialpack.loads(serialpack.dumps(held, chain), trust=True)
                except serialpack.ValueRefusedError:
                    continue
                assert chain == "cloudpickle"
                assert type(proxy) is Proxy
                assert difference(held, again, identity=True) is None
    again = serialpack.loads(serialpack.dumps([Told(value)], "pickle"), trust=True)
    assert again[0]._value == value
    assert difference(Told(value), Told([value])) is not None


class Unlike(list[Any]):
    def __iter__(self) -> Any:
        raise ValueError("not so")

    __len__ = __iter__


def test_a_list_that_gives_no_items_is_refused_in_a_line() -> None:
    """Whoever looked for the item to blame got the class's own ValueError."""
    with pytest.raises(serialpack.ValueRefusedError, match="not so"):
        serialpack.dumps(Unlike([1]), "pickle")
