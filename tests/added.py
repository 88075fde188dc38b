"""A copy of the package to which one file and one line are added, and what is run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class House(NamedTuple):
    """A copy of the package, of what is made from it, and of its tests."""

    folder: Path

    def run(
        self, *args: str, cwd: Path, module: str = "serialpack", data: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """A module of the copy, as a process; the first one compiles for all."""
        return subprocess.run(
            [sys.executable, "-m", module, *args],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True,
            input=data,
        )

    def done(self, *args: str, cwd: Path, module: str = "serialpack", data: bytes = b"") -> bytes:
        """The output of one that must not fail."""
        result = self.run(*args, cwd=cwd, module=module, data=data)
        assert result.returncode == 0, (result.stdout + result.stderr).decode()
        return result.stdout

    def add(self, file: str, text: str, registry: str, head: str, line: str) -> None:
        """A file, and a line behind ``head`` in the registry."""
        (self.folder / file).write_text(text, "utf-8")
        path = self.folder / registry
        before = path.read_text("utf-8")
        assert before.count(head) == 1
        path.write_text(before.replace(head, f"{head}\n    {line},"), "utf-8")

    def generate(self) -> None:
        """Make man pages and completions anew."""
        for folder in ("man", "completions"):
            (self.folder / folder).mkdir(exist_ok=True)
        self.done(module="tools.generate", cwd=self.folder)

    def text(self, path: str) -> str:
        return (self.folder / path).read_text("utf-8")

    def shared_tests_pass(self, name: str, *suites: str) -> bool:
        """Whether the shared tests try what is called ``name``, and it passes all of them."""
        options = "-q", "-p", "no:cacheprovider", "-k", name
        result = self.run(*suites, *options, module="pytest", cwd=self.folder)
        passed = result.returncode == 0 and b" passed" in result.stdout
        assert passed, (result.stdout + result.stderr).decode()
        return passed


def copied(folder: Path) -> House:
    """A copy in ``folder``, with what is compiled already."""
    for part in ("serialpack", "tools", "tests"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return House(folder)
