"""A process that writes to a store, and may be killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def child(work: Callable[[], object]) -> Iterator[tuple[int, int]]:
    """A process that does ``work``, and what it writes to its file descriptor 1."""
    front, back = os.pipe()
    number = os.fork()
    if not number:
        try:
            os.dup2(back, 1)
            work()
            os._exit(0)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
    os.close(back)
    try:
        yield number, front
    finally:
        os.close(front)
