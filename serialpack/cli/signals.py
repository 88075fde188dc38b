"""Signals that ask the command to end: answered once, and with the exit code that tells of it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from weakref import ref

from serialpack.hidden import remove_hidden

#: Seconds after which it is looked whether a signal is answered yet, and again and again.
_GLANCE = 0.01

#: A signal that is not answered yet.
_late: set[int] = set()

#: The signal that was answered, and with what, as long as that is on its way.
_answered: dict[int, ref[Stopped]] = {}

#: What asks the command to end.
SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


class Stopped(BaseException):
    """A signal asked the program to end. Not an Exception: nothing but the top catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        _answered[number] = ref(self)


def until_stopped(work: Callable[[], int]) -> int:
    """The exit code that ``work`` gives, or 128 and the number of a signal that ended it.

    Hidden files and temporary folders are removed then. What the caller ignores is ignored.
    """
    before, sys.unraisablehook = sys.unraisablehook, partial(_unraisable, sys.unraisablehook)
    _answered.clear()
    try:
        for number in SIGNALS:
            # What is ignored stays so: nohup, and jobs that a script puts in the background.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _stop)
        code = work()
        stop_if_asked()  # else the timer would end what comes now
        # What was refused may hold a folder that it read from, and the program ends as it stands.
        remove_hidden()
        # All is said and done: Python's own ending would have a traceback for what comes now.
        for number in SIGNALS:
            if signal.getsignal(number) is _stop:
                signal.signal(number, signal.SIG_DFL)
    except Stopped as ended:
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            signal.setitimer(signal.ITIMER_REAL, 0)
        remove_hidden()
        return 128 + ended.number
    finally:
        sys.unraisablehook = before
    return code


def stop_if_asked() -> None:
    """Stopped, once more, if a signal came: for who is about to tell of an error, or of the end.

    Code in C that looks for signals while it makes an error may raise another in Stopped's place,
    as ``from module import absent`` does (a TypeError of CPython's ``PyErr_SetImportError``).
    """
    for number in (*_answered, *_late):
        raise Stopped(number)


def _stop(number: int, frame: FrameType | None) -> None:
    """Answer a signal with Stopped: at once, or when the native module that is being loaded is
    done; and once more where that was lost."""
    # Once is enough: a second Ctrl-C must not break into the cleaning up.
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _answer(number, frame))
        signal.setitimer(signal.ITIMER_REAL, _GLANCE, _GLANCE)
    _answer(number, frame)


def _answer(number: int, frame: FrameType | None) -> None:
    """Raise Stopped, but while one is on its way. Code in C drops what it does not expect, as
    CPython's compiler does where it computes a constant: the program would go on, and be deaf."""
    if number in _answered and _answered[number]() is not None:
        return
    if _loads_native(frame) and hasattr(signal, "setitimer"):
        # What is raised there becomes a panic of Rust's, or an error of another kind: wait for it.
        _late.add(number)
        return
    _late.discard(number)
    raise Stopped(number)


def _loads_native(frame: FrameType | None) -> bool:
    """Whether ``frame`` is called by the first steps of a native module: as it is imported, or as
    one of Rust asks for NumPy's version in its first call."""
    first_steps = [ExtensionFileLoader.create_module, ExtensionFileLoader.exec_module]
    # The module may be there, and the class not yet.
    if version := getattr(sys.modules.get("numpy.lib._version"), "NumpyVersion", None):
        first_steps.append(version.__init__)
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
