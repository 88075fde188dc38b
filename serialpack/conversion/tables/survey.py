"""The first pass over a source: which columns its records make."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from serialpack.collector import gc_paused
from serialpack.columns.fields.wanted import Field
from serialpack.conversion.blocks.converter import BlockConverter
from serialpack.conversion.blocks.flat import columns_suffice, flat_columns
from serialpack.conversion.column_types import shape_of
from serialpack.conversion.losses.rules import (
    DATABASES,
    ELEMENTS,
    KEEPING,
    TABLES,
    TEXT_TABLES,
    UNIONS,
)
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.sources.fields import Projector
from serialpack.conversion.tables.at import Lists, lists_in, only_lists
from serialpack.conversion.tables.by_columns import (
    goes_by_columns,
    shape_of_columns,
    types_of_columns,
)
from serialpack.conversion.tables.columnar import are_by_key, tables_by_column
from serialpack.conversion.tables.header import has_header
from serialpack.conversion.tables.nested import nested
from serialpack.conversion.tables.shape import MOST_COLUMNS, WITH_FACTS, ValueShape, check_columns
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.table import as_maps
from serialpack.conversion.types.kept import KeptTable, kept_of
from serialpack.conversion.types.seen import CellsSeen, TypesSeen
from serialpack.conversion.types.typing import named_types
from serialpack.conversion.types.untyping import Untyper
from serialpack.errors import RefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK, Read, SourceBlock, ValueFormat
from serialpack.formats.csv.by_columns import text_columns
from serialpack.formats.csv.style import TableStyle
from serialpack.formats.csv.text import CsvText
from serialpack.formats.pieces.join import Join
from serialpack.formats.shared.document import DocumentFormat
from serialpack.formats.tables.table import TableFormat
from serialpack.pipeline.line import Crew, Elsewhere, Line
from serialpack.reports import RecordsInside
from serialpack.values.structure import Structure

#: Bytes of the source that are looked at at a time: few, so that its values stay in the cache.
_BLOCK = 1 << 20

#: Each block costs something for each column. Where fewer records than so many are in the first
#: one, blocks have so many bytes, in both passes: more would not keep to what MEMORY in the manual
#: says. Rows of CSV are bounded by their values before that.
_FEW_RECORDS, WIDE_BLOCK = 8, 2 << 20


class Looked(NamedTuple):
    """What some records have in common. ``rows``: what they are, where they are all of a kind.

    ``inside``: where else the records may be; ``tables``: the lists of maps that the one record
    that there is is made of alone.
    """

    rows: str
    shape: ValueShape
    inside: RecordsInside = RecordsInside()
    tables: Lists = Lists()
    #: What is known of columns of text, where that was asked for; and how they were kept.
    types: TypesSeen | None = None
    kept: KeptTable | None = None
    #: The most records of a block.
    most: int = 0
    #: Which of the plan's fields there were.
    fields: frozenset[Field] = frozenset()
    #: How a table of text is written, and its columns in that order.
    style: TableStyle = TableStyle()
    names: tuple[str, ...] = ()
    #: The columns whose text a table with types marks as JSON.
    json: tuple[str, ...] = ()
    #: Of looking, as ``pipeline.line`` counts them.
    seconds: dict[str, float] = {}  # noqa: RUF012

    def joined(self, other: Looked) -> Looked:
        """Of both, in their order; NotOneKind where they are not of a kind."""
        if other.rows and self.rows and other.rows != self.rows:
            raise NotOneKind
        self.shape.merge(other.shape)
        if self.types is not None and other.types is not None:
            self.types.merge(other.types)
        one = self.shape.maps == other.shape.maps
        header = self.inside.header if self.rows else other.inside.header
        types = self.types or other.types
        most, fields = max(self.most, other.most), self.fields | other.fields
        return self._replace(
            rows=self.rows or other.rows,
            inside=(other.inside if one else RecordsInside())._replace(header=header),
            tables=other.tables if one else Lists(),
            types=types,
            most=most,
            fields=fields,
        )


class NotOneKind(Exception):
    """Maps beside other records: all of them stand in one column then."""


class TooLong(Exception):
    """A map that is larger than a block is one record of a table: it is read whole."""


class Wide(Exception):
    """Few records of many columns stand in a block."""


def looker(plan: ConversionPlan, rows: str, within: bool) -> Callable[[SourceBlock], Looked]:
    """What looks at blocks, one after another."""
    look = _Looker(plan, rows, within)

    def looked(block: SourceBlock) -> Looked:
        with gc_paused():  # also while the records are taken apart
            return look(block)

    return looked


class _Looker:
    """Looks at blocks: at no more of each than the names of its columns, or the columns, where
    these tell all that is asked for; else at its records."""

    def __init__(self, plan: ConversionPlan, rows: str, within: bool) -> None:
        self._plan = plan
        self._rows = rows
        self._within = within
        self._looks = plan.shaping.gives_types or plan.kept is not None
        self._converter = BlockConverter(plan)
        self._by_names = _by_names(plan, rows)
        whole_values = plan.kept is not None or rows == "values"
        self._by_columns = None if whole_values else goes_by_columns(plan)
        self._projector = Projector.of(plan.fields)

    def __call__(self, block: SourceBlock) -> Looked:
        return self._at_names(block) or self._at_columns(block) or self._at_records(block)

    def _at_names(self, block: SourceBlock) -> Looked | None:
        fmt, count, kept = self._by_names, block.records or 0, self._plan.kept
        if fmt is None or count <= 1 or not (names := self._taken(fmt.flat_names(block) or [])):
            return None
        types = kept and Untyper(kept).look_at(flat_columns(fmt, block))
        if kept and not types:
            return None
        check_columns(len(names))
        shape = _shape_of_names(names, block)
        return Looked("maps", shape, types=types, most=count, fields=self._found())

    def _at_columns(self, block: SourceBlock) -> Looked | None:
        plan, fmt = self._plan, self._by_columns
        found = fmt and text_columns(fmt, block, verify=False)
        if not fmt or not found or found.rows <= 1:
            return None
        taken = found.only(self._taken(found.names))
        if not taken.names:
            return None
        if writes_table(plan, "maps"):
            check_columns(len(taken.names))
        shape = shape_of_columns(taken, within=self._within)
        seen = types_of_columns(taken, plan, shape) if self._looks else None
        if seen is None and self._looks:
            return None
        if seen is not None and plan.target in KEEPING:
            seen.look_at_text(fmt.without_header(block), fmt.header_of(block), fmt.declared, found)
        return Looked("maps", shape, types=seen, most=found.rows, fields=self._found())

    def _taken(self, names: list[str]) -> list[str]:
        """Which of the columns ``names`` are looked at."""
        return names if self._projector is None else self._projector.names(names)

    def _found(self) -> frozenset[Field]:
        return frozenset(() if self._projector is None else self._projector.found)

    def _at_records(self, block: SourceBlock) -> Looked:
        plan = self._plan
        types = TypesSeen() if self._looks else None
        if types is not None:
            self._converter.look_into(types)
        found = self._converter(block)
        records = found.records
        rows = self._rows or rows_of(records)
        shape = self._shape(records, rows)
        if records and types is not None and plan.kept is None:
            look_at_cells(plan, block, records, types)
        inside = RecordsInside(header=rows == "lists" and has_header(records))
        tables = Lists()
        if len(records) == 1 and type(records[0]) is dict:
            (record,) = records
            columnar = tables_by_column(record)
            inside = inside._replace(
                lists=tuple(lists_in(record)),
                columnar=columnar,
                by_key=columnar == ("",) and are_by_key(record),
            )
            in_list = plan.shaping.at is not None and found.elements
            if in_list and plan.source not in ELEMENTS:
                inside = inside.in_list()
            # The one record of a list is a row: one more beside it would make two of them.
            if not (found.elements or plan.structure == Structure.ARRAY):
                tables = self._tables(record)
        return Looked(rows, shape, inside, tables, types, most=len(records), fields=found.fields)

    def _shape(self, records: list[Any], rows: str) -> ValueShape:
        shape = ValueShape()
        is_table = writes_table(self._plan, rows)
        if records:
            if rows != "values" and is_table:
                check_columns(max(map(len, records)))
            shape.look(list(as_maps(records, rows)), within=self._within)
            if is_table:
                check_columns(len(shape.keys))
        return shape

    def _tables(self, record: dict[str, Any]) -> Lists:
        """The lists that the only record is made of, each of which may be a table."""
        is_xml = self._plan.source in ELEMENTS
        tables = only_lists(record, elements=is_xml)
        # Alone, an element without any is a record, and null.
        return Lists() if is_xml and tables.empty and self._plan.target not in DATABASES else tables


def _by_names(plan: ConversionPlan, rows: str) -> DocumentFormat | None:
    """The format of the source, where the names of its columns may be all that the layout of the
    target asks for."""
    asked = rows == "values" or plan.skip_bad or plan.target not in TEXT_TABLES
    return None if asked else columns_suffice(plan)


def _shape_of_names(names: list[str], block: SourceBlock) -> ValueShape:
    """What is known of the shape of a block's records by their names."""
    shape = ValueShape()
    shape.look([dict.fromkeys(names, "")], within=False)
    shape.maps = block.records or 0
    shape.members = shape.maps * len(names)
    return shape


def rows_of(records: list[Any]) -> str:
    """What records are as rows."""
    types = set(map(type, records))
    if not types:
        return ""
    return "maps" if types == {dict} else "lists" if types == {list} else "values"


def surveyed(
    open_read: Callable[[], Read],
    plan: ConversionPlan,
    *,
    within: bool,
    styled: bool,
    threads: int,
    elsewhere: Elsewhere | None,
    size: int | None,
    block_size: int | None,
) -> tuple[Looked, int | None]:
    """What all records have in common, and the bytes of a block, where these must be others.

    ``open_read`` gives the source from its front, as often as it is called. ``within``: also of
    what stands in lists. ``styled``: also how a table of text is written. Errors as of the
    conversion.
    """
    rows = ""
    crew = Crew(threads, processes=threads > 1, elsewhere=elsewhere)
    for _ in range(4):
        try:
            looked = _looked(open_read(), plan, rows, within, styled, crew, size, block_size)
            return looked, block_size
        except NotOneKind:
            rows = "values"
        except Wide:
            block_size = WIDE_BLOCK
        except TooLong:
            if block_size == MAX_BLOCK:
                break
            block_size = MAX_BLOCK
    raise RefusedError(
        "a document of more than 64 MiB is not one record", hint="--to ndjson writes its members"
    )


def writes_table(plan: ConversionPlan, rows: str) -> bool:
    """Whether ``rows`` make a table, and are not only looked at for types out of text: as unions,
    lists are no rows."""
    if plan.target in UNIONS:
        return rows == "maps"
    return plan.target in TABLES or bool(FORMATS.declaration(plan.target).delimiter)


def look_at_cells(
    plan: ConversionPlan, block: SourceBlock, records: list[Any], types: TypesSeen
) -> None:
    """Say in ``types`` what the text of the columns is, and how a table of text is written."""
    is_table = plan.is_text_table
    if plan.shaping.infer or (is_table and plan.shaping.null):
        types.look(records, empty_is_null=is_table)
    fmt = FORMATS.get(plan.source)
    if isinstance(fmt, CsvText) and plan.target in KEEPING:
        null = plan.shaping.null
        head = fmt.header_of(block)
        types.look_at_text(fmt.without_header(block), head, fmt.declared, null=null)


def kept_in(fmt: ValueFormat, first: SourceBlock, plan: ConversionPlan) -> KeptTable | None:
    """How a table of text was written that a typed table came from, where it is to be one again
    and nothing else is said of how."""
    plain = plan.shaping == Shaping() and not plan.tagged
    if plan.target not in TEXT_TABLES or not plain:
        return None
    return kept_of(fmt.kept_words(first))


def _looked(
    read: Read,
    plan: ConversionPlan,
    rows: str,
    within: bool,
    styled: bool,
    crew: Crew,
    size: int | None,
    block_size: int | None,
) -> Looked:
    fmt = FORMATS.get(plan.source)
    assert isinstance(fmt, ValueFormat)
    may_grow = block_size is None and not isinstance(fmt, CsvText)
    block_size = block_size or _BLOCK
    most = Join.most_values(block_size) if block_size == WIDE_BLOCK else 0
    blocks = fmt.split(read, block_size, for_values=True, most_values=most)
    line = Line(plan.placed(blocks), block_size=block_size, size=size)
    first = line.first
    if may_grow and not first.last and 0 < (first.records or 0) < _FEW_RECORDS:
        raise Wide
    if isinstance(fmt, CsvText) and writes_table(plan, "maps") and not plan.fields:
        check_columns(fmt.count_columns(first, MOST_COLUMNS))
    structure = plan.structure or fmt.structure(first, 0)
    if structure == Structure.MAP or (plan.shaping.picks and not first.last):
        raise TooLong
    plan = plan._replace(
        style=fmt.detect_style(first) if fmt.restyled else fmt.outline(first),
        structure=Structure.ARRAY if structure == Structure.ARRAY else None,
        whole=True,
        verify=False,
        looked=True,
        types=named_types(plan.shaping.types),
        kept=kept_in(fmt, first, plan),
    )
    whole = Looked("", ValueShape())
    if (by_names := _by_names(plan, rows)) and by_names.flat_names(first):
        crew = Crew()  # there is next to nothing to do
    for _, looked in line.through(partial(looker, plan, rows, within), crew):
        whole = whole.joined(looked)
        if writes_table(plan, whole.rows):
            check_columns(len(whole.shape.keys))
    if not whole.rows and (sample := fmt.sample(first)):
        if whole.types is not None and isinstance(fmt, CsvText):
            whole.types.look_at_text(b"", fmt.header_of(first), fmt.declared)
        whole = _without_rows(plan, sample, whole.types, within=within)
    if isinstance(fmt, CsvText) and styled:
        style, names = fmt.style_of_table(first)
        whole = whole._replace(style=style, names=tuple(names))
    if isinstance(fmt, TableFormat) and plan.target in DATABASES:
        whole = whole._replace(json=tuple(fmt.json_columns(first)))
    return whole._replace(kept=plan.kept)


def _without_rows(
    plan: ConversionPlan, sample: dict[str, Any], types: TypesSeen | None, *, within: bool
) -> Looked:
    """What is known of a table that has no row, by one that it could have."""
    records: list[Any] = [sample]
    if plan.shaping.nest is not None and not FORMATS.declaration(plan.source).is_json:
        columns = [[value] for value in sample.values()]
        records = nested([*sample], columns, plan.shaping.between, 0)
    found: set[Field] = set()
    if (projector := Projector.of(plan.fields)) is not None:
        records, found = projector.records(records, 0), projector.found
    shape = ValueShape()
    shape.look(records, within=within)
    for column in plan.types:
        if column.name in shape.keys:
            typed = shape.keys[column.name] = shape_of(column, CellsSeen())
            if typed.types & WITH_FACTS and not typed.facts:
                typed.types = {type(None)}  # no value says how many digits, or which time
    if types is not None:
        types.columns = {name: CellsSeen() for name in shape.keys}
        types.by_hand = {name: CellsSeen() for name in shape.keys}
        types.named = set(shape.keys)
    return Looked("maps", shape, types=types, fields=frozenset(found))
