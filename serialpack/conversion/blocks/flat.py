"""Blocks of tables whose values hold no others, column by column, without the records.

What is to be refused, or has to be looked at value by value, is left to who goes by records: then
nothing comes of it here.
"""

from __future__ import annotations

from serialpack.conversion.losses.by_columns import Columns
from serialpack.conversion.losses.rules import (
    ARRAYS,
    ELEMENTS,
    TABLES,
    TEXT_TABLES,
    TYPED_TABLES,
    UNIONS,
)
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.by_columns import Taken
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import Unheld

#: After so many blocks that have to go by their records, it is not tried any more.
_MOST_MISSES = 3


def columns_suffice(plan: ConversionPlan) -> DocumentFormat | None:
    """The format of the source, where it may be a table and nothing is asked for that takes its
    records: neither to read them nor to lay out a table of text. Where that is to be as one was
    (``plan.kept``), its names do not suffice: the values say whether they are still so."""
    fmt, shaping = FORMATS.get(plan.source), plan.shaping
    asked = bool(plan.tagged or plan.source_serializer or plan.types)
    asked = asked or (plan.kept is not None and plan.target not in TEXT_TABLES)
    asked = asked or shaping.picks or shaping.reads or shaping.gives_types
    return fmt if isinstance(fmt, DocumentFormat) and not asked else None


def flat_columns(fmt: DocumentFormat, block: SourceBlock) -> Columns | None:
    """The columns of a block whose values hold no others; None where they take its records, of
    which it is told what is wrong."""
    try:
        return fmt.flat_columns(block)
    except (*FAILURES, Malformed, Unheld):
        return None


class FlatReader:
    """Reads the columns of blocks. Belongs to one worker."""

    def __init__(self, fmt: DocumentFormat, names: list[str] | None, taken: Taken | None) -> None:
        """``names``: of the columns that the target has, where it is a table."""
        self._format = fmt
        self._names = names
        self._taken = taken
        self._misses = 0

    @classmethod
    def of(cls, plan: ConversionPlan, taken: Taken | None) -> FlatReader | None:
        """One for a plan, of the columns that are ``taken``, by default all; None where all blocks
        are to go by their records."""
        fmt, layout = columns_suffice(plan), plan.layout
        if fmt is None or plan.whole or plan.refused or plan.structure is not None:
            return None
        if layout is None:
            # Of others' values next to none become others, so that their records are made at once.
            typed = plan.source in TYPED_TABLES
            others = TABLES | ARRAYS | UNIONS | ELEMENTS
            has_datasets = FORMATS.declaration(plan.target).has_datasets
            is_any = not has_datasets and plan.target not in others
            return cls(fmt, None, taken) if typed and is_any and plan.verify else None
        flat = all(len(column.path) == 1 and not column.is_json for column in layout.columns)
        if plan.target not in TEXT_TABLES or not flat or layout.rows != "maps":
            return None
        if layout.most_rows:
            return None
        return cls(fmt, [column.path[0] for column in layout.columns], taken)

    def read(self, block: SourceBlock) -> Columns | None:
        """The columns of a block with rows; None where it has to go by its records."""
        if self._misses > _MOST_MISSES or not block.records:
            return None
        columns = flat_columns(self._format, block)
        if columns and self._taken is not None:
            columns = {name: columns[name] for name in self._taken(columns)}
        known = not columns or self._names is None or list(columns) == self._names
        return columns if known else None

    def missed(self) -> None:
        """Note that a block had to go by its records all the same."""
        self._misses += 1
