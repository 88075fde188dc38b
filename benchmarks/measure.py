"""Commands measured side by side: A B A B ..., so that both meet the same machine.

    python -m benchmarks.measure -n 5 'zstd -T2 -3 -c FILE' 'serialpack pack -s raw -o - FILE'

Standard output goes through a pipe that is read to its end, as a user's would be. The clock runs
from before the start of a command until it has ended. POSIX only.

Memory is the peak resident size that the kernel gives to whoever waits (wait4). It counts from
before exec, so no figure is below this process's own: it imports little and holds nothing.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter
from typing import IO, NamedTuple

#: ru_maxrss is in KiB on Linux, in bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024

#: PR_SET_CHILD_SUBREAPER of linux/prctl.h.
_SUBREAPER = 36


class Step(NamedTuple):
    """A command. ``feed``: another whose output it reads; ``discard``: its own to /dev/null;
    ``into``: its own to this file."""

    argv: Sequence[str]
    feed: Sequence[str] = ()
    discard: bool = False
    into: str = ""

    def __str__(self) -> str:
        text = shlex.join(self.argv)
        if self.feed:
            text = f"{shlex.join(self.feed)} | {text}"
        target = os.devnull if self.discard else shlex.quote(self.into) if self.into else ""
        return f"{text} > {target}" if target else text


class Run(NamedTuple):
    """One run. ``output``: bytes it wrote to its pipe or file; ``read``: bytes it asked of the
    kernel in read calls (Linux, else None). ``cpu``: seconds of all processors, also those of
    processes that it started; elsewhere than on Linux, and waited for."""

    seconds: float
    peak: int
    output: int
    read: int | None
    cpu: float = 0.0


class Figure(NamedTuple):
    """Several runs of one command."""

    runs: tuple[Run, ...]

    @property
    def median(self) -> float:
        return median(r.seconds for r in self.runs)

    @property
    def min(self) -> float:
        return min(r.seconds for r in self.runs)

    @property
    def cpu(self) -> float:
        return median(r.cpu for r in self.runs)

    @property
    def peak(self) -> int:
        return max(r.peak for r in self.runs)

    @property
    def output(self) -> int:
        return self.runs[0].output

    @property
    def read(self) -> int | None:
        return self.runs[0].read


def run(step: Step, peaks: dict[int, int] | None = None) -> Run:
    """Run a command to its end; RuntimeError where it fails.

    ``peaks`` gets the peak resident bytes of each of its processes, by pid (Linux only).
    """
    _adopt()
    with ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        into = stack.enter_context(Path(step.into).open("wb")) if step.into else None
        started = perf_counter()
        feeder = subprocess.Popen(step.feed, stdout=subprocess.PIPE) if step.feed else None
        process = subprocess.Popen(
            step.argv,
            stdin=feeder.stdout if feeder else subprocess.DEVNULL,
            stdout=into or (subprocess.DEVNULL if step.discard else subprocess.PIPE),
            stderr=errors,
            start_new_session=True,  # which tells what it leaves behind
        )
        stack.callback(_end, process)
        if feeder and feeder.stdout:
            feeder.stdout.close()
        with nullcontext() if peaks is None else _watched(process.pid, peaks):
            output = _drain(process.stdout) if process.stdout else 0
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            seconds = perf_counter() - started
        if step.into:
            output = Path(step.into).stat().st_size
        read = _read_chars(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if feeder:
            feeder.wait()
        cpu = usage.ru_utime + usage.ru_stime
        for pid in _children(os.getpid()):
            if _session(pid) == process.pid:
                _, _, usage_left = os.wait4(pid, 0)
                cpu += usage_left.ru_utime + usage_left.ru_stime
        if process.returncode or (feeder and feeder.returncode):
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            raise RuntimeError(f"exit {process.returncode}: {step}\n{said}")
    return Run(seconds, usage.ru_maxrss * _RSS_UNIT, output, read, cpu)


def alternate(steps: Mapping[str, Step], times: int) -> dict[str, Figure]:
    """Every command once, then every command again, ``times`` times."""
    runs: dict[str, list[Run]] = {name: [] for name in steps}
    for _ in range(times):
        for name, step in steps.items():
            runs[name].append(run(step))
    return {name: Figure(tuple(r)) for name, r in runs.items()}


def _drain(pipe: IO[bytes]) -> int:
    total = 0
    with pipe:
        buffer = memoryview(bytearray(1 << 18))
        while count := os.readv(pipe.fileno(), [buffer]):
            total += count
    return total


@contextmanager
def _watched(pid: int, peaks: dict[int, int]) -> Iterator[None]:
    """Ask for the peak (VmHWM) of a process and its descendants every few milliseconds."""
    done = Event()

    def watch() -> None:
        while not done.wait(0.005):
            for each in _family(pid):
                peaks[each] = max(peaks.get(each, 0), _peak(each))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants, as far as they are there."""
    yield pid
    for child in _children(pid):
        yield from _family(child)


def _children(pid: int) -> Iterator[int]:
    """Those of a process, on Linux, as far as they are there."""
    with suppress(OSError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            yield from map(int, children.read_text().split())


def _session(pid: int) -> int | None:
    with suppress(OSError):  # it is gone
        return os.getsid(pid)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a command that nobody waits for any more: Ctrl-C does not reach its session."""
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _adopt() -> None:
    """Become the parent of what a child of this process started and did not wait for: a subreaper
    (prctl(2), Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)


def _peak(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


def _read_chars(pid: int) -> int | None:
    """rchar of a process that has ended and is not yet waited for."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/io").read_text().splitlines():
            if line.startswith("rchar:"):
                return int(line.split()[1])
    return None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--discard", action="store_true", help="output to /dev/null, no pipe")
    parser.add_argument("commands", nargs="+")
    chosen = parser.parse_args()
    steps = {c: Step(shlex.split(c), discard=chosen.discard) for c in chosen.commands}
    figures = alternate(steps, chosen.n)
    first = figures[chosen.commands[0]]
    print("median s     min s  times as fast  peak MB      output  command")
    for command, f in figures.items():
        print(
            f"{f.median:8.3f} {f.min:9.3f} {first.median / f.median:14.2f} "
            f"{f.peak / 1e6:8.0f} {f.output:11d}  {command}"
        )


if __name__ == "__main__":
    main()
