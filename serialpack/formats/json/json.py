"""JSON: one document. The elements of an array, or the members of a large object, are records."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from serialpack.depth import MAX_DEPTH, json_depth
from serialpack.formats.base import Difference, Read, SourceBlock, Span, Style
from serialpack.formats.json.ndjson import decoder
from serialpack.formats.json.parse import (
    CLOSING,
    OPENING,
    WHITE,
    JsonFrame,
    Scanner,
    frame,
    kind_of,
    scan_block,
    too_deep,
)
from serialpack.formats.json.split import JsonFinder, element_range
from serialpack.formats.json.text import JsonText
from serialpack.formats.shared.split import split_records
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.json.join import JsonJoin


class JsonFormat(JsonText):
    """A JSON document.

    The records of an array are its elements. An object or a scalar that fits in a block is one
    record; an object larger than that is a map, split at its members, and each is a record: an
    object with one member. A block runs from its first element's first byte to the next block's.
    """

    about = "a JSON document"
    slice_between = b", "
    _kind = Structure.DOCUMENT

    @property
    def join(self) -> JsonJoin:
        from serialpack.formats.json.join import JsonJoin

        return JsonJoin()

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        finder = JsonFinder(block_size, for_values=for_values)
        return split_records(
            read, block_size, finder, for_values=for_values, most_values=most_values
        )

    def framed(self, block: SourceBlock, data: bytes) -> JsonFrame | None:
        first = block.index == 0
        kind, start, end = found = frame(data, first=first, last=block.last)
        if block.records is None or start >= end:
            return None
        # What stands around the records is checked here, or left to the strict way.
        around = (
            data[:start].removeprefix(BOM_UTF8).strip(WHITE),
            data[end:].strip(WHITE),
        )
        behind = CLOSING[kind] if block.last else ","
        if around != (OPENING[kind].encode() if first else b"", behind.encode()):
            return None
        return found

    def _read_as(
        self,
        block: SourceBlock,
        data: bytes,
        array: Callable[[bytes], list[Any]],
        lines: Callable[[bytes], list[Any]],  # noqa: ARG002
    ) -> list[Any] | None:
        found = self.framed(block, data)
        if found is None or found.kind != Structure.ARRAY:
            return None
        if block.index == 0 and block.last:
            return array(data.removeprefix(BOM_UTF8))
        return array(b"[%b]" % data[found.start : found.end])

    def _fast(self, block: SourceBlock, data: bytes) -> list[Any] | None:
        first = block.index == 0
        found = self.framed(block, data)
        if found is None or json_depth(data)[0] >= MAX_DEPTH:
            return None
        kind, start, end = found
        decode = decoder(self.literals).decode
        try:
            if kind == Structure.DOCUMENT or (kind == Structure.ARRAY and first and block.last):
                document: Any = decode(data.removeprefix(BOM_UTF8))  # no copy
                return document if kind == Structure.ARRAY else [document]
            if kind == Structure.ARRAY:
                elements: list[Any] = decode(b"[%b]" % data[start:end])
                return elements
            whole: dict[str, Any] = decode(b"{%b}" % data[start:end])
        except (ValueError, RecursionError):
            return None
        if len(whole) != block.records:  # a key twice
            return None
        return [{key: value} for key, value in whole.items()]

    def _scan(self, block: SourceBlock, text: str, scanner: Scanner) -> Iterator[Any]:
        first = block.index == 0
        kind = kind_of(text.encode(), first=first, last=block.last)
        return scan_block(text, kind, scanner, first=first, last=block.last)

    def _deep(self, block: SourceBlock, data: bytes) -> Difference | None:
        if json_depth(data)[0] < MAX_DEPTH:
            return None
        kind, start, end = frame(data, first=block.index == 0, last=block.last)
        if kind == Structure.DOCUMENT:
            return too_deep(data)
        # Each member of a map is a record, which is a map.
        return too_deep(data[start:end], most=MAX_DEPTH - (kind == Structure.MAP))

    def structure(self, block: SourceBlock, count: int) -> Structure:  # noqa: ARG002
        return kind_of(bytes(block.data), first=True, last=block.last)

    def outline(self, block: SourceBlock) -> Style:
        kind = kind_of(bytes(block.data), first=True, last=block.last)
        return {} if kind == Structure.DOCUMENT else {"k": kind.value}

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        lost = super().difference(block, restored)
        first, last = block.index == 0, block.last
        kinds = [kind_of(bytes(text), first=first, last=last) for text in (block.data, restored)]
        if lost is None and kinds[0] != kinds[1]:  # 1 and [1] have the same records
            return Difference(0, "$", "a document", "another", "value")
        return lost

    def record_spans(self, data: Buffer, style: Style, *, first: bool) -> Iterator[Span]:
        from serialpack.formats.json.scan import element_spans

        text = bytes(data)
        one = style.get("k", Structure.DOCUMENT) == Structure.DOCUMENT
        start = 0
        if first:
            start = len(text) - len(text.removeprefix(BOM_UTF8).lstrip(WHITE)) + (not one)
        if one:
            body = text[start:].rstrip(WHITE)
            return iter([(start, start + len(body))] if body else [])
        return element_spans(text, start)

    def record_range(
        self, data: Buffer, style: Style, span: Span, count: int, *, first: bool
    ) -> Span | None:
        text = bytes(data)
        if style.get("k") == Structure.ARRAY:
            _, at, end = frame(text, first=first, last=False)
            if (found := element_range(text, at, end, span, count)) is not None:
                return found
        return super().record_range(text, style, span, count, first=first)

    def ends_record(self, data: Buffer, style: Style, *, first: bool, within: bool) -> bool:
        found = None if within else self.record_range(data, style, (0, 1), 1, first=first)
        return found is not None and b"," in bytes(data[found[1] :])

    def slice_ends(
        self,
        head: Buffer,  # noqa: ARG002
        style: Style,
    ) -> tuple[bytes, bytes]:
        parsed = self.parsed(style)
        return parsed.head.encode(), parsed.defaults().tail.encode()
