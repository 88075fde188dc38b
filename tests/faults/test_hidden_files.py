"""A signal at the moment in which a hidden file is there, and nothing yet that would remove it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.faults.conftest import Start, finish, hidden
from tests.injected import HIDDEN, injected

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="looks for hidden files through /proc"
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_a_file_that_was_just_made_is_removed(
    start: Start, source: Path, tmp_path: Path, number: signal.Signals
) -> None:
    made = tmp_path / "made"
    env = injected(
        tmp_path / "just",
        f"{HIDDEN}"
        "real = os.open\n"
        "def opened(path, flags, *mode, **more):\n"
        "    fd = real(path, flags, *mode, **more)\n"
        "    if flags & os.O_CREAT and '.serialpack-' in str(path):\n"
        f"        os.close(real({str(made)!r}, os.O_CREAT))\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "    return fd\n"
        "os.open = opened\n",
    )
    process = start("pack", source, "-o", tmp_path / "out", env=env)
    assert finish(process, 128 + number) == ""
    assert made.exists()
    assert not hidden(tmp_path)
