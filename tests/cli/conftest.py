"""Runs the real command in a process of its own."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgpack
import pytest

from tests.cli.warm import WarmCommand

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: The records of ``inputs``.
FIRST = [{"n": n, "s": f"a{n}"} for n in range(3)]
SECOND = [{"n": n, "s": f"b\n,{n}"} for n in range(2)]

#: What the user's own machine sets must not reach the tests.
_OWN = ("SERIALPACK_", "NO_COLOR", "COLUMNS", "TERM", "XDG_CONFIG_HOME")

#: What Python asks the environment when it starts.
_AT_START = ("PYTHON", "LANG", "LC_")


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OWN)}
    return {**kept, "HOME": str(home), "TERM": "xterm", **more}


@cache
def warm_command() -> WarmCommand:
    command = WarmCommand()
    atexit.register(command.close)
    return command


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
        words = [os.fsdecode(arg) for arg in args]
        folder, variables = cwd or tmp_path, environment(home, **(env or {}))
        if env and any(name.startswith(_AT_START) for name in env):
            done = subprocess.run(
                [sys.executable, "-m", "serialpack", *words],
                input=stdin,
                capture_output=True,
                cwd=folder,
                env=variables,
                timeout=120,
                check=False,
            )
        else:
            done = warm_command().run(words, stdin, folder, variables, timeout=120)
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


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """Records in two formats, the first without a newline at its end."""
    (tmp_path / "a.ndjson").write_bytes(b"\n".join(json.dumps(r).encode() for r in FIRST))
    (tmp_path / "b.msgpack").write_bytes(b"".join(map(msgpack.packb, SECOND)))
    return ["a.ndjson", "b.msgpack"]
