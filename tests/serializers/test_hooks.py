"""``default`` and ``object_hook``: own classes to plain values and back."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.serializers.hooks import OWN, lift, lower
from serialpack.values.equality import difference


@dataclass
class Point:
    x: int
    y: list[Any] = field(default_factory=list)


class Colour(Enum):
    RED = "red"


Pair = namedtuple("Pair", "a b")


class Keyed(dict[str, int]):
    pass


def default(value: Any) -> Any:
    if isinstance(value, Point):
        return {"class": "Point", "x": value.x, "y": value.y}
    if isinstance(value, Colour):
        return {"class": "Colour", "value": value.value}
    if isinstance(value, datetime):
        return {"class": "datetime", "iso": value.isoformat()}
    raise TypeError(type(value).__name__)


def object_hook(found: dict[str, Any]) -> Any:
    match found.get("class"):
        case "Point":
            return Point(found["x"], found["y"])
        case "Colour":
            return Colour(found["value"])
        case "datetime":
            return datetime.fromisoformat(found["iso"])
    return found


def test_there_and_back() -> None:
    value = {"a": [Point(1, [Point(2), Colour.RED]), (Colour.RED, 1)], "b": {"c": Point(3)}}
    plain = lower(value, default)
    inner = {"class": "Point", "x": 2, "y": []}
    red = {"class": "Colour", "value": "red"}
    assert plain == {
        "a": [{"class": "Point", "x": 1, "y": [inner, red]}, (red, 1)],
        "b": {"c": {"class": "Point", "x": 3, "y": []}},
    }
    assert difference(value, lift(plain, object_hook)) is None


@pytest.mark.parametrize("value", [1, None, "a", b"a", [], {"a": [1, (2,), {3}]}, {Colour.RED: 1}])
def test_what_needs_no_change_is_no_copy(value: Any) -> None:
    """Keys are not looked at, nor what is in sets: nothing could bring them back."""
    assert lower(value, default) is value


def test_values_of_derived_classes_are_objects_too() -> None:
    met: list[Any] = []

    def note(value: Any) -> Any:
        met.append(value)
        return None

    values = [Pair(1, 2), Keyed(a=1), type("Text", (str,), {})("a"), len, datetime(2023, 1, 1)]
    assert lower(values, note) == [None, None, None, None, values[4]]
    assert met == values[:4]


def test_other_kinds_where_they_are_asked_for() -> None:
    when = datetime(2023, 1, 1, tzinfo=UTC)
    assert lower([when], default) == [when]
    plain = lower([when, 1.5, "a"], default, OWN | {"utc-datetime", "text"})
    assert plain == [{"class": "datetime", "iso": "2023-01-01T00:00:00+00:00"}, 1.5, "a"]


def test_what_default_does_not_know_stays() -> None:
    other = object()
    assert lower([other, Point(1)], default)[0] is other
    assert lower(other, lambda value: value) is other
    with pytest.raises(ZeroDivisionError):
        lower(other, lambda _: 1 / 0)


def test_what_stands_in_two_places_is_turned_once() -> None:
    point = Point(1)
    plain = lower([point, {"a": point}], default)
    assert plain[0] is plain[1]["a"]
    back = lift(plain, object_hook)
    assert back[0] is back[1]["a"]
    assert isinstance(back[0], Point)


def test_cycles_and_what_never_ends() -> None:
    point = Point(1)
    point.y.append(point)
    cycle: list[Any] = [1]
    cycle.append({"a": cycle})
    for value in (point, [point], cycle):
        with pytest.raises(ValueError, match="inside itself"):
            lower(value, default)
    with pytest.raises(ValueError, match="inside itself"):
        lift(cycle, object_hook)
    with pytest.raises(ValueError, match="500 levels"):
        lower(object(), lambda _: [object()])


def _nested(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def test_depth() -> None:
    assert lift(lower(_nested(450, Point(1)), default), object_hook) == _nested(450, Point(1))
    with pytest.raises(ValueError, match="500 levels"):
        lower(_nested(100_000, 1), default)
    with pytest.raises(ValueError, match="500 levels"):
        lift(_nested(100_000, 1), object_hook)


def test_maps_are_lifted_innermost_first_and_in_order() -> None:
    seen: list[Any] = []

    def note(found: dict[Any, Any]) -> Any:
        seen.append(dict(found))
        return len(seen)

    assert lift([{"a": {"b": 1}, "c": ({},)}, {1: 2}], note) == [3, 4]
    assert seen == [{"b": 1}, {}, {"a": 1, "c": (2,)}, {1: 2}]


@pytest.mark.parametrize("chain", ["json", "ujson", "msgpack", "msgspec-json", "msgspec-msgpack"])
def test_an_attribute_left_out_is_a_refusal(chain: str) -> None:
    points = [Point(1, [Point(2)]), Point(3)]
    packed = serialpack.dumps(points, chain, default=default, object_hook=object_hook)
    assert serialpack.loads(packed, object_hook=object_hook) == points

    def forgets(value: Any) -> Any:
        return {**default(value), "y": []}

    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps(points, chain, default=forgets, object_hook=object_hook)
    assert caught.value.value_path.startswith("$[0].y")


def test_a_class_that_default_does_not_know_is_a_refusal() -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({"a": [1, Pair(1, 2)]}, "json", default=default, object_hook=object_hook)
    assert caught.value.value_path.startswith("$.a[1]")
    packed = serialpack.dumps(
        Point(1), "json", default=lambda value: asdict(value), object_hook=lambda m: Point(**m)
    )
    assert serialpack.loads(packed) == {"x": 1, "y": []}
