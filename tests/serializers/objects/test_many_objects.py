"""Objects with attributes that are written together, of which some stand in other places, too."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import pytest

import serialpack
from serialpack.depth import places
from serialpack.serializers import base, one_object
from serialpack.serializers.objects.passes import written
from serialpack.values.equality import difference
from tests.fidelity import things


def _objects(*, entangled: bool = False) -> list[Any]:
    """Objects, each of which holds another; ``entangled``: every second one that before it."""
    made: list[Any] = []
    for n in range(5000):
        held = things.Plain(x=1.5) if not entangled else made[-1] if n % 2 else None
        made.append(things.Plain(n=n, at=held))
    return made


@pytest.mark.parametrize("how", ["behind", "before", "again in it", "twice", "in each other"])
def test_an_object_in_two_places_is_one_again(how: str) -> None:
    objects = _objects(entangled=how == "in each other")
    one = objects[7]
    value = {
        "behind": [objects, one, one.at, things.Plain(x=one)],
        "before": [things.Plain(x=one), objects],
        "again in it": [*objects, one, *objects[:3]],
        "twice": [objects, [*objects, one]],
        "in each other": [objects, one],
    }[how]
    again = serialpack.loads(serialpack.dumps(value, "objects", verify=False))
    assert difference(value, again, identity=True) is None
    assert written([value], beside=True).made == (how != "in each other")


def test_one_that_stood_before_does_not_part_all_the_others() -> None:
    """All of them were written one by one: 5000 took 100 kB."""
    objects = [things.Plain(n=n, x=n / 8) for n in range(5000)]
    for value in ([objects[0], objects], [*objects, objects[0]], [None, *objects, objects[0]]):
        assert len(serialpack.dumps(value)) < 2000


def test_records_of_several_sets_of_names_are_small() -> None:
    """Records with a name that only some have were written one by one: 40 times as many bytes."""
    rows = [{"id": n, "x": n / 8, **({"note": "of some"} if n % 3 else {})} for n in range(9000)]
    rows[77] = {"x": 1.5, "id": 7}  # in another order
    rows[78] = {}
    packed = serialpack.dumps(rows)
    assert len(packed) < 2000
    again = serialpack.loads(packed)
    assert again == rows
    assert list(map(list, again)) == list(map(list, rows))


def test_many_in_an_object_are_taken() -> None:
    """It was asked for its items, as if it were a list: so all of it was pickled."""
    value = things.Plain(parts=[things.Pair(n, "a") for n in range(300)])
    assert difference(value, serialpack.loads(serialpack.dumps(value, "objects"))) is None


class _Empty:
    pass


def test_objects_without_attributes_come_back() -> None:
    for value in ([_Empty() for _ in range(5000)], [things.Plain(), *_objects()]):
        again = serialpack.loads(serialpack.dumps(value, "objects"))
        assert difference(value, again) is None


@dataclasses.dataclass(slots=True)
class _Slotted:
    b: int
    a: Any


class _Below(_Slotted):
    """One with attributes beside its slots."""


def test_what_is_in_slots_comes_back() -> None:
    for cls in (_Slotted, _Below):
        value = [cls(n, None if n % 7 else "x") for n in range(5000)]
        assert difference(value, serialpack.loads(serialpack.dumps(value, "objects"))) is None
    some = [things.Slotted(n) for n in range(5000)]
    del some[9].value
    assert difference(some, serialpack.loads(serialpack.dumps(some, "objects"))) is None


def test_nobody_looks_twice_how_large_they_become(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    for module in (places, one_object):
        look = module.check_places
        monkeypatch.setattr(
            module, "check_places", lambda each, look=look: looked.append(look(each))
        )
    base._object_check.cache_clear()
    value = _objects()
    assert difference(value, serialpack.loads(serialpack.dumps(value))) is None
    base._object_check.cache_clear()
    assert len(looked) == 1


def test_people_see_that_one_stands_twice() -> None:
    objects = _objects()
    data = serialpack.dumps({"all": objects, "first": objects[0]})
    (member,) = serialpack.inspect(io.BytesIO(data)).members
    assert member.holds["first"] == "the same as one before"
