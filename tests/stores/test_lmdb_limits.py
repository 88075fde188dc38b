"""LMDB maps its file: what the system does where the file ends, or addresses do, is one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import serialpack
from tests.cli.conftest import environment
from tests.faults.disk import limited
from tests.noise import noise

pytest.importorskip("lmdb")


@pytest.fixture
def url(tmp_path: Path) -> str:
    with serialpack.store(f"lmdb://{tmp_path}/s.lmdb") as store:
        store.update({f"key {n}": noise(3000, n) for n in range(40)})
    return f"lmdb://{tmp_path}/s.lmdb"


def command(tmp_path: Path, *args: str, before: tuple[str, ...] = ()) -> tuple[int, str]:
    done = subprocess.run(
        [*before, sys.executable, "-m", "serialpack", *args],
        capture_output=True,
        cwd=tmp_path,
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("size", [8192, 50_000])
def test_a_file_that_ends_too_early_is_told(tmp_path: Path, url: str, size: int) -> None:
    """The system ended the command, which had said nothing."""
    with (tmp_path / "s.lmdb").open("r+b") as file:
        file.truncate(size)
    said = f"serialpack: {url}: truncated: ends at byte {size:,}; get the file again\n"
    assert command(tmp_path, "unpack", url, "--to", "msgpack", "-o", "out") == (3, said)
    assert not (tmp_path / "out").exists()
    with pytest.raises(serialpack.TruncatedError):
        serialpack.store(url)


def test_pages_that_nobody_uses_may_be_missing(tmp_path: Path, url: str) -> None:
    """The last pages of the file are free, and cut off: all values are there."""
    with serialpack.store(url) as store:
        kept = {key: store[key] for key in list(store)[:5]}
        for key in list(store)[5:]:
            del store[key]
    path = tmp_path / "s.lmdb"
    size = path.stat().st_size
    for cut in range(4096, size, 4096):
        with path.open("r+b") as file:
            file.truncate(size - cut)
        try:
            with serialpack.store(url) as store:
                assert dict(store) == kept
        except serialpack.TruncatedError:
            break
    assert cut > 4096


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses")
def test_few_addresses_are_enough_to_read(tmp_path: Path, url: str) -> None:
    few = (*limited("-v 900000"),)
    assert command(tmp_path, "unpack", url, "--get", "key 1", "-o", "out", before=few)[0] == 0
    (tmp_path / "a.json").write_bytes(b"[1]")
    code, said = command(tmp_path, "unpack", "a.json", "-o", "lmdb://b.lmdb", before=few)
    assert code == 1
    assert said.endswith(
        "Cannot allocate memory; it takes 1 GiB of addresses to write, which ulimit -v limits;"
        " sqlite-kv:// takes few\n"
    )
    assert command(tmp_path, "unpack", "a.json", "-o", "sqlite-kv://b.db", before=few)[0] == 0
