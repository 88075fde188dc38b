"""Runs the real command in a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: What the user's own machine sets must not reach the tests.
_OWN = ("SERIALPACK_", "NO_COLOR", "COLUMNS", "TERM", "XDG_CONFIG_HOME")


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OWN)}
    return {**kept, "HOME": str(home), "TERM": "xterm", **more}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """``run("pack", "x", stdin=b"", code=0)``: the finished process, its exit code checked.

    Whatever happens, there is no traceback, and an error is one line on standard error.
    """
    home = tmp_path / "home"
    home.mkdir()

    def call(
        *args: str | os.PathLike[str],
        stdin: bytes = b"",
        code: int = 0,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [sys.executable, "-m", "serialpack", *(os.fspath(a) for a in args)],
            input=stdin,
            capture_output=True,
            cwd=cwd or tmp_path,
            env=environment(home, **(env or {})),
            timeout=120,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        assert b"internal error" not in done.stderr, done.stderr.decode()
        assert done.returncode == code, (done.returncode, done.stderr.decode())
        if code:
            assert b"serialpack: " in done.stderr, done.stderr
        return done

    return call


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A small NDJSON file."""
    path = tmp_path / "sample.ndjson"
    path.write_bytes(
        b"".join(b'{"id":%d,"name":"n%d","ok":true}\n' % (n, n * n) for n in range(1000))
    )
    return path
