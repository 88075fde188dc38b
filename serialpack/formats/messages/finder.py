"""Where the messages of a source end, or the elements of its only message, where that is large.

A source that is nothing but one array or map is a single record, however large. Where it does not
fit in a block, its elements are the records instead, or the members of the map, each as a map of
one member: so it is read in bounded memory, whatever its length.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from serialpack.formats.base import SourceBlock
from serialpack.formats.shared import split as splitting
from serialpack.formats.shared.split import Boundary, Scan, SequenceFinder, Untold
from serialpack.values.structure import Structure

#: The byte that ends an array or a map of CBOR that does not say its length.
BREAK = 0xFF


class Opening(NamedTuple):
    """How an array or a map (``kind``) begins: with a head of ``size`` bytes that announces
    ``count`` elements or members; None: they go on up to a break code."""

    kind: Structure
    size: int
    count: int | None  # type: ignore[assignment]  # tuple's method, which nobody needs here

    @property
    def step(self) -> int:
        """How many values make one element: of a map a key and its value."""
        return 2 if self.kind == Structure.MAP else 1


#: As the ``scan`` of ``SequenceFinder``, of records that are so many values (``step``) each.
ScanValues = Callable[[memoryview, int, int], Scan]


class GiantFinder(SequenceFinder):
    """Messages, or the elements of the only one, where that is an array larger than a block.

    To know that it is the only one, as much of it is looked at as a record may take, MAX_BLOCK:
    an array that is larger could not be read otherwise. One of ``most_whole`` bytes
    or fewer is one record all the same.
    """

    def __init__(
        self,
        scan: ScanValues,
        opening: Callable[[memoryview], Opening | None],
        block_size: int,
        most_whole: int,
    ) -> None:
        super().__init__(lambda view, most: scan(view, most, 1))
        self._values = scan
        self._opens = opening
        self._block_size, self._most_whole = block_size, most_whole
        self._begun = False
        self._opening: Opening | None = None
        self._head = b""
        self._left: int | None = None
        self._closed = False
        #: What was found ahead: the sizes of blocks and their records; and how many bytes were gone
        #: over.
        self._ahead: deque[Boundary] = deque()
        self._seen = 0

    def placed(self, block: SourceBlock) -> SourceBlock:
        """A block that was split off, with what must be known to read it."""
        if not self._begun or self._opening is None:
            return block
        context = self._head if block.index else b""
        return block._replace(inside=self._opening.kind, context=context)

    def last(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        return self._find(buf, start, limit, -1)

    def first(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        return self._find(buf, start, limit, 1)

    def rest(self, buf: bytearray, start: int) -> int | None:
        if not self._begun or self._opening is None:
            self._opening = None
            return super().rest(buf, start)
        if self._closed or self._lost:
            return None
        with memoryview(buf) as view:
            found = self._elements(view[start:], -1)
        return found.records if self._ended(found) and start + found.end == len(buf) else None

    def _find(self, buf: bytearray, start: int, limit: int, most: int) -> Boundary | None:
        if self._begun:
            return self._next(buf, start, limit, most)
        if self._opening is None:
            boundary = self._split(buf, start, limit, most)
            if boundary is not None:
                self._begun = True
                return boundary
            with memoryview(buf) as view:
                self._opening = self._opens(view[start:limit])
            if self._opening is None:
                return None
            self._left, self._seen = self._opening.count, self._opening.size
        return self._decide(buf, start, limit)

    def _decide(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        """Look ahead for the end of the first message, which may be the only one."""
        assert self._opening is not None
        with memoryview(buf) as view:
            self._head = bytes(view[start : start + self._opening.size])
            ended = self._look(view[start:limit])
        followed = start + self._seen < len(buf)
        if ended and (followed or self._seen <= self._most_whole):
            self._opening = None
            self._begun = True
            return Boundary(start + self._seen, 1)
        if not ended and not self._lost and limit - start < splitting.MAX_BLOCK:
            return None
        self._begun = True
        if self._lost:
            self._opening = None
            return Boundary(limit, None)  # type: ignore[arg-type]  # not known
        self._left, self._closed = self._opening.count, False
        return self._next(buf, start, limit, 1) if self._ahead else None

    def _look(self, view: memoryview) -> bool:
        """Go on over the first message, block by block; whether it ends in ``view``."""
        begin = sum(size for size, _ in self._ahead)
        while True:
            full = begin + self._block_size <= len(view)
            found = self._elements(view[self._seen : begin + self._block_size], -1)
            if not found.end and full and not self._lost:
                found = self._elements(view[self._seen :], 1)
                full = bool(found.end)
            ended = self._ended(found)
            if self._lost or not (full or ended):
                return False
            self._seen += found.end
            self._ahead.append(Boundary(self._seen - begin, found.records))
            begin = self._seen
            if self._left is not None:
                self._left -= found.records
            if ended:
                return True

    def _elements(self, view: memoryview, most: int) -> Scan:
        """The elements at the front of ``view``, with the break code behind the last."""
        assert self._opening is not None
        left = -1 if self._left is None else self._left
        most = min(most, left) if min(most, left) >= 0 else max(most, left)
        found = self._values(view, most, self._opening.step)
        self._lost = found.lost
        if found.lost and self._left is None and view[found.end] == BREAK:
            self._lost, self._closed = False, True
            return Scan(found.records, found.end + 1)
        return found

    def _ended(self, found: Scan) -> bool:
        """Whether the array ends with the elements that were ``found`` last."""
        return self._closed or found.records == self._left

    def _next(self, buf: bytearray, start: int, limit: int, most: int) -> Boundary | None:
        if self._opening is None:
            return self._split(buf, start, limit, most)
        if self._ahead:
            if self._ahead[0].end > limit - start:
                return None
            size, records = self._ahead.popleft()
            end = start + size
        else:
            if self._closed or self._left == 0 or self._lost:
                raise Untold  # others follow, or what is no message
            with memoryview(buf) as view:
                found = self._elements(view[start:limit], most)
            if not found.end:
                return Boundary(limit, None) if found.lost else None  # type: ignore[arg-type]
            end, records = start + found.end, found.records
        if self._left is not None:
            self._left -= records
        return Boundary(end, records)
