"""Messages one after another, or one array or map larger than a block, split at its elements.

A source that is nothing but one array is a single record, however large. Where it does not fit
in a block its elements are the records instead, or the members of a map, each as a map of one
member: so it is read in bounded memory, whatever its length.
"""

from abc import abstractmethod
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, pairwise
from typing import Any, ClassVar, NamedTuple

from serialpack.errors import RefusedError
from serialpack.formats.base import Read, SourceBlock, Span, Style, StyleTypes
from serialpack.formats.shared import split as splitting
from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.formats.shared.long_bytes import Heads
from serialpack.formats.shared.split import (
    Boundary,
    Scan,
    SequenceFinder,
    Untold,
    fewer_bytes,
    record_ends,
    split_plain,
)
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

#: The byte that ends an array or a map of CBOR that does not say its length.
_BREAK = 0xFF

#: The longest head of an array that is believed to be one: a tag and nine bytes.
_MOST_HEAD = 16


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
        if found.lost and self._left is None and view[found.end] == _BREAK:
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


class Sequence(NamedTuple):
    """The messages of a block, one after another: the members of a map as maps of one member.

    They begin at ``begin`` in the block. ``pairs``: where in ``data`` those maps do.
    """

    data: bytes
    begin: int
    pairs: list[int]

    def place(self, at: int) -> int:
        """Where in the block the byte is that is at ``at`` in ``data``."""
        return self.begin + at - bisect_left(self.pairs, at)


class MessageFormat(DocumentFormat):
    """A format whose files are messages, one after another."""

    quick = True
    style_types: ClassVar[StyleTypes] = {"k": (str,), "h": (bytes,), "t": (bytes,)}
    #: What first bytes say of a value.
    heads: ClassVar[Heads]
    #: The head of a map with one member.
    _pair: ClassVar[bytes]
    #: The first byte of an array and of a map whose length stands in the four bytes behind it.
    _long: ClassVar[dict[str, int]]

    @staticmethod
    @abstractmethod
    def scan(view: memoryview, most: int, step: int, ends: "array[int] | None" = None) -> Scan:
        """The records of ``step`` values each at the front of ``view``, ``most`` at most.

        ``ends`` gets the place where each one ends.
        """

    @staticmethod
    @abstractmethod
    def opening(view: Buffer) -> Opening | None:
        """How the array or map begins that ``view`` begins with; None where it begins with none."""

    def read_parts(self, data: bytes) -> list[Any]:
        """As ``read``, of messages that are parts of a larger one."""
        return self.read(data)

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        if not for_values:
            return split_plain(read, block_size)
        size = fewer_bytes(block_size, most_values)
        finder = GiantFinder(self.scan, self.opening, size, block_size)
        return map(finder.placed, splitting.split_records(read, size, finder, for_values=True))

    def record_spans(self, data: Buffer, style: Style, *, first: bool) -> Iterator[Span]:
        kind = style.get("k", "")
        if kind == Structure.MAP:  # members of a map are no messages
            raise self._unsplit()
        opening = self.opening(data) if kind and first else None
        start = opening.size if opening else 0
        return pairwise(chain((start,), self.ends(data, start=start)))

    def ends(self, data: Buffer, step: int = 1, start: int = 0) -> Iterator[int]:
        """Where each of the records ends, of ``step`` values each, that stand one after another."""
        return record_ends(lambda view, most, ends: self.scan(view, most, step, ends), data, start)

    def slice_ends(
        self,
        head: Buffer,  # noqa: ARG002
        style: Style,  # noqa: ARG002
    ) -> tuple[bytes, bytes]:
        return b"", b""

    def head_of(self, style: Style, count: int) -> bytes | None:
        kind = style.get("k")
        if kind not in self._long or count >= 1 << 32:
            return None
        return bytes([self._long[kind]]) + count.to_bytes(4)

    def elements(self, data: Buffer, style: Style, *, first: bool) -> Buffer:
        view = memoryview(data)
        if first and (opening := self.opening(data)) is not None:
            view = view[opening.size :]
        # A break code is no element.
        return view[: self.scan(view, -1, 2 if style.get("k") == Structure.MAP else 1).end]

    def in_source(
        self, block: SourceBlock, style: Style, first: Callable[[], Buffer]
    ) -> SourceBlock:
        if style.get("k") not in (Structure.ARRAY, Structure.MAP):
            return block
        context = bytes(first()[:_MOST_HEAD]) if block.index else b""
        return block._replace(inside=Structure(style["k"]), context=context)

    def outline(self, block: SourceBlock) -> Style:
        return {"k": block.inside.value} if block.inside else {}

    def detect_style(self, block: SourceBlock) -> Style:
        opening = self.opening(block.data) if block.inside else None
        if opening is None:
            return {}
        return {"k": opening.kind.value, "h": bytes(block.data[: opening.size])}

    def style_changes(self, block: SourceBlock, style: Style) -> Style:
        opening = self._opening_of(block) if block.inside else None
        ends = block.last and opening is not None and opening.count is None
        return {"t": bytes([_BREAK])} if ends and "t" not in style else {}

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        kind, head, tail = (style.get(key, empty) for key, empty in _STYLE.items())
        if kind not in ("", Structure.ARRAY, Structure.MAP) or not all(
            isinstance(part, bytes) and len(part) <= _MOST_HEAD for part in (head, tail)
        ):
            raise ValueError(f"not a style of {self.title}")
        body = (
            b"".join(map(self._member, records)) if kind == Structure.MAP else self.write(records)
        )
        return b"".join((head, body, tail) if first else (body, tail))

    def _member(self, record: Any) -> bytes:
        if not isinstance(record, dict) or len(record) != 1:
            raise ValueError("a member of a map that is no map of one member")
        return self.write([record]).removeprefix(self._pair)

    def read_block(self, block: SourceBlock) -> list[Any]:
        if not block.inside:
            return self.read(bytes(block.data))
        sequence = self.sequence_of(block)
        try:
            records = self.read_parts(sequence.data)
        except Malformed as bad:
            at = len(sequence.data) if bad.at is None else bad.at
            raise Malformed(bad.message, sequence.place(at)) from None
        self.check_end(block, len(records))
        return records

    def sequence_of(self, block: SourceBlock) -> Sequence:
        """The messages of a block, wherever its records stand.

        Malformed for an array without its end, RefusedError for one with others behind it.
        """
        opening = self._opening_of(block) if block.inside else None
        if opening is None:
            begin, data = 0, bytes(block.data)
        else:
            begin = 0 if block.context else opening.size
            data = self._without_break(block, begin, opening)
        if block.inside != Structure.MAP:
            return Sequence(data, begin, [])
        ends = [*self.ends(data, 2)]
        # What is behind the last whole member is read too, and says what is wrong with it.
        spans = zip([0, *ends], [*ends, len(data)], strict=True)
        members = [self._pair + data[start:end] for start, end in spans if end > start]
        pairs = [0, *accumulate(map(len, members))]
        return Sequence(b"".join(members), begin, pairs[:-1])

    def _without_break(self, block: SourceBlock, begin: int, opening: Opening) -> bytes:
        """What stands in a block behind ``begin``, but for what ends the array."""
        data = bytes(block.data)[begin:]
        last = opening.count is None and data.endswith(bytes([_BREAK]))
        if block.records is None or (last and not block.last):
            left = -1 if opening.count is None else max(opening.count - block.first_record, 0)
            found = self.scan(memoryview(data), left, opening.step)
            end, ended = found.end, found.records == left
            if opening.count is None and found.lost and data[end] == _BREAK:
                end, ended = end + 1, True
            if ended and (end < len(data) or not block.last):
                raise _followed(block.offset + begin + end)
        if opening.count is None and block.last:
            if not last:
                raise Malformed("it ends too early", len(block.data))
            return data[:-1]
        return data

    def _opening_of(self, block: SourceBlock) -> Opening | None:
        """How that begins which a block is inside of; None for records cut out of the first one."""
        head = block.context if block.offset else block.data
        return self.opening(head) if head else None

    def check_end(self, block: SourceBlock, records: int) -> None:
        opening = self._opening_of(block)
        if not block.last or opening is None or opening.count is None:
            return
        records += block.first_record
        if records != opening.count:
            what = "an array" if opening.kind == Structure.ARRAY else "a map"
            raise Malformed(f"{what} of {opening.count}, with {records} of them", len(block.data))


#: The keys of a style, and what stands for each that is not there: "a" for elements or "m"
#: for members, what stands before the first of them, and what behind the last.
_STYLE: dict[str, Any] = {"k": "", "h": b"", "t": b""}


def _followed(offset: int) -> RefusedError:
    what = f"an array or map of more than 64 MiB ends at byte {offset}, and others follow"
    return RefusedError(what, hint="pack -s raw keeps the bytes")
