"""``convert``: a file in any known format becomes one in another."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import IO, Any

from serialpack.api import Target, check_threads
from serialpack.checked import checked
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rounding import parted
from serialpack.conversion.losses.rules import DATABASES, EVERY, RULES, TABLES, UNIONS
from serialpack.conversion.one_pass import OnePass
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.refusals import list_losses
from serialpack.conversion.surveying import survey_source
from serialpack.conversion.tables.rewindable import Rereadable, TooFar, twice
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey_result import Below, SurveyResult, TableNotMadeError
from serialpack.conversion.targets.writers import check_delimiter, format_of, is_written, written
from serialpack.errors import UsageError, ValueRefusedError
from serialpack.files.source import Path
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK
from serialpack.formats.pieces.join import Join
from serialpack.pipeline.line import Elsewhere, Progress
from serialpack.reports import ConvertReport


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
    if how["shaping"].flatten and to not in TABLES:
        hint = "--to csv writes columns a.b, which -F csv --typed reads as keys"
        raise UsageError(f"--flatten is for parquet and arrow, not {to}", hint=hint)
    check_delimiter(how["shaping"].delimiter, to)
    if how["shaping"].ascii and not declared.is_json:
        raise UsageError(f"--ascii is for json and ndjson, not {to}")
    lists = _may_list_losses(how)
    sure = to in TABLES | UNIONS or how["shaping"].gives_types
    with twice(source, sure=sure, may=lists) as again:
        try:
            return _in_passes(again, target, to, how, block_size, progress)
        except ValueRefusedError as refused:
            attempt = partial(_count_losses, again, to, how, block_size)
            if not lists or list_losses(refused, to, list(lossy), attempt) or not refused.on_path:
                raise
            with suppress(TooFar):  # what lets the value go does not let the record
                _in_passes(again, io.BytesIO(), to, how, block_size, None, listed=False)
            raise


def _may_list_losses(how: ConvertOptions) -> bool:
    """Whether what is refused is listed: all that would be lost."""
    said = how["strict"] or how["tagged"] or how["skip_bad"]
    return not (said or EVERY in how["lossy"])


def _count_losses(
    again: Rereadable,
    to: str,
    how: ConvertOptions,
    block_size: int | None,
    losses: Losses,
    progress: Progress,
) -> None:
    """Convert with all losses allowed, and write nothing."""
    every: ConvertOptions = {**how, "lossy": [EVERY], "force": True}
    _in_passes(again, io.BytesIO(), to, every, block_size, progress, losses)


def _in_passes(
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
    known: SurveyResult | None = None
    if to in TABLES | UNIONS or how["shaping"].gives_types:
        known = survey_source(again, target, to, how, block_size)
    if known is not None and to in DATABASES and losses is None:
        from serialpack.conversion.routes.databases import into_tables, tables_of

        if lists := tables_of(known, how):
            one = partial(_in_passes, again, block_size=block_size, progress=None)
            with again.opened(trust=how["trust"]) as opened:
                return into_tables(opened, target, to, lists, how, one)
    no_layout = known is None or known.layout is None
    whole = no_layout and to in UNIONS and block_size != MAX_BLOCK
    if whole and _needs_one_schema(again, to, how, known, block_size):
        block_size = MAX_BLOCK
        known = None if known is None else known._replace(block_size=MAX_BLOCK)
    refused = losses is not None
    listed = listed and not refused and _may_list_losses(how)
    rest = block_size, progress, losses, refused, listed
    try:
        report = OnePass(again, to, how, known, *rest).into(target)
    except TableNotMadeError as tried:
        known = survey_source(again, target, to, how, block_size, tried)
        report = OnePass(again, to, how, known, *rest).into(target)
    return report._replace(kept_pipe=again.kept or report.kept_pipe)


def _needs_one_schema(
    again: Rereadable,
    to: str,
    how: ConvertOptions,
    known: SurveyResult | None,
    block_size: int | None,
) -> bool:
    """Whether the blocks of a source would each have a schema of its own."""
    with again.opened(trust=how["trust"]) as opened:
        size = opened.size
    if size is not None and size <= (block_size or Join.block_size):
        return False
    try:
        OnePass(again, to, how, known, block_size, losses=Losses(RULES)).into(io.BytesIO())
    except ValueRefusedError as refused:
        return refused.kind == "mixed"
    return False
