"""What pyproject.toml, the registries and constraints.txt each say about libraries agrees."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS
from serialpack.stages.stage import Stage

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
#: Extras for developers, which bring no stage.
DEVELOPERS = {"test", "peers"}

STAGES: dict[str, type[Stage]] = {
    entry.name: registry.cls(entry.name)
    for registry in (SERIALIZERS, FILTERS, CODECS)
    for entry in registry
}


def distribution(requirement: str) -> str:
    """The name in a requirement, as PyPI compares names."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def distributions(requirements: list[str]) -> set[str]:
    return {distribution(r) for r in requirements}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_names_what_brings_its_library(name: str) -> None:
    """Its extra, or else the runtime dependencies, bring the library that it imports."""
    cls = STAGES[name]
    if cls.library is None:
        assert cls.extra is None
        return
    brings = PROJECT["dependencies"] if cls.extra is None else EXTRAS[cls.extra]
    assert distribution(cls.distribution or cls.library) in distributions(brings)


#: Extras that cannot be installed beside another one: not in ``all``, and not pinned.
CONFLICTING = {"pyrapidjson"}

#: Extras that bring no stage, but what a command can do besides.
BESIDES = {"dask", "gs", "hdf5", "lmdb", "plot", "remote", "sftp"}

#: Extras that hold other libraries to few versions, or bring many, and are not in ``all`` for that.
NARROW = {"gs", "remote"}


def test_every_extra_brings_a_stage() -> None:
    """No other extra is left over, and ``all`` is all of them that go together."""
    extras = {cls.extra for cls in STAGES.values()} - {None}
    assert extras
    assert not extras & BESIDES
    extras |= BESIDES
    assert set(EXTRAS) == extras | DEVELOPERS | {"all"}
    brought = [e for line in EXTRAS["all"] for e in line[len("serialpack[") : -1].split(",")]
    assert brought == sorted(brought)
    assert set(brought) == extras - CONFLICTING - NARROW


def test_constraints_pin_everything_exactly() -> None:
    """Everything that pyproject.toml names is pinned for the tests."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
    extras = [r for name, e in EXTRAS.items() if name not in CONFLICTING for r in e]
    named = [*PROJECT["dependencies"], *extras]
    assert distributions(named) - {"serialpack"} <= distributions(pins)


@pytest.mark.xdist_group("together")
def test_a_group_of_tests_has_one_process(request: pytest.FixtureRequest) -> None:
    """Else what they share is made in each: so it was under pytest 9.2, without a word.

    https://github.com/pytest-dev/pytest-xdist/issues/1386
    """
    grouped = bool(request.config.getoption("loadgroup", False))
    assert request.node.nodeid.endswith("@together") == grouped
