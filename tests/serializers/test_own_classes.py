"""Objects of classes of attrs, which come back as those of dataclasses do: without pickle."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.values.equality import difference
from tests.serializers.test_own_objects import made_of

pytest.importorskip("attrs")

import attr
import attrs

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


class Apart(Old):
    """Not of attrs itself, and may have more."""


@pytest.mark.parametrize(
    "value", [Slotted(1, [2]), Frozen(1, [], (3,)), Old({}), Apart(1)], ids=repr
)
def test_they_need_no_pickle_and_run_nothing(value: Any) -> None:
    data = serialpack.dumps([value], "objects")
    _ran.clear()
    (again,) = serialpack.loads(data)
    assert not _ran
    assert difference(value, again) is None
    assert again == value


def test_what_holds_more_than_its_fields_is_refused() -> None:
    more = Apart(1)
    vars(more)["note"] = "a"
    hashed = Hashed(1)
    hash(hashed)
    for value in (more, hashed):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(value, "objects", verify=False)


def test_stored_bytes_that_lie_are_one_error() -> None:
    lies: list[Any] = [{"z": 1}, {"__class__": 1}, {"__weakref__": 1}, []]
    for fields in lies:
        parts = [__name__, "Slotted", fields]
        with pytest.raises(DamagedError):
            serialpack.loads(made_of(msgpack.ExtType(16, msgpack.packb(parts))))
