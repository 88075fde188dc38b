"""Which files share blocks: small ones, and larger ones that are neither tables nor numbers."""

from __future__ import annotations

import contextlib
import io
import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
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


def test_programs_share_a_block_too_and_leave_numbers_alone(tmp_path: Path) -> None:
    """Each was a member of its own; what they have in common was in each of them."""
    draw = random.Random(8)
    code = [draw.randbytes(40) + b"\0" for _ in range(2000)]
    given = {}
    for number in range(5):
        for name in (f"program{number}", f"small{number}"):
            code = [draw.randbytes(40) + b"\0" if draw.random() < 0.1 else c for c in code]
            given[name] = tmp_path / name
            given[name].write_bytes(
                b"\x7fELF\0" + b"".join(code[: 100 if "small" in name else 2000])
            )
        given[f"n{number}.dat"] = tmp_path / f"n{number}.dat"
        given[f"n{number}.dat"].write_bytes(_numbers(number))
    data = packed({**given})
    members = serialpack.inspect(io.BytesIO(data)).members
    found = [sorted(each.path for each in member.entries or ()) for member in members]
    assert found[:2] == [[f"{kind}{n}" for n in range(5)] for kind in ("program", "small")]
    assert [member.entry for member in members[2:-1]] == [f"n{n}.dat" for n in range(5)]
    assert "shuffle" in str(members[2].chain)
    programs = [(name, path) for name, path in given.items() if name.startswith("p")]
    alone = sum(len(packed({name: path})) for name, path in programs)
    assert members[0].packed < 0.6 * alone
    _comes_back(data, given, tmp_path)


def _numbers(seed: int) -> bytes:
    """Floats of which each is near the one before, 80 kB of them."""
    steps = np.random.default_rng(seed).normal(size=10_000)
    return bytes(np.cumsum(steps).astype("<f8").tobytes())


def test_files_of_names_that_come_again_stand_beside_each_other(tmp_path: Path) -> None:
    """By path, what the same catalog of two languages have in common was a block away."""
    draw = random.Random(9)
    catalogs = {f"{n}.mo": draw.randbytes(9000) + b"\0" for n in range(60)}
    given = {}
    for language in ("de", "es", "fr", "it"):
        for name, content in catalogs.items():
            path = tmp_path / language / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            given[f"{language}/{name}"] = path
        given[f"{language}.txt"] = path = tmp_path / f"{language}.txt"
        path.write_text(language)
    data = packed({**given}, block_size=100_000)
    assert len(data) < 0.4 * sum(path.stat().st_size for path in given.values())
    _comes_back(data, given, tmp_path)


def test_larger_tables_and_numbers_are_members_of_their_own(tmp_path: Path) -> None:
    rows = [{"id": n, "name": f"n {n * 7919 % 1000}"} for n in range(4000)]
    kinds = {
        "a.csv": "".join(f"{row['id']},{row['name']}\n" for row in rows * 2).encode(),
        "b.ndjson": "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
        "c.bin": _numbers(1),
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
    [
        ("a.md", b"word " * 20_000, True),
        ("a.csv", b"1,2\n" * 20_000, False),
        ("a", b"", True),
        ("a.so", b"program\0" * 10_000, True),
        ("a.dat", _numbers(1), False),
    ],
)
def test_a_dry_run_says_which_they_are(
    run: Run, tmp_path: Path, name: str, content: bytes, shares: bool
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.json").write_bytes(b"[1]")
    said = run("pack", "--dry-run", "--archive", name, "b.json", "-o", "o.spk").stderr.decode()
    line = next(line for line in said.splitlines() if f" {name} " in line)
    assert ("in a block of files of its format" in line) is shares


def _table(seed: int) -> list[str]:
    draw = random.Random(seed)
    return [f"{n},{draw.getrandbits(60):x},{draw.getrandbits(30)}\n" for n in range(40_000)]


def _pages(seed: int) -> list[str]:
    """Text with NULs, more of it than a block has at -3."""
    draw = random.Random(seed)
    return [f"{n}\0{draw.getrandbits(200):x}" for n in range(90_000)]


@pytest.mark.parametrize(("name", "made"), [("dump.csv", _table), ("dump.bin", _pages)])
def test_copies_of_large_files_share_a_block_in_which_they_are_found(
    tmp_path: Path, name: str, made: Callable[[int], list[str]]
) -> None:
    """Each had a member of its own: the archive was three times as large."""
    draw = random.Random(10)
    lines = made(1)
    given = {}
    for day in ("mo", "tu", "we"):
        for _ in range(100):
            lines[draw.randrange(len(lines))] = f"0,{draw.getrandbits(60):x},0\n"
        given[f"{day}/{name}"] = path = tmp_path / day / name
        path.parent.mkdir()
        path.write_text("".join(lines))
    given[f"other/{name}"] = path = tmp_path / "other" / name
    path.parent.mkdir()
    path.write_text("".join(made(2)))
    data = packed({**given})
    members = serialpack.inspect(io.BytesIO(data)).members
    found = [sorted(each.path for each in member.entries or ()) for member in members]
    assert found[0] == [f"{day}/{name}" for day in ("mo", "tu", "we")]
    assert found[1] == [f"other/{name}"]
    assert members[0].packed < 1.2 * members[1].packed
    _comes_back(data, given, tmp_path)
    # Who names a size of blocks gets no larger ones.
    sized = serialpack.inspect(io.BytesIO(packed({**given}, block_size=1 << 20))).members
    assert [member.entry for member in sized[:-1]] == list(given)


def test_a_database_shares_a_block_with_its_versions(tmp_path: Path) -> None:
    """What is in a format that is known had a member of its own, though nothing is made of it."""
    given = {}
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("create table t (a, b)")
        for version in range(4):
            database.execute("delete from t where a % 50 = ?", (version,))
            rows = [(n, f"{random.Random(n).getrandbits(99):x}") for n in range(version, 8000)]
            database.executemany("insert into t values (?, ?)", rows if version == 0 else rows[:9])
            database.commit()
            path = tmp_path / f"v{version}.db"
            given[path.name] = path
            path.write_bytes((tmp_path / "a.db").read_bytes())
    data = packed({**given}, block_size=4 << 20)  # which finds no copies by what they hold
    members = serialpack.inspect(io.BytesIO(data)).members
    assert [len(member.entries or ()) for member in members] == [4, 0]
    assert len(data) < 0.5 * sum(len(packed({n: p}, block_size=4 << 20)) for n, p in given.items())
    _comes_back(data, given, tmp_path)
