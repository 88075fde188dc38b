"""Processes that the system does not start."""

from __future__ import annotations

import errno
import sys

from serialpack.errors import NO_NAME, SerialpackError
from serialpack.text import printable

#: Who says how many of something are permitted.
_LIMITS = {
    errno.EAGAIN: "ulimit -u says how many are permitted",
    errno.EMFILE: "ulimit -n says how many files may be open",
    errno.ENOMEM: "it takes more memory than there is",
}


class WorkerNotStartedError(SerialpackError):
    """The system does not start a worker process: there are too many, or this Python may not be
    run again."""

    def __init__(self, error: OSError) -> None:
        why = (error.strerror or str(error)).lower()
        hint = _LIMITS.get(error.errno or 0)
        if hint is None:
            why = f"{printable(sys.executable or '') or NO_NAME}: {why}"
            hint = "it is to be a Python that may be run"
        super().__init__(f"no worker process can be started: {why}", hint=hint)
