"""Objects of a class, of which ``--lossy objects`` lets the class go: what they say is kept."""

from __future__ import annotations

import io
import json
import pickle
import re
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.reports import ConvertReport
from tests.fidelity import things

MODEL = things.Plain(coef=np.arange(2.0), of=things.Pair(1, things.Frozen("x")))


def converted(obj: Any, to: str, *lossy: str) -> tuple[str, ConvertReport]:
    source, out = io.BytesIO(pickle.dumps(obj)), io.BytesIO()
    report = serialpack.convert(
        source, out, format="pickle", to=to, trust=True, threads=1, lossy=lossy
    )
    return out.getvalue().decode(), report


@pytest.mark.parametrize(
    ("obj", "wanted", "count"),
    [
        (things.Point(1, 2.0), {"x": 1, "y": 2.0, "tags": []}, 1),
        (things.Frozen("x"), {"name": "x"}, 1),
        (things.Pair(1, 2), {"first": 1, "second": 2}, 1),
        (things.Colour.RED, "red", 1),
        (things.Level.LOW, 1, 1),
        (things.Text("x"), "x", 1),
        (things.Plain(a=things.Plain(b=[1])), {"a": {"b": [1]}}, 2),
        (things.Slotted(2), {"_Slotted__private": 2, "value": 2}, 1),
        (OrderedDict(a=1), {"a": 1}, 1),
        (defaultdict(list, a=[things.Level.LOW]), {"a": [1]}, 2),
        (Counter("aab"), {"a": 2, "b": 1}, 1),
        (deque([1, 2]), [1, 2], 1),
        (range(3), [0, 1, 2], 1),
        (SimpleNamespace(a=1), {"a": 1}, 1),
        (PurePosixPath("a/b"), "a/b", 1),
        ({things.Colour.RED: 1}, {"red": 1}, 1),
        ({(things.Frozen("x"),)}, [[{"name": "x"}]], 1),
        (MODEL, {"coef": [0.0, 1.0], "of": {"first": 1, "second": {"name": "x"}}}, 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_they_say_is_kept(obj: Any, wanted: Any, count: int) -> None:
    with pytest.raises(ValueRefusedError, match=r'lossy=\["objects"\] lets'):
        converted({"v": [obj]}, "json")
    data, report = converted({"v": [obj]}, "json", "objects")
    assert json.loads(data) == {"v": [wanted]}
    assert [(loss.rule, loss.count) for loss in report.losses] == [("objects", count)]


@pytest.mark.parametrize("obj", [[things.Point(1, 2.0), things.Point(3, 4.0)]])
def test_a_list_of_them_is_a_table(obj: Any) -> None:
    with pytest.raises(ValueRefusedError, match=r'in all 2 objects.*lossy=\["objects"\] lets'):
        converted(obj, "csv")
    data, _ = converted(obj, "csv", "objects")
    assert data == "x,y,tags\n1,2.0,[]\n3,4.0,[]\n"


class MoreThanItems(dict[str, int]):
    """Has attributes beside its items."""


class Circular:
    def __init__(self) -> None:
        self.me = self


def test_what_would_not_be_all_of_it_is_refused() -> None:
    """What C code keeps, a map with attributes, what holds itself, and what is no value."""
    more = MoreThanItems(a=1)
    more.beside = 2  # type: ignore[attr-defined]
    key = {things.Frozen("x"): 1}
    for obj in (re.compile("a"), more, key, Circular(), ValueError("x"), things.Plain, slice(1)):
        with pytest.raises(ValueRefusedError, match="no format here can"):
            converted({"v": obj}, "json", "objects")


def test_of_a_table_in_one_nothing_is_lost_untold() -> None:
    """Its attributes, which a table has no place for, went without a word."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1]})
    held = things.Plain(frame=frame)
    assert json.loads(converted(held, "json", "objects")[0]) == {"frame": [{"a": 1}]}
    frame.attrs["unit"] = "m"
    with pytest.raises(ValueRefusedError, match="an object of a class"):
        converted(held, "json", "objects")
