"""One Python object, measured as ``dumps`` and ``loads`` use it."""

from __future__ import annotations

from typing import Any

import pytest

from serialpack.bench.material import ObjectMaterial, Subject
from serialpack.bench.measuring import object_trials
from serialpack.bench.measuring.object_trials import Calls
from serialpack.bench.measuring.trials import Care, Figures
from serialpack.bench.measuring.workbench import Workbench
from serialpack.objects.dumping import dumps
from serialpack.serializers import one_object

BLOCK = 4 << 20


@pytest.fixture
def bench() -> Workbench:
    return Workbench(Subject(sample="contacts:40"))


def figures(bench: Workbench, chain: str, *, memory: bool = False) -> Figures:
    return Calls(chain, 1, BLOCK, Care(1, 0.0, memory)).run(bench)


@pytest.mark.parametrize("chain", ["json+none", "json+zstd:3", "pickle:5+none"])
def test_the_figures_are_those_of_dumps(bench: Workbench, chain: str) -> None:
    material = bench.material
    assert isinstance(material, ObjectMaterial)
    found = figures(bench, chain)
    assert found.size == len(dumps(material.value, chain))
    assert 0 < found.overhead < found.size
    assert found.source == material.size
    assert found.kept == "exact"
    assert found.runs == 1


def test_the_step_of_the_serializer_is_without_the_proof(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``dumps`` proves: once for itself, and not once more for the serializer alone."""
    proved: list[object] = []
    check = one_object._check

    def noted(*args: Any) -> Any:
        proved.append(args)
        return check(*args)

    monkeypatch.setattr(one_object, "_check", noted)
    figures(bench, "json+none")  # what is imported first is
    proved.clear()
    found = figures(bench, "json+none")
    assert len(proved) == 1
    assert found.steps["serialize"] > 0
    assert not found.steps["prove"]


@pytest.mark.parametrize("least", [1, 1 << 30])
def test_no_peak_of_memory_is_told_of_a_small_object(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    monkeypatch.setattr(object_trials, "LEAST_MEMORY", least)
    told = figures(bench, "json+none", memory=True).memory is not None
    assert told == (least == 1)


def test_an_object_of_just_so_many_bytes_is_large_enough(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_trials, "LEAST_MEMORY", bench.material.size)
    assert figures(bench, "json+none", memory=True).memory is not None
