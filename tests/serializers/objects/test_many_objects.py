"""Objects with attributes that are written together, of which some stand in other places, too."""

from __future__ import annotations

import io
from typing import Any

import pytest

import serialpack
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


@pytest.mark.parametrize("how", ["behind", "before", "twice", "in each other"])
def test_an_object_in_two_places_is_one_again(how: str) -> None:
    objects = _objects(entangled=how == "in each other")
    one = objects[7]
    value = {
        "behind": [objects, one, one.at, things.Plain(x=one)],
        "before": [things.Plain(x=one), objects],
        "twice": [objects, [*objects, one]],
        "in each other": [objects, one],
    }[how]
    again = serialpack.loads(serialpack.dumps(value, "objects", verify=False))
    assert difference(value, again, identity=True) is None
    assert written([value], beside=True).made == (how in ("behind", "twice"))


def test_people_see_that_one_stands_twice() -> None:
    objects = _objects()
    data = serialpack.dumps({"all": objects, "first": objects[0]})
    (member,) = serialpack.inspect(io.BytesIO(data)).members
    assert member.holds["first"] == "the same as one before"
