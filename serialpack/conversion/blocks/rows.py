"""Writes the rows of a target that is a table, or its records as another target has them, proved.

A block's rows are mostly written with the block. Where all rows are too many values at once
(``Layout.most_rows``), its records wait as values, and some rows at a time are written of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

from serialpack.conversion.blocks.writing import ProvingWriter
from serialpack.conversion.losses.by_columns import Columns
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.plan import ConversionPlan, Found
from serialpack.conversion.tables.carrier import Carrier
from serialpack.conversion.tables.table import Table, Written
from serialpack.conversion.tables.writers import carrier_of, table_writer
from serialpack.errors import ValueRefusedError
from serialpack.formats.pieces.join import Piece
from serialpack.reports import LeftOut
from serialpack.values.kinds import Difference


class RowWriter(ProvingWriter):
    """Writes rows of the table that ``plan.layout`` says; without one, as its base does."""

    def __init__(self, plan: ConversionPlan) -> None:
        super().__init__(plan)
        self._table = table_writer(plan)
        self._carrier = carrier_of(plan)
        if self._table is not None and not plan.whole:
            self._join = self._table.join
        #: Whether a block's rows are not written with it, but some at a time (``pieces``).
        self._apart = plan.layout is not None and plan.layout.most_rows > 0

    def pieces(self, found: Found, first_record: int) -> Iterator[Found]:
        """What was found in a block whose rows are not written yet, some of them at a time.

        Errors as of the conversion.
        """
        assert self.plan.layout is not None
        most = self.plan.layout.most_rows
        for first in range(0, len(found.records) or 1, most):
            some = slice(first, first + most)
            records, numbers = found.records[some], found.numbers[some]
            try:
                written = [self._rows_of(records, first_record + first)]
            except ValueRefusedError:
                if not self.plan.skip_bad:
                    raise
                written = self._rows_alone(records, numbers)
            if not first:
                yield found._replace(records=[], numbers=(), piece=Piece(b"", 0))
            yield from written

    def _rows_of(self, records: list[Any], first_record: int) -> Found:
        """The rows of some records; those of a value that is refused with what the user named."""
        losses = self._losses()
        try:
            piece = self._row_piece(records, losses, first_record)
        except ValueRefusedError:
            if not self.plan.lossy or self._carrier is not None:
                raise
            losses = self._losses()
            records = self.changed(records, losses, first_record)
            piece = self._row_piece(records, losses, first_record)
        return Found([], losses.report(), [], piece=piece)

    def _rows_alone(self, records: list[Any], numbers: Sequence[int]) -> list[Found]:
        """The same without those that are refused alone, and those."""
        kept: list[Any] = []
        left_out: list[LeftOut] = []
        for record, number in zip(records, numbers, strict=True):
            try:
                self._rows_of([record], number)
                kept.append(record)
            except ValueRefusedError as refused:
                left_out.append(LeftOut(number, 0, 1, refused.said, refused=True))
        found = Found([], [], left_out, piece=Piece(b"", 0))
        return [found, self._rows_of(kept, numbers[0])] if kept else [found]

    def _row_piece(self, records: list[Any], losses: Losses, first_record: int) -> Piece:
        """The rows of ``records``, proved; ValueRefusedError."""
        assert self._table is not None
        written = self._table.write(records, first_record)
        if written.lost is not None:
            raise self.refuse(written.lost, first_record, None, records)
        return self._told_of(written, losses)

    def _column_piece(self, columns: Columns, losses: Losses, first_record: int) -> Piece | None:
        """As ``_row_piece``, of rows that are their columns, in the order of the target's; None
        where a value is refused."""
        assert isinstance(self._table, Table)
        values = list(columns.values())
        written = self._table.write_columns(values, len(values[0]), first_record)
        return None if written.lost is not None else self._told_of(written, losses)

    def _told_of(self, written: Written, losses: Losses) -> Piece:
        """The piece, when what was carried is told; ValueRefusedError where that may not be."""
        losses.carry(written.told, self.plan.target)
        return written.piece

    def _columns_by_rules(
        self, columns: Columns, losses: Losses, first_record: int
    ) -> Columns | None:
        """As of any target, but that a table carries more than its serializer holds."""
        if self._carrier is None:
            return super()._columns_by_rules(columns, losses, first_record)
        return self._carrier.carried_columns(columns, losses, first_record)

    @cached_property
    def _lossy_carrier(self) -> Carrier | None:
        return carrier_of(self.plan, lossy=True)

    def _by_rules(self, records: list[Any], losses: Losses, first_record: int = 0) -> list[Any]:
        """As of any target, but that a table carries more than its serializer holds."""
        if self._lossy_carrier is None:
            return super()._by_rules(records, losses, first_record)
        return self._lossy_carrier.carried(records, losses, first_record)

    def _lost_of(self, records: list[Any], rules: Collection[str] = ()) -> Difference | None:
        if self._table is None:
            return super()._lost_of(records, rules)
        return self._table.tried(records, rules)

    def _losses(self) -> Losses:
        return Losses(self.plan.lossy, self.plan.asked)
