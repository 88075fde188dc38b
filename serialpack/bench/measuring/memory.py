"""Measures how much memory a piece of work takes (on Linux; elsewhere None), and limits it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from serialpack.libc import of_libc

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class PeakMemory:
    """The most bytes that this process takes between making it and ``peak()``, above those before.

    The kernel keeps the peak of the resident size (VmHWM, proc(5)); to write 5 to clear_refs resets
    it. Free memory that the C library keeps is returned to the system before.
    """

    def __init__(self) -> None:
        _trim()
        self._before = None
        with suppress(OSError):
            _RESET.write_text("5", "ascii")
            self._before = _status("VmRSS")

    def peak(self) -> int | None:
        """Bytes; None where this system does not tell."""
        most = _status("VmHWM")
        if most is None or self._before is None:
            return None
        return max(most - self._before, 0)


def _trim() -> None:
    """Have glibc give back what it holds in reserve."""
    trim = of_libc("malloc_trim", "c_size_t")
    if trim is not None:
        trim(0)


def _status(name: str) -> int | None:
    return _kilobytes(_STATUS, name)


def available() -> int | None:
    """Bytes that programs may still take on this machine; None where it does not tell."""
    return _kilobytes(Path("/proc/meminfo"), "MemAvailable")


def total() -> int:
    """Bytes of memory of this machine; 0 where it does not tell."""
    return _kilobytes(Path("/proc/meminfo"), "MemTotal") or 0


def _kilobytes(path: Path, name: str) -> int | None:
    try:
        lines = path.read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    found = next((line for line in lines if line.startswith(f"{name}:")), None)
    return None if found is None else int(found.split()[1]) * 1024


def limit_memory(most: int) -> None:
    """Let this process take ``most`` bytes more than it has: it fails before the machine does."""
    if sys.platform != "linux":
        return
    import resource

    mapped = _status("VmSize")
    if mapped is not None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (mapped + most, mapped + most))
