"""A pickle and the large buffers that it refers to (PEP 574), one after another in one frame.

``man/spk.5``, pickles with buffers. So the memory of large arrays is copied once into the bytes,
and stays where it is when these are read.
"""

from __future__ import annotations

import struct
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.formats.shared.document import Malformed
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.memory import Growing

#: What a frame begins with; no pickle does: there is no such opcode.
MARK = b"\xffbuffers"

#: A buffer of so many bytes or more stands beside the pickle, where it is not copied. What has less
#: is a message, and may be in the small form.
LARGE = 64 << 10

#: Of an object with so many bytes in smaller ones, those of at least TINY stand there too, and so
#: have filters: a hundred arrays of 40 kB are as much as one of 4 MB. Not where their types take
#: turns, which would make blocks of fewer bytes than _WORTH_BLOCK.
_WORTH_ALL, TINY, _WORTH_BLOCK = 256 << 10, 1 << 10, 16 << 10

#: A buffer begins at a multiple of this in the frame, as processors like it.
_ALIGN = 64

#: Up to so many bytes are copied, into bytes, which whoever looks into them asks for.
_COPIED = 1 << 20

_HEAD = struct.Struct("<8sQQ")


class FrameLayout(NamedTuple):
    """Where the pickle and the buffers of a frame are, and where the frame ends."""

    pickle: slice
    buffers: list[slice]
    end: int


class PickleFrame(NamedTuple):
    """What a frame holds. ``end``: where the next record begins."""

    pickle: memoryview
    buffers: list[memoryview]
    end: int


class SmallBuffers:
    """Counts the buffers of an object that are not LARGE, one after another."""

    def __init__(self) -> None:
        self._bytes = 0
        #: Those of one type are a block, where they stand beside each other.
        self._rows = 0
        self._last: object = None

    def add(self, size: int, items: object) -> None:
        """Count one of ``size`` bytes; ``items``: their type."""
        if size >= TINY:
            self._bytes += size
            self._rows += items != self._last
            self._last = items

    def end_row(self) -> None:
        """Note that a large one stands between the last and the next."""
        self._last = None

    @property
    def are_worth_it(self) -> bool:
        """Whether they may be worth filters of their own."""
        return self._bytes >= max(_WORTH_ALL, _WORTH_BLOCK * self._rows)


class Beside(list[memoryview]):
    """Takes the large buffers of a value, as the callback of its pickler.

    A list, and no object with one: making that takes as long as writing a small message.
    """

    #: Whether there was any buffer.
    met = False

    def __call__(self, buffer: Any) -> bool:
        """Whether ``buffer``, a PickleBuffer, is to stand in the pickle."""
        self.met = True
        try:
            raw = buffer.raw()
        except BufferError:  # in pieces: pickle says so
            return True
        if raw.nbytes < LARGE:
            return True
        self.append(raw)
        return False


def cuts(starts: Sequence[int], start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Those of several pieces, one after another, with bytes from ``start`` up to but not including
    ``stop``: the number of each, and where these bytes begin and end in it.

    ``starts``: where each piece begins, and at last where the last one ends.
    """
    number, stop = bisect_right(starts, start) - 1, min(stop, starts[-1])
    while start < stop:
        begin, end = starts[number : number + 2]
        yield number, start - begin, min(stop, end) - begin
        start, number = end, number + 1


class Scattered:
    """Bytes that lie in several places, as one row of them; nothing is copied to cut it."""

    def __init__(self, pieces: Sequence[Buffer]) -> None:
        self._views = [memoryview(piece).cast("B") for piece in pieces if len(piece)]
        self._starts = [*accumulate(map(len, self._views), initial=0)]

    def __len__(self) -> int:
        return self._starts[-1]

    def slices(self, start: int, stop: int) -> list[memoryview]:
        """The bytes from ``start`` up to but not including ``stop``, where they lie."""
        return [self._views[n][begin:end] for n, begin, end in cuts(self._starts, start, stop)]

    def read(self, start: int, stop: int) -> Buffer:
        """As ``slices``, in one buffer, which is a copy only where they lie in several places."""
        found = self.slices(start, stop)
        return found[0] if len(found) == 1 else b"".join(found)


class ScatteredFile:
    """``Scattered`` bytes as a file that is read once; of a large piece no copy is made."""

    def __init__(self, data: Scattered) -> None:
        self._data = data
        self._at = 0

    def read(self, size: int) -> Any:
        piece = self._data.read(self._at, self._at + size)
        self._at += len(piece)
        return bytes(piece) if len(piece) <= _COPIED else piece

    def readinto(self, view: memoryview) -> int:
        """Fill ``view`` with the next bytes; how many, fewer than it has only at the end."""
        at = 0
        for piece in self._data.slices(self._at, self._at + len(view)):
            view[at : at + len(piece)] = piece
            at += len(piece)
        self._at += at
        return at

    def __len__(self) -> int:
        return len(self._data) - self._at


def framed(pickle: bytes, buffers: list[memoryview]) -> bytearray:
    """The frame of a pickle and its buffers, in memory that nobody else has."""
    return bytearray().join(frame_pieces(pickle, buffers))


def frame_pieces(pickle: bytes, buffers: list[memoryview]) -> list[Buffer]:
    """As ``framed``, in pieces, so that no buffer is copied: each is a piece where it lies."""
    sizes = [buffer.nbytes for buffer in buffers]
    head = struct.pack(f"<8sQQ{len(sizes)}Q", MARK, len(pickle), len(sizes), *sizes)
    pieces: list[Buffer] = [head, pickle]
    at = len(head) + len(pickle)
    for buffer in buffers:
        pieces += bytes(-at % _ALIGN), buffer
        at += -at % _ALIGN + buffer.nbytes
    return pieces


def flat_bytes(data: Any) -> memoryview:
    """The bytes of a buffer of any items, not copied where they lie in one row; TypeError for what
    is no buffer."""
    try:
        view = memoryview(data)
    except TypeError:
        kind = type(data).__name__
        raise TypeError(
            f"data must be bytes, or another buffer, not {kind}; load reads files"
        ) from None
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


def is_framed(data: Buffer) -> bool:
    """Whether a frame begins where ``data`` does."""
    return bytes(data[: len(MARK)]) == MARK


def whole_frame(pieces: list[Buffer]) -> Buffer | None:
    """The frame that ``pieces`` are, in memory that may be given away; None where they are none.

    What can be written to is given away by whoever gives the pieces.
    """
    if not pieces or not is_framed(pieces[0]):
        return None
    whole = pieces[0]
    if len(pieces) == 1 and not memoryview(whole).readonly:
        return whole
    return bytearray().join(pieces)


def take_frame(data: memoryview, at: int) -> PickleFrame:
    """The frame that begins at byte ``at``; Malformed where it is not whole."""
    layout = frame_layout(lambda start, stop: data[start:stop], len(data), at)
    buffers = [data[place] for place in layout.buffers]
    return PickleFrame(data[layout.pickle], buffers, layout.end)


def frame_layout(read: Callable[[int, int], Buffer], total: int, at: int = 0) -> FrameLayout:
    """The layout of the frame that begins at byte ``at`` of ``total``, without its buffers.

    ``read(start, stop)`` gives the bytes there, fewer at the end. Malformed where it is not whole.
    """
    table = at + _HEAD.size
    try:
        _, size, count = _HEAD.unpack(read(at, table))
        if count > total // 8:
            raise Malformed(f"{count} buffers are announced", at)
        sizes = struct.unpack(f"<{count}Q", read(table, table + 8 * count))
    except struct.error:
        raise Malformed("it ends too early", total) from None
    start = table + 8 * count
    end = start + size
    places = []
    for length in sizes:
        begin = end + (at - end) % _ALIGN
        end = begin + length
        places.append(slice(begin, end))
    if end > total:
        raise Malformed(f"{end - at} bytes are announced, {total - at} are there", at)
    return FrameLayout(slice(start, start + size), places, end)


def frame_length(piece: Buffer) -> int | None:
    """How many bytes the frame has that begins with ``piece``: 0 where that does not tell, None
    where it is no frame."""
    if not is_framed(piece):
        return None
    try:
        return frame_layout(lambda start, stop: piece[start:stop], sys.maxsize).end
    except Malformed:
        return 0


#: Tells how long something is by its first piece: 0 where that does not tell, None where it is to
#: stay in pieces.
LengthOf = Callable[[Buffer], int | None]


class GatheredPieces:
    """Gathers the pieces that one object is loaded from. Where ``length_of`` says so, as it does of
    a frame, they become one."""

    def __init__(self, length_of: LengthOf = frame_length) -> None:
        self._length_of = length_of
        self._pieces: list[Buffer] = []
        self._size = 0
        self._becomes_one = False
        #: Memory for all the bytes, where their number is known; and how many of them ``room`` gave
        #: out.
        self._whole: memoryview | None = None
        self._asked = 0
        #: Memory that grows, where the number is not known, or more bytes come.
        self._growing: Growing | None = None

    def room(self, size: int) -> memoryview | None:
        """Memory where the next ``size`` bytes may be put before they are added, so that nobody
        copies them; None where the number of all bytes is not known."""
        start, self._asked = self._asked, self._asked + size
        whole = self._whole
        known = whole is not None and self._asked <= len(whole)
        return whole[start : self._asked] if whole is not None and known else None

    def add(self, piece: Buffer) -> None:
        """Take the next piece; MemoryError."""
        start, self._size = self._size, self._size + len(piece)
        if not start:
            self._begin(piece)
        if self._whole is not None and self._size <= len(self._whole):
            if getattr(piece, "obj", None) is not self._whole.obj:
                self._whole[start : self._size] = piece
        elif self._growing is not None:
            self._growing.add(piece)
        elif self._whole is not None or (self._pieces and self._becomes_one):
            from serialpack.memory import Growing

            self._growing = Growing()
            self._growing.add(self._pieces.pop() if self._whole is None else self._whole[:start])
            self._growing.add(piece)
            self._whole = None
        else:
            self._pieces.append(piece)

    def _begin(self, piece: Buffer) -> None:
        """Take memory for all that begins with ``piece``, where its length is known."""
        length = self._length_of(piece)
        self._becomes_one = length is not None
        if length is not None and length > len(piece):
            from serialpack.memory import memory_of

            self._whole = memory_of(length)

    def pieces(self) -> list[Buffer]:
        """The pieces, in order, or the one that they became; nothing is added any more."""
        if self._whole is not None:
            return [self._whole[: self._size]]
        return self._pieces if self._growing is None else [self._growing.whole()]
