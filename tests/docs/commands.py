"""Commands of the documents, as a shell runs them, without the time that starting takes."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.cli.warm import WarmCommand

#: What takes a shell: pipes, variables, several commands, patterns that are quoted.
_OF_A_SHELL = re.compile(r"[|&;<>$`~?\[]|['\"].*\*")
_ENVIRONMENT = {
    **os.environ,
    "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
}


@cache
def _command() -> WarmCommand:
    command = WarmCommand("numpy", "pyarrow.parquet", "pyarrow.compute", "yaml")
    atexit.register(command.close)
    return command


def run_command(
    words: list[str], folder: Path, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command ``serialpack`` with these words, in ``folder``."""
    return _command().run(words, stdin, folder, env or _ENVIRONMENT, timeout=100)


def run_line(line: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """A line as it stands in a document, in ``folder``."""
    name, *words = shlex.split(line)
    if name == "serialpack" and not _OF_A_SHELL.search(line):
        return run_command([each for word in words for each in _named(word, folder)], folder)
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=250,
        check=False,
    )


def _named(word: str, folder: Path) -> list[str]:
    """The files that a pattern names; the word where it names none."""
    if "*" not in word:
        return [word]
    return sorted(str(path.relative_to(folder)) for path in folder.glob(word)) or [word]
