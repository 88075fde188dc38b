"""The garbage collector is held while values are built, and is as it was afterwards."""

from __future__ import annotations

import gc

import pytest

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
