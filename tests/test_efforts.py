"""The dial: what each step means for every stage that has levels, in one table."""

from __future__ import annotations

import io
from typing import Any

import pytest

import serialpack
from serialpack.auto.choice import choose
from serialpack.codecs import CODECS
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import parse_stage, spell_stage
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.stages.stage import Param, Registry

#: What a parameter is called that says how hard a stage works.
HOW_HARD = {"level", "quality", "effort"}

STAGES: list[tuple[Registry[Any], str, Param]] = [
    (registry, entry.name, param)
    for registry in (SERIALIZERS, CODECS)
    for entry in registry
    for param in registry.cls(entry.name).params
    if param.name in HOW_HARD
]


def installed(registry: Registry[Any], name: str) -> None:
    missing = registry.cls(name).missing(name)
    if missing is not None:
        pytest.skip(f"{name} is not installed: {missing}")


@pytest.mark.parametrize("name", CODECS.names())
def test_a_codec_is_dialled_by_its_level_and_nothing_else(name: str) -> None:
    for param in CODECS.cls(name).params:
        assert bool(param.efforts) == (param.mark == ":") == (param.name in HOW_HARD)


@pytest.mark.parametrize(("registry", "name", "param"), STAGES, ids=[s[1] for s in STAGES])
def test_levels_grow_with_the_effort_and_are_allowed(
    registry: Registry[Any], name: str, param: Param
) -> None:
    assert len(param.efforts) == len(EFFORTS)
    assert list(param.efforts) == sorted(param.efforts)
    assert param.efforts[0] < param.efforts[-1]
    assert all(map(param.allows, param.efforts))
    assert param.default == param.at(DEFAULT_EFFORT)
    for effort in EFFORTS:
        level = param.at(effort)
        spec = parse_stage(registry, name, effort)
        assert spell_stage(registry, spec) == f"{name}:{level}"
        # What is spelled stays.
        for spelled in {param.low, param.high, param.default}:
            text = f"{name}:{spelled}"
            assert spell_stage(registry, parse_stage(registry, text, effort)) == text


@pytest.mark.parametrize(("registry", "name", "param"), STAGES, ids=[s[1] for s in STAGES])
def test_the_dial_sets_the_level_of_what_is_named_without_one(
    registry: Registry[Any], name: str, param: Param
) -> None:
    installed(registry, name)
    for effort in EFFORTS:
        for text, level in ((name, param.at(effort)), (f"{name}:{param.low}", param.low)):
            how: dict[str, Any] = {registry.kind: text, "effort": effort}
            out = io.BytesIO()
            source = io.BytesIO(b'{"a": 1, "b": "two"}\n' * 40)
            report = serialpack.pack(source, out, format="ndjson", **how)
            (member,) = serialpack.inspect(io.BytesIO(out.getvalue())).members
            assert report.chain == str(member.chain)
            assert f"{name}:{level}" in report.chain.split("+")


@pytest.mark.parametrize("name", [name for registry, name, _ in STAGES if registry is CODECS])
def test_the_dial_sets_the_level_of_an_objects_codec(name: str) -> None:
    installed(CODECS, name)
    (level,) = (param for param in CODECS.cls(name).params if param.efforts)
    for effort in (1, 9):
        packed = serialpack.dumps({"a": [1, "b"]}, f"json+{name}", effort=effort)
        (member,) = serialpack.inspect(io.BytesIO(packed)).members
        assert str(member.chain) == f"json+{name}:{level.at(effort)}"


@pytest.mark.parametrize("effort", EFFORTS)
def test_blocks_are_of_the_efforts_size_whatever_the_codec(effort: int) -> None:
    for codec in ("auto", *CODECS.names()):
        assert choose("raw", (), codec, effort=effort).block_size == EFFORTS[effort].block_size


def test_what_is_not_a_level_is_not_dialled() -> None:
    spec = parse_stage(CODECS, "blosc-zstd@256K/2", 9)
    assert spell_stage(CODECS, spec) == "blosc-zstd:9@256K/2"
    assert parse_stage(SERIALIZERS, "pickle", 9) == parse_stage(SERIALIZERS, "pickle", 1)
