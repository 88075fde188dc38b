"""Which files share blocks: small ones, and larger texts that are no tables."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest

import serialpack
from serialpack.archive.gather import SHARED_SIZE
from tests.cli.conftest import Run
from tests.container.test_archive import tree
from tests.container.test_shared import contents, packed


def _texts(folder: Path, count: int = 6) -> dict[str, Path]:
    """Versions of a document of 80 kB, in which a tenth of the lines are others."""
    draw = random.Random(7)
    lines = [f"{draw.getrandbits(200):x} is line {n}" for n in range(1500)]
    given = {}
    for version in range(count):
        lines = [f"{draw.getrandbits(200):x}" if draw.random() < 0.1 else line for line in lines]
        given[f"v{version}.md"] = path = folder / f"v{version}.md"
        path.write_text("\n".join(lines))
        assert path.stat().st_size > SHARED_SIZE
    return given


def _comes_back(data: bytes, given: dict[str, Path], folder: Path) -> None:
    serialpack.unpack_archive(io.BytesIO(data), folder / "out")
    assert tree(folder / "out") == contents(given)


def test_versions_of_a_text_share_a_block(tmp_path: Path) -> None:
    """Each was a member of its own, and what they have in common in each of them."""
    given = _texts(tmp_path)
    data = packed({**given})
    first, *_ = serialpack.inspect(io.BytesIO(data)).members
    assert first.entries is not None
    assert len(first.entries) == 6
    alone = sum(len(packed({name: path})) for name, path in given.items())
    assert len(data) < 0.5 * alone
    _comes_back(data, given, tmp_path)


def test_larger_tables_and_binary_files_are_members_of_their_own(tmp_path: Path) -> None:
    rows = [{"id": n, "name": f"n {n * 7919 % 1000}"} for n in range(4000)]
    kinds = {
        "a.csv": "".join(f"{row['id']},{row['name']}\n" for row in rows * 2).encode(),
        "b.ndjson": "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
        "c.bin": bytes(100_000),
        "d.json": json.dumps(rows).encode(),
    }
    given = {}
    for name, content in kinds.items():
        given[name] = tmp_path / name
        given[name].write_bytes(content)
        assert len(content) > SHARED_SIZE
    data = packed(given)
    found = [member.entry for member in serialpack.inspect(io.BytesIO(data)).members]
    assert found == [None, "a.csv", "b.ndjson", "c.bin", None]
    _comes_back(data, given, tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "shares"),
    [("a.md", b"word " * 20_000, True), ("a.csv", b"1,2\n" * 20_000, False), ("a", b"", True)],
)
def test_a_dry_run_says_which_they_are(
    run: Run, tmp_path: Path, name: str, content: bytes, shares: bool
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.json").write_bytes(b"[1]")
    said = run("pack", "--dry-run", "--archive", name, "b.json", "-o", "o.spk").stderr.decode()
    line = next(line for line in said.splitlines() if f" {name} " in line)
    assert ("in a block of files of its format" in line) is shares
