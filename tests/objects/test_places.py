"""What stands in many places of an object, and would be far larger if it were written in each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.depth import HeldOften, places
from serialpack.depth.places import check_places
from serialpack.values import quick_equality


@dataclass
class Pair:
    left: Any
    right: Any


class Node:
    def __init__(self, config: Any) -> None:
        self.config = config


def doubled(levels: int, *make: Callable[[Any], Any]) -> Any:
    value: Any = [0]
    for level in range(levels):
        value = make[level % len(make)](value)
    return value


def a_list(value: Any) -> Any:
    return [value, value]


def a_tuple(value: Any) -> Any:
    return (value, value)


def a_map(value: Any) -> Any:
    return {"a": value, "b": value}


def a_pair(value: Any) -> Any:
    return Pair(value, value)


WAYS = [[a_list], [a_tuple], [a_map], [a_pair], [a_list, a_tuple, a_map, a_pair]]
TEXT, BYTES = "ab" * 10**6, bytes(10**6)
OFTEN: dict[str, Any] = {
    "rows": [list(range(9000))] * 9000,
    "text": [{"text": TEXT, "id": i} for i in range(1000)],
    "bytes": {"one": BYTES, "all": [BYTES] * 600},
}


pytestmark = pytest.mark.filterwarnings("ignore::serialpack.PickleWarning")


@pytest.mark.parametrize("make", WAYS, ids=lambda make: "-".join(one.__name__ for one in make))
def test_auto_writes_each_part_once(make: list[Callable[[Any], Any]]) -> None:
    value = doubled(40, *make)
    data = serialpack.dumps(value)
    assert len(data) < 1000
    again = serialpack.loads(data, trust=True)
    for _ in range(40):
        one, other = again.values() if isinstance(again, dict) else _both(again)
        assert one is other
        again = one
    assert again == [0]


def _both(value: Any) -> Any:
    return (value.left, value.right) if isinstance(value, Pair) else value


@pytest.mark.parametrize("name", OFTEN)
def test_of_many_places_too(name: str) -> None:
    data = serialpack.dumps(OFTEN[name])
    assert len(data) < 100_000
    assert serialpack.loads(data, trust=True) == OFTEN[name]


@pytest.mark.parametrize("chain", ["json", "objects", "cbor", "orjson"])
def test_others_say_who_can(chain: str) -> None:
    words = "in many places, and written in each.*times as large.*pickle can"
    with pytest.raises(serialpack.ValueRefusedError, match=words):
        serialpack.dumps(doubled(40, a_list), chain)


def test_what_memory_holds_is_written_in_each_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid of one row needs nobody's trust."""
    grid = [[0.0] * 1000] * 3000
    check_places([grid])
    assert serialpack.loads(serialpack.dumps(grid)) == grid
    monkeypatch.setattr(places, "_MUCH", 1 << 20)
    with pytest.raises(HeldOften):
        check_places([grid])


def test_what_is_large_by_itself_is_not_held_often(monkeypatch: pytest.MonkeyPatch) -> None:
    config = [*range(3000)]
    check_places([["text"] * 1000 + ["x" * 10**8]])
    node = Node(config)
    check_places([[[node] for _ in range(1000)]])
    monkeypatch.setattr(places, "_PLACES", 1000)
    check_places([[[i, i] for i in range(2000)]])
    check_places([[[config, i] for i in range(300)]])


def test_a_doubled_value_is_the_same_at_the_speed_of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    value = doubled(15, a_map)
    again = serialpack.loads(serialpack.dumps(value, "objects"))
    monkeypatch.setattr(quick_equality, "_MUCH", 1000)
    assert quick_equality.quickly_same(value, again, identity=False)


@pytest.mark.parametrize("packed", [False, True])
def test_a_pickle_that_unfolds_without_end_is_not_converted(packed: bool, tmp_path: Path) -> None:
    source = tmp_path / "a.pkl"
    source.write_bytes(pickle.dumps(doubled(40, a_list)))
    if packed:
        serialpack.pack(source, source := tmp_path / "a.spk", serializer="pickle", trust=True)
    with pytest.raises(serialpack.RefusedError, match="unfold to far more than the file"):
        serialpack.convert(source, tmp_path / "a.json", trust=True)


@pytest.mark.parametrize("serializer", ["objects", "json"])
def test_nor_is_it_packed_by_what_has_no_references(serializer: str, tmp_path: Path) -> None:
    source = tmp_path / "a.pkl"
    source.write_bytes(pickle.dumps(doubled(40, a_list)))
    with pytest.raises(serialpack.RefusedError, match="unfold to far more than the file"):
        serialpack.pack(source, tmp_path / "a.spk", serializer=serializer, trust=True)
    serialpack.pack(source, tmp_path / "a.spk", serializer="pickle", trust=True)
