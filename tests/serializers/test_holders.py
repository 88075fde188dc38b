"""The hint of a refusal: who holds the value, by the declarations, or what to make of it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.serializers.holders import holders


def test_hints_come_from_the_declarations() -> None:
    assert str(holders("surrogates")).startswith("json")
    assert str(holders("digits")) == "raw can"
    assert str(holders("digits", raw=False)) == "no serializer here can"
    # Of some classes; not marshal.
    assert str(holders("object", raw=False)) == "objects or pickle may"
    assert not holders("number-array", raw=False).sure


@pytest.mark.parametrize(
    ("obj", "chain", "hint"),
    [
        (iter({1: 2}), "pickle", "list(it) can be held"),  # which pickle makes a list's
        ((n for n in [1]), "bson", "json, msgpack or objects can hold list(it)"),
        ([MappingProxyType({"a": "b"})], "csv", "dict(it) can be held"),
        ([map(str, [1])], "csv", "json, msgpack or objects can hold list(it)"),
    ],
    ids=["iterator", "no-map", "shown-map", "row"],
)
def test_of_what_gives_values_it_is_said_what_holds_them(obj: Any, chain: str, hint: str) -> None:
    """A list was said to be held where only maps are."""
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps(obj, chain)
    assert caught.value.hint == hint
