"""What stands in two places of an object: whether it comes back as one, as the README says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serialpack
from serialpack.objects import dumping


@dataclass
class Point:
    x: int = 1
    more: list[int] = field(default_factory=list)


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value


TWO = {"list": [1], "map": {"a": 1}, "set": {1}, "dataclass": Point()}
ONE = {"array": np.arange(3), "frame": pd.DataFrame({"a": [1]}), "object": Node(1)}


@pytest.mark.parametrize("name", TWO)
def test_it_is_two_but_under_pickle(name: str) -> None:
    value = TWO[name]
    first, second = serialpack.loads(serialpack.dumps([value, value]))
    assert first is not second
    assert first == second == value
    first, second = serialpack.loads(serialpack.dumps([value, value], "pickle"), trust=True)
    assert first is second


@pytest.mark.parametrize("name", ONE)
def test_it_is_one(name: str) -> None:
    first, second = serialpack.loads(serialpack.dumps([ONE[name], ONE[name]]))
    assert first is second


@pytest.mark.parametrize("name", TWO)
def test_in_an_object_auto_takes_pickle(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumping, "_warned", type(dumping._warned)())
    with pytest.warns(serialpack.PickleWarning):
        data = serialpack.dumps([Node(TWO[name]), Node(TWO[name])])
    first, second = serialpack.loads(data, trust=True)
    assert first.value is second.value


def test_objects_say_why_they_do_not_hold_it() -> None:
    shared = [1]
    node = Node(shared)
    node.other = shared  # type: ignore[attr-defined]
    with pytest.raises(serialpack.ValueRefusedError, match="one list or the like in two places"):
        serialpack.dumps(node, "objects")
