"""Ctrl-C while the program starts: it ends without a word, wherever it is in its imports."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

#: As the installed command begins; then the signal comes with the import of the n-th module.
COMMAND = """
import os, re, signal, sys

class Finder:
    left = int(sys.argv.pop(1))
    ours = {"__future__", "serialpack", "serialpack._version", "serialpack.cli"}

    def find_spec(self, name, path=None, target=None):
        if name not in self.ours:
            Finder.left -= 1
            if not Finder.left:
                os.kill(os.getpid(), signal.SIGINT)
                while True:
                    pass

sys.meta_path.insert(0, Finder())
from serialpack.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_at_any_import(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')
    ended = 0
    for number in (1, 2, 3, 4, 6, 9, 14, 22, 35, 60, 100, 160, 250):
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, str(number), "inspect", "a.json"],
            capture_output=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
        assert done.stderr == b"", number
        if done.returncode == 0:  # there are not so many
            break
        assert done.returncode in (-signal.SIGINT, 128 + signal.SIGINT), number
        assert done.stdout == b""
        ended += 1
    assert ended > 6
