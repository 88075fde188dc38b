"""Bytearrays in objects, which no pickle is needed for."""

from __future__ import annotations

import io
import pickle
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.values.equality import difference

BYTEARRAYS: dict[str, Any] = {
    "alone": bytearray(b"a"),
    "empty": [bytearray(), b""],
    "beside bytes": {"a": bytearray(b"xy"), "b": b"xy", 1: [b"", {"c": bytearray(b"z")}]},
    "below other types": (
        {"a": [deque([bytearray(b"z")])]},
        {b"k": (bytearray(b"1"),)},
    ),
    "large, beside an array": [bytearray(100_000), np.arange(20_000)],
}


@pytest.mark.parametrize("name", BYTEARRAYS)
@pytest.mark.parametrize("chain", ["auto", "objects"])
def test_a_bytearray_needs_no_pickle(name: str, chain: str, tmp_path: Path) -> None:
    """MessagePack's library takes it for bytes, and asks nobody: each needed trust to be read."""
    value = BYTEARRAYS[name]
    assert difference(value, serialpack.loads(serialpack.dumps(value, chain))) is None
    with serialpack.store(f"sqlite-kv://{tmp_path}/store.db", "n") as store:
        store["key"] = value
        assert difference(value, store["key"]) is None


def test_so_does_one_in_a_pickle_that_is_packed() -> None:
    """Among records of which others are found the same at once."""
    values = [[1, b"a"], {"a": bytearray(b"a")}, bytearray(b"b")]
    source = b"".join(pickle.dumps(value, 5) for value in values)
    packed, again = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, serializer="objects", format="pickle", trust=True)
    packed.seek(0)
    serialpack.unpack(packed, again, trust=True)
    again.seek(0)
    assert difference(values, [pickle.load(again) for _ in values]) is None


def test_what_else_the_library_takes_is_refused_beside_one() -> None:
    for value in ([bytearray(b"x"), memoryview(b"a")], [memoryview(b"a"), bytearray(b"x")]):
        with pytest.raises(serialpack.ValueRefusedError, match="a memoryview"):
            serialpack.dumps(value, "objects")
