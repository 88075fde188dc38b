"""One measure of how deep values are, whatever they are made of, in work that grows with them."""

from __future__ import annotations

import gc
import tracemalloc
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from msgpack import Timestamp

from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.depth import values as depth_values
from serialpack.depth.values import check_graph, check_values, depth_of, holds_itself
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from tests.formats.work import lines_run

Check = Callable[[list[Any]], None]
Pair = namedtuple("Pair", "a b")


class Node:
    def __init__(self, inner: Any) -> None:
        self.inner = inner


@dataclass(slots=True)
class Slotted:
    inner: Any


class Own(list[Any]):
    """A list that has attributes."""


WRAPS: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: [value],
    "map": lambda value: {"a": value},
    "tuple": lambda value: (value,),
    "frozenset": lambda value: frozenset([value]),
    "ordered": lambda value: OrderedDict(a=value),
    "pair": lambda value: Pair(1, value),
    "own": lambda value: Own([value]),
    "object": Node,
    "slotted": Slotted,
}


def nested(levels: int, wrap: Callable[[Any], Any], value: Any = None) -> Any:
    for _ in range(levels):
        value = wrap(value)
    return value


def taken(check: Check, *records: Any) -> bool:
    try:
        check([*records])
    except TooDeep:
        return False
    return True


@pytest.mark.parametrize("check", [check_values, check_graph])
@pytest.mark.parametrize("wrap", WRAPS)
def test_the_limit(wrap: str, check: Check) -> None:
    """The innermost is a container, of which an object must hold one to count."""
    empty: tuple[Any, ...] = ((), frozenset())
    for innermost in empty:
        value = nested(MAX_DEPTH - 1, WRAPS[wrap], innermost)
        for _ in range(2):  # what looks at an object may give it a map of its attributes
            assert taken(check, 1, value)
            assert not taken(check, 1, WRAPS[wrap](value))
            gc.collect()  # which knows no more of tuples that hold nothing to collect


def test_shared_values_are_measured_in_order() -> None:
    """A chain whose links stand in a list too is as deep as it is met: first, or last."""
    links: list[Any] = [[]]
    for _ in range(2000):
        links.append([links[-1]])
    assert taken(check_graph, links)
    assert not taken(check_graph, links[::-1])
    assert not taken(check_values, links)


def test_what_holds_itself() -> None:
    cycle: list[Any] = []
    cycle.append({"a": cycle})
    node = Node([])
    node.inner.append(node)
    for value in (cycle, node):
        assert holds_itself([value])
        assert taken(check_graph, value)
        assert not taken(check_values, value)
    shared = [1]
    assert not holds_itself([shared, shared, {"a": shared}])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("check", [check_values, check_graph, lambda r: holds_itself(r)])
def test_what_unfolds_without_end_is_no_work(check: Check) -> None:
    """2^400 places of one tuple. Looked at one by one, they would not come to an end."""
    value: Any = 1
    for _ in range(400):
        value = (value, value)
    assert taken(check, value)


@pytest.mark.parametrize("check", [check_values, check_graph])
def test_objects_that_know_each_other_are_little_work(check: Check) -> None:
    """A tree whose nodes know what they hang on: all of them come back on each of 500 levels."""
    top = Node([])
    top.inner += [Node([top]) for _ in range(100)]
    assert taken(check, top) == (check is check_graph)
    assert lines_run(lambda: taken(check, top), most=35_000)


@pytest.mark.timeout(60)
def test_a_cube_of_one_row_is_no_work_for_those_who_write_it_once() -> None:
    row = [[0]] * 300
    assert taken(check_graph, [[[row] * 300] * 300] * 300)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("times", [2, 7, 40])
def test_shared_lists_of_any_length_are_entered_once(times: int) -> None:
    """Seven at a time were too few to be looked at: 9 levels took seconds."""
    value: Any = 1
    for _ in range(30):
        value = [value] * times
    assert lines_run(check_graph, [value], most=20_000)


def test_the_types_of_shallow_values_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """That took three times as long as to go through them."""
    monkeypatch.setattr(depth_values, "below_all", None)
    rows = [{"a": 1, 2: "b", "c": [1.5, (True, None)], "d": {"e": []}, "f": b"x"}] * 3000
    check_values(rows)
    check_values([{"rows": rows}, [], 1])
    with pytest.raises(TypeError):
        check_values([nested(2 * depth_values._SHALLOW, WRAPS["list"])])


def test_many_plain_values_and_objects_are_gone_through_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(depth_values, "below_all", None)
    for many in 300, 3000:
        check_graph([[{"id": n, "tags": ["a", (n,)], b"x": {n: 1.5}} for n in range(many)]])
        check_graph([[[Node(n)] * 2 for n in range(many)]])
    with pytest.raises(TypeError):
        check_graph([[[[1] * 300] * 300] * 300])


def test_of_the_types_of_a_message_few_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[type] = []

    class Plain:
        @staticmethod
        def issuperset(types: Any) -> bool:
            looked.extend(types)
            return True

    monkeypatch.setattr(depth_values, "_PLAIN", Plain)
    check_graph([[[n, {"a": n}] for n in range(600)]])
    assert 0 < len(looked) < 600


@pytest.mark.parametrize("place", [0, 1, 600, 1999])
def test_what_is_deep_among_many_that_are_not(place: int) -> None:
    values: list[Any] = [1] * 2000
    values[place] = nested(MAX_DEPTH - 1, WRAPS["list"], 1)
    assert taken(check_graph, values)
    values[place] = [values[place]]
    assert not taken(check_graph, values)


def test_classes_are_not_gone_through_for_their_objects() -> None:
    """What the collector finds in them is nearly all there is."""
    values = [Node(n) for n in range(20_000)]
    assert lines_run(depth_values._is_shallow, [values], depth_values._SHALLOW) < 1000
    tracemalloc.start()
    check_values(values)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("before", [0, 1, 40])
def test_one_large_list_in_many_places_takes_little_memory(before: int) -> None:
    """Also where small ones stand before it, by which many are looked at together."""
    large = [0] * 100_000
    values: list[Any] = [[[n] for n in range(before)] + [large] * 1000]
    tracemalloc.start()
    check_graph(values)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["msgpack", "orjson"])
def test_a_library_that_counts_levels_needs_no_look(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name)
    monkeypatch.setattr(depth_values, "_is_shallow", None)
    serializer = SERIALIZERS.create(name)
    assert isinstance(serializer, RecordSerializer)
    for value, times in (([], 70_000), ([1], 70_000), (nested(100, WRAPS["map"]), 700)):
        assert serializer.load(serializer.dump([value] * times)) == [value] * times


def test_depth_of() -> None:
    assert depth_of(1, 10) == 0
    assert depth_of([], 10) == 1
    assert depth_of({"a": [1, {}]}, 10) == 3
    assert depth_of(nested(50, WRAPS["list"]), 10) == 10


def test_what_is_written_by_its_name_is_not_looked_into() -> None:
    """Functions and classes refer to their modules, and those to all there is."""
    named: tuple[Any, ...] = (test_depth_of, Node, pytest, Node(1).__init__, [].append)  # type: ignore[misc]
    for value in named:
        assert taken(check_values, value)


@pytest.mark.parametrize("value", [Node([1, Slotted("b")]), Timestamp(5)])
def test_an_object_is_looked_at_without_its_class(
    value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One small object took a third of a millisecond, a time of MessagePack three times as long:
    its class was gone through first."""
    found: list[int] = []

    def counted(*values: Any) -> list[Any]:
        given = gc.get_referents(*values)
        found.append(len(given))
        return given

    monkeypatch.setattr(depth_values, "get_referents", counted)
    check_values([{"a": value}])
    assert sum(found) < 1000


@pytest.mark.parametrize("check", [check_values, check_graph])
def test_many_objects_that_refer_to_each_other_are_not_gone_through_again_and_again(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen levels were, with all of them on each, before one value was found to hold itself."""
    looked_at: list[int] = []
    below = depth_values.below_all

    def counted(level: list[Any]) -> list[Any]:
        looked_at.append(len(level))
        return below(level)

    monkeypatch.setattr(depth_values, "below_all", counted)
    nodes = [Node([number]) for number in range(6000)]
    for number, node in enumerate(nodes):
        node.inner.append(nodes[number * 7 % len(nodes)])
    if check is check_values:
        with pytest.raises(TooDeep):
            check(nodes)
    else:
        check(nodes)
    assert sum(looked_at) < 6 * len(nodes)
