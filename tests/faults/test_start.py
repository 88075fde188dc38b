"""Ctrl-C while the program starts: it ends without a word, wherever it is in its imports."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

#: As the installed command begins; then the signal comes with the import of the n-th module, of
#: which that of signals is the first.
COMMAND = """
import os, sys, time

class Finder:
    left = int(sys.argv.pop(1))
    ours = {"serialpack", "serialpack.cli"}

    def find_spec(self, name, path=None, target=None):
        if name not in self.ours:
            Finder.left -= 1
            if not Finder.left:
                os.kill(os.getpid(), 2)
                # What a native module imports in its first steps goes on until these are done.
                end = time.monotonic() + 1
                while time.monotonic() < end:
                    pass

sys.meta_path.insert(0, Finder())
from serialpack.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize(
    ("args", "least"),
    [(("inspect", "a.json"), 6), (("inspect", "--stages"), 6), (("--version",), 0)],
)
def test_ctrl_c_at_any_import(tmp_path: Path, args: tuple[str, ...], least: int) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')

    def run(number: int) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-c", COMMAND, str(number), *args],
            capture_output=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )

    usual, ended = run(-1).stdout, 0
    for number in (1, 2, 3, 4, 6, 9, 14, 22, 35, 60, 100, 160, 250):
        done = run(number)
        assert done.stderr == b"", number
        if done.returncode == 0:  # there are not so many
            break
        assert done.returncode in (-signal.SIGINT, 128 + signal.SIGINT), number
        assert done.stdout in (b"", usual), number
        ended += 1
    assert ended > least


#: All is done before the look that waits for the end of a native module's first steps.
LATE = """
import os, signal, sys
from serialpack.cli import app, signals

signals._loads_native = lambda _: True
app._answer = lambda _: os.kill(os.getpid(), signal.SIGINT) or 0
code = app.run([])
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.sigtimedwait([], 0.1)
os._exit(code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sigtimedwait is not everywhere")
def test_ctrl_c_at_the_very_end() -> None:
    """The timer of that look ended Python's own ending, as of an alarm."""
    done = subprocess.run([sys.executable, "-c", LATE], timeout=60, check=False)
    assert done.returncode == 128 + signal.SIGINT


#: The command, in which the signal comes with the n-th call that Python makes, in C or its own,
#: from the first line of ``main`` on to the end of the process.
ANY_CALL = """
import os, sys
from serialpack.cli import main

left = int(sys.argv.pop(1))

def count(frame, event, what):
    global left
    if event in ("call", "c_call", "return"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 2)

sys.setprofile(count)
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize(
    "args", [("--version",), ("--help",), ("pack", "none"), ("pack", "a.json")]
)
def test_ctrl_c_at_any_call(tmp_path: Path, args: tuple[str, ...]) -> None:
    """From the first to the last: also while an error is told, and when all is done."""
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')

    def run(number: int) -> subprocess.CompletedProcess[bytes]:
        (tmp_path / "a.json.spk").unlink(missing_ok=True)
        return subprocess.run(
            [sys.executable, "-c", ANY_CALL, str(number), *args],
            capture_output=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )

    usual = run(-1)
    number, broken_off = 2, 0  # the first is that of main
    while True:
        done = run(number)
        if done.returncode not in (-signal.SIGINT, 128 + signal.SIGINT):
            assert done.returncode == usual.returncode, number
            break
        assert done.stderr in (b"", usual.stderr), number
        assert not list(tmp_path.glob(".serialpack-*")), number
        broken_off += 1
        number += max(1, number // 4)
    assert broken_off > 3
