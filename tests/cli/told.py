"""What the command tells, and where its tests can run."""

from __future__ import annotations

import os
import sys

import pytest

needs_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes and devices")
not_root = pytest.mark.skipif(
    sys.platform != "linux" and hasattr(os, "geteuid") and os.geteuid() == 0,
    reason="root may read and write anything",
)


def lines(stderr: bytes) -> list[str]:
    return stderr.decode().splitlines()
