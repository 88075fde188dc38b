"""Rows of very many columns, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from serialpack.formats.base import SourceBlock, Style
from serialpack.formats.csv.style import style_of, write_rows
from serialpack.formats.csv.text import CsvText, names_of
from serialpack.formats.pieces.join import Around, Join
from serialpack.formats.pieces.keys import key_digests, repeated
from serialpack.formats.pieces.parts import MEMBERS, Cutter, Parts, RecordPart, RecordText
from serialpack.stages.stage import WIDE, Buffer
from serialpack.values.structure import Structure


class CsvCutter(Cutter):
    """Of CSV whose header is long. The parts are lines of JSON."""

    part_format = "ndjson"

    def __init__(self, fmt: CsvText, style: Style) -> None:
        self._format, self._style = fmt, style
        #: The header whose names are known to be each its own, and its text.
        self._known, self._names = b"", ""

    def records(self, block: SourceBlock) -> Iterator[Parts] | None:
        if block.partial or len(block.context or block.data) < WIDE:
            return None
        head = self._format.header_of(block)
        if len(head) < WIDE:
            return None
        if head != self._known:
            self._names = self._format.line_of_names(head)
            self._check_unique()
            self._known = head
        data = block.data
        spans = self._format.record_spans(data, self._style, first=not block.index)
        return (self._parts(str(data[start:end], "utf-8")) for start, end in spans)

    def _check_unique(self) -> None:
        digests = bytearray()
        cells = self._format.cells(self._names)
        while names := list(islice(cells, MEMBERS)):
            unique = dict.fromkeys(names)
            digests += key_digests([unique])
            if len(unique) < len(names):
                raise ValueError("a name stands twice")
        if repeated(digests) is not None:
            raise ValueError("a name stands twice")

    def _parts(self, row: str) -> Parts:
        from serialpack.formats.json.write import encoder

        keys, values = self._format.cells(self._names), self._format.cells(row)
        while True:
            names, fields = list(islice(keys, MEMBERS)), list(islice(values, MEMBERS))
            if len(names) != len(fields):
                raise ValueError("a row with another number of fields")
            if not names:
                break
            data = encoder().encode(dict(zip(names, fields, strict=True)))
            yield RecordPart(data, Structure.MAP, len(names), unique=True)
        yield None


class _RowJoin(Join):
    """Fields with a delimiter between them."""

    def __init__(self, delimiter: bytes) -> None:
        self.record = {Structure.MAP: Around(between=delimiter)}  # type: ignore[misc]


class CsvRecordText(RecordText):
    """A row; its header too, where it is the first one."""

    def __init__(self, fmt: CsvText, style: Style) -> None:
        super().__init__(_RowJoin(fmt.declared.delimiter))
        self._format, self._style = fmt, style
        self._mark, self._parsed = fmt.declared.delimiter.decode(), style_of(style)
        #: The names of the fields written so far, as a header has them; and how many they are.
        self._names, self._done = bytearray(), 0

    def write(self, value: Any) -> bytes:
        names = names_of([value])
        if self._done:
            self._names += self._mark.encode()
        self._names += self._fields(names)
        data = self._fields(list(value.values()))
        self._done += len(names)
        return data

    def _fields(self, fields: list[str]) -> bytes:
        """Some fields as they stand behind others: alone, an empty one would be quoted."""
        style, done = self._parsed, self._done
        if isinstance(style.quoted, tuple):
            here = tuple(column - done + 1 for column in style.quoted if column >= done)
            style = style._replace(quoted=here)
        before = write_rows([["x"]], self._mark, style) + self._mark
        return write_rows([["x", *fields]], self._mark, style)[len(before) :].encode()

    def text(self, record: Buffer, *, first: bool) -> Buffer:
        self._format.write_text([], self._style, first=first)  # whose style is none, says so
        head, newline = self._style.get("h", ""), self._parsed.newline
        names = bytes(self._names) + newline.encode()
        if not first or self._format.declared.headless or head:
            names = head.encode() if first else b""
        return b"".join((names, record, self._style.get("t", newline).encode()))
