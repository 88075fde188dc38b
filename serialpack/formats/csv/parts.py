"""Rows of very many columns, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from serialpack.formats.base import SourceBlock, Style
from serialpack.formats.csv.text import CsvText
from serialpack.formats.shared.members import key_digests, repeated
from serialpack.formats.shared.parts import MEMBERS, WIDE, Cutter, Parts, RecordPart
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
