"""Signals that ask the command to end: answered once, and with the exit code that tells of it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from serialpack.hidden import remove_hidden

#: Seconds after which a signal that came while a native module was loaded is answered, if it is.
_GLANCE = 0.01

#: A signal that is not answered yet.
_late: set[int] = set()

#: The signal that was answered with Stopped.
_answered: set[int] = set()

_SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


class Stopped(BaseException):
    """A signal asked the program to end. Not an Exception: nothing but the top catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def until_stopped(work: Callable[[], int]) -> int:
    """The exit code that ``work`` gives, or 128 and the number of a signal that ended it.

    Hidden files are removed then. What the caller ignores is ignored.
    """
    before, sys.unraisablehook = sys.unraisablehook, partial(_unraisable, sys.unraisablehook)
    _answered.clear()
    try:
        for number in _SIGNALS:
            # What is ignored stays so: nohup, and jobs that a script puts in the background.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _stop)
        code = work()
        if _late:  # else its timer would end what comes now
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise Stopped(_late.pop())
        # All is said and done: Python's own ending would have a traceback for what comes now.
        for number in _SIGNALS:
            if signal.getsignal(number) is _stop:
                signal.signal(number, signal.SIG_DFL)
    except Stopped as ended:
        remove_hidden()
        return 128 + ended.number
    finally:
        sys.unraisablehook = before
    return code


def stop_if_asked() -> None:
    """Stopped, once more, if a signal was answered: for who is about to tell of an error.

    Code in C that looks for signals while it makes an error may raise another in Stopped's place,
    as ``from module import absent`` does (a TypeError of CPython's ``PyErr_SetImportError``).
    """
    for number in _answered:
        raise Stopped(number)


def _stop(number: int, frame: FrameType | None) -> None:
    """Answer a signal with Stopped: at once, or when the native module that is being loaded is
    done."""
    # Once is enough: a second Ctrl-C must not break into the cleaning up.
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    if _loads_native(frame) and hasattr(signal, "setitimer"):
        # What is raised there becomes a panic of Rust's, or an error of another kind: wait for it.
        _late.add(number)
        signal.signal(signal.SIGALRM, lambda _, frame: _stop(number, frame))
        signal.setitimer(signal.ITIMER_REAL, _GLANCE)
        return
    _late.discard(number)
    _answered.add(number)
    raise Stopped(number)


def _loads_native(frame: FrameType | None) -> bool:
    """Whether ``frame`` is called by the first steps of a native module: as it is imported, or as
    one of Rust asks for NumPy's version in its first call."""
    from importlib.machinery import ExtensionFileLoader

    first_steps = [ExtensionFileLoader.create_module, ExtensionFileLoader.exec_module]
    if (numpy := sys.modules.get("numpy.lib._version")) is not None:
        first_steps.append(numpy.NumpyVersion.__init__)
    codes = {step.__code__ for step in first_steps}
    while frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return frame is not None


def _unraisable(
    before: Callable[[sys.UnraisableHookArgs], object], event: sys.UnraisableHookArgs
) -> None:
    """End here where a signal came in the middle of what cannot raise, as ``__del__``."""
    if not isinstance(event.exc_value, Stopped):
        before(event)
        return
    remove_hidden()
    signal.signal(event.exc_value.number, signal.SIG_DFL)
    os.kill(os.getpid(), event.exc_value.number)
