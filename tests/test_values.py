"""The strict comparison of values: what it tells apart, and what it takes for the same."""

from __future__ import annotations

import copy
import math
import pickle
import re
import struct
from collections.abc import Callable
from types import GenericAlias
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.values.equality import difference
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import KINDS, shown
from tests.fidelity import things
from tests.fidelity.values import CASES, Case

#: Cases that a copy cannot be made of: their copy is another value, or the depth is too great.
_UNCOPIED = {"object: forgetful", "depth: levels_5000", "depth: levels_100000"}


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name != "depth: levels_100000"], ids=lambda case: case.name
)
def test_a_value_is_the_same_as_itself_made_again(case: Case) -> None:
    assert difference(case.make(), case.make()) is None


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name not in _UNCOPIED], ids=lambda case: case.name
)
def test_a_copy_is_the_same(case: Case) -> None:
    value = case.make()
    if isinstance(value, memoryview):
        return
    assert difference(value, copy.deepcopy(value), identity=True) is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_kind_is_what_the_table_says(case: Case) -> None:
    """Of the value itself, or of one that stands in it."""
    assert kind_of(case.make()) in KINDS
    scalars = {"bytes", "date", "time", "decimal", "uuid", "complex", "tuple", "object", "function"}
    if case.kind in scalars and not case.name.endswith("like_text") and "in_list" not in case.name:
        assert kind_of(case.make()) == case.kind


class Left:
    """Two instances are equal whatever they hold."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Left)

    __hash__ = None  # type: ignore[assignment]


_NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]

DIFFERENT: list[tuple[Any, Any, str, str]] = [
    (1, True, "$", "integer"),
    (1, 1.0, "$", "integer"),
    (0.0, -0.0, "$", "integral-float"),
    (math.nan, _NAN, "$", "non-finite"),
    (0.1, 0.1 + 2**-56, "$", "float"),
    ("a", b"a", "$", "text"),
    ("é", "e\u0301", "$", "text"),
    (b"a", bytearray(b"a"), "$", "bytes"),
    ([1], (1,), "$", "array"),
    ([1, [2, 3]], [1, [2, 4]], "$[1][1]", "integer"),
    ([1], [1, 2], "$", "array"),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "$", "order"),
    ({"a": 1}, {"a": 1, "b": 2}, "$", "value"),
    ({1: 2}, {"1": 2}, "$", "integer-key"),
    ({1: 2}, {True: 2}, "$", "integer-key"),
    ({True: 2}, {1.0: 2}, "$", "key"),
    ({"a": {"odd key": [None]}}, {"a": {"odd key": [0]}}, '$.a["odd key"][0]', "null"),
    ({1, 2}, {1, 3}, "$", "set"),
    ({1}, {True}, "${1}", "integer"),
    (frozenset([1]), {1}, "$", "frozenset"),
    (things.Text("a"), "a", "$", "object"),
    (things.Number(1), things.Number(2), "$", "object"),
    (things.Level.LOW, 1, "$", "object"),
    (things.Pair(1, 2), (1, 2), "$", "object"),
    (things.Plain(a=1), things.Plain(a=2), "$.a", "integer"),
    (things.Plain(a=1), things.Plain(a=1, b=2), "$.b", "object"),
    (things.Plain(a=1, b=2), things.Plain(a=1), "$.b", "object"),
    (things.Slotted(1), things.Slotted(2), "$._Slotted__private", "integer"),
    (Left(1), Left(2), "$.value", "integer"),
    (things.Forgetful(), pickle.loads(pickle.dumps(things.Forgetful())), "$.lost", "object"),
    (re.compile("a"), re.compile("b"), "$", "object"),
    (np.ones(2), np.ones(3), "$", "number-array"),
    (np.ones((2, 3)), np.ones((2, 3), order="F"), "$", "number-array"),
    (np.ones(2, "f4"), np.ones(2, "f8"), "$", "number-array"),
    (np.ones(2, ">f4"), np.ones(2, "<f4"), "$", "number-array"),
    (np.float32(1), 1.0, "$", "number-array"),
    (len, print, "$", "function"),
]


@pytest.mark.parametrize(("was", "became", "path", "kind"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_different(was: Any, became: Any, path: str, kind: str) -> None:
    lost = difference(was, became)
    assert lost is not None
    assert (lost.value_path, lost.kind) == (path, kind)
    inside = difference([0, {"k": was}], [0, {"k": became}], record=7)
    assert inside is not None
    assert (inside.record, inside.value_path) == (7, f"$[1].k{path[1:]}")


def test_shared_references_count_where_they_are_promised() -> None:
    inner = [1]
    shared, copied = {"a": inner, "b": inner}, {"a": [1], "b": [1]}
    assert difference(shared, copied) is None
    lost = difference(shared, copied, identity=True)
    assert lost is not None
    assert (lost.value_path, lost.kind) == ("$.b", "cycle")
    assert difference(shared, copy.deepcopy(shared), identity=True) is None


def test_cycles_of_different_length_are_told_apart_where_identity_counts() -> None:
    one: list[Any] = []
    one.append(one)
    two: list[Any] = [[]]
    two[0].append(two)
    assert difference(one, two) is None  # unrolled they are the same
    assert difference(one, two, identity=True) is not None


_values = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
        *(st.dates(), st.datetimes(), st.decimals(), st.uuids(), st.complex_numbers()),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(_values)
def test_any_value_is_the_same_as_its_copy(value: Any) -> None:
    assert difference(value, pickle.loads(pickle.dumps(value, 5))) is None


@given(_values, _values)
def test_values_that_differ_in_writing_differ(was: Any, became: Any) -> None:
    same = difference(was, became) is None
    assert same == (repr(was) == repr(became) and pickle.dumps(was, 5) == pickle.dumps(became, 5))


def _doubled(value: Any, make: Callable[[Any], Any]) -> Any:
    for _ in range(40):
        value = make(value)
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (_doubled(list[int], lambda each: GenericAlias(dict, (each, each))), "GenericAlias"),
        (_doubled(list[int], lambda each: GenericAlias(tuple, (each, each)) | None), "Union"),
        (_doubled((), lambda each: (each, each)), "tuple"),
        (_doubled((), lambda each: frozenset([(each, 1), (each, 2)])), "frozenset"),
    ],
    ids=range(4),
)
def test_what_shares_its_parts_is_shown_at_once(value: Any, words: str) -> None:
    """Python spells each in all its places, of which there are more than anybody can wait for."""
    assert words in shown(value)


def test_what_is_short_is_spelled() -> None:
    values: list[Any] = [list[int], dict[str, int | None], (1, (2, frozenset({3}))), (), set()]
    for value in values:
        assert shown(value) == ascii(value)
