"""What every filter in the registry must do. A new one is tested here the day it is added."""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serialpack.filters
from serialpack.errors import UsageError
from serialpack.filters import FILTERS
from serialpack.filters.base import Filter

NAMES = FILTERS.names()
#: Values of the parameters behind the item's size, of which some filters have one or two: not set,
#: next to each other, far apart; not set, and set.
OTHERS = ((0, 2, 3, 50), (0, 1))
CHAINS = [
    (name, (itemsize, *others))
    for name in NAMES
    for itemsize in range(1, 256)
    for others in itertools.product(*OTHERS[: len(FILTERS.cls(name).params) - 1])
    if FILTERS.cls(name).check_params((itemsize, *others))
]
LARGE = random.Random(1).randbytes((1 << 20) + 13)


def test_registry_names_every_filter_in_the_folder() -> None:
    assert NAMES
    for module in pkgutil.iter_modules(serialpack.filters.__path__, "serialpack.filters."):
        for name, cls in vars(importlib.import_module(module.name)).items():
            if not inspect.isclass(cls) or cls.__module__ != module.name:
                continue
            if issubclass(cls, Filter) and not inspect.isabstract(cls):
                assert f"{module.name}:{name}" in {entry.where for entry in FILTERS}


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is(name: str) -> None:
    cls = FILTERS.cls(name)
    assert issubclass(cls, Filter)
    assert cls.about
    assert "layout" in (cls.__doc__ or "")
    assert cls.missing(name) is None, "filters need runtime dependencies only"


@pytest.mark.parametrize("name", NAMES)
def test_every_length_and_item_size(name: str) -> None:
    for chain, values in CHAINS:
        if chain != name:
            continue
        stage = FILTERS.create(name, values)
        for length in (*range(201), 8 * values[0] - 1, 8 * values[0], 8 * values[0] + 1):
            data = LARGE[:length]
            arranged = bytes(stage.forward(data))
            assert len(arranged) == length
            assert bytes(stage.backward(arranged)) == data
            assert bytes(stage.forward(bytes(stage.backward(data)))) == data


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 16, 255])
@pytest.mark.parametrize("name", NAMES)
def test_large(name: str, itemsize: int) -> None:
    if not FILTERS.cls(name).check_params((itemsize,)):
        return
    stage = FILTERS.create(name, (itemsize,))
    assert bytes(stage.backward(stage.forward(LARGE))) == LARGE


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_buffer(name: str, kind: type) -> None:
    stage = FILTERS.create(name)
    for length in (0, 1, 5, 64, 1000):
        data = LARGE[:length]
        given_data = kind(data)
        arranged = stage.forward(given_data)
        assert bytes(given_data) == data, "changed what it was given"
        assert bytes(stage.backward(kind(bytes(arranged)))) == data
    inside = memoryview(bytearray(LARGE))[3:-5]
    assert stage.backward(stage.forward(inside)) == inside


@given(data=st.binary(max_size=3000), chain=st.sampled_from(CHAINS))
@settings(max_examples=300, deadline=None)
def test_round_trip_of_anything(data: bytes, chain: tuple[str, tuple[int, ...]]) -> None:
    stage = FILTERS.create(*chain)
    assert bytes(stage.backward(stage.forward(data))) == data
    assert bytes(stage.forward(stage.backward(data))) == data


@pytest.mark.parametrize("name", NAMES)
def test_parameters(name: str) -> None:
    cls = FILTERS.cls(name)
    assert cls.parse_params(name, "") == tuple(p.default for p in cls.params)
    for chain, values in CHAINS:
        if chain == name:
            assert cls.parse_params(name, cls.spell_params(values)) == values
    for text in (":0", ":-1", ":256", ":x", ":", "4", "@1", ":4:4", ":4/2"):
        with pytest.raises(UsageError):
            cls.parse_params(name, text)
    bad: list[tuple[int, ...]] = [(0,), (-1,), (256,), (4, 1), (4, 4, 4)]
    assert not any(cls.check_params(values) for values in bad)
