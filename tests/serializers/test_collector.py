"""The garbage collector is held while values are built, and is as it was afterwards."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from typing import Any

import pytest

import serialpack
from serialpack.collector import gc_paused


@dataclass
class Colours:
    names: list[str] = field(default_factory=lambda: ["red"])


def test_the_last_one_out_turns_it_on() -> None:
    assert gc.isenabled()
    with gc_paused():
        with pytest.raises(KeyError), gc_paused():
            raise KeyError
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_writes_objects_is_dropped_at_once() -> None:
    """It and its packers held each other, until the collector came."""
    serialpack.dumps([(1, {2})], "objects")
    gc.collect()
    gc.disable()
    try:
        serialpack.dumps([(1, {2})], "objects")
        left = [each for each in gc.get_objects() if type(each).__name__ == "ExtensionWriter"]
    finally:
        gc.enable()
    assert not left


@pytest.mark.parametrize("chain", ["auto", "objects", "pickle", "msgpack"])
def test_what_is_dumped_or_refused_is_held_by_nobody(chain: str) -> None:
    """A function that called itself held the records, a large array among them, until the
    collector came."""
    held: Any = Colours() if chain != "msgpack" else []
    serialpack.dumps(held, chain)
    gc.collect()
    gc.disable()
    try:
        data = serialpack.dumps(held, chain)
        serialpack.loads(data, trust=True)
        found = gc.collect()
    finally:
        gc.enable()
    assert not found
