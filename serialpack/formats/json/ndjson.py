"""NDJSON: a JSON value on each line."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from serialpack.depth import MAX_DEPTH, json_depth
from serialpack.errors import InputError
from serialpack.formats.base import Difference, Read, SourceBlock, Span, Style
from serialpack.formats.json.parse import JsonFrame, Scanner, scan_document, too_deep
from serialpack.formats.json.text import JsonText
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.lines import (
    BLANK,
    LineFinder,
    line_range,
    line_spans,
    lines_in_pieces,
)
from serialpack.formats.shared.split import split_records
from serialpack.literal import number
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.json.join import NdJsonJoin

#: Blank lines behind a newline, and those at the front: all of them at once, as there may be
#: millions.
_BLANK_LINES = re.compile(rb"\n[ \t\r\n]*\n")
_BLANK_TEXT = re.compile(r"[ \t\r\n]*\n")


class NdJsonFormat(JsonText):
    """JSON values, each on its line; blank lines between them are no records."""

    about = "a JSON value on each line"
    _kind = Structure.SEQUENCE

    @property
    def join(self) -> NdJsonJoin:
        from serialpack.formats.json.join import NdJsonJoin

        return NdJsonJoin()

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        return split_records(
            read, block_size, LineFinder(), for_values=for_values, most_values=most_values
        )

    def record_spans(
        self,
        data: Buffer,
        style: Style,  # noqa: ARG002
        *,
        first: bool,
    ) -> Iterator[Span]:
        text = bytes(data)
        return line_spans(text, len(BOM_UTF8) if first and text.startswith(BOM_UTF8) else 0)

    def record_range(
        self, data: Buffer, style: Style, span: Span, count: int, *, first: bool
    ) -> Span | None:
        text = bytes(data)
        start = len(BOM_UTF8) if first and text.startswith(BOM_UTF8) else 0
        found = line_range(text, span, count, start)
        return found or super().record_range(data, style, span, count, first=first)

    def range_in_pieces(
        self, pieces: Iterator[Buffer], span: Span, *, first: bool
    ) -> tuple[Buffer, int, int] | None:
        """As ``record_range``, for records with others behind them in the block: text, and where in
        it they begin and end.

        Takes no more pieces than it needs. None: they must be looked for in all of the block.
        """
        head = next(pieces, b"")
        if first and bytes(head[: len(BOM_UTF8)]) == BOM_UTF8:
            return None
        return lines_in_pieces(chain((head,), pieces), span)

    def slice_ends(
        self,
        head: Buffer,  # noqa: ARG002
        style: Style,
    ) -> tuple[bytes, bytes]:
        return b"", self.parsed(style).joint.encode()

    def ends_record(
        self,
        data: Buffer,
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
        within: bool,  # noqa: ARG002
    ) -> bool:
        return bytes(data[-1:]) == b"\n"

    def framed(self, block: SourceBlock, data: bytes) -> JsonFrame | None:
        spans = list(self.record_spans(data, {}, first=block.index == 0))
        return JsonFrame(Structure.DOCUMENT, *spans[0]) if len(spans) == 1 else None

    def parse_quickly(self, block: SourceBlock) -> list[Any]:
        data = bytes(block.data)
        if block.records is not None and self._is_fast(data):
            data = data.removeprefix(BOM_UTF8) if block.index == 0 else data
            if not _may_be_deep(data, data.split(b"\n")):
                try:  # a record in several lines, and several in one, are no errors to it
                    records: list[Any] = decoder(self.literals).decode_lines(data)
                except (ValueError, RecursionError):
                    records = []
                if len(records) == block.records:
                    return records
        return self.parse(block)

    def _fast(self, block: SourceBlock, data: bytes) -> list[Any] | None:
        if block.index == 0:
            data = data.removeprefix(BOM_UTF8)
        if block.records is None or data.count(b"\n") > block.records:
            data = _BLANK_LINES.sub(b"\n", data)
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        if block.records != len(lines):
            lines = [line for line in lines if line.strip(BLANK)]
        if _may_be_deep(data, lines):
            return None
        decode = decoder(self.literals).decode
        try:
            return [decode(line) for line in lines]
        except (ValueError, RecursionError):
            return None

    def _read_as(
        self,
        block: SourceBlock,
        data: bytes,
        array: Callable[[bytes], list[Any]],  # noqa: ARG002
        lines: Callable[[bytes], list[Any]],
    ) -> list[Any] | None:
        return lines(data.removeprefix(BOM_UTF8) if block.index == 0 else data)

    def _scan(self, block: SourceBlock, text: str, scanner: Scanner) -> Iterator[Any]:
        at = int(block.index == 0 and text.startswith("\ufeff"))
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line = text[at:end]
            if line.strip(" \t\r"):
                try:
                    record = scan_document(line, 0, scanner)
                except Malformed as bad:
                    bad.at = at + (bad.at or 0)
                    raise
                yield record
                at = end + 1
            else:
                blank = _BLANK_TEXT.match(text, at)
                at = blank.end() if blank else len(text)

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        # Where 1.50 became 1.5 in some lines, only these need be looked at.
        before, after = bytes(block.data).split(b"\n"), bytes(restored).split(b"\n")
        if len(before) == len(after):
            other = [
                i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]
            ]
            index = block.index if other[:1] == [0] else max(block.index, 1)
            some = block._replace(data=b"\n".join([before[i] for i in other]), index=index)
            try:
                if super().difference(some, b"\n".join([after[i] for i in other])) is None:
                    return None
            except InputError:  # its place is that in all of the block
                pass
        return super().difference(block, restored)

    def _deep(self, block: SourceBlock, data: bytes) -> Difference | None:  # noqa: ARG002
        if json_depth(data)[0] <= MAX_DEPTH:
            return None
        spans = line_spans(data)
        deep = (too_deep(data[start:end], i) for i, (start, end) in enumerate(spans))
        return next(filter(None, deep), None)


def _may_be_deep(data: bytes, lines: list[bytes]) -> bool:
    # A line of no more bytes than that is not too deep, whatever is in it.
    long = (line for line in lines if len(line) > MAX_DEPTH)
    may_be = any(line.count(b"[") + line.count(b"{") > MAX_DEPTH for line in long)
    return may_be and json_depth(data)[0] > MAX_DEPTH


@cache
def decoder(literals: bool = False) -> Any:
    """What reads JSON text; ``literals``: numbers that are written in another way are such."""
    import msgspec

    return msgspec.json.Decoder(float_hook=number if literals else None)
