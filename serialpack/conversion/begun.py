"""A source that is opened, how it becomes the target, and what is known of all of it before."""

from collections.abc import Collection
from contextlib import ExitStack
from itertools import chain, count
from shlex import quote
from typing import NamedTuple

from serialpack.api import Target, check_target, opened_source
from serialpack.conversion.blocks.writing import ProvingWriter
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rounding import parted
from serialpack.conversion.losses.rules import (
    ARRAYS,
    DATABASES,
    ELEMENTS,
    EVERY,
    KEEPING,
    RULES,
    TABLES,
    TEXT_TABLES,
    TYPED_TABLES,
    UNIONS,
    allowed_for,
)
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.routes.copying import is_copied
from serialpack.conversion.sources.content import Content, content_of, with_schema
from serialpack.conversion.sources.fields import Fields, fields_lost
from serialpack.conversion.sources.restored import RestoredOnce
from serialpack.conversion.tables.known import Known, TableNotMadeError
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
from serialpack.conversion.tables.shape import rows_at_a_time
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey import WIDE_BLOCK, Looked, surveyed
from serialpack.conversion.tables.twice import Rereadable
from serialpack.conversion.targets.writers import delimiters_of, holds_tables
from serialpack.conversion.types.kept import KeptTable, kept_from
from serialpack.conversion.types.places import alike_in_places
from serialpack.conversion.types.typing import TypedColumn, decided, named_types, shape_of
from serialpack.detection.detect import AsFound, dialect_named
from serialpack.errors import RefusedError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK, ValueFormat
from serialpack.formats.shared.filed import FileRead, as_file
from serialpack.pipeline.line import Elsewhere
from serialpack.pipeline.workers import usable_cores
from serialpack.values.kinds import LONG_ROWS, Difference, Loss, key_kind, shown


class Begun(NamedTuple):
    """A source that is open, and how it becomes the target.

    ``elsewhere``: others that do its blocks, where these stand in the source as they are read.
    """

    content: Content
    plan: ConversionPlan
    size: int | None
    block_size: int | None
    name: str
    elsewhere: Elsewhere | None


def begun(
    source: Source,
    to: str,
    how: ConvertOptions,
    threads: int,
    once: RestoredOnce | None = None,
) -> Begun:
    fields = Fields(how["fields"])
    trust, verify = how["trust"], how["verify"]
    lossy, step = parted(how["lossy"])
    content = content_of(
        source,
        how["format"],
        fields,
        as_found(how),
        how["table"],
        once,
        trust=trust,
        threads=threads,
        verify=verify,
    )
    from_format = content.plan.source
    if how["table"] is not None:
        if not DATABASES & {to, from_format}:
            raise UsageError("--table is for SQLite", hint="leave it out")
    elif from_format in DATABASES and not is_copied(from_format, to, how):
        _check_no_store(content, source)
    allowed = allowed_for(to, lossy, strict=how["strict"])
    if how["skip_bad"] and LONG_ROWS not in lossy:
        allowed = tuple(rule for rule in allowed if rule != LONG_ROWS)
    shaping, losses = how["shaping"], Losses(allowed)
    if content.loose is not None:  # what is behind that is said when it is read
        check_dropped(content.loose.dropped, losses, to)
    trusted = content.head and content.plan.source in ARRAYS
    pickled = content.head and content.plan.source == "pickle"
    if content.plan.source == "object" or trusted or pickled:
        from serialpack.conversion.sources.objects import from_object

        content, at = from_object(content, shaping.at, to, losses, tagged=how["tagged"])
        shaping = shaping._replace(at=at)
    if FORMATS.declaration(content.plan.source).has_datasets and content.packed != to:
        from serialpack.conversion.sources.datasets import from_datasets

        content = from_datasets(content, shaping.at, to, source, losses)
        shaping = shaping._replace(at=None)
    elif content.plan.source == "npz":
        from serialpack.conversion.sources.datasets import from_archive, without_others

        if not (shaping.at or content.made or content.packed == to):
            content = without_others(content, source, losses)
        if shaping.at or FORMATS.declaration(to).is_array:
            content = from_archive(content, shaping.at, source)
            shaping = shaping._replace(at=None)
    elif (
        from_format in DATABASES and holds_tables(to) and not (how["table"] or content.packed == to)
    ):
        from serialpack.conversion.routes.databases import from_tables

        how_read = content.plan._replace(target=to, lossy=allowed, shaping=shaping)
        content = from_tables(content, how_read, losses, source)
    if fields.names and not shaping.at and isinstance(content.read, FileRead):
        content.read.columns = fields.columns
    target = _dialect(to, content.plan.source, shaping.delimiter)
    plan = with_schema(content.plan._replace(target=target), how["options"], content.stored)
    plan = plan._replace(
        verify=verify,
        lossy=allowed,
        asked=tuple(RULES) if EVERY in lossy else tuple(lossy),
        strict=how["strict"],
        tagged=how["tagged"],
        skip_bad=how["skip_bad"],
        shaping=shaping,
        step=step,
        array_name="" if shaping.at else (how["shaping"].at or "").strip("/"),
    )
    if shaping.null and plan.is_text_table and to not in TEXT_TABLES and not shaping.reads:
        said = f"--typed --null {quote(shaping.null)}"
        hint = f"{said} reads numbers and booleans as well; --infer goes without it"
        raise UsageError(
            "--null is for cells that --typed reads, or CSV is written with", hint=hint
        )
    whole = content.plan.source_serializer is not None or shaping.at
    elsewhere = how["elsewhere"] if content.read == source.read else None
    return Begun(content, plan, source.size, MAX_BLOCK if whole else None, source.path, elsewhere)


def looked_at(
    again: Rereadable,
    target: Target,
    to: str,
    how: ConvertOptions,
    block_size: int | None,
    tried: TableNotMadeError | None = None,
) -> Known | None:
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
) -> Known | None:
    """As ``looked_at``, whatever the rows are to stand below."""
    threads = how["threads"] or usable_cores()
    with ExitStack() as stack:

        def opened() -> Begun:
            stack.close()
            source = stack.enter_context(opened_source(again.again(), trust=how["trust"]))
            check_target(target, how["force"], source.stat)
            return begun(source, to, how, threads, again.restored)

        front = opened()
        if to in DATABASES and is_copied(front.content.plan.source, to, how):
            return None
        are_typed = {front.plan.source, to} <= TYPED_TABLES
        if are_typed and tried is None and not is_as_stored(front.content, to, how):
            from serialpack.conversion.tables.batches import is_by_types

            if is_by_types(front.plan):
                return Known(None, (), None, by_types=True)
        if _has_its_schema(front.plan, to) and not how["shaping"].gives_types:
            if front.plan.target_settings or not _is_empty(front):
                return None
            front = opened()
        looked, block_size = surveyed(
            chain((front.content.read,), (opened().content.read for _ in count())).__next__,
            front.plan,
            within=to in TYPED_TABLES | UNIONS,
            styled=how["as_source"] and _is_of(front.plan.source, to),
            threads=threads,
            elsewhere=front.elsewhere,
            size=front.size,
            block_size=front.block_size or block_size,
        )
    known = _known(looked, front, to, how, block_size)
    known = known._replace(most=looked.most, target=front.plan.target, source=front.plan.source)
    if tried is not None and tried.schema is not None and known.layout is not None:
        from serialpack.conversion.tables.own_types import with_own_types

        layout, told = with_own_types(known.layout, looked.shape, tried.schema, front.plan)
        known = known._replace(layout=layout, told=tuple(told))
    if front.plan.shaping.infer and to not in TEXT_TABLES:
        by_name = {column.name for column in known.types}
        shapes = looked.shape.keys.items()
        stay = (name for name, s in shapes if str in s.types and name not in by_name)
        known = known._replace(text=tuple(map(str, stay)))
    columns = 0 if known.layout is None else len(known.layout.columns)
    if to in TYPED_TABLES and rows_at_a_time(looked.most, columns):
        from serialpack.conversion.tables.strips import check_groups

        check_groups(to, looked.shape.maps, columns)
    return known


def _has_its_schema(plan: ConversionPlan, to: str) -> bool:
    """Whether the schema of all records is given, or that of the source."""
    return to in UNIONS and bool(plan.target_settings or plan.source == to)


def _is_empty(front: Begun) -> bool:
    """Whether the source has no records, so that none of them is in its schema."""
    fmt = FORMATS.get(front.plan.source)
    assert isinstance(fmt, ValueFormat)
    first = next(iter(fmt.split(front.content.read, 1, for_values=True)))
    return first.last and first.records == 0


def _known(
    looked: Looked, front: Begun, to: str, how: ConvertOptions, block_size: int | None
) -> Known:
    plan = front.plan
    missing = Fields(how["fields"]).missing(looked.fields)
    if missing and looked.rows and front.content.projected is None:
        fields_lost(missing, how["lossy"])  # before a table without columns is refused for that
    shaping, seen = plan.shaping, looked.types
    types: tuple[TypedColumn, ...] = ()
    if seen is not None and shaping.gives_types:
        named = named_types(shaping.types)
        is_text = plan.is_text_table or plan.source in ELEMENTS
        types = decided(seen, named, to, infer=shaping.infer, is_text=is_text)
        for column in types:
            if not column.by_hand:
                looked.shape.keys[column.name] = shape_of(column, seen.columns[column.name])
        if to in TYPED_TABLES:
            alike_in_places(looked.shape, types)
    columns = len(looked.shape.keys)
    without_rows = not looked.most and not plan.target_settings
    if to in UNIONS and not types and (without_rows or not _has_its_schema(plan, to)):
        union = union_layout_of(looked.shape, looked.rows)
        return Known(union, types, block_size, columns)
    if to not in TABLES:
        return Known(None, types, block_size, columns)
    try:
        layout = _layout(looked, front, to, how)
        layout = layout._replace(lists=looked.lists, tables=looked.tables)
    except OddKey as odd:
        record, kind = {odd.key: "x"}, key_kind(odd.key) or "key"
        lost = Difference(0, "$", shown(odd.key), "", kind)
        raise ProvingWriter(plan).refuse(lost, None, None, [record]) from None
    if to in TEXT_TABLES and looked.kept is not None and seen is not None:
        layout = layout._replace(kept=_as_kept(looked.kept, seen.misfits, to, shaping.delimiter))
        return Known(layout, (), block_size, kept=layout.kept)
    kept = None
    if to in KEEPING and seen is not None and plan.is_text_table and looked.shape.keys:
        mark = FORMATS.declaration(plan.source).delimiter.decode()
        kept = kept_from(seen, [*looked.shape.keys], types, mark, _words(shaping))
    if kept is not None:
        layout = with_kept(layout, kept)
    if how["as_source"] and _is_of(plan.source, to):
        layout = styled(layout, looked.style, looked.names)
    told: list[Loss] = []
    if to in DATABASES and not (looked.rows or layout.columns):
        from serialpack.conversion.tables.databases import with_a_column

        layout, told = with_a_column(layout, plan)
    return Known(layout, types, block_size, columns, kept, told=tuple(told))


def _layout(looked: Looked, front: Begun, to: str, how: ConvertOptions) -> Layout:
    """How the table ``to`` holds what was looked at; errors as of ``layout_of``."""
    shaping = front.plan.shaping
    if to in DATABASES:
        from serialpack.conversion.tables.databases import database_layout, table_name

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
    infer = ("--infer",) if shaping.infer else ()
    if not shaping.types:
        return infer
    return (*infer, "--types", ",".join(f"{name}={kind}" for name, kind in shaping.types))


def _check_no_store(content: Content, source: Source) -> None:
    """RefusedError for the file of a key-value store, whose rows nobody else can read."""
    from serialpack.stores.sqlite_kv import is_store_file

    path = as_file(content.read).path
    if path is not None and is_store_file(path):
        raise RefusedError(
            "it is a key-value store, whose rows are packed",
            hint=f"sqlite-kv://{source.path} reads its values, --table records those rows",
        )


def is_as_stored(content: Content, to: str, how: ConvertOptions) -> bool:
    """Whether a container is of the very format that is asked for, and nothing is said of which
    values are wanted, or how they are read or written: its bytes are, as they are."""
    said = how["format"], how["lossy"], how["tagged"], how["skip_bad"], how["options"]
    return content.packed == to and not (
        any(said)
        or content.plan.fields
        or how["table"] is not None
        or how["below"] is not None
        or how["shaping"] != Shaping()
        or as_found(how) != AsFound()
    )


def as_found(how: ConvertOptions) -> AsFound:
    return AsFound(how["delimiter"], how["encoding"], how["no_header"])


def _is_of(source: str, to: str) -> bool:
    """Whether a source is a table of text in the format ``to``, in whatever dialect."""
    dialect = FORMATS.declaration(source) if source else None
    if dialect is None or not dialect.delimiter:
        return False
    return source == to or (dialect.dialect_of == to and not dialect.is_target)


def _dialect(to: str, source: str, delimiter: str | None) -> str:
    """The format that is written for ``to``: CSV with ``delimiter``, or with that of a source which
    is CSV."""
    if delimiter is not None:
        return dialect_named(delimiter)
    if source == to or not _is_of(source, to):
        return to
    dialect = FORMATS.declaration(source)
    plain = next(d for d in FORMATS if d.delimiter == dialect.delimiter)
    return to if plain.is_target else plain.name
