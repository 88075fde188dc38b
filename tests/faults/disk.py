"""The command under limits and under strace, which breaks its system calls."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def limited(limit: str) -> list[str]:
    """The command under ``ulimit limit``."""
    return ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"]


def traced(*options: str) -> list[str]:
    """The command under strace; skipped where that cannot be."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("no strace here")
    if subprocess.run([strace, "-qq", "-o", "/dev/null", "true"], check=False).returncode:
        pytest.skip("strace may not trace here")
    return [strace, "-f", "-qq", "-o", "/dev/null", *options]


def injecting(call: str, fault: str, *options: str) -> list[str]:
    return traced("-e", f"trace={call}", "-e", f"inject={call}:{fault}", *options)
