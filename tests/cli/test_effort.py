"""The dial beside stages that are named: what is said of it, and what is packed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from serialpack.codecs import CODECS
from serialpack.serializers import SERIALIZERS
from serialpack.stages.stage import Registry
from tests.cli.conftest import Run

DIALLED = [
    (registry, entry.name)
    for registry in (SERIALIZERS, CODECS)
    for entry in registry
    if any(param.efforts for param in registry.cls(entry.name).params)
]


@pytest.mark.parametrize(("registry", "name"), DIALLED, ids=[name for _, name in DIALLED])
def test_a_stage_without_a_level_has_that_of_the_effort(
    run: Run, sample: Path, registry: Registry[Any], name: str
) -> None:
    cls = registry.cls(name)
    if cls.missing(name) is not None:
        pytest.skip(f"{name} is not installed")
    param = next(param for param in cls.params if param.efforts)
    words = ["-9", f"--{registry.kind}", name]
    level = f"{name}:{param.efforts[-1]}".encode()
    assert level in run("pack", "--dry-run", *words, sample).stderr
    run("pack", *words, sample)
    assert level in run("inspect", f"{sample}.spk").stdout
    named = f"{name}:{param.default}"
    assert named.encode() in run("pack", "-f", "--dry-run", *words[:2], named, sample).stderr


@pytest.mark.parametrize("level", ["-19", "-10"])
def test_a_level_of_zstd_is_no_effort(run: Run, sample: Path, level: str) -> None:
    said = run("pack", level, sample, code=2).stderr.decode()
    assert f"{level}: efforts are -1 to -9; -c zstd:{level[1:]} is zstd's level" in said
    run("pack", "-c", f"zstd:{level[1:]}", sample)
