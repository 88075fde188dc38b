"""Rows of a database read as the records that they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.nested import check_named, nested, no_json, records_of
from serialpack.errors import SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.formats.losses.reading import parse_lossy
from serialpack.formats.sqlite.rows import RowHead
from serialpack.values.kinds import Loss, Unheld, value_step

_LINE_ENDS = str.maketrans("\r\n", "  ")


class DatabaseReader:
    """Reads rows: columns declared JSON are values, and so are those that ``--nest`` names.

    Else text with ``--nest`` makes maps of dotted columns.
    """

    def __init__(self, fmt: ValueFormat, plan: ConversionPlan) -> None:
        self._format = fmt
        self._json: Any = FORMATS.get("ndjson")
        self._allowed = frozenset(plan.lossy)
        self._shaping = plan.shaping

    def read(self, block: SourceBlock) -> tuple[list[Any], list[Loss]]:
        """The records of a block, and what of them was lost by rules; errors as of ``parse``."""
        records, told = parse_lossy(self._format, block, self._allowed)
        head, shaping = RowHead.unpacked(block.context), self._shaping
        if block.index == 0:
            check_named(shaping.nest, head.names)
        numbers = {head.names[number] for number in head.json}.union(shaping.nest or ())
        if not records or not (numbers or shaping.nest is not None):
            return records, told
        columns = list(map(list, zip(*map(dict.values, records), strict=True)))
        for number, name in enumerate(head.names):
            if name in numbers:
                columns[number] = self._values(name, columns[number], block.first_record, told)
        if shaping.nest is None:
            return records_of(head.names, columns), told
        return nested(
            head.names, columns, shaping.between, block.first_record, null_is_missing=True
        ), told

    def _values(
        self, name: str, cells: Sequence[Any], first_record: int, told: list[Loss]
    ) -> list[Any]:
        """What the JSON texts in a column say; what is no text is itself."""
        rows = [row for row, cell in enumerate(cells) if type(cell) is str]
        # Without their line ends, which stand between values only, they are lines of NDJSON.
        lines = "\n".join([cells[row].translate(_LINE_ENDS) for row in rows])
        data = lines.encode()
        if not rows:
            return list(cells)
        block = SourceBlock(data, index=0, offset=0, records=len(rows), last=True, line=0)
        step = value_step(name)
        try:
            found, losses = parse_lossy(self._json, block, self._allowed)
        except Unheld as unheld:
            lost = unheld.difference
            path = f"${step}{lost.value_path[1:]}"
            raise Unheld(lost._replace(record=rows[lost.record], value_path=path)) from None
        except SyntaxInputError as error:
            row = rows[max((error.line or 1) - 1, 0)]
            raise no_json(row, name, cells[row], nest=self._shaping.nest) from None
        if len(found) != len(rows):
            row = next(row for row in rows if not cells[row].strip())
            raise no_json(row, name, cells[row], nest=self._shaping.nest)
        for loss in losses:
            path = f"${step}{loss.value_path[1:]}"
            told.append(loss._replace(record=first_record + rows[loss.record], value_path=path))
        values = list(cells)
        for row, value in zip(rows, found, strict=True):
            values[row] = value
        return values
