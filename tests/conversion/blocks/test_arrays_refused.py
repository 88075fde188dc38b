"""Records that no array holds beside those before them: what is told of them, and the ways out."""

from __future__ import annotations

import io
import json

import pytest

import serialpack
from serialpack.errors import RefusedError
from tests.conversion.converting import converted


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"a": 1, "b": 1, "c": 1, "e": 1}, "without 'd', 'f', unlike"),
        (dict.fromkeys("abcdefg", 1), "with 'g', unlike those before it"),
    ],
)
def test_what_is_other_in_a_wide_map_is_named(second: dict[str, int], said: str) -> None:
    """Of two the first three keys were named, which were the same."""
    with pytest.raises(RefusedError, match=f"shapes: a map {said}"):
        converted(json.dumps([dict.fromkeys("abcdef", 1), second]).encode(), "json", "npy")


@pytest.mark.parametrize(
    ("second", "rules"),
    [
        ('{"a": 1.5, "b": 1}', ("numbers",)),
        ('{"a": "x", "b": 1}', ()),
        ('{"b": 1}', ()),
        ('{"b": 1, "a": 1}', ("numbers", "key-order")),
    ],
)
def test_what_is_refused_beside_others_has_its_ways_tried_beside_one(
    second: str, rules: tuple[str, ...]
) -> None:
    """Alone it goes through whatever the rule, so that the first was told for each."""
    data = f'[{{"a": 1, "b": 2}}, {second}]'.encode()
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), format="json", to="npy", strict=True)
    assert refused.value.ways is not None
    assert refused.value.ways.rules == rules
    if rules:
        serialpack.convert(
            io.BytesIO(data), io.BytesIO(), format="json", to="npy", strict=True, lossy=rules
        )
