"""``convert``: a file in any known format becomes one in another."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import IO, Any

from serialpack.api import Target, check_target, check_threads, opened_source, target_name
from serialpack.checked import checked
from serialpack.columns.fields.wanted import Field
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rounding import parted
from serialpack.conversion.losses.rules import DATABASES, EVERY, RULES, TABLES, UNIONS
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.preparing import is_as_stored, prepared
from serialpack.conversion.refusals import list_losses
from serialpack.conversion.routes.copying import (
    copied,
    copied_as_array,
    copied_database,
    copied_table,
    is_copied,
    schema_dropped,
    table_in_place,
)
from serialpack.conversion.routes.outcome import Converted, comes_back
from serialpack.conversion.routes.stream import convert_stream
from serialpack.conversion.sources.content import Content
from serialpack.conversion.sources.fields import Fields, fields_lost
from serialpack.conversion.surveying import survey_source
from serialpack.conversion.tables.known import Below, Known, TableNotMadeError
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.told import turned_back_by
from serialpack.conversion.tables.twice import Rereadable, TooFar, twice
from serialpack.conversion.tables.writers import has_plain_text
from serialpack.conversion.targets.sinks import HeldWrite, is_own_file, opened_target
from serialpack.conversion.targets.writers import check_delimiter, format_of, is_written, written
from serialpack.errors import UsageError, ValueRefusedError
from serialpack.files.source import Path
from serialpack.files.targets import not_kept_by
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK
from serialpack.formats.shared.join import Join
from serialpack.pipeline.line import Elsewhere, Progress
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.pipeline.workers import usable_cores
from serialpack.reports import ConvertReport
from serialpack.values.kinds import AROUND, totals


def check_convert(
    to: str, *, format: str | None, lossy: Collection[str], threads: int | None
) -> None:
    """Raise what ``convert`` would raise whatever the source is."""
    Losses(parted(lossy)[0])
    declared = FORMATS.source(to)
    if not (declared.is_target and is_written(to)):  # all that are written are many to load
        hint = f"--to csv --out-delimiter '{declared.delimiter.decode()}'"
        if not declared.dialect_of:
            hint = "known: " + ", ".join(written())
        raise UsageError(f"{to} is read, not written", hint=hint)
    if format is not None:
        FORMATS.source(format)
    check_threads(threads)


@checked
def convert(
    source: Path | IO[bytes] | Rereadable,
    target: Target,
    *,
    to: str | None = None,
    format: str | None = None,
    lossy: Collection[str] = (),
    tagged: bool = False,
    skip_bad: bool = False,
    verify: bool = True,
    trust: bool = False,
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    block_size: int | None = None,
    max_size: int | None = None,
    force: bool = False,
    fields: Sequence[str] = (),
    strict: bool = False,
    shaping: Shaping | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    no_header: bool = False,
    table: str | None = None,
    as_source: bool = True,
    below: Below | None = None,
    progress: Progress | None = None,
    elsewhere: Elsewhere | None = None,
) -> ConvertReport:
    """Write the records of ``source`` in the format ``to``, with nothing lost unsaid; by default
    in that which the name of ``target`` says.

    ``source`` is in any known format (``format``; by default told by name and content), compressed
    or not, or a container of such a source. A document becomes a document, a sequence of records
    one of records; an array becomes the lines of NDJSON, the rows of a table, and these an array
    again.

    What ``to`` holds in another type or shape only is carried and counted
    (``conversion.losses.rules``), with ``strict`` refused. What would be lost is refused, unless
    ``lossy`` names its loss (or ``all``), or ``tagged`` writes it as JSON can say it
    (``conversion.tagging``), and reads it again. With ``skip_bad`` records that cannot be read or
    written are left out. The report counts all of them. ``shaping`` says how records become rows of
    a table, and rows records. ``delimiter`` stands between the fields of a source that is CSV:
    ``,``, ``;``, ``|`` or a tab; by default that which fits its first rows, and CSV becomes CSV
    with the delimiter that it has, and, but for ``as_source=False``, with its ends of lines,
    byte-order mark and quotes. ``encoding`` is its encoding, or that of JSON, YAML and TOML, where
    that is not UTF-8 and no byte-order mark says it; with ``no_header`` its columns are
    ``column1``, ``column2``, ... ``verify=False`` skips the proof, which reads back what is
    written. ``options`` are the ``schema`` and ``message`` of protobuf and Avro. ``fields``
    (``["a", "b.c"]``) takes only these of each record: see ``columns.fields.json`` for what that
    means; of a container of columns only they are read then. ``table`` is the one of a database
    that is read, by default the only one, and of one that is written, by default named as the file;
    of a database read, it keeps its name. ``elsewhere`` has others convert the blocks (see
    ``preview.is_splittable``); ``below`` says which line of names the rows of a table of text stand
    below. Everything else as ``pack`` and ``unpack``.

    A target whose path ends in ``.gz``, ``.zst``, ``.xz``, ``.bz2``, ``.lzma`` or ``.lz4`` is
    compressed so, at the level which that has by default; ``max_size`` counts the bytes before.

    Raises UsageError, InputError (the source is not valid in its format), ValueRefusedError,
    RefusedError, MissingLibraryError, FileError.
    """
    to = format_of(target) if to is None else FORMATS.spelled(to, to=True)
    format = None if format is None else FORMATS.spelled(format)
    check_convert(to, format=format, lossy=lossy, threads=threads)
    how: ConvertOptions = {
        "format": format,
        "lossy": lossy,
        "tagged": tagged,
        "skip_bad": skip_bad,
        "verify": verify,
        "trust": trust,
        "options": options or {},
        "threads": threads,
        "elsewhere": elsewhere,
        "max_size": max_size,
        "force": force,
        "fields": fields,
        "strict": strict,
        "shaping": shaping or Shaping(),
        "delimiter": delimiter,
        "encoding": encoding,
        "no_header": no_header,
        "table": table,
        "as_source": as_source,
        "below": below,
    }
    how["shaping"].check()
    declared = FORMATS.declaration(to)
    if how["shaping"].indent and not declared.is_json_text:
        raise UsageError(f"--indent is for json, not {to}")
    check_delimiter(how["shaping"].delimiter, to)
    if how["shaping"].ascii and not declared.is_json:
        raise UsageError(f"--ascii is for json and ndjson, not {to}")
    lists = _lists(how)
    sure = to in TABLES | UNIONS or how["shaping"].gives_types
    with twice(source, sure=sure, may=lists) as again:
        try:
            return _either(again, target, to, how, block_size, progress)
        except ValueRefusedError as refused:
            attempt = partial(_attempt, again, to, how, block_size)
            if not lists or list_losses(refused, to, list(lossy), attempt) or not refused.on_path:
                raise
            with suppress(TooFar):  # what lets the value go does not let the record
                _either(again, io.BytesIO(), to, how, block_size, None, listed=False)
            raise


def _lists(how: ConvertOptions) -> bool:
    """Whether what is refused is listed: all that would be lost."""
    said = how["strict"] or how["tagged"] or how["skip_bad"]
    return not (said or EVERY in how["lossy"])


def _attempt(
    again: Rereadable,
    to: str,
    how: ConvertOptions,
    block_size: int | None,
    losses: Losses,
    progress: Progress,
) -> None:
    """Convert with all losses allowed, and write nothing."""
    every: ConvertOptions = {**how, "lossy": [EVERY], "force": True}
    _either(again, io.BytesIO(), to, every, block_size, progress, losses)


def _either(
    again: Rereadable,
    target: Target,
    to: str,
    how: ConvertOptions,
    block_size: int | None,
    progress: Progress | None,
    losses: Losses | None = None,
    *,
    listed: bool = True,
) -> ConvertReport:
    """As ``convert``, in one pass or in two. ``losses`` counts, and nothing is written then;
    ``listed``: as of the plan, where that may be."""
    known: Known | None = None
    if to in TABLES | UNIONS or how["shaping"].gives_types:
        known = survey_source(again, target, to, how, block_size)
    if known is not None and to in DATABASES and losses is None:
        from serialpack.conversion.routes.databases import into_tables, tables_of

        if lists := tables_of(known, how):
            one = partial(_either, again, block_size=block_size, progress=None)
            with opened_source(again.again(), trust=how["trust"]) as opened:
                return into_tables(opened, target, to, lists, how, one)
    no_layout = known is None or known.layout is None
    whole = no_layout and to in UNIONS and block_size != MAX_BLOCK
    if whole and _needs_one_schema(again, to, how, known, block_size):
        block_size = MAX_BLOCK
        known = None if known is None else known._replace(block_size=MAX_BLOCK)
    refused = losses is not None
    listed = listed and not refused and _lists(how)
    rest = block_size, progress, losses, refused, listed
    try:
        report = _converted(again, target, to, how, known, *rest)
    except TableNotMadeError as tried:
        known = survey_source(again, target, to, how, block_size, tried)
        report = _converted(again, target, to, how, known, *rest)
    return report._replace(kept_pipe=again.kept or report.kept_pipe)


def _needs_one_schema(
    again: Rereadable,
    to: str,
    how: ConvertOptions,
    known: Known | None,
    block_size: int | None,
) -> bool:
    """Whether the blocks of a source would each have a schema of its own."""
    with opened_source(again.again(), trust=how["trust"]) as opened:
        size = opened.size
    if size is not None and size <= (block_size or Join.block_size):
        return False
    try:
        _converted(again, io.BytesIO(), to, how, known, block_size, None, Losses(RULES))
    except ValueRefusedError as refused:
        return refused.kind == "mixed"
    return False


def _released(held: HeldWrite, wanted: Fields, found: frozenset[Field]) -> None:
    """Write what is held once all the fields were found that were asked for."""
    if not wanted.missing(found):
        held.release()


def _no_write(_: object) -> None:
    """Where nothing is written."""


def _converted(
    again: Rereadable,
    target: Target,
    to: str,
    how: ConvertOptions,
    known: Known | None,
    block_size: int | None,
    progress: Progress | None,
    losses: Losses | None = None,
    refused: bool = False,
    listed: bool = False,
) -> ConvertReport:
    """As ``convert``; ``known``: of a source that was looked at.

    ``losses`` counts what is changed; nothing is written then. ``refused``, ``listed``: as of the
    plan.
    """
    wanted = Fields(how["fields"])
    threads = how["threads"] or usable_cores()
    with ExitStack() as stack:
        opened = stack.enter_context(opened_source(again.again(), trust=how["trust"]))
        check_target(target, how["force"], opened.stat)
        content, plan, _, size, _, elsewhere = prepared(opened, to, how, threads, again.restored)
        plan = plan._replace(refused=refused, listed=listed)
        if known is not None:
            plan = plan._replace(layout=known.layout, types=known.types, kept=known.kept)
            size = known.block_size
        verify, table = how["verify"], None
        by_types = known is not None and known.by_types and not _is_made(content, plan)
        if by_types and (losses is not None or not is_own_file(target)):
            from serialpack.conversion.tables.batches import kept_table

            kept = kept_table(content.read, plan, how["max_size"], progress)
            table = stack.enter_context(kept)
        with opened_target(target, how["force"], opened.stat, verify=verify) as into:
            # A file is left behind whole or not at all; of a pipe the front waits.
            held = HeldWrite(into.write) if how["fields"] and into.patch is None else None
            write = held or into.write if losses is None else _no_write
            out = LimitedWrite(write, how["max_size"])
            same = is_as_stored(content, to, how)
            if is_copied(plan.source, to, how):
                same, done = True, copied_database(content.read, out, progress)
            elif same or _is_made(content, plan):
                checked = same and verify and content.projected is None
                done = copied(content.read, out, progress, plan.source if checked else None)
            elif table is not None:
                done = copied_table(table, out, progress)
            elif by_types:
                assert into.so_far is not None
                done = table_in_place(content.read, plan, out, into.so_far, progress)
            elif (array := copied_as_array(content.read, out, plan, progress)) is not None:
                done = array
            else:
                done = convert_stream(
                    content.read,
                    out,
                    plan,
                    block_size=size or block_size,
                    threads=threads,
                    size=opened.size,
                    patch=into.patch,
                    progress=progress,
                    losses=losses,
                    elsewhere=elsewhere,
                    seen=None if held is None else partial(_released, held, wanted),
                )
            projected = content.projected
            dropped = [*content.all_dropped, *schema_dropped(content.read, to)]
            check_dropped(dropped, Losses(plan.lossy), to)
            dropped += () if known is None else known.told
            done = done._replace(losses=totals([*done.losses, *dropped]))
            missing = wanted.missing(done.fields if projected is None else projected.found)
            if same and projected is not None:
                done = done._replace(records=projected.records)
            if missing and out.written and done.records != 0:
                lost = fields_lost(missing, how["lossy"])
                done = done._replace(losses=totals([*done.losses, lost]))
                if losses is not None:
                    losses.merge([lost])
            if held is not None:
                held.release()
            opened.check_unchanged()
    whole = same and not how["fields"]
    above = f"{how['shaping'].at}." if how["shaping"].at else ""
    return ConvertReport(
        source=opened.path,
        target=target_name(target),
        format=content.found,
        to=to,
        read=done.read,
        size=into.size(out.written),
        records=done.records,
        losses=[loss for loss in done.losses if not RULES[loss.rule].is_carried(to)],
        left_out=done.left_out,
        places=done.places,
        exact=whole,
        proved=verify or whole,
        seconds=done.seconds,
        missing=missing,
        carried=[loss for loss in done.losses if RULES[loss.rule].is_carried(to)],
        back=_back(plan, done),
        by_content=content.by_content,
        read_as="" if content.loose is None else content.loose.words,
        lists=() if plan.layout is None else tuple(map(above.__add__, plan.layout.lists)),
        apart=plan.layout is not None
        and bool(plan.layout.tables.names)
        and AROUND not in plan.lossy,
        kept_pipe=content.kept,
        types={column.name: column.spelling.type for column in plan.types},
        columns=0 if known is None or not how["shaping"].gives_types else known.columns,
        text=() if known is None else known.text,
        comes_back=comes_back(plan, done, as_it_is=content.as_it_is),
        not_kept=not_kept_by(into.plain),
    )


def _is_made(content: Content, plan: ConversionPlan) -> bool:
    """Whether what is read was made in the format of the target, and no values are asked for."""
    values = plan.tagged or plan.skip_bad or plan.fields or plan.shaping != Shaping() or plan.step
    return content.made and plan.source == plan.target and not values


def _back(plan: ConversionPlan, done: Converted) -> tuple[str, ...]:
    if done.at:
        return ("-F", plan.target, "--at", done.at)
    is_text = bool(FORMATS.declaration(plan.target).delimiter)
    if plan.layout is None or (is_text and has_plain_text(plan)):
        return ()  # such cells need no words to be read as text, and by --typed are none
    return turned_back_by(plan.target, plan.layout, plan.shaping, done.losses)
