"""What the command does with URLs beside packing and unpacking."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.far.conftest import RECORDS
from tests.far.server import FileServer


def test_bench_takes_a_url(server: FileServer, run: Run, tmp_path: Path) -> None:
    """It is read once, and known by its name."""
    server.files["some.csv"] = b"id,name\n" + b"".join(b"%d,n%d\n" % (n, n) for n in range(500))
    args = ["--budget", "0.05", "-s", "raw", "-c", "zlib"]
    done = run("bench", server.url("some.csv"), *args)
    assert b"csv" in done.stdout
    assert b"what the URL gave was kept in a temporary file" in done.stdout
    assert sum(each.sent for each in server.asked) == len(server.files["some.csv"])
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    none = run("bench", server.url("none.csv"), *args, code=1).stderr
    assert none.count(b"\n") == 1
    assert b"the server answers 404" in none
    several = run("bench", server.url("some.csv"), server.url("records.ndjson"), *args, code=1)
    assert several.stderr.count(b"bench takes a URL alone") == 1


def test_salvage_takes_a_url(server: FileServer, run: Run, tmp_path: Path) -> None:
    damaged = bytearray(server.files["records.spk"])
    damaged[len(damaged) // 2] ^= 1
    server.files["damaged.spk"] = bytes(damaged)
    done = run("unpack", "--salvage", server.url("damaged.spk"), code=3)
    left = (tmp_path / "damaged").read_bytes()
    assert done.stderr.count(b"\n") == 2
    assert b"lost: block" in done.stderr
    assert {*left.splitlines()} < {*RECORDS.splitlines()}
    assert len(left) > 0.9 * len(RECORDS)


@pytest.mark.parametrize("url", ["s3://bucket/log", "http://127.0.0.1:1/log", "memory://log"])
def test_a_journal_is_here(server: FileServer, run: Run, url: str, tmp_path: Path) -> None:
    done = run("pack", server.url("records.ndjson"), "--journal", url, code=2)
    assert done.stderr.count(b"\n") == 1
    assert b"lines are added to it, which no URL takes; name a file on a disk" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
