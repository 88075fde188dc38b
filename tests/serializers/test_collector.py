"""The garbage collector is held while values are built, and is as it was afterwards."""

from __future__ import annotations

import gc

import pytest

import serialpack
from serialpack.collector import gc_paused


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
        left = [each for each in gc.get_objects() if type(each).__name__ == "_ExtensionWriter"]
    finally:
        gc.enable()
    assert not left
