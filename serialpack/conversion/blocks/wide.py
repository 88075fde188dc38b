"""Large records, part by part: none of them is ever there as values as a whole.

As a map, a row of a million fields takes 200 MB, and again that much where it is read back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.formats.cutting import cutter_of
from serialpack.formats.pieces.join import Join, Piece
from serialpack.formats.pieces.parts import Cutter, RecordPart, rewritten
from serialpack.serializers.base import FAILURES
from serialpack.stages.stage import WIDE
from serialpack.values.structure import Structure


class PartConverter(Protocol):
    """Converts the parts."""

    def part(self, block: SourceBlock) -> tuple[Any, bytes]:
        """The one record of a block, and its bytes, proved; ValueError where anything is to be
        told of it. Errors as of a conversion."""


MakeConverter = Callable[[ConversionPlan], PartConverter]


class WideBlock(NamedTuple):
    """What a block became; ``keys``: as of ``plan.Found``, where it is inside of a map."""

    piece: Piece
    keys: bytes


class WideRecords:
    """Writes and proves blocks of large records; each part as a record of its own."""

    def __init__(self, join: Join, plan: ConversionPlan, make: MakeConverter) -> None:
        self._join, self._plan, self._make = join, plan, make
        self._converter: PartConverter | None = None

    @classmethod
    def of(cls, plan: ConversionPlan, join: Join | None, make: MakeConverter) -> WideRecords | None:
        """What writes a plan's large records; None where they must be there as values, for what
        else is asked."""
        asks = plan.asked or plan.fields or plan.tagged or plan.types or plan.is_part
        plain = plan.shaping == Shaping() and plan.source_serializer is None and not plan.looked
        if asks or not plain or join is None or join.record is None:
            return None
        return cls(join, plan, make)

    @cached_property
    def _cutter(self) -> Cutter | None:
        return cutter_of(FORMATS.get(self._plan.source), self._plan.style)

    def convert(self, block: SourceBlock, *, arrays: bool) -> WideBlock | None:
        """What a block becomes; None where its records are not large, and where anything is wrong
        with them, or to be told: who has them as values says what. ``arrays``: they may be some.
        """
        if len(block.data) < WIDE and len(block.context) < WIDE:
            return None
        written, keys, count = list[bytearray](), b"", 0
        try:
            records = None if self._cutter is None else self._cutter.records(block)
            if records is None:
                return None
            for parts in records:
                data, structure, keys = rewritten(parts, self._join, self._write)
                if structure == Structure.ARRAY and not arrays:
                    return None
                written.append(data)
                count += 1
        except (SerialpackError, *FAILURES):
            return None
        if block.records not in (None, count):
            return None
        around = self._plan.structure or Structure.SEQUENCE
        whole = memoryview(written[0] if count == 1 else b"".join(written))
        piece = self._join.piece(whole, [None] * count, around)
        return WideBlock(piece, keys if around == Structure.MAP else b"")

    def _write(self, part: RecordPart) -> tuple[Any, bytes]:
        """The value of a part, and its bytes, proved."""
        if self._converter is None:
            assert self._cutter is not None
            plan = self._plan._replace(
                source=self._cutter.part_format, structure=None, alone=False, is_part=True
            )
            fmt = FORMATS.get(plan.source)
            assert isinstance(fmt, ValueFormat)
            style = fmt.detect_style(part.block) if fmt.restyled else {}
            self._converter = self._make(plan._replace(style=style))
        return self._converter.part(part.block)
