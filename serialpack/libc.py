"""Functions of the C library that Python has no words for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast


@cache
def of_libc(name: str, *kinds: str) -> Callable[..., Any] | None:
    """A function of the C library, which takes arguments of these kinds (``ctypes``) and gives an
    ``int``; None where there is none."""
    try:
        import ctypes

        call = getattr(ctypes.CDLL(None, use_errno=True), name)
        call.argtypes = [getattr(ctypes, kind) for kind in kinds]
    except (AttributeError, OSError, ImportError, TypeError):
        return None  # TypeError: on Windows, where the whole of a process is no library
    return cast("Callable[..., Any]", call)
