"""Labelled arrays of xarray come back from pickle, and what differs in one is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.values.equality import difference

#: Not by an import: mypy runs without it, too.
xarray: Any = pytest.importorskip("xarray")


def _labelled(**attrs: Any) -> Any:
    return xarray.Dataset({"t": ("x", np.arange(3.0))}, coords={"x": [1, 2, 4]}, attrs=attrs)


@pytest.mark.parametrize(
    "value",
    [_labelled(), _labelled(unit="m"), _labelled()["t"], xarray.Variable("x", [1])],
    ids=["set", "with words", "array", "variable"],
)
def test_they_come_back(value: Any) -> None:
    """Pickle asks for the words of one without any, which then keeps a map of none."""
    again = serialpack.loads(serialpack.dumps(value, "pickle"), trust=True)
    assert type(again) is type(value)
    assert again.identical(value)


def test_what_differs_is_seen() -> None:
    one = _labelled(unit="m")
    assert difference(one, one.copy(deep=True)) is None
    for other in (_labelled(), one.assign_coords(x=[1, 2, 3]), one * 1.5):
        assert difference(one, other) is not None
