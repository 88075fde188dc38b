"""What the first pass over a source found, by which the second pass writes the table: its columns,
the types of its text, and how it was written."""

from __future__ import annotations

from typing import IO, Any, NamedTuple

from serialpack.columns.fields.wanted import Field
from serialpack.conversion.tables.layout import Layout
from serialpack.conversion.types.kept import KeptTable
from serialpack.conversion.types.typing import TypedColumn
from serialpack.values.kinds import Loss


class TableMade(NamedTuple):
    """A table that was made of the source's types, proved: its rows; those columns that were asked
    for; the bytes of the source; and what is told of types."""

    rows: int
    fields: frozenset[Field]
    read: int
    told: list[Loss]


class TableKept(NamedTuple):
    """A table that was made in a temporary file, which is gone with this."""

    file: IO[bytes]
    made: TableMade


class TableNotMadeError(Exception):
    """A table is not made of the source's types, but by values.

    ``schema``: the types of the source, which its columns may have there, too; None: they may not.
    """

    def __init__(self, schema: Any = None) -> None:
        super().__init__("a table is made by values")
        self.schema = schema


class SurveyResult(NamedTuple):
    """What is known of a source once it was looked at: the columns of a table, those of text that
    get values, and the bytes of a block, where these must be others. ``columns``: of how many;
    ``text``: by ``--infer``, those that stay text, ``commas``: of which these are numbers with a
    decimal comma, ``decimals``: and these such as decimals of the target keep.
    ``kept``: how the table of text is written that the source is, or was once. ``most``: the most
    records of a block. ``target``: the format that is written, which for CSV is a dialect;
    ``source``: that which is read. ``by_types``: the target is to be made of the types of
    the source. ``told``: what is told of the types of the layout.
    """

    layout: Layout | None
    types: tuple[TypedColumn, ...]
    block_size: int | None
    columns: int = 0
    kept: KeptTable | None = None
    most: int = 0
    target: str = ""
    source: str = ""
    by_types: bool = False
    told: tuple[Loss, ...] = ()
    text: tuple[str, ...] = ()
    commas: tuple[str, ...] = ()
    decimals: tuple[str, ...] = ()


class Below(NamedTuple):
    """Which line of names the rows of a table of text are to stand below, with others' rows.

    ``columns``: the names, in order; ``known``: of a source that was looked at ahead.
    """

    columns: tuple[str, ...]
    known: SurveyResult | None = None
