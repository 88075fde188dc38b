"""Measures how much memory a piece of work takes, and limits it. Only on Linux; elsewhere None."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from serialpack.libc import of_libc

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class PeakMemory:
    """The most memory that this process takes from now on until ``peak`` is called, above what it
    takes now.

    The kernel keeps the peak of the resident size (VmHWM, proc(5)), which is set back by writing 5
    to clear_refs. What the C library holds in reserve is given back first.
    """

    def __init__(self) -> None:
        _trim()
        self._before = None
        with suppress(OSError):
            _RESET.write_text("5", "ascii")
            self._before = _status("VmRSS")

    def peak(self) -> int | None:
        """The bytes; None where the system does not tell."""
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
    """Bytes that this process has, by the name of a line in its status."""
    return _kilobytes(_STATUS, name)


def available() -> int | None:
    """The bytes that programs may still take on this machine; None where it does not tell."""
    return _kilobytes(Path("/proc/meminfo"), "MemAvailable")


def total() -> int:
    """The bytes of memory of this machine; 0 where it does not tell."""
    return _kilobytes(Path("/proc/meminfo"), "MemTotal") or 0


def _kilobytes(path: Path, name: str) -> int | None:
    """The bytes that the line ``name`` of such a file has in kB;
    None without the file or the line."""
    try:
        lines = path.read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    found = next((line for line in lines if line.startswith(f"{name}:")), None)
    return None if found is None else int(found.split()[1]) * 1024


def limit_memory(most: int) -> None:
    """Let this process take at most ``most`` bytes beside those that it has: so it gets a
    MemoryError before the machine has no memory left."""
    if sys.platform != "linux":
        return
    import resource

    mapped = _status("VmSize")
    if mapped is not None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (mapped + most, mapped + most))
