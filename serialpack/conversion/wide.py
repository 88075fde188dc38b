"""Rows of very many columns as JSON, some members at a time: a record is never there as a whole.

As a map, a row of a million fields takes 200 MB, and again that much where it is read back.
"""

from __future__ import annotations

from itertools import islice

from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.targets import TargetWriter
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.text import CsvText
from serialpack.formats.shared.document import compared
from serialpack.formats.shared.members import key_digests, repeated
from serialpack.serializers.base import FAILURES

#: Bytes of a header from which on its rows are written so.
WIDE = 1 << 20

#: Members that are there at a time.
_MEMBERS = 1 << 14


class WideRows:
    """Writes and proves the rows of blocks of CSV, whose header is long."""

    def __init__(self, fmt: CsvText, writer: TargetWriter, plan: ConversionPlan) -> None:
        self._format = fmt
        self._writer = writer
        self._plan = plan
        #: The header whose names are known to be each its own.
        self._known: bytes | None = None

    @classmethod
    def of(cls, plan: ConversionPlan, writer: TargetWriter) -> WideRows | None:
        """What writes the rows of a plan's source; None where they are none, or must be there as
        maps, for what else is asked."""
        fmt = FORMATS.get(plan.source)
        asks = plan.asked or plan.fields or plan.tagged or plan.types or plan.structure
        plain = plan.shaping == Shaping() and plan.source_serializer is None and not plan.looked
        if not FORMATS.declaration(plan.target).is_json or asks or plan.whole or not plain:
            return None
        return cls(fmt, writer, plan) if isinstance(fmt, CsvText) else None

    def convert(self, block: SourceBlock) -> tuple[bytes, int] | None:
        """The rows of a block as lines of JSON, and how many they are.

        None where the header is not long, and where anything is wrong with it or with a row: who
        has them as maps says what.
        """
        if block.partial or len(block.context or block.data) < WIDE:
            return None
        head = self._format.header_of(block)
        if len(head) < WIDE:
            return None
        try:
            names = self._format.line_of_names(head)
            if head != self._known and not self._are_unique(names):
                return None
            self._known = head
            lines, count = bytearray(), 0
            spans = self._format.record_spans(block.data, self._plan.style, first=not block.index)
            for start, end in spans:
                if not self._add(lines, names, str(block.data[start:end], "utf-8")):
                    return None
                count += 1
        except (ValueError, *FAILURES):
            return None
        return (bytes(lines), count) if block.records in (None, count) else None

    def _are_unique(self, names: str) -> bool:
        digests = bytearray()
        cells = self._format.cells(names)
        while part := list(islice(cells, _MEMBERS)):
            unique = dict.fromkeys(part)
            digests += key_digests([unique])
            if len(unique) < len(part):
                return False
        return repeated(digests) is None

    def _add(self, lines: bytearray, names: str, row: str) -> bool:
        """Add the line of a row; False where it has another number of fields, or does not come
        back."""
        keys, values = self._format.cells(names), self._format.cells(row)
        begin = len(lines)
        while True:
            part, fields = list(islice(keys, _MEMBERS)), list(islice(values, _MEMBERS))
            if len(part) != len(fields):
                return False
            if not part:
                return True
            record = dict(zip(part, fields, strict=True))
            data = self._writer.dump([record])
            if self._plan.verify and compared([record], self._writer.load(data, 1)) is not None:
                return False
            if len(lines) == begin:
                lines += data
            else:
                lines[-2:] = b","  # for the bracket that closes, and the line end
                lines += data[1:]
