"""What a plan needs beside, where its target is a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from serialpack.conversion.losses.rules import (
    DATABASES,
    ELEMENTS,
    TABLES,
    TEXT_TABLES,
    TYPED_TABLES,
    UNIONS,
)
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables import at
from serialpack.conversion.tables.carrier import Carrier, ZoneCarrier
from serialpack.conversion.tables.columnar import records_by_column
from serialpack.conversion.tables.header import records_below_header
from serialpack.conversion.tables.table import Written
from serialpack.conversion.tables.to_text import KeptJoin, TextTable
from serialpack.conversion.types.typing import Typer
from serialpack.conversion.types.untyping import Untyper
from serialpack.errors import ValueRefusedError, Ways
from serialpack.formats import FORMATS
from serialpack.formats.pieces.join import Join
from serialpack.values.kinds import AROUND, COLUMNS, UTF8, Difference, Loss

#: The rules that make text of numbers: where the user names one, the column must be known as such.
_NUMBERS = frozenset({"bigint", "types"})


class TableWriter(Protocol):
    """Writes blocks of records under one layout."""

    @property
    def join(self) -> Join:
        """What stands around the pieces."""

    def write(self, records: list[Any], first_record: int) -> Written:
        """The piece of a file that ``records`` make, and what was carried or is lost."""

    def tried(self, records: list[Any], rules: Collection[str]) -> Difference | None:
        """What would not be held of ``records`` if the user named ``rules``."""


def table_writer(plan: ConversionPlan) -> TableWriter | None:
    """What writes the target; None where it is no table, or its columns are not known yet."""
    if plan.layout is None:
        return None
    lossy = plan.lossy, plan.asked
    if plan.layout.table:
        from serialpack.conversion.tables.to_database import DatabaseTable

        return DatabaseTable(plan.layout, verify=plan.verify, lossy=lossy)
    if plan.layout.schema is not None:
        from serialpack.conversion.tables.frames import FrameTable

        return FrameTable(plan.target, plan.layout, verify=plan.verify, lossy=lossy)
    if plan.layout.union is not None:
        from serialpack.conversion.tables.union_table import UnionTable

        return UnionTable(plan.target, plan.layout, verify=plan.verify)
    delimiter = FORMATS.declaration(plan.target).delimiter.decode()
    if plan.layout.kept is not None:
        delimiter = plan.layout.kept.delimiter
    how = plan.layout, plan.shaping, delimiter
    return TextTable(*how, verify=plan.verify, lossy=lossy, plain=has_plain_text(plan))


def has_plain_text(plan: ConversionPlan) -> bool:
    """Whether the records are maps of text, as a table of text is read without being asked; null
    is among it where the user named a word for that."""
    is_text = bool(FORMATS.declaration(plan.source).delimiter)
    shaping = plan.shaping
    return is_text and not (shaping.typed or shaping.nest is not None or plan.types)


def carrier_of(plan: ConversionPlan, *, lossy: bool = False) -> Carrier | None:
    """What turns values into those that the cells of the target hold; None where nothing need.

    ``lossy``: also what a JSON source has and they do not, lone surrogates.
    """
    source = FORMATS.declaration(plan.source)
    of_json = source.is_json or bool(source.delimiter)  # all its values are such as JSON has
    lossy_numbers = plan.target in TYPED_TABLES and not _NUMBERS.isdisjoint(plan.lossy)
    of_json = of_json and not (plan.tagged or plan.types or lossy or lossy_numbers)
    if plan.target in DATABASES:
        from serialpack.conversion.tables.to_database import DatabaseCarrier

        return DatabaseCarrier(of_json=of_json)
    if plan.target in ELEMENTS:
        from serialpack.conversion.targets.xml_elements import ElementCarrier

        return ElementCarrier(plan)
    unions = plan.target in UNIONS and (plan.looked or plan.layout is not None)
    if not (plan.target in TABLES or unions) or of_json:
        return None
    utf8 = lossy or UTF8 in plan.lossy
    if unions:
        return Carrier(plan.target, frozenset({"surrogates", "decimal"}), utf8=utf8)
    if plan.target in TEXT_TABLES:
        return Carrier("json", frozenset({"non-finite"}), utf8=True)
    beside = frozenset({"bare", "mixed", "surrogates", "boolean", "integral-float", "bytes"})
    return ZoneCarrier(plan.target, beside, plan.layout, utf8=utf8)


def typer_of(plan: ConversionPlan) -> Typer | Untyper | None:
    """What gives columns of text their values, or values the text that they had once."""
    if plan.types:
        return Typer(plan.types, empty_is_null=plan.is_text_table)
    if plan.kept is not None and plan.target in TEXT_TABLES:
        return Untyper(plan.kept)
    return None


def join_of(plan: ConversionPlan) -> Join | None:
    """What puts the pieces of a file together, where that is not what its format has."""
    if plan.shaping.indent:
        from serialpack.formats.json.join import IndentedJoin

        return IndentedJoin(plan.shaping.indent)
    if plan.layout is not None and plan.layout.table:
        from serialpack.conversion.tables.to_database import DatabaseJoin

        return DatabaseJoin(plan.layout, verify=plan.verify)
    if plan.layout is not None and plan.layout.kept is not None:
        return KeptJoin(plan.layout.kept)
    if plan.layout is None or plan.layout.schema is None:
        return None
    from serialpack.conversion.tables.frames import FrameJoin

    return FrameJoin(plan.target, plan.layout)


def picked_records(records: list[Any], plan: ConversionPlan) -> tuple[list[Any], bool, list[Loss]]:
    """The records that the user takes out of the document that ``records`` are, whether they are
    those of a list, and what is lost: what stands around them, or the names of columns without
    values.

    Errors as of ``at.value_at``, ``columnar.records_by_column``, ``header.records_below_header``;
    ValueRefusedError for names that would be lost.
    """
    path = plan.shaping.at
    are_lists = plan.shaping.header and path is None
    alone = len(records) == 1 and not are_lists
    value, place, lost = records[0] if alone else records, "$", list[Loss]()
    if path is not None:
        elements, may_lose = plan.source in ELEMENTS, AROUND in plan.lossy
        value, place, lost = at.value_at(value, path, may_lose=may_lose, elements=elements)
    if not (plan.shaping.columnar or plan.shaping.header):
        is_list = type(value) is list
        return value if is_list else [value], is_list, lost
    by_name = records_by_column if plan.shaping.columnar else records_below_header
    found = by_name(value, place)
    if value and not found:
        lost.append(Loss(COLUMNS, 1, 0, place, "the names of columns", ""))
        if COLUMNS not in plan.lossy:
            raise ValueRefusedError(
                "a table without rows: the names of its columns would be lost",
                kind=COLUMNS,
                hint=Ways((COLUMNS,), "drops them"),
            )
    return found, True, lost
