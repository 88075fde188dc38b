"""Environments of their own for peers from the package index, in the cache folder.

What cannot be installed, without a network or a wheel for this machine, is absent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

from benchmarks.data import cache_folder

_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def environment(
    folder: str, packages: Iterable[str], *, install: bool
) -> tuple[Path, dict[str, str]]:
    """Its Python, and the versions of those of ``packages`` (distributions) that are in it.

    ``install``: make it where it is not there, and install what is not in it.
    """
    home = cache_folder() / folder
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if install and not python.exists():
        print(f"making {home}", file=sys.stderr, flush=True)
        venv.create(home, with_pip=True, symlinks=os.name != "nt")
    if not python.exists():
        return python, {}
    packages = list(packages)
    found = _installed(python, packages)
    for name in packages if install else ():
        if name not in found:
            print(f"installing {name}", file=sys.stderr, flush=True)
            pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
            subprocess.run([*pip, "--only-binary", ":all:", name], stdout=sys.stderr, check=False)
    return python, _installed(python, packages)


def _installed(python: Path, packages: list[str]) -> dict[str, str]:
    said = subprocess.run(
        [python, "-c", _VERSIONS, *packages], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, str] = json.loads(said)
    return found
