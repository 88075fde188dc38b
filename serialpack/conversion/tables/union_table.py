"""Records as Avro: blocks below one schema that is known beforehand, each proved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from serialpack.conversion.tables.columns import gathered
from serialpack.conversion.tables.frames import told_of, widened
from serialpack.conversion.tables.layout import Layout
from serialpack.conversion.tables.table import (
    Written,
    inner_kind,
    lost_in,
    missing_as_null,
    same_column,
    unlike,
)
from serialpack.conversion.tables.union_types import fits_of
from serialpack.formats import FORMATS
from serialpack.formats.avro.avro import AvroFormat
from serialpack.formats.avro.join import AvroJoin
from serialpack.formats.pieces.join import Piece
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import Difference, Loss, totals, unplaced
from serialpack.values.structure import Structure


class UnionTable:
    """Writes blocks of records under one type. Belongs to one worker."""

    join = AvroJoin()

    def __init__(self, target: str, layout: Layout, *, verify: bool) -> None:
        fmt = FORMATS.get(target)
        assert isinstance(fmt, AvroFormat)
        assert layout.union is not None
        assert layout.union.shapes is not None
        ((names, columns),) = layout.union.shapes.items()
        self._format = fmt
        self._layout = layout
        self._names = names
        self._fits = list(map(fits_of, columns.values()))
        self._write = fmt.writer_of(layout.union)
        self._verify = verify

    def tried(self, records: list[Any], rules: Collection[str]) -> Difference | None:  # noqa: ARG002
        """As ``Table.tried``: by no rule anything else would be held."""
        return self.write(records, 0).lost

    def write(self, records: list[Any], first_record: int) -> Written:
        """The piece of a file that ``records`` make; as ``Table.write``."""
        columns = self._layout.columns
        values, told = gathered(records, self._layout.place, len(columns), first_record)
        held = [self._held(number, each, first_record, told) for number, each in enumerate(values)]
        rows = [dict(zip(self._names, row, strict=True)) for row in zip(*held, strict=True)]
        try:
            data = self._write(rows)
            lost = self._unheld(data, held) if self._verify else None
        except FAILURES as error:
            return Written(Piece(b"", 0), [], self._blame(held, error))
        return Written(self.join.piece(data, records, Structure.SEQUENCE), totals(told), lost)

    def _held(
        self, number: int, values: Sequence[Any], first_record: int, told: list[Loss]
    ) -> Sequence[Any]:
        """What stands in a column for its values, each change told."""
        column, fits = self._layout.columns[number], self._fits[number]
        values = missing_as_null(column, values, first_record, told)
        if fits.keys().isdisjoint(map(type, values)):
            return values
        held = [fits[type(v)](v) if type(v) in fits else v for v in values]
        if same_column(values, held):
            return held
        counts: dict[str, tuple[int, int]] = {}
        wide = [widened(*pair, counts, n) for n, pair in enumerate(zip(values, held, strict=True))]
        told += told_of(column, counts, first_record)
        # What no rule accounts for is held as it was, and refused where it does not come back.
        return held if same_column(wide, held) else values

    def _unheld(self, data: bytes, held: list[Sequence[Any]]) -> Difference | None:
        """The first value that does not come back from the bytes of the file."""
        again = self._format.read_written(data)
        columns = list(zip(*map(dict.values, again), strict=True)) or [()] * len(held)
        for column, put, became in zip(self._layout.columns, held, columns, strict=True):
            if (lost := unlike(column, put, became)) is not None:
                return lost
        return None

    def _blame(self, held: list[Sequence[Any]], error: Exception) -> Difference:
        """The first value that its column does not take."""
        for number, row in enumerate(zip(*held, strict=True)):
            try:
                self._write([dict(zip(self._names, row, strict=True))])
            except FAILURES:
                kinds = zip(self._layout.columns, row, strict=True)
                column, value = next(((c, v) for c, v in kinds if not _common(v)), (None, row[0]))
                path = "$" if column is None else column.value_path
                return lost_in(number, path, value)
        return unplaced(error)


def _common(value: Any) -> bool:
    return inner_kind(value) in ("null", "boolean", "integer", "float", "integral-float", "text")
