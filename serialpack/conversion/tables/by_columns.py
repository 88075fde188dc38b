"""Blocks of a table of text as rows of a table with types, column by column, without records.

What is to be told, carried or refused of a block is left to who goes by records (``blocks``): then
nothing comes of it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from serialpack.conversion.column_types import shape_of
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import KEEPING
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.shape import ValueShape
from serialpack.conversion.tables.table import Table
from serialpack.conversion.targets.verdicts import verdict
from serialpack.conversion.types.arrow_cells import (
    array_of_cells,
    digits_and_places,
    is_array,
    is_text_of,
    values_in,
)
from serialpack.conversion.types.seen import CellsSeen, TypesSeen
from serialpack.conversion.types.spelling import DECIMAL, TEXT, TYPES, Spelling, rank, values_of
from serialpack.conversion.types.typing import TypedColumn
from serialpack.errors import ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.by_columns import TextColumns, text_columns
from serialpack.formats.csv.text import CsvText
from serialpack.formats.pieces.join import Piece
from serialpack.serializers.base import FAILURES

#: Which of the columns of a table are wanted.
Taken = Callable[[Iterable[str]], list[str]]

#: The types that may be named for columns without records.
_NAMED = frozenset({TEXT, "integer", "number", DECIMAL, "boolean", "date", "timestamp"})


class ColumnsWritten(NamedTuple):
    """The piece that a block became, what is told of it, and ``plan.Found.same``."""

    piece: Piece
    losses: Losses
    same: bool


def goes_by_columns(plan: ConversionPlan) -> CsvText | None:
    """The format of the source, where nothing is asked for that takes its records: a table of text
    is read as it stands, and the types that the user named are such as the target has."""
    fmt = FORMATS.get(plan.source)
    shaping = plan.shaping
    asked = plan.tagged or shaping.picks or shaping.reads or plan.source_serializer
    named = [column.spelling.type for column in plan.types if column.by_hand]
    if asked or not isinstance(fmt, CsvText) or not all(_is_held(t, plan.target) for t in named):
        return None
    return fmt


def _is_held(kind: str, target: str) -> bool:
    """Whether ``target`` has a type itself, whose values are known by their spelling alone."""
    if target not in KEEPING or kind not in _NAMED:
        return False
    # A database has booleans as 0 and 1, declared so.
    held = (verdict(each, target) for each in TYPES[kind])
    return kind == "boolean" or all(found.word == "same" or found.partly for found in held)


def shape_of_columns(found: TextColumns, *, within: bool) -> ValueShape:
    """What ``ValueShape.look`` finds in the records of columns of text."""
    shape = ValueShape()
    shape.look([dict.fromkeys(found.names, "")], within=within)
    shape.maps, shape.members = found.rows, found.rows * len(found.names)
    return shape


def types_of_columns(
    found: TextColumns, plan: ConversionPlan, shape: ValueShape
) -> TypesSeen | None:
    """What is known of columns of text, as far as that is asked for; ``shape`` gets what the values
    of those are that the user named. None where a cell of these is not of its type, or they have
    several spellings, of which who goes by records tells."""
    types = TypesSeen()
    named = {column.name: column.spelling.type for column in plan.types if column.by_hand}
    for name, cells in zip(found.names, found.cells, strict=True):
        if name in named:
            seen = types.by_hand[name] = CellsSeen()
            seen.look_at_cells(cells)
            types.named.add(name)
            kind = named[name]
            looked = kind == TEXT or (
                _look_at_decimals(cells, seen, shape.keys[name])
                if kind == DECIMAL
                else _look_as(kind, seen, name, shape)
            )
            if not looked:
                return None
    if plan.shaping.infer:
        some = [n for n, name in enumerate(found.names) if named.get(name, TEXT) == TEXT]
        types.look_at_columns([found.names[n] for n in some], [found.cells[n] for n in some])
    return types


def _look_as(kind: str, seen: CellsSeen, name: str, shape: ValueShape) -> bool:
    """Put what is known of the values of a named column, all in one spelling, into ``shape``."""
    if seen.spellings is None and not seen.non_finite:  # each cell is empty
        shape.keys[name].types = {type(None)}
        return True
    fit = [spelling for spelling in seen.spellings or () if spelling.type == kind]
    if not fit or seen.non_finite:
        return False
    shape.keys[name] = shape_of(TypedColumn(name, min(fit, key=rank)), seen)
    return True


def _look_at_decimals(cells: Any, seen: CellsSeen, shape: ValueShape) -> bool:
    """As ``_look_as``, of decimals, of which the shape is that of the column."""
    array = array_of_cells(cells, empty_is_null=True)
    found = None if array is None else digits_and_places(array)
    if found is not None:
        shape.types, shape.facts = {Decimal}, {found}
        if seen.nothing:
            shape.types.add(type(None))
    return found is not None


class ColumnConverter:
    """Writes blocks of a table of text by their columns. Belongs to one worker."""

    def __init__(
        self, plan: ConversionPlan, fmt: CsvText, table: Table, taken: Taken | None
    ) -> None:
        assert plan.layout is not None
        self._plan, self._format, self._table = plan, fmt, table
        self._taken = taken
        self._names = [column.name for column in plan.layout.columns]
        self._spellings = {c.name: c.spelling for c in plan.types if c.spelling.type != TEXT}

    @classmethod
    def of(cls, plan: ConversionPlan, table: Any, taken: Taken | None) -> ColumnConverter | None:
        """One for a plan whose target ``table`` writes, of the columns that are ``taken``, by
        default all; None where it is to go by records."""
        layout, fmt = plan.layout, goes_by_columns(plan)
        if fmt is None or layout is None or plan.target not in KEEPING or layout.most_rows:
            return None
        plain = all(len(c.path) == 1 and c.path[0] == c.name for c in layout.columns)
        if not plain or any(column.is_json for column in layout.columns) or plan.whole:
            return None
        assert isinstance(table, Table)
        return cls(plan, fmt, table, taken)

    def convert(self, block: SourceBlock, losses: Losses) -> ColumnsWritten | None:
        """The rows of a block, proved; None where it is to go by records. ``losses``: where it is
        told what is carried."""
        found = text_columns(self._format, block, verify=True)
        if found is not None and self._taken is not None:
            found = found.only(self._taken(found.names))
        if found is None or set(found.names) != set(self._names):
            return None
        columns = dict(zip(found.names, found.cells, strict=True))
        try:
            values = [
                self._values(columns[name], self._spellings.get(name)) for name in self._names
            ]
            written = self._table.write_columns(values, found.rows, block.first_record)
            if written.lost is not None:
                return None
            losses.merge(written.told)
            losses.check_carried(self._plan.target)
        except (*FAILURES, ValueRefusedError):
            return None
        return ColumnsWritten(written.piece, losses, self._is_as_kept(found, block))

    def _is_as_kept(self, found: TextColumns, block: SourceBlock) -> bool:
        """Whether what the plan keeps of a table of text writes the bytes of the block again."""
        kept = self._plan.kept if self._plan.verify and self._taken is None else None
        if kept is None:
            return False
        data, first, last = bytes(block.data), block.index == 0, block.last
        if found.quotes is not None:
            mark = self._format.declared.delimiter.decode()
            return kept.writes_arrays(data, found, mark, first=first, last=last)
        columns = dict(zip(found.names, found.cells, strict=True))
        return kept.writes_columns(data, columns, first=first, last=last)

    def _values(self, cells: Any, spelling: Spelling | None) -> Any:
        """The values of cells, None or null for empty ones; ValueError where they are not spelled
        so."""
        as_arrays = self._table.takes_arrays
        if as_arrays or is_array(cells):
            values = _array_of(cells, spelling)
            # Of times pyarrow makes other zones than Python reads.
            is_time = spelling is not None and spelling.type == "timestamp"
            if values is not None and (as_arrays or not is_time):
                # Without a value the column may have another type.
                return values if values.null_count < len(values) else [None] * len(values)
        texts = cells.to_pylist() if is_array(cells) else cells
        return texts if spelling is None else _values_of(texts, spelling)


def _array_of(cells: Any, spelling: Spelling | None) -> Any:
    """The values of cells as an array; None where pyarrow does not tell."""
    array = array_of_cells(cells, empty_is_null=spelling is not None)
    if array is None:
        return None
    if spelling is not None:
        return values_in(array, spelling)
    return array if is_array(cells) or is_text_of(array, cells) else None


def _values_of(texts: Sequence[str], spelling: Spelling) -> list[Any]:
    filled = [text for text in texts if text]
    found = values_of(filled, spelling)
    if found is None:
        raise ValueError("a cell in another spelling")
    if len(filled) == len(texts):
        return found
    each = iter(found)
    return [next(each) if text else None for text in texts]
