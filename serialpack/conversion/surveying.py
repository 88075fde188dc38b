"""A source is looked at before it is converted, where the target must know all of its records.

A table needs its columns before its first row, and ``--infer`` and ``--types`` need all cells of a
column before its first value. So all records are read once for that, and once more to be written.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from itertools import chain, count

from serialpack.api import Target, check_target
from serialpack.conversion.blocks.writing import ProvingWriter
from serialpack.conversion.column_types import column_types
from serialpack.conversion.losses.rules import (
    DATABASES,
    KEEPING,
    TABLES,
    TEXT_TABLES,
    TYPED_TABLES,
    UNIONS,
)
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.preparing import Prepared, is_as_stored, is_in_dialect_of, prepared
from serialpack.conversion.routes.copying import is_copied
from serialpack.conversion.sources.fields import Fields, fields_lost
from serialpack.conversion.tables.layout import (
    Layout,
    OddKey,
    below_names,
    layout_of,
    styled,
    typed_layout_of,
    union_layout_of,
    with_kept,
)
from serialpack.conversion.tables.rewindable import Rereadable
from serialpack.conversion.tables.shape import rows_at_a_time
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey import WIDE_BLOCK, Looked, surveyed
from serialpack.conversion.tables.survey_result import SurveyResult, TableNotMadeError
from serialpack.conversion.targets.writers import delimiters_of
from serialpack.conversion.types.kept import KeptTable, kept_from
from serialpack.conversion.types.typing import TypedColumn
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.formats.shared.random_access import FileRead
from serialpack.pipeline.workers import usable_cores
from serialpack.values.kinds import Difference, Loss, key_kind, shown


def survey_source(
    again: Rereadable,
    target: Target,
    to: str,
    how: ConvertOptions,
    block_size: int | None,
    tried: TableNotMadeError | None = None,
) -> SurveyResult | None:
    """What is known of a source once it was looked at; None where that is not needed. ``tried``:
    what came of making a table of its types.

    Errors as of the conversion.
    """
    below = how["below"]
    known = below.known if below is not None and below.known is not None else None
    known = known or _looked_at(again, target, to, how, block_size, tried)
    if known is None or known.layout is None:
        return known
    layout = known.layout if below is None else below_names(known.layout, below.columns)
    most = rows_at_a_time(known.most, len(layout.columns))
    # Rows that are mostly empty wait as values: blocks are as small as ever then.
    block_size = None if most and known.block_size == WIDE_BLOCK else known.block_size
    return known._replace(layout=layout._replace(most_rows=most), block_size=block_size)


def _looked_at(
    again: Rereadable,
    target: Target,
    to: str,
    how: ConvertOptions,
    block_size: int | None,
    tried: TableNotMadeError | None,
) -> SurveyResult | None:
    """As ``survey_source``, whatever the rows are to stand below."""
    threads = how["threads"] or usable_cores()
    with ExitStack() as stack:

        def opened() -> Prepared:
            stack.close()
            source = stack.enter_context(again.opened(trust=how["trust"]))
            check_target(target, how["force"], source.stat)
            return prepared(source, to, how, threads, again.restored)

        front = opened()
        if to in DATABASES and is_copied(front.content.plan.source, to, how):
            return None
        are_typed = {front.plan.source, to} <= TYPED_TABLES
        if are_typed and tried is None and not is_as_stored(front.content, to, how):
            from serialpack.conversion.tables.batches import is_by_types

            if is_by_types(front.plan):
                return SurveyResult(None, (), None, by_types=True)
        if _has_its_schema(front.plan, to) and not how["shaping"].gives_types:
            if front.plan.target_settings or not _is_empty(front):
                return None
            front = opened()
        looked, block_size = surveyed(
            chain((front.content.read,), (opened().content.read for _ in count())).__next__,
            front.plan,
            within=to in TYPED_TABLES | UNIONS,
            styled=how["as_source"] and is_in_dialect_of(front.plan.source, to),
            threads=threads,
            elsewhere=front.elsewhere,
            size=front.size,
            block_size=front.block_size or block_size,
        )
    known = _known(looked, front, to, how, block_size)
    known = known._replace(most=looked.most, target=front.plan.target, source=front.plan.source)
    return _for_target(known, looked, front, to, tried)


def _for_target(
    known: SurveyResult, looked: Looked, front: Prepared, to: str, tried: TableNotMadeError | None
) -> SurveyResult:
    """``known``, with the types and columns that the target asks for; RefusedError as of
    ``check_groups``."""
    if tried is not None and tried.schema is not None and known.layout is not None:
        from serialpack.conversion.tables.own_types import with_own_types

        layout, told = with_own_types(known.layout, looked.shape, tried.schema, front.plan)
        known = known._replace(layout=layout, told=tuple(told))
    if front.plan.shaping.infer and to not in TEXT_TABLES:
        known = _with_columns_of_text(known, looked)
    columns = 0 if known.layout is None else len(known.layout.columns)
    if to in TYPED_TABLES and rows_at_a_time(looked.most, columns):
        from serialpack.conversion.tables.strips import check_groups

        check_groups(to, looked.shape.maps, columns)
    return known


def _with_columns_of_text(known: SurveyResult, looked: Looked) -> SurveyResult:
    """``known``, with the columns that stay text under ``--infer``, and with those of them that are
    numbers with decimal commas, or such as decimals keep in columns of the target."""
    by_name = {column.name for column in known.types}
    shapes = looked.shape.keys.items()
    text = tuple(str(name) for name, s in shapes if str in s.types and name not in by_name)
    cells = {} if looked.types is None else looked.types.columns
    commas = tuple(name for name in text if name in cells and cells[name].commas)
    there = [(name, cells[name]) for name in text if name in cells]
    holds = known.target in TYPED_TABLES
    decimals = tuple(n for n, seen in there if holds and seen.decimals and not seen.non_finite)
    return known._replace(text=text, commas=commas, decimals=decimals)


def _has_its_schema(plan: ConversionPlan, to: str) -> bool:
    """Whether the schema of all records is given, or that of the source."""
    return to in UNIONS and bool(plan.target_settings or plan.source == to)


def _is_empty(front: Prepared) -> bool:
    """Whether the source has no records, so that none of them is in its schema."""
    fmt = FORMATS.get(front.plan.source)
    assert isinstance(fmt, ValueFormat)
    first = next(iter(fmt.split(front.content.read, 1, for_values=True)))
    return first.last and first.records == 0


def _known(
    looked: Looked, front: Prepared, to: str, how: ConvertOptions, block_size: int | None
) -> SurveyResult:
    """What ``looked`` says of the target: its layout, the types of columns, and what is kept."""
    plan = front.plan
    missing = Fields(how["fields"]).missing(looked.fields)
    if missing and looked.rows and front.content.projected is None:
        fields_lost(missing, how["lossy"])  # before a table without columns is refused for that
    types = column_types(looked.types, looked.shape, plan, to)
    columns = len(looked.shape.keys)
    without_rows = not looked.most and not plan.target_settings
    if to in UNIONS and not types and (without_rows or not _has_its_schema(plan, to)):
        union = union_layout_of(looked.shape, looked.rows)
        return SurveyResult(union, types, block_size, columns)
    if to not in TABLES:
        return SurveyResult(None, types, block_size, columns)
    layout = _layout(looked, front, to, how)
    seen = looked.types
    if to in TEXT_TABLES and looked.kept is not None and seen is not None:
        kept = _as_kept(looked.kept, seen.misfits, to, plan.shaping.delimiter)
        return SurveyResult(layout._replace(kept=kept), (), block_size, kept=kept)
    if (kept_with := _kept_with_columns(looked, types, plan, to)) is not None:
        layout = with_kept(layout, kept_with)
    if how["as_source"] and is_in_dialect_of(plan.source, to):
        layout = styled(layout, looked.style, looked.names)
    told: list[Loss] = []
    if to in DATABASES and not (looked.rows or layout.columns):
        from serialpack.conversion.tables.to_database import with_a_column

        layout, told = with_a_column(layout, plan)
    return SurveyResult(layout, types, block_size, columns, kept_with, told=tuple(told))


def _kept_with_columns(
    looked: Looked, types: tuple[TypedColumn, ...], plan: ConversionPlan, to: str
) -> KeptTable | None:
    """How the source was written, where it is a table of text and the target keeps that."""
    seen = looked.types
    if to not in KEEPING or seen is None or not plan.is_text_table or not looked.shape.keys:
        return None
    mark = FORMATS.declaration(plan.source).delimiter.decode()
    words, null = _words(plan.shaping), plan.shaping.null
    return kept_from(seen, [*looked.shape.keys], types, mark, words, null)


def _layout(looked: Looked, front: Prepared, to: str, how: ConvertOptions) -> Layout:
    """How the table ``to`` holds what was looked at, and the lists of records that it has.

    ValueRefusedError for a key that names no column.
    """
    try:
        layout = _layout_without_lists(looked, front, to, how)
    except OddKey as odd:
        record, kind = {odd.key: "x"}, key_kind(odd.key) or "key"
        lost = Difference(0, "$", shown(odd.key), "", kind)
        raise ProvingWriter(front.plan).refuse(lost, None, None, [record]) from None
    return layout._replace(inside=looked.inside, tables=looked.tables)


def _layout_without_lists(looked: Looked, front: Prepared, to: str, how: ConvertOptions) -> Layout:
    """How the table ``to`` holds what was looked at; errors as of ``layout_of``."""
    shaping = front.plan.shaping
    if to in DATABASES:
        from serialpack.conversion.tables.to_database import database_layout, table_name

        read = front.content.read  # a table of another database keeps its name
        name = table_name(read.table if isinstance(read, FileRead) else how["table"], front.name)
        return database_layout(looked.shape, shaping, looked.rows, name, looked.json)
    made = layout_of if to in TEXT_TABLES else typed_layout_of
    return made(looked.shape, shaping, looked.rows)


def _as_kept(
    kept: KeptTable, misfits: Collection[str], to: str, delimiter: str | None
) -> KeptTable:
    """What is kept, for those columns that are still so, between the delimiters of ``to``, or as
    the user says."""
    columns = {name: column for name, column in kept.columns.items() if name not in misfits}
    own = FORMATS.declaration(to).delimiter.decode()
    mark = delimiter or (kept.delimiter if kept.delimiter in delimiters_of(to) else own)
    return kept._replace(columns=columns, delimiter=mark)


def _words(shaping: Shaping) -> tuple[str, ...]:
    """The words that ask for the same types."""
    types = ",".join(f"{name}={kind}" for name, kind in shaping.types)
    return (
        *(["--infer"] if shaping.infer else ()),
        *(["--types", types] if types else ()),
        *(["--null", shaping.null] if shaping.null else ()),
    )
