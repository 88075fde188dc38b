"""JSON: one document. The elements of an array, or the members of a large object, are records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serialpack.formats._cutting import cut_records
from serialpack.formats._jsoncut import JsonFinder
from serialpack.formats._jsonparse import (
    CLOSING,
    OPENING,
    Scanner,
    frame,
    kind_of,
    scan_block,
    too_deep,
)
from serialpack.formats._jsontext import JsonText
from serialpack.formats.base import Difference, Read, SourceBlock, Spelling
from serialpack.formats.ndjson import _decoder
from serialpack.stage import Buffer


class Json(JsonText):
    """A JSON document.

    The records of an array are its elements. An object or a scalar that fits in a block is one
    record; an object larger than that is a map, cut at its members, and each is a record: an
    object with one member. A block runs from its first element's first byte to the next block's.
    """

    name = "json"
    number = 1
    about = "a JSON document"
    _kind = "d"

    def cut(
        self, read: Read, block_size: int, *, count_lines: bool = False
    ) -> Iterator[SourceBlock]:
        return cut_records(read, block_size, JsonFinder(), count_lines=count_lines)

    def _fast(self, block: SourceBlock, data: bytes) -> list[Any] | None:
        first = block.index == 0
        kind, start, end = frame(data, first=first, last=block.last)
        if block.records is None or start >= end:
            return None
        # What stands around the records is checked here, or left to the strict way.
        around = (
            data[:start].strip(b" \t\r\n").removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n"),
            data[end:].strip(b" \t\r\n"),
        )
        behind = CLOSING[kind] if block.last else ","
        if around != (OPENING[kind].encode() if first else b"", behind.encode()):
            return None
        content = data[start:end]
        try:
            if kind == "a":
                return list(_decoder()(b"[%b]" % content))
            if kind == "d":
                return [_decoder()(content)]
            whole: dict[str, Any] = _decoder()(b"{%b}" % content)
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
        kind, start, end = frame(data, first=block.index == 0, last=block.last)
        return too_deep(data if kind == "d" else data[start:end])

    def record_spans(self, data: Buffer, *, first: bool = False) -> list[tuple[int, int]]:
        return []

    def slice_parts(self, head: Buffer, spelling: Spelling) -> tuple[bytes, bytes, bytes]:  # noqa: ARG002
        return b"", b"", b""
