"""``--scheduler``: what comes of it is what comes of a run without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

pytest.importorskip("distributed", reason="pip install '.[dask]'")


@pytest.fixture
def batch(tmp_path: Path) -> None:
    """Some files in two folders, of which one is no JSON."""
    folder = tmp_path / "in"
    (folder / "more").mkdir(parents=True)
    for number in range(9):
        (folder / "more" / f"{number}.json").write_text(f'{{"n": {number}, "m": "{number:099}"}}')
    (folder / "bad.json").write_text('{"n": ')


def lines(said: bytes) -> list[dict[str, Any]]:
    """Lines of ``--json``, without times."""
    found = [json.loads(line) for line in said.splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in found]


@pytest.mark.usefixtures("batch")
def test_a_local_cluster_makes_the_same(run: Run, tmp_path: Path) -> None:
    """The same outputs, lines, names and exit code; what failed is named as it was typed."""
    command = ("pack", "-r", "in", "-s", "cbor", "--json", "-o", "out")
    here = run(*command, code=3)
    (tmp_path / "out").rename(tmp_path / "here")
    there = run(*command, "--scheduler", "local", "-j", "1", code=3)
    assert lines(there.stdout) == lines(here.stdout)
    assert there.stderr.splitlines()[:1] == here.stderr.splitlines()[:1]
    assert there.stderr.startswith(b"serialpack: in/bad.json: ")
    made = {path.name: path.read_bytes() for path in (tmp_path / "out/more").iterdir()}
    assert made == {path.name: path.read_bytes() for path in (tmp_path / "here/more").iterdir()}
    assert len(made) == 9
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"more"}


@pytest.mark.parametrize(
    ("address", "said"),
    [("nonsense", b"no scheduler: missing port"), ("foo://host:1", b"no scheduler: unknown")],
)
def test_what_is_no_address_is_one_line(run: Run, sample: Path, address: str, said: bytes) -> None:
    stderr = run("pack", sample, "--scheduler", address, code=1).stderr
    assert stderr.startswith(b"serialpack: " + address.encode() + b": " + said)
    assert len(stderr.splitlines()) == 1
    assert stderr.endswith(b"--scheduler local needs none\n")


@pytest.mark.parametrize(
    "words",
    [
        ("pack",),
        ("pack", "sample.ndjson", "-o", "-"),
        ("pack", "--archive", "sample.ndjson", "-o", "a.spk"),
        ("unpack", "--salvage", "a.spk"),
    ],
)
@pytest.mark.usefixtures("sample")
def test_what_is_for_one_machine_is_refused(run: Run, tmp_path: Path, words: list[str]) -> None:
    """Not done here as if nothing had been said."""
    there = set(tmp_path.iterdir())
    stderr = run(*words, "--scheduler", "local", code=2).stderr
    assert b"--scheduler: tasks make files of files" in stderr
    assert set(tmp_path.iterdir()) == there
