"""Rows of very many columns, some members at a time: a record is never there as a whole.

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
from serialpack.formats.shared.join import Join
from serialpack.formats.shared.members import DIGEST, key_digests, repeated
from serialpack.serializers.base import FAILURES
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

#: Bytes of a header from which on its rows are written so.
WIDE = 1 << 20

#: Members that are there at a time.
_MEMBERS = 1 << 14


class WideRows:
    """Writes and proves the rows of blocks of CSV, whose header is long."""

    def __init__(
        self, fmt: CsvText, writer: TargetWriter, join: Join, plan: ConversionPlan
    ) -> None:
        self._format = fmt
        self._writer = writer
        self._join = join
        self._plan = plan
        #: The header whose names are known to be each its own, its text, and how many they are.
        self._known, self._names, self._width = b"", "", 0

    @classmethod
    def of(cls, plan: ConversionPlan, writer: TargetWriter, join: Join | None) -> WideRows | None:
        """What writes the rows of a plan's source; None where they are none, or must be there as
        maps, for what else is asked."""
        fmt = FORMATS.get(plan.source)
        asks = plan.asked or plan.fields or plan.tagged or plan.types or plan.structure
        plain = plan.shaping == Shaping() and plan.source_serializer is None and not plan.looked
        if asks or not plain or join is None or join.record is None:
            return None
        return cls(fmt, writer, join, plan) if isinstance(fmt, CsvText) else None

    def convert(self, block: SourceBlock) -> tuple[Buffer, int] | None:
        """The rows of a block as the target has them, and how many they are.

        None where the header is not long, and where anything is wrong with it or with a row: who
        has them as maps says what.
        """
        if block.partial or len(block.context or block.data) < WIDE:
            return None
        head = self._format.header_of(block)
        if len(head) < WIDE:
            return None
        try:
            if head != self._known:
                self._names = self._format.line_of_names(head)
                if not self._are_unique():
                    return None
                self._known = head
            written, count = bytearray(), 0
            spans = self._format.record_spans(block.data, self._plan.style, first=not block.index)
            for start, end in spans:
                if not self._add(written, str(block.data[start:end], "utf-8")):
                    return None
                count += 1
        except (ValueError, *FAILURES):
            return None
        return (memoryview(written), count) if block.records in (None, count) else None

    def _are_unique(self) -> bool:
        digests = bytearray()
        cells = self._format.cells(self._names)
        while part := list(islice(cells, _MEMBERS)):
            unique = dict.fromkeys(part)
            digests += key_digests([unique])
            if len(unique) < len(part):
                return False
        self._width = len(digests) // DIGEST
        return repeated(digests) is None

    def _add(self, written: bytearray, row: str) -> bool:
        """Add a row; False where it has another number of fields, or does not come back."""
        keys, values = self._format.cells(self._names), self._format.cells(row)
        join, around, between = self._join, self._join.record, b""
        assert around is not None
        written += join.counted(Structure.MAP, self._width) + around.before
        while True:
            part, fields = list(islice(keys, _MEMBERS)), list(islice(values, _MEMBERS))
            if len(part) != len(fields):
                return False
            if not part:
                written += around.after
                return True
            record = dict(zip(part, fields, strict=True))
            data = self._writer.dump([record])
            if self._plan.verify and compared([record], self._writer.load(data, 1)) is not None:
                return False
            written += between
            written += join.piece(data, part, Structure.MAP).body
            between = around.between
