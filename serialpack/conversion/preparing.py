"""A source is opened, and it is planned how its content becomes the target.

``prepared`` does both: it finds what the source has in it (``sources.content``), makes of content
without records of its own a format that has them, and puts what the user asked for into the plan
that workers are given.
"""

from collections.abc import Collection
from typing import NamedTuple

from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rounding import parted
from serialpack.conversion.losses.rules import (
    ARRAYS,
    DATABASES,
    EVERY,
    RULES,
    TEXT_TABLES,
    allowed_for,
)
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.routes.copying import is_copied
from serialpack.conversion.sources.content import Asked, Content, content_of, with_schema
from serialpack.conversion.sources.fields import Fields
from serialpack.conversion.sources.restored import RestoredOnce
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.targets.writers import holds_tables
from serialpack.detection.detect import AsFound, dialect_named
from serialpack.errors import RefusedError, UsageError, ValueRefusedError, Ways
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK
from serialpack.formats.shared.random_access import FileRead, as_file
from serialpack.pipeline.line import Elsewhere
from serialpack.text import number_of, quoted
from serialpack.values.kinds import AROUND, LONG_ROWS, Loss


class Prepared(NamedTuple):
    """A source that is open, and how it becomes the target.

    ``content``: what of it is converted. ``size``: its bytes, where they are known. ``block_size``:
    how many of them are read at a time, where that is not left to the target. ``name``: what it is
    called. ``elsewhere``: others that do its blocks, where these stand in the source as they are
    read.
    """

    content: Content
    plan: ConversionPlan
    size: int | None
    block_size: int | None
    name: str
    elsewhere: Elsewhere | None


def prepared(
    source: Source,
    to: str,
    how: ConvertOptions,
    threads: int,
    once: RestoredOnce | None = None,
) -> Prepared:
    """What is converted of ``source``, which is open, and the plan by which it becomes ``to``.

    ``threads``: how many restore a container. ``once``: keeps what was restored for a second
    reading. Errors as of the conversion, for all that shows before any record is read.
    """
    fields = Fields(how["fields"])
    lossy, step = parted(how["lossy"])
    asked = Asked(
        how["format"],
        fields,
        as_found(how),
        how["table"],
        trust=how["trust"],
        threads=threads,
        verify=how["verify"],
    )
    content = content_of(source, asked, once)
    _check_database(content, source, to, how)
    allowed = _allowed(to, lossy, how)
    losses = Losses(allowed)
    if content.loose is not None:  # what is behind that is said when it is read
        check_dropped(content.loose.dropped, losses, to)
        _check_above(content.loose.dropped, allowed)
    content, at = _with_records(content, source, to, how, allowed, losses)
    shaping = how["shaping"]._replace(at=at)
    if fields.names and not shaping.picks and isinstance(content.read, FileRead):
        content.read.columns = fields.columns
    target = _dialect(to, content.plan.source, shaping.delimiter)
    plan = with_schema(content.plan._replace(target=target), how["options"], content.stored)
    plan = plan._replace(
        verify=how["verify"],
        lossy=allowed,
        asked=tuple(RULES) if EVERY in lossy else tuple(lossy),
        strict=how["strict"],
        tagged=how["tagged"],
        skip_bad=how["skip_bad"],
        shaping=shaping,
        step=step,
        array_name="" if at else (how["shaping"].at or "").strip("/"),
        above=content.above,
    )
    _check_null(plan, to)
    whole = content.plan.source_serializer is not None or shaping.picks
    elsewhere = how["elsewhere"] if content.read == source.read else None
    return Prepared(
        content, plan, source.size, MAX_BLOCK if whole else None, source.path, elsewhere
    )


def _check_database(content: Content, source: Source, to: str, how: ConvertOptions) -> None:
    """UsageError for ``--table`` without a database, RefusedError for a key-value store."""
    found = content.plan.source
    if how["table"] is not None:
        if not DATABASES & {to, found}:
            raise UsageError("--table is for SQLite", hint="leave it out")
    elif found in DATABASES and not is_copied(found, to, how):
        _check_no_store(content, source)


def _allowed(to: str, lossy: Collection[str], how: ConvertOptions) -> tuple[str, ...]:
    """The rules that may be applied; with ``--skip-bad`` a long row is a bad record, and left out,
    unless the user named its rule."""
    allowed = allowed_for(to, lossy, strict=how["strict"])
    if how["skip_bad"] and LONG_ROWS not in lossy:
        allowed = tuple(rule for rule in allowed if rule != LONG_ROWS)
    return allowed


def _with_records(
    content: Content,
    source: Source,
    to: str,
    how: ConvertOptions,
    allowed: tuple[str, ...],
    losses: Losses,
) -> tuple[Content, str | None]:
    """``content`` in a format with records: objects, datasets, archives of arrays and databases of
    several tables are made one; and the path in it that is still to be taken, of ``--at``."""
    found, shaping = content.plan.source, how["shaping"]
    at = shaping.at
    if found == "object" or (content.head and (found in ARRAYS or found == "pickle")):
        from serialpack.conversion.sources.objects import from_object

        content, at = from_object(content, at, to, losses, tagged=how["tagged"])
    if FORMATS.declaration(content.plan.source).has_datasets and content.packed != to:
        from serialpack.conversion.sources.datasets import from_datasets

        return from_datasets(content, at, to, source, losses), None
    if content.plan.source == "npz":
        from serialpack.conversion.sources.datasets import from_archive, without_others

        if not (at or content.made or content.packed == to):
            content = without_others(content, source, losses)
        if at or FORMATS.declaration(to).is_array:
            return from_archive(content, at, source), None
    elif found in DATABASES and holds_tables(to) and not (how["table"] or content.packed == to):
        from serialpack.conversion.routes.databases import from_tables

        plan = content.plan._replace(target=to, lossy=allowed, shaping=shaping._replace(at=at))
        content = from_tables(content, plan, losses, source)
    return content, at


def _check_null(plan: ConversionPlan, to: str) -> None:
    """UsageError for ``--null`` where no cell is read or written that it is for."""
    shaping = plan.shaping
    if shaping.null and plan.is_text_table and to not in TEXT_TABLES and not shaping.reads:
        said = f"--null {quoted(shaping.null)}"
        hint = f"--infer {said} reads numbers, dates and the like as well, --typed {said} literals"
        raise UsageError(
            "--null is for cells that --infer or --typed reads, or CSV is written with", hint=hint
        )


def _check_no_store(content: Content, source: Source) -> None:
    """RefusedError for the file of a key-value store, whose rows nobody else can read."""
    from serialpack.stores.sqlite_kv import is_store_file

    path = as_file(content.read).path
    if path is not None and is_store_file(path):
        raise RefusedError(
            "it is a key-value store, whose rows are packed",
            hint=f"{quoted(f'sqlite-kv://{source.path}')} reads its values,"
            " --table records those rows",
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


def _check_above(dropped: tuple[Loss, ...], allowed: tuple[str, ...]) -> None:
    """ValueRefusedError for lines above a table that are no comments, where these may not go."""
    for loss in dropped:
        if loss.rule == AROUND and AROUND not in allowed:
            lines = number_of(loss.count, "line")
            raise ValueRefusedError(
                f"{lines} above the table would be lost ({loss.value_path}: {loss.was})",
                kind=AROUND,
                hint=Ways((AROUND,), "leaves it out" if loss.count == 1 else "leaves them out"),
            )


def as_found(how: ConvertOptions) -> AsFound:
    return AsFound(how["delimiter"], how["encoding"], how["no_header"])


def is_in_dialect_of(source: str, to: str) -> bool:
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
    if source == to or not is_in_dialect_of(source, to):
        return to
    dialect = FORMATS.declaration(source)
    plain = next(d for d in FORMATS if d.delimiter == dialect.delimiter)
    return to if plain.is_target else plain.name
