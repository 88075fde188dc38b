"""Memory for large results, on large pages: touching it first takes half of what small ones do.

Linux gives them to whoever asks, as NumPy does for its arrays (``madvise``, MADV_HUGEPAGE).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

#: Bytes from which on asking pays.
_LARGE = 4 << 20


def room(size: int) -> memoryview:
    """``size`` bytes of memory that nobody wrote to."""
    import numpy as np

    return memoryview(np.empty(size, "u1"))  # type: ignore[arg-type]


def joined(pieces: Sequence[bytes | bytearray | memoryview]) -> bytes:
    """The pieces as one, as ``b"".join`` gives them."""
    size = sum(map(len, pieces))
    if size < _LARGE or sys.platform != "linux" or sys.implementation.name != "cpython":
        return b"".join(pieces)
    import ctypes
    from mmap import MADV_HUGEPAGE, PAGESIZE

    make, advise = ctypes.pythonapi.PyBytes_FromStringAndSize, ctypes.CDLL(None).madvise
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_ssize_t]
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    # As the C API has it: bytes that were made without a text are filled before anybody sees them.
    data: bytes = make(None, size)
    place = id(data) + bytes.__basicsize__ - 1
    first = -(-place // PAGESIZE) * PAGESIZE
    advise(first, (place + size - first) // PAGESIZE * PAGESIZE, MADV_HUGEPAGE)
    to, at = memoryview((ctypes.c_char * size).from_address(place)).cast("B"), 0
    for piece in pieces:
        to[at : at + len(piece)] = piece
        at += len(piece)
    return data
