"""A command whose memory is limited, in a process of its own.

Python says it when memory is refused. Not every library does: msgspec writes to the address that
it did not get (``PyUnicode_New`` and ``_PyBytes_Resize`` unchecked, 0.22), Rust's and Arrow's
abort. That ends the process that they are in, so the command runs in a child, whose death is an
error like any other. Nothing is done where memory is not refused but the largest process killed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from serialpack.broken import UNMAPPED
from serialpack.cli.signals import SIGNALS
from serialpack.errors import FileError

#: How a process ends in which memory was refused to a library that did not look.
_CRASHES = [
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGTRAP")
    if hasattr(signal, name)
]
#: The exit code of a child that could not say that memory was refused.
_UNSAID = 254

#: How Python says that there is no thread, and where no memory is refused, what to do.
_NO_THREAD = "can't start new thread"
_FEWER_THREADS = "ulimit -u says how many are permitted, and -j 1 takes fewer"

#: How threads, locks, the loader and zstd say that there is no memory left.
_NO_MEMORY = (
    _NO_THREAD,
    "can't allocate",
    "cannot allocate",
    UNMAPPED,
    "not enough memory",
)


def of_limit(error: Exception) -> FileError | None:
    """The error for ``error`` where it came of memory that was refused, whoever says it, or of
    threads; None where it did not."""
    if _NO_THREAD in str(error) and not is_limited():
        return FileError("no more threads can be started", hint=_FEWER_THREADS)
    if not _is_of_memory(error):
        return None
    from serialpack.cli.words import LESS_MEMORY

    return FileError("out of memory", hint=LESS_MEMORY)


def _is_of_memory(error: Exception) -> bool:
    said = str(error).lower()
    if isinstance(error, MemoryError) or any(words in said for words in _NO_MEMORY):
        return True
    # What Python says where code in C fails and does not say why.
    return "without exception set" in said and is_limited()


def is_limited() -> bool:
    """Whether memory may be refused to this process: by a limit, or by a system that promises
    no more of it than it has."""
    if not hasattr(os, "fork"):
        return False
    import resource

    for name in ("RLIMIT_AS", "RLIMIT_DATA"):
        if resource.getrlimit(getattr(resource, name))[0] != resource.RLIM_INFINITY:
            return True
    try:
        with open("/proc/sys/vm/overcommit_memory", "rb") as file:
            return file.read(1) == b"2"
    except OSError:
        return False


def guarded(work: Callable[[], int]) -> int:
    """The exit code of ``work``, which is done in a child; never returns in that.

    The hidden files that it leaves are removed, whatever its end is.
    """
    from serialpack import hidden

    ledger = hidden.begin_ledger()
    ended, at_end = os.pipe()
    child = os.fork()
    if child == 0:
        _end_with_parent()
        _silence_libraries()
        try:
            code = work()
        except MemoryError:  # there was none left to say so
            code = _UNSAID
        except BaseException as error:
            # A library in Rust that did not get memory, and goes on in Python: a panic.
            if type(error).__name__ != "PanicException":
                raise
            code = _UNSAID
        _exit(code, at_end)
    os.set_blocking(ended, False)

    def forward(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        with suppress(ProcessLookupError):  # it has ended, and its code is being looked at
            os.kill(child, number)

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, forward)
    _, status = os.waitpid(child, 0)
    hidden.remove_left(ledger)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0 and not _is_marked(ended):
        code = _UNSAID
    if code != _UNSAID and -code not in _CRASHES:
        return code if code >= 0 else 128 - code
    from serialpack.cli.words import LESS_MEMORY, complain

    how = "" if code == _UNSAID else f" ({signal.Signals(-code).name})"
    complain(f"out of memory{how}; {LESS_MEMORY}")
    return 1


def _end_with_parent() -> None:
    """A parent that is killed can forward nothing: its child goes with it (Linux)."""
    if sys.platform == "linux":
        from serialpack.libc import of_libc

        control = of_libc("prctl", "c_int", "c_ulong")
        if control is not None:
            control(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _silence_libraries() -> None:
    """Standard error is where ``sys.stderr`` writes, and nobody else."""
    stream = sys.stderr
    if stream is sys.__stderr__ and stream is not None:
        with suppress(OSError, ValueError):
            stream.flush()
            own = os.dup(2)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)
            os.close(nowhere)
            sys.stderr = open(own, "w", encoding=stream.encoding, buffering=1)  # noqa: SIM115
    # Rust's library waits for itself for ever where the memory for a backtrace is refused, too.
    os.environ["RUST_BACKTRACE"] = "0"
    # What cannot be raised is an error of memory here. A function that needs none to be called.
    sys.unraisablehook = callable


def _is_marked(ended: int) -> bool:
    """Whether the child came to its own end, and was not ended by a library."""
    with suppress(BlockingIOError):
        return os.read(ended, 1) != b""
    return False


def _exit(code: int, at_end: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os.write(at_end, b".")
    os._exit(code)
