"""Spares the command pandas, which pyarrow would import where nobody has an object of it.

Before pyarrow makes its first array it imports pandas, where that is installed, to know its
objects: half of what it takes to convert a short file. It asks once in a process. So only the
command, which is alone in its process, may answer that there is none: others may use both.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

#: Whether this process is the command, and has no object of pandas so far.
_left_out = False


class _Absent:
    """Finds no pandas, as where it is not installed."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(f"no module named {name!r}", name=name)


def leave_pandas_out(*, leave: bool = True) -> None:
    """Note that this process is the command, which makes objects of pandas only behind
    ``know_pandas``."""
    global _left_out
    _left_out = leave


def spare_pandas(pyarrow: Any) -> None:
    """Let pyarrow make arrays without pandas, where this is a command that has loaded none."""
    shim = getattr(pyarrow.lib, "_pandas_api", None)
    if not _left_out or shim is None or "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _Absent)
    try:
        _ = shim.have_pandas
    finally:
        sys.meta_path.remove(_Absent)


def know_pandas() -> None:
    """Let pyarrow know pandas' objects, before there is one."""
    pyarrow = sys.modules.get("pyarrow")
    if _left_out and pyarrow is not None:
        with suppress(ImportError, AttributeError):
            _ = pyarrow.lib._pandas_api.pd
