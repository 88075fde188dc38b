"""Large bytes made of pieces, at the speed of memory.

Of fresh memory the system makes page after page as it is written, which takes longer than to copy
into it. So large bytes lie on huge pages, as NumPy's arrays do, where the system has some.
"""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from io import BytesIO

from serialpack.libc import of_libc
from serialpack.stages.stage import Buffer

#: From so many bytes on the C library takes memory from the system each time, never that which was
#: used before (mallopt(3), DEFAULT_MMAP_THRESHOLD_MAX).
_FRESH = 32 << 20

#: So many bytes are copied at once. The C library copies more past the processor's cache, which is
#: slow where the page is being made at the same time.
_AT_ONCE = 4 << 20

#: MADV_HUGEPAGE of madvise(2), and what its addresses are multiples of, on every system.
_HUGE_PAGES, _PAGE = 14, 64 << 10


def joined(pieces: list[Buffer]) -> bytes:
    """``pieces`` one after another, as ``b"".join``."""
    size = sum(memoryview(piece).nbytes for piece in pieces)
    if size < _FRESH or sys.platform != "linux":
        return b"".join(pieces)
    # bytes(size) is zeros that nobody has written yet; the file takes it over, and gives it back.
    file = BytesIO(bytes(size))
    at = 0
    with file.getbuffer() as room:
        _on_huge_pages(room)
        for piece in pieces:
            view = memoryview(piece).cast("B")
            for start in range(0, len(view), _AT_ONCE):
                part = view[start : start + _AT_ONCE]
                room[at : at + len(part)] = part
                at += len(part)
    return file.getvalue()


class Growing:
    """Bytes that can be written to and grow at their end, without being copied for that."""

    def __init__(self) -> None:
        self._size = 0
        self._room: mmap.mmap | bytearray = bytearray()

    def add(self, piece: Buffer) -> None:
        """Put ``piece`` at the end; MemoryError."""
        end = self._size + len(piece)
        if sys.platform != "linux":
            self._room += piece
        else:
            self._grow(end)
            self._room[self._size : end] = piece
        self._size = end

    def _grow(self, size: int) -> None:
        """Have room for ``size`` bytes and, which takes no memory before it is written, for as many
        more."""
        if size <= len(self._room):
            return
        try:
            if isinstance(self._room, mmap.mmap):
                self._room.resize(2 * size)
            else:
                self._room = _mapped(2 * size)
        except OSError as error:
            raise MemoryError(str(error)) from None

    def whole(self) -> memoryview:
        """All of them, to which nothing is added any more."""
        if isinstance(self._room, mmap.mmap):
            self._room.resize(self._size)
        return memoryview(self._room)


def memory_of(size: int) -> memoryview | None:
    """Memory for ``size`` bytes, which takes none before it is written; None where that cannot be
    had, and where it would be taken at once."""
    if sys.platform == "linux" and size:
        with suppress(OSError, OverflowError, ValueError):
            return memoryview(_mapped(size))
    return None


def _mapped(size: int) -> mmap.mmap:
    mapped = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):
        mapped.madvise(_HUGE_PAGES)
    return mapped


def _on_huge_pages(room: memoryview) -> None:
    """Ask for them; a system that has none does without."""
    import ctypes

    start = ctypes.addressof(ctypes.c_char.from_buffer(room))
    first, end = -(-start // _PAGE) * _PAGE, (start + len(room)) // _PAGE * _PAGE
    advise = of_libc("madvise", "c_void_p", "c_size_t", "c_int")
    if advise is not None:
        advise(first, end - first, _HUGE_PAGES)
