"""``MessageFormat``: what MessagePack and CBOR share, whose files are messages one after another.

Each message is a record; of one array or map that is larger than a block, the elements are
(``finder``).
"""

from abc import abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, pairwise
from typing import Any, ClassVar, NamedTuple

from serialpack.errors import RefusedError
from serialpack.formats.base import Read, SourceBlock, Span, Style, StyleTypes
from serialpack.formats.messages.finder import BREAK, GiantFinder, Opening
from serialpack.formats.messages.long_bytes import Heads
from serialpack.formats.shared import split as splitting
from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.formats.shared.split import Scan, fewer_bytes, record_ends, split_plain
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

#: The longest head of an array that is believed to be one: a tag and nine bytes.
_MOST_HEAD = 16


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
        return {"t": bytes([BREAK])} if ends and "t" not in style else {}

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
        last = opening.count is None and data.endswith(bytes([BREAK]))
        if block.records is None or (last and not block.last):
            left = -1 if opening.count is None else max(opening.count - block.first_record, 0)
            found = self.scan(memoryview(data), left, opening.step)
            end, ended = found.end, found.records == left
            if opening.count is None and found.lost and data[end] == BREAK:
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
