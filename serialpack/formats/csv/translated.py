"""Tables in another encoding, or with escaped quotes: their bytes beside what they say in UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from serialpack.errors import SyntaxInputError
from serialpack.formats.base import (
    MAX_BLOCK,
    Difference,
    Read,
    Shown,
    SourceBlock,
    Span,
    Style,
    ValueFormat,
    too_large,
)
from serialpack.formats.csv.csv import DialectFormat
from serialpack.formats.csv.found import dialect_of, doubling, escaped_quotes
from serialpack.formats.declaration import Declaration
from serialpack.stages.stage import Buffer

_PIECE = 1 << 20


class TranslatedCsv(ValueFormat):
    """A table that is read as CSV in UTF-8 with doubled quotes, block by block.

    Blocks have the bytes as they are; the context of a block is in UTF-8.
    """

    slice_needs_head = True
    about = DialectFormat.about
    style_types = DialectFormat.style_types

    def __init__(self, declared: Declaration) -> None:
        super().__init__(declared)
        self._dialect = dialect_of(declared)
        self._encoding = self._dialect.encoding or "utf-8"
        self._csv = DialectFormat(declared)
        #: The bytes of a line feed tell how wide the narrowest characters are.
        self._width = len("\n".encode(self._encoding))

    @property
    def parameters(self) -> Style:
        return self._dialect.stored()

    def _decoded(self, data: Buffer) -> bytes:
        """Bytes of the source, which begin and end with characters, in UTF-8."""
        data = bytes(data)
        return data if not self._dialect.encoding else data.decode(self._encoding).encode()

    def _encoded(self, text: bytes) -> bytes:
        return text if not self._dialect.encoding else text.decode().encode(self._encoding)

    def _usual(self, data: Buffer) -> bytes:
        """The same as CSV in UTF-8 with doubled quotes; UnicodeError."""
        text = self._decoded(data)
        return doubling()(text, True) if self._dialect.escaped else text

    def _masked(self, data: Buffer) -> bytes:
        """The same, with each byte where it stands in UTF-8; UnicodeError."""
        text = self._decoded(data)
        return doubling(masked=True)(text, True) if self._dialect.escaped else text

    def _in_usual(self, block: SourceBlock) -> SourceBlock:
        return block._replace(data=self._usual(block.data))

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        source = _DecodedSource(read, self._encoding, escaped=self._dialect.escaped)
        size = source.whole(block_size) or max(block_size // self._width, 1)
        texts = self._csv.split(source.read, size, for_values=for_values, most_values=most_values)
        first: list[Buffer] = []
        head: bytes | None = None
        for block in self._in_source_bytes(texts, source, block_size):
            first = first or [block.data]
            if for_values and head is None and (block.index or self.declared.headless):
                head = self.in_source(block, {}, first.copy().pop).context
            yield block if head is None else block._replace(context=head)

    def _in_source_bytes(
        self, texts: Iterator[SourceBlock], source: _DecodedSource, block_size: int
    ) -> Iterator[SourceBlock]:
        """Blocks of the source's bytes for those of its text; plain ones from there on where the
        text is not what the bytes say, or is not all of it."""
        index = offset = records = 0
        for text in texts:
            # Of a text that breaks off, the last record may be a piece of one.
            broken = text.last and source.broken
            data = None if broken else source.take(len(text.data), self._encoded)
            last = text.last and data is not None and not source.left
            if data is None or (text.last and not last):
                yield from _plain(data or b"", source, block_size, index, offset, records)
                return
            at = 0
            while at < len(data) or not at:
                piece = data[at : at + MAX_BLOCK]
                at += max(len(piece), 1)
                cut, begin = len(data) > MAX_BLOCK, at <= MAX_BLOCK
                yield text._replace(
                    data=piece,
                    index=index,
                    offset=offset,
                    records=text.records if begin else 0,
                    last=last and at >= len(data),
                    partial=text.partial or cut,
                    continued=text.continued or not begin,
                )
                index, offset = index + 1, offset + len(piece)
            records += text.records or 0

    def sample(self, block: SourceBlock) -> dict[str, Any]:
        return self._csv.sample(self._in_usual(block))

    def record_spans(self, data: Buffer, style: Style, *, first: bool) -> Iterator[Span]:
        try:
            text = self._masked(data)
        except UnicodeError:
            raise self._unsplit() from None
        done = at = 0
        for start, end in self._csv.record_spans(text, style, first=first):
            at += len(self._encoded(text[done:start]))
            behind = at + len(self._encoded(text[start:end]))
            yield at, behind
            done, at = end, behind

    def slice_ends(self, head: Buffer, style: Style) -> tuple[bytes, bytes]:
        before, newline = self._csv.slice_ends(self._masked(head), style)
        if not self.declared.headless:
            # As it stands, and not as it was looked through.
            before = self._decoded(head)[: len(before) - len(newline)] + newline
        return self._encoded(before), self._encoded(newline)

    def ends_record(self, data: Buffer, style: Style, *, first: bool, within: bool) -> bool:
        try:
            text = self._masked(data)
        except UnicodeError:
            return False
        return self._csv.ends_record(text, style, first=first, within=within)

    def shown_by(self, write: Shown) -> Shown:
        decode = codecs.getincrementaldecoder(self._encoding)("replace").decode
        return lambda data: write(decode(bytes(data)).removeprefix("\ufeff").encode())

    def in_source(
        self, block: SourceBlock, style: Style, first: Callable[[], Buffer]
    ) -> SourceBlock:
        def usual() -> bytes:
            try:
                return self._usual(first())
            except UnicodeError:  # which is said of the first block, where it stands
                return b""

        return self._csv.in_source(block, style, usual)

    def detect_style(self, block: SourceBlock) -> Style:
        try:
            return self._csv.detect_style(self._in_usual(block))
        except UnicodeError:
            return {}

    def parse(self, block: SourceBlock) -> list[Any]:
        if block.partial:
            raise too_large(block)
        encoding = self._encoding.upper()
        if block.records is None:
            raise SyntaxInputError(
                f"not valid {encoding}, or not as it is usually written",
                offset=block.offset,
                hint="--encoding says what it is",
            )
        try:
            usual = self._in_usual(block)
        except UnicodeError as error:
            raise SyntaxInputError(
                f"not valid {encoding}", offset=block.offset + getattr(error, "start", 0)
            ) from None
        try:
            return self._csv.parse(usual)
        except SyntaxInputError as error:
            raise self._placed(error, block, usual) from None

    def _placed(
        self, error: SyntaxInputError, block: SourceBlock, usual: SourceBlock
    ) -> SyntaxInputError:
        """``error`` with its place in the source: with escaped quotes, that of the line."""
        if error.offset is None:
            return error
        before = bytes(usual.data)[: error.offset - block.offset]
        if self._dialect.escaped:
            lines = self._decoded(block.data).split(b"\n")[: before.count(b"\n")]
            before = b"".join(line + b"\n" for line in lines)
        placed = copy(error)
        placed.offset = block.offset + len(self._encoded(before))
        return placed

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        text = self._csv.write_text(records, style, first=first)
        return self._encoded(escaped_quotes(text) if self._dialect.escaped else text)

    def style_changes(self, block: SourceBlock, style: Style) -> Style:
        return self._csv.style_changes(self._in_usual(block), style)

    def style_guesses(self, block: SourceBlock, style: Style) -> Iterator[Style]:
        return self._csv.style_guesses(self._in_usual(block), style)

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        return self._csv.difference(self._in_usual(block), self._usual(restored))


class _DecodedSource:
    """A source that is read as text in UTF-8, whose bytes are kept until their text is taken."""

    def __init__(self, read: Read, encoding: str, *, escaped: bool) -> None:
        self._read = read
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._mask = doubling(masked=True) if escaped else None
        self._bytes = bytearray()
        self._text = bytearray()
        self._ahead = bytearray()
        self._ended = False
        #: Whether there are bytes that are no text.
        self.broken = False

    def whole(self, most: int) -> int:
        """How long all of the text is, where that is no more than so many bytes; else 0."""
        while len(self._bytes) <= most and not self._ended:
            self._more()
        return len(self._ahead) if len(self._bytes) <= most else 0

    def read(self, size: int) -> bytes:
        """The text, for who looks where records end: quotes within fields are doubled."""
        while len(self._ahead) < size and not self._ended:
            self._more()
        data = bytes(self._ahead[:size])
        del self._ahead[:size]
        return data

    def _more(self) -> None:
        data = self._read(_PIECE)
        self._bytes += data
        self._ended = not data
        try:
            text = self._decoder.decode(data, not data).encode()
        except UnicodeError:
            self.broken = self._ended = True
            text = b""
        self._text += text
        self._ahead += self._mask(text, self._ended) if self._mask else text

    def take(self, size: int, encoded: Callable[[bytes], bytes]) -> bytes | None:
        """The bytes of so much of the text; None where another text has these, or none."""
        data = encoded(bytes(self._text[:size]))
        del self._text[:size]
        if not self._bytes.startswith(data):
            return None
        del self._bytes[: len(data)]
        return data

    @property
    def left(self) -> bool:
        """Whether there are bytes whose text was not taken, of those that were read."""
        return bool(self._bytes)

    def rest(self, size: int) -> bytes:
        """The next bytes whose text was not taken."""
        if len(self._bytes) < size:
            self._bytes += self._read(size - len(self._bytes))
        data = bytes(self._bytes[:size])
        del self._bytes[:size]
        return data


def _plain(
    data: bytes, source: _DecodedSource, size: int, index: int, offset: int, records: int
) -> Iterator[SourceBlock]:
    """Blocks of the bytes that are left, in which no records are known; ``data``: the first."""
    data = data or source.rest(size)
    while True:
        ahead = source.rest(size)
        yield SourceBlock(data, index, offset, None, records, last=not ahead)
        if not ahead:
            return
        index, offset, data = index + 1, offset + len(data), ahead
