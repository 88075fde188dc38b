"""Cuts large records of MessagePack and CBOR into parts, and writes such records again.

What a part is, ``pieces.parts`` says.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from serialpack.formats.base import SourceBlock, Style
from serialpack.formats.messages.finder import BREAK, Opening
from serialpack.formats.messages.format import MessageFormat
from serialpack.formats.pieces.parts import (
    BYTES,
    LEVELS,
    MEMBERS,
    Cutter,
    Parts,
    RecordPart,
    RecordText,
    is_large_record,
)
from serialpack.stages.stage import WIDE, Buffer
from serialpack.values.structure import Structure


class MessageCutter(Cutter):
    """Cuts large messages, which stand one after another or in one array or map."""

    def __init__(self, fmt: MessageFormat) -> None:
        assert fmt.join is not None
        self._format, self._join = fmt, fmt.join
        self.part_format = fmt.name

    def records(self, block: SourceBlock) -> Iterator[Parts] | None:
        if not is_large_record(block):
            return None
        data = self._format.sequence_of(block).data
        opening = self._format.opening(data)
        if opening is None:
            return None
        if block.inside:
            self._format.check_end(block, 1)
        return iter([self._whole(data, opening)])

    def _whole(self, data: bytes, opening: Opening) -> Parts:
        with memoryview(data) as view:
            yield from self._parts(view, opening, 0)

    def _parts(self, view: memoryview, opening: Opening, level: int) -> Parts:
        """The parts of the array or map that ``view`` is, from its head to its end."""
        left = -1 if opening.count is None else opening.count
        at, kind = opening.size, opening.kind
        while left:
            most = MEMBERS if left < 0 else min(left, MEMBERS)
            found = self._format.scan(view[at : at + BYTES], most, opening.step)
            if not found.records:  # one that is larger, or the end
                if opening.count is None and view[at:] == bytes([BREAK]):
                    at += 1
                    break
                found = self._format.scan(view[at:], 1, opening.step)
                if not found.records:
                    raise ValueError("no value where one was expected")
            end = at + found.end
            if found.records == 1 and found.end > WIDE:
                yield from self._large(view[at:end], kind, level)
            else:
                yield self._part(view[at:end], kind, found.records)
            left -= found.records
            at = end
        if at != len(view):
            raise ValueError("others follow")
        yield None

    def _part(
        self, view: memoryview, kind: Structure, count: int, behind: bytes = b""
    ) -> RecordPart:
        head = self._join.counted(kind, count)
        return RecordPart(b"".join((head, view, behind)), kind, count, opens=bool(behind))

    def _large(self, view: memoryview, kind: Structure, level: int) -> Parts:
        """The parts for one large member of a map or array."""
        key = 0
        if kind == Structure.MAP:
            ends = array("q")
            self._format.scan(view, 1, 1, ends)
            key = ends[0]
        opening = self._format.opening(view[key:])
        # It may be the key that is large.
        small = len(view) - key <= WIDE
        if opening is None or opening.count == 0 or small or level + 1 >= LEVELS:
            yield self._part(view, kind, 1)
            return
        yield self._part(view[:key], kind, 1, self._join.null)
        yield from self._parts(view[key:], opening, level + 1)


class MessageText(RecordText):
    """Writes a large message, which has no style, or one within an array or a map, which has."""

    def __init__(self, fmt: MessageFormat, style: Style) -> None:
        assert fmt.join is not None
        super().__init__(fmt.join)
        self._format, self._style = fmt, style

    def write(self, value: Any) -> bytes:
        return self._format.write([value])

    def text(self, record: Buffer, *, first: bool) -> Buffer:
        around = self._format.write_text([], self._style, first=first)
        head = self._style.get("h", b"") if first else b""
        is_member = self._style.get("k") == Structure.MAP
        pair = self.join.counted(Structure.MAP, 1) if is_member else b""
        return b"".join((head, memoryview(record)[len(pair) :], around[len(head) :]))
