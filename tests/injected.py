"""Code that runs in a process before the program does: faults that nothing outside can make."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: A system that knows no files without a name, so that outputs are hidden ones until they have it.
HIDDEN = "import os\nos.__dict__.pop('O_TMPFILE', None)\n"


def has_unnamed(folder: Path) -> bool:
    """Whether outputs in ``folder`` are files without a name until they have it."""
    try:
        os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE))
    except (AttributeError, OSError):
        return False
    return Path("/proc/self/fd").exists()


def injected(folder: Path, code: str) -> dict[str, str]:
    """The environment of a process in which Python runs ``code`` first, out of a new ``folder``."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))}


def powerless(folder: Path) -> dict[str, str]:
    """The environment of a process that may do no more to files than whom they belong to, also
    where root starts it, on Linux: what goes beyond are capabilities(7)."""
    code = (
        "import ctypes, os\n"
        "if os.geteuid() == 0:\n"
        "    version = (ctypes.c_uint32 * 2)(0x20080522, 0)\n"
        "    assert ctypes.CDLL(None).capset(version, (ctypes.c_uint32 * 6)()) == 0\n"
    )
    return injected(folder, code)
