"""Packed files that every stock reader is given."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import serialpack
from tests.cli.conftest import environment

Tool = Callable[..., subprocess.CompletedProcess[bytes]]

BLOCK = 64 << 10


class Sample(NamedTuple):
    """What was packed, and the container it is in."""

    data: bytes
    packed: Path


def ndjson(count: int) -> bytes:
    return b"".join(b'{"id":%d,"name":"n%d","ok":true}\n' % (n, n * n) for n in range(count))


def csv(count: int) -> bytes:
    return b"id,name\n" + b"".join(b"%d,n%d\n" % (n, n * n) for n in range(count))


def contents() -> dict[str, bytes]:
    noise = Random(1).randbytes(3 * BLOCK + 100)
    rows = ndjson(10_000)
    return {
        "empty": b"",
        "one byte": b"x",
        "blocks": rows,
        "stored": noise,
        "blocks and stored": rows[: 2 * BLOCK] + noise + rows,
    }


def pack(data: bytes, folder: Path, name: str, *options: str) -> Path:
    """``data`` packed by the real command; the container's path."""
    source, packed = folder / name, folder / f"{name}.spk"
    source.write_bytes(data)
    subprocess.run(
        [sys.executable, "-m", "serialpack", "pack", "-q", *options, source, "-o", packed],
        env=environment(folder),
        check=True,
    )
    return packed


RAW_ZSTD = ("-s", "raw", "-c", "zstd", "--block-size", str(BLOCK))


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    """Containers of ``-s raw -c zstd``, each a name."""
    folder = tmp_path_factory.mktemp("samples")
    made = {
        name: Sample(data, pack(data, folder, name, *RAW_ZSTD)) for name, data in contents().items()
    }
    parts = [made[name] for name in ("blocks", "empty", "stored", "one byte")]
    joined = folder / "joined.spk"
    joined.write_bytes(b"".join(part.packed.read_bytes() for part in parts))
    whole = b"".join(part.data for part in parts)
    made["joined"] = Sample(whole, joined)
    sources = [part.packed.with_suffix("") for part in parts]
    archive = folder / "archive.spk"
    command = [sys.executable, "-m", "serialpack", "pack", "-q", "--archive", *RAW_ZSTD]
    subprocess.run(
        [*command, *sources, "-o", archive], cwd=folder, env=environment(folder), check=True
    )
    # Small files share blocks, by format; each larger one comes behind them, as it was named.
    members = serialpack.inspect(archive).members
    names = [Path(entry.path).name for member in members for entry in member.entries or ()]
    told = {part.packed.with_suffix("").name: part.data for part in parts}
    assert sorted(names) == sorted(told)
    made["archive"] = Sample(b"".join(told[name] for name in names), archive)
    return made


#: The names in ``samples``.
NAMES = [*contents(), "joined", "archive"]


@pytest.fixture(params=NAMES)
def sample(request: pytest.FixtureRequest, samples: dict[str, Sample]) -> Sample:
    """Each of the samples in turn."""
    return samples[request.param]


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """``tool("zstd", "-dc", path)``: the finished process; skipped where there is no such tool."""

    def call(
        name: str, *args: str | os.PathLike[str], stdin: bytes | None = None, code: int | None = 0
    ) -> subprocess.CompletedProcess[bytes]:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"no {name} here")
        done = subprocess.run(
            [found, *(os.fspath(arg) for arg in args)],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
        assert code is None or done.returncode == code, done.stderr.decode()
        return done

    return call
