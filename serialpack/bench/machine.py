"""Describes this machine, for people who read its figures elsewhere."""

from __future__ import annotations

import platform
from pathlib import Path

from serialpack._version import __version__
from serialpack.bench.measuring.memory import total
from serialpack.bench.results import Machine
from serialpack.pipeline.workers import usable_cores


def this_machine() -> Machine:
    """This machine, but not its name."""
    return Machine(
        cpu=_cpu(),
        cores=usable_cores(),
        memory=total(),
        system=f"{platform.system()} {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        serialpack=__version__,
    )


def _cpu() -> str:
    """The name of the processor; empty where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor()
    found = next((line for line in lines if line.startswith("model name")), None)
    return found.partition(":")[2].strip() if found else platform.processor()
