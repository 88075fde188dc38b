"""Code that runs in a process before the program does: faults that nothing outside can make."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def injected(folder: Path, code: str) -> dict[str, str]:
    """The environment of a process in which Python runs ``code`` first, out of a new ``folder``."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))}
