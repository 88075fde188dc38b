"""Splitting a source into blocks of whole records, in bounded memory and one pass.

What all formats share is here: the window of bytes in memory, the counting, the growth for a
record larger than a block, the pieces of one larger than MAX_BLOCK. A format brings a Finder,
which says where records end.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator
from typing import NamedTuple

from serialpack.formats.base import MAX_BLOCK as MAX_BLOCK
from serialpack.formats.base import Read, SourceBlock
from serialpack.stages.stage import Buffer

#: The bytes of UTF-8 that no character begins with.
_CONTINUATION = bytes(range(0x80, 0xC0))

#: The most ends of records that are looked for at a time.
_ENDS = 1 << 16

#: The most bytes that are read at once, so that there are never two copies of more.
_PIECE = 4 << 20

#: Bytes that are read first of a source, which may be small.
_LITTLE = 32 << 10

#: Values are counted in so many bytes at a time, which stay in the processor's cache.
_COUNTED = 128 << 10


class Untold(Exception):
    """Records cannot be told apart any more: the rest is split as plain bytes."""


class Boundary(NamedTuple):
    """Where a block ends, which is where the next record begins, and the records in it."""

    end: int
    records: int


class Finder(ABC):
    """Finds where records end. Made for one source, called in its order.

    ``buf[start]`` is always the first byte that is in no block yet. Each method may raise
    Untold.
    """

    #: The byte that stands before the window's first, ``buf[0]``.
    spare: bytes = b"\n"
    #: Whether ``rest`` takes a whole source as it was read: bytes, with no spare one before them.
    takes_bytes: bool = False
    #: The bytes at which values begin or end: one at least for each value, also where it is empty,
    #: bar the first. Inside of texts they are counted too.
    marks: bytes = b""

    @abstractmethod
    def last(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        """The last place in ``start < end <= limit`` where records end; None where none does.

        ``buf[limit]`` exists: a next record that begins there is seen.
        """

    @abstractmethod
    def first(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        """The first such place."""

    @abstractmethod
    def rest(self, buf: bytearray, start: int) -> int | None:
        """The records in all that is left, to the source's end; None where it cannot be told."""

    def values(self, part: memoryview) -> int:
        """About how many values stand in ``part``: rather more than fewer, and quickly told."""
        # NumPy does it in two thirds of the time; but it takes as long to import as this takes for
        # 100 MB.
        return len(part) - len(bytes(part).translate(None, self.marks))

    def most_bytes(self, view: memoryview, most: int) -> int | None:
        """How many bytes of ``view`` have ``most`` values; None where all of them have no more.

        ``view`` begins where no block is yet; it is a byte larger than a block, if the source is.
        """
        step = min(_COUNTED, most)
        values = 0
        for at in range(0, len(view), step):
            values += self.values(view[at : at + step])
            if values > most:
                return max(at, step)
        return None

    def ends(
        self,
        buf: bytearray,  # noqa: ARG002
        start: int,  # noqa: ARG002
        limit: int,  # noqa: ARG002
        *,
        begin: bool,
    ) -> int | None:
        """Where a record ends that is larger than MAX_BLOCK and comes in pieces.

        ``begin``: this is its first piece; otherwise the piece follows the one before. Not looked
        for where a finder does not say: what follows the first piece is plain bytes then.
        """
        if not begin:
            raise Untold
        return None


class Scan(NamedTuple):
    """What stands at the front of some bytes: ``records``, the last of which ends at ``end``;
    ``lost``: what follows is none."""

    records: int
    end: int
    lost: bool = False


def record_ends(
    scan: Callable[[memoryview, int, "array[int]"], Scan], data: Buffer, start: int = 0
) -> Iterator[int]:
    """Where the records end that stand at the front of ``data[start:]``, one after another.

    ``scan``: as for ``SequenceFinder``, with an array that gets the places. So many at a time are
    looked for that what is kept of them is little.
    """
    with memoryview(data) as view:
        while True:
            ends = array("q")
            found = scan(view[start:], _ENDS, ends)
            for end in ends:
                yield start + end
            if found.records < _ENDS:
                return
            start += found.end


class SequenceFinder(Finder):
    """Records one after another that say where they end, up to bytes that begin none.

    ``scan`` looks at the front of some bytes, for a number of records at most (-1: all of them).
    """

    def __init__(self, scan: Callable[[memoryview, int], Scan]) -> None:
        self._scan = scan
        self._lost = False

    def _split(self, buf: bytearray, start: int, limit: int, most: int = -1) -> Boundary | None:
        if self._lost:
            raise Untold
        with memoryview(buf) as view:
            found = self._scan(view[start:limit], most)
        self._lost = found.lost
        if found.end:
            return Boundary(start + found.end, found.records)
        # All that was looked at, so that the place is within the block.
        return Boundary(limit, None) if found.lost else None  # type: ignore[arg-type]  # not known

    def last(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        return self._split(buf, start, limit)

    def first(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        return self._split(buf, start, limit, 1)

    def rest(self, buf: bytearray, start: int) -> int | None:
        boundary = self._split(buf, start, len(buf)) or Boundary(start, 0)
        return boundary.records if boundary.end == len(buf) else None


class Window:
    """The bytes of the source in memory, and what has been counted of those before.

    ``pos`` is the first byte in no block yet; what stands before it is out and must not be changed,
    except ``buf[0]``: that is a spare byte.
    """

    def __init__(self, read: Read, *, count_lines: bool, spare: bytes = b"\n") -> None:
        self._read = read
        # A source that reads into a buffer of ours saves a copy of everything.
        self._read_into = getattr(getattr(read, "__self__", None), "read_into", None)
        self._spare = spare
        self.buf = bytearray(spare)
        self.pos = 1
        self.eof = False
        self._index = self._offset = self._record = self._column = 0
        self._line = 0 if count_lines else -1

    def begin(self, data: bytes) -> None:
        """Take over what was read of the source before."""
        self.buf += data

    def want(self, n: int) -> int:
        """Have ``n`` bytes in the window, if the source has as many; how many there are."""
        # A bytearray is zeroed before anything is read into it: for a whole block that takes longer
        # than all else that is done with a small file.
        at_start = self._offset == 0 and len(self.buf) == 1
        for size in (min(n, _LITTLE), min(n, 8 * _LITTLE), n) if at_start else (n,):
            if len(self.buf) - self.pos < size and not self.eof:
                rest = memoryview(self.buf)[self.pos :]
                read = self._grown if self._read_into is None else self._filled
                self.buf = read(rest, size + 1)
                self.pos = 1
        return len(self.buf) - self.pos

    def _grown(self, rest: memoryview, size: int) -> bytearray:
        """The spare byte, ``rest`` and what can be read: ``size`` bytes if there are as many."""
        buf = bytearray(self._spare)
        buf += rest
        while len(buf) < size and not self.eof:
            asked = min(size - len(buf), _PIECE)
            more = self._read(asked)
            self.eof = len(more) < asked
            buf += more
        return buf

    def _filled(self, rest: memoryview, size: int) -> bytearray:
        """As ``_grown``, with one copy less."""
        assert self._read_into is not None
        buf = bytearray(size)
        begin = 1 + len(rest)
        with memoryview(buf) as view:
            view[:1] = self._spare
            view[1:begin] = rest
            end = begin + self._read_into(view[begin:])
        self.eof = end < size
        try:
            del buf[end:]
        except BufferError:  # a profiler, as dask's workers have, may hold a frame with a view
            return buf[:end]
        return buf

    def take(
        self, end: int, records: int | None, *, partial: bool = False, continued: bool = False
    ) -> SourceBlock:
        """The block that ends at ``end``. At least one byte more has been wanted before."""
        data: Buffer = memoryview(self.buf)[self.pos : end].toreadonly()
        if self._line >= 0:  # values are read from it: one copy, and not one for each step
            data = bytes(data)
        block = SourceBlock(
            data,
            index=self._index,
            offset=self._offset,
            records=records,
            first_record=self._record,
            last=self.eof and end == len(self.buf),
            partial=partial,
            continued=continued,
            line=self._line,
            column=self._column,
        )
        if self._line >= 0 and not block.last:
            assert isinstance(data, bytes)
            newline = data.rfind(b"\n")
            if newline >= 0:
                self._line += data.count(b"\n")
                self._column = 0
            line = data[newline + 1 :]
            self._column += len(line if line.isascii() else line.translate(None, _CONTINUATION))
        self._index += 1
        self._offset += end - self.pos
        self._record += records or 0
        self.pos = end
        if self._line >= 0:  # the copy is all that is needed of it
            del self.buf[1:end]
            self.pos = 1
        return block


def split_records(
    read: Read,
    block_size: int,
    finder: Finder,
    *,
    for_values: bool = False,
    most_values: int = 0,
) -> Iterator[SourceBlock]:
    """Blocks of whole records, as ``Format.split`` promises."""
    data = b""
    if finder.takes_bytes and block_size <= _PIECE:
        data = read(block_size + 1)
        if len(data) <= block_size and _sparse(finder, data, 0, len(data), most_values) is None:
            line = 0 if for_values else -1
            yield SourceBlock(data, 0, 0, _rest(finder, data, 0), last=True, line=line)
            return
    window = Window(read, count_lines=for_values, spare=finder.spare)
    window.begin(data)
    del data
    while True:
        have, size = _wanted(window, block_size, finder, most_values)
        if have <= size:
            yield window.take(len(window.buf), _rest(finder, window.buf, window.pos))
            return
        try:
            boundary, have = _next(window, size, finder, have)
            if boundary is not None:
                block = window.take(*boundary)
                yield block
            elif have <= MAX_BLOCK:
                block = window.take(len(window.buf), _rest(finder, window.buf, window.pos))
                yield block
            else:
                for block in _pieces(window, block_size, finder):
                    yield block
        except Untold:
            yield from _plain(window, block_size)
            return
        if block.last:
            return


def fewer_bytes(block_size: int, most_values: int) -> int:
    """The size of blocks of a format whose values are not counted: ``most_values`` bytes have no
    more of them, as each takes a byte at least."""
    return min(block_size, most_values or block_size)


def _wanted(window: Window, block_size: int, finder: Finder, most: int) -> tuple[int, int]:
    """What is in the window, and how large a block can be made of it: fewer bytes than
    ``block_size`` where they have more than ``most`` values. Then no more is read than it takes.
    """
    size = min(block_size, max(most, _PIECE)) if most else block_size
    while True:
        have = window.want(size + 1)
        sparse = _sparse(finder, window.buf, window.pos, min(have, size + 1), most)
        if sparse is not None:
            return have, min(sparse, size)
        if size == block_size or have <= size:
            return have, block_size
        size = min(2 * size, block_size)


def _sparse(finder: Finder, buf: bytes | bytearray, start: int, size: int, most: int) -> int | None:
    """How many of the ``size`` bytes from ``start`` on have ``most`` values; None where all of them
    have no more."""
    if size <= most or not most:
        return None
    with memoryview(buf) as view:
        return finder.most_bytes(view[start : start + size], most)


def _rest(finder: Finder, buf: bytearray | bytes, start: int) -> int | None:
    try:
        return finder.rest(buf, start)  # type: ignore[arg-type]  # bytes where it takes them
    except Untold:
        return None


def _next(
    window: Window, block_size: int, finder: Finder, have: int
) -> tuple[Boundary | None, int]:
    """The next boundary, in a window grown for its first record; and the window's size."""
    size = min(block_size, MAX_BLOCK)
    boundary = finder.last(window.buf, window.pos, window.pos + size)
    while boundary is None and size < MAX_BLOCK and have > size:
        size = min(2 * size, MAX_BLOCK)
        have = window.want(size + 1)
        boundary = finder.first(window.buf, window.pos, window.pos + min(size, have))
    return boundary, have


def _pieces(window: Window, block_size: int, finder: Finder) -> Iterator[SourceBlock]:
    begin = True
    while True:
        have = window.want(block_size + 1)
        limit = window.pos + min(have, block_size)
        end = finder.ends(window.buf, window.pos, limit, begin=begin)
        block = window.take(
            limit if end is None else end, int(begin), partial=True, continued=not begin
        )
        yield block
        if end is not None or block.last:
            return
        begin = False


def _plain(window: Window, block_size: int) -> Iterator[SourceBlock]:
    while True:
        have = window.want(block_size + 1)
        yield (block := window.take(window.pos + min(have, block_size), None))
        if block.last:
            return


def split_plain(
    read: Read, block_size: int, *, for_values: bool = False, more: int = 0
) -> Iterator[SourceBlock]:
    """Blocks of ``block_size`` bytes, the first of so many ``more``, as read: no copies."""
    if for_values:
        yield from _plain(Window(read, count_lines=True), block_size)
        return
    data = read(more + block_size)
    index = offset = 0
    while True:
        ahead = read(block_size) if len(data) >= block_size else b""
        yield SourceBlock(data, index=index, offset=offset, last=not ahead)
        if not ahead:
            return
        index, offset, data = index + 1, offset + len(data), ahead
