"""A fault at every system call.

INV: the output path holds what it held before or the whole new file; exit 0 only with the latter;
the source is untouched unless the new file is whole; one line on standard error.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

import serialpack
from tests.faults.conftest import COMMAND, hidden
from tests.faults.disk import injecting, traced
from tests.noise import noise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX limits, mounts and users")


CALLS = {
    "write": ("write", ["error=ENOSPC", "error=EIO", "error=EINTR"]),
    "fsync": ("fsync", ["error=EIO", "error=ENOSPC"]),
    "openat": ("openat", ["error=ENOSPC", "error=EIO", "error=EMFILE"]),
    "link": ("link,linkat,rename,renameat,renameat2", ["error=EIO", "error=ENOSPC"]),
    "unlink": ("unlink,unlinkat", ["error=EIO"]),
    "close": ("close", ["error=EIO", "error=EINTR"]),
    "fchmod": ("fchmod", ["error=EIO"]),
    "utime": ("utimensat", ["error=EIO"]),
    "read": ("read", ["error=EIO"]),
    "fstat": ("fstat,newfstatat,lstat,stat", ["error=EIO"]),
}
KILLS = ["signal=KILL", "signal=INT", "signal=TERM"]


def touched(strace: list[str], call: str, args: list[str | Path], needle: Path) -> range:
    """Which calls (counted from 1, as strace does) come after the first that names ``needle``."""
    with tempfile.NamedTemporaryFile("r") as log:
        command = [strace[0], "-f", "-qq", "-o", log.name, "-e", f"trace={call},openat"]
        subprocess.run([*command, *COMMAND, *args], capture_output=True, check=True)
        names = call.split(",")
        count = first = 0
        for line in log:
            found = re.match(r"\d+\s+(\w+)\(", line)
            if found is None:
                continue
            count += found[1] in names
            if not first and f'"{needle}"' in line and found[1] == "openat":
                first = max(count, 1)
        return range(first, count + 1)


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("old", [False, True], ids=["new", "over an old one"])
@pytest.mark.parametrize("name", CALLS)
def test_a_fault_at_every_call_after_the_source_was_opened(
    tmp_path: Path, name: str, old: bool
) -> None:
    """Each call fails in turn, and each is the last before SIGKILL, SIGINT, SIGTERM: INV."""
    call, faults = CALLS[name]
    strace = traced()
    source, output, data = tmp_path / "source", tmp_path / "out", noise(1000)
    args: list[str | Path] = ["pack", "-q", "-j", "1", "--rm", source, "-o", output]
    args += ["-f"] if old else []
    source.write_bytes(data)
    if old:
        output.write_bytes(b"old")
    points = touched(strace, call, args, source)
    assert points, "nothing to break"
    for fault in [*faults, *KILLS]:
        for when in points:
            point = f"{call} {fault} {when}"
            source.write_bytes(data)
            output.unlink(missing_ok=True)
            if old:
                output.write_bytes(b"old")
            done = subprocess.run(
                [*injecting(call, f"{fault}:when={when}"), *COMMAND, *args],
                capture_output=True,
                timeout=60,
                check=False,
            )
            holds = output.read_bytes() if output.exists() else None
            if holds != (b"old" if old else None):
                again = io.BytesIO()
                serialpack.unpack(output, again)
                assert again.getvalue() == data, point
                whole = True
            else:
                whole = False
            said = done.stderr.decode()
            if done.returncode == 0:
                assert whole, point
            if not source.exists():
                assert whole, point
            else:
                assert source.read_bytes() == data, point
            left = hidden(tmp_path)
            assert len(left) <= 1, point
            if "KILL" not in fault and name != "unlink":
                assert not left, (point, done.returncode, said)
            if "signal" not in fault:
                assert done.returncode in (0, 1, 3), (point, done.returncode, said)
            if fault == "signal=INT":
                assert done.returncode in (0, 130), (point, done.returncode, said)
            assert "Traceback" not in said, (point, said)
            assert len(said.splitlines()) <= 1, (point, said)
            for path in left:
                path.unlink()
