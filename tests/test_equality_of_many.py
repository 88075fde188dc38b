"""Containers of many values, beside or within what the quick look does not know."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from serialpack.values import equality
from serialpack.values.equality import difference
from serialpack.values.quick import lists_same

MANY = 2 * equality._MANY

#: How many values are made, of two places that are changed.
_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "counter": lambda v: collections.Counter({n: v[n] for n in range(MANY)}),
    "ordered": lambda v: collections.OrderedDict((n, [v[n]]) for n in range(MANY)),
    "default": lambda v: collections.defaultdict(list, {(n, "a"): (v[n],) for n in range(MANY)}),
    "beside": lambda v: [v, collections.deque()],
    "map beside": lambda v: [dict(enumerate(v)), collections.deque()],
    "scalars": lambda v: collections.deque([[np.float64(n) for n in v]]),
    "pairs": lambda v: collections.OrderedDict(
        ((np.int32(n), np.int8(n // 3 % 9)), np.float32(v[n])) for n in range(MANY)
    ),
}


@pytest.mark.parametrize("name", _MAKERS)
def test_they_are_compared_quickly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sparse matrix of 200,000 items took ten seconds to prove, a Counter five."""
    monkeypatch.setattr(equality, "_maps", lambda *_: pytest.fail("item by item"))
    make, values = _MAKERS[name], [float(n) for n in range(MANY)]
    with monkeypatch.context() as patch:
        patch.setattr(equality, "_attributes", lambda *_: ())
        assert difference(make(values), make(list(values))) is None


@pytest.mark.parametrize("name", _MAKERS)
@pytest.mark.parametrize(("was", "became"), [(1.0, 2.0), (0.0, -0.0), (1.0, np.nan)])
def test_each_difference_is_found(name: str, was: float, became: float) -> None:
    make, values = _MAKERS[name], [float(n) for n in range(MANY)]
    values[-7] = was
    others = [*values[:-7], became, *values[-6:]]
    found = difference(make(values), make(others))
    assert found is not None
    assert (found.was, found.became) != ("", "")


def test_types_lengths_and_places_count() -> None:
    one: list[Any] = [(n, n) for n in range(MANY)]
    odd: list[list[Any]] = [
        [*one[:-1], (MANY - 1.0, MANY - 1)],
        [*one[:-1], one[-1] * 2],
        [*one[:-1], list(one[-1])],
        [one[1], one[0], *one[2:]],
        [(np.int64(n), n) for n in range(MANY)],
        [(np.int32(n), np.int32(n)) for n in range(MANY - 1)] + [(np.int32(1), 1)],
    ]
    for other in odd:
        assert not lists_same(one, other)
        assert not lists_same(other, one)
        assert lists_same(other, list(other))
        assert difference([one, {1: ...}.keys()], [other, {1: ...}.keys()]) is not None
    assert lists_same([], [])
    assert lists_same([()] * 3, [()] * 3)


def test_columns_of_deep_tuples_need_no_more_calls_than_there_are() -> None:
    value: Any = ()
    for _ in range(400):
        value = (value,)
    both = ([*[value] * MANY, collections.deque()] for _ in range(2))
    assert difference(*both) is None
