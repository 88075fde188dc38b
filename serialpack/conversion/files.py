"""``convert``: a file in any known format becomes one in another."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypedDict

from serialpack.api import (
    HEAD,
    Target,
    check_target,
    check_threads,
    expanded,
    opened_source,
    sink,
    target_name,
)
from serialpack.compressed.pieces import Pieces
from serialpack.compressed.source import decompressed
from serialpack.container.reader import SNIFF, first_header, is_container
from serialpack.conversion.joining import Patch
from serialpack.conversion.losses import Losses
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.projecting import Fields
from serialpack.conversion.stream import Converted, convert_stream
from serialpack.conversion.targets import is_written, written
from serialpack.detect import detect, looks_like
from serialpack.errors import InputError, UsageError
from serialpack.files import Output, Path, Source
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK, Read, Style, ValueFormat
from serialpack.pipeline.blocks import SETTINGS
from serialpack.pipeline.expect import expect_restored
from serialpack.pipeline.line import Progress
from serialpack.pipeline.unpack import LimitedWrite, Write, member_plan, restored_pieces, untrusted
from serialpack.pipeline.workers import usable_cores
from serialpack.reports import ConvertReport
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.values.structure import Structure
from serialpack.watch import expect

if TYPE_CHECKING:
    from serialpack.pipeline.fields import Projected


class ConvertOptions(TypedDict):
    """The options of ``convert`` that say how."""

    format: str | None
    lossy: Collection[str]
    tagged: bool
    skip_bad: bool
    verify: bool
    trust: bool
    options: Mapping[str, Any]
    threads: int | None
    max_size: int | None
    force: bool
    fields: Sequence[str]


def check_convert(
    to: str, *, format: str | None, lossy: Collection[str], threads: int | None
) -> None:
    """Raise what ``convert`` would raise whatever the source is."""
    Losses(lossy)
    if not is_written(to):
        FORMATS.source(to)
        raise UsageError(f"{to} is read, not written", hint="known: " + ", ".join(written()))
    if format is not None:
        FORMATS.source(format)
    check_threads(threads)


def convert(
    source: Path | IO[bytes],
    target: Target,
    *,
    to: str,
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
    progress: Progress | None = None,
) -> ConvertReport:
    """Write the records of ``source`` in the format ``to``, with nothing lost unsaid.

    ``source`` is in any known format (``format``; by default told by name and content),
    compressed (gzip, zstd, bzip2, xz, LZ4), or a container of such a source. A document becomes a
    document, a sequence of records one of records; an array becomes the lines of NDJSON, the rows
    of a table, and these an array again.

    What ``to`` cannot hold is refused, unless ``lossy`` names its loss (``conversion.losses``) or
    ``tagged`` writes it as JSON can say it (``conversion.tagged``), and reads it again. With
    ``skip_bad`` records that cannot be read or written are left out. The report counts both.
    ``verify=False`` skips the proof, which reads back what is written. ``options`` are the
    ``schema`` and ``message`` of protobuf and Avro. ``fields`` (``["a", "b.c"]``) takes only these
    of each record: see ``columns.project`` for what that means; of a container of columns only
    they are read then. Everything else as ``pack`` and ``unpack``.

    Raises UsageError, InputError (the source is not valid in its format), ValueRefusedError,
    RefusedError, MissingLibraryError, FileError.
    """
    check_convert(to, format=format, lossy=lossy, threads=threads)
    wanted = Fields(fields)
    threads = threads or usable_cores()
    with opened_source(source) as opened:
        check_target(target, force, opened.stat)
        given = _given(opened, format, wanted, trust=trust, threads=threads, verify=verify)
        if given.plan.source_serializer is not None:
            block_size = MAX_BLOCK
        plan = _with_schema(given.plan._replace(target=to), options or {}, given.stored)
        plan = plan._replace(verify=verify, lossy=tuple(lossy), tagged=tagged, skip_bad=skip_bad)
        with _patched_sink(target, force, opened.stat) as (write, patch):
            out = LimitedWrite(write, max_size)
            asked = format or lossy or tagged or skip_bad or options or given.plan.fields
            copied = given.packed == to and not asked
            if copied:
                done = _copy(given.read, out, progress)
            else:
                done = convert_stream(
                    given.read,
                    out,
                    plan,
                    block_size=block_size,
                    threads=threads,
                    size=opened.size,
                    patch=patch,
                    progress=progress,
                )
            projected = given.projected
            missing = wanted.missing(done.fields if projected is None else projected.found)
            if copied and projected is not None:
                done = done._replace(records=projected.records)
            if missing and missing == wanted.names and out.written:
                raise UsageError(f"no record has a field {' or '.join(missing)}")
            opened.check_unchanged()
    return ConvertReport(
        source=opened.path,
        target=target_name(target),
        format=plan.source,
        to=to,
        read=done.read,
        size=out.written,
        records=done.records,
        losses=done.losses,
        left_out=done.left_out,
        places=done.places,
        exact=copied and not fields,
        proved=verify or (copied and not fields),
        seconds=done.seconds,
        missing=missing,
    )


class _Given(NamedTuple):
    """What there is to read, and how.

    ``packed``: what a container is of. ``stored``: what it is serialized in, and the settings.
    ``projected``: what gives only the fields that were asked for, where that is done in reading.
    """

    read: Read
    plan: ConversionPlan
    packed: str | None = None
    stored: tuple[str | None, Style] = (None, {})
    projected: Projected | None = None


def _given(
    source: Source,
    format: str | None,
    fields: Fields,
    *,
    trust: bool,
    threads: int,
    verify: bool,
) -> _Given:
    if not is_container(source.peek(SNIFF)):
        source = decompressed(source)
        expect(lambda: source.about)
        head = source.peek(HEAD)
        name = source.name if source.stat is not None else None
        found = format or detect(name, head)
        _check_source(found, head, trust=trust)
        return _Given(source.read, ConversionPlan(found, "", fields=fields.paths))
    source = expanded(source)
    header = first_header(source.peek)
    if header.entry is not None:
        raise UsageError("an archive is unpacked first", hint="unpack -o FOLDER")
    packed = member_plan(header, trust=trust)
    serializer = packed.chain.serializer
    if fields.names and format is None:
        # It needs NumPy, whose import takes as long as all of a small conversion.
        from serialpack.pipeline.fields import Projected, projectable

        member = projectable(source, packed)
        if member is not None:
            projected = Projected(source.file, member, packed, fields.paths, threads, verify=verify)
            read = Pieces(iter(projected)).read
            # Nobody knows how much of each record that is.
            expect(lambda: None)
            return _Given(
                read, ConversionPlan(projected.format, ""), projected.format, projected=projected
            )
    settings = packed.style.get(SETTINGS, {})
    stored = SERIALIZERS.cls(serializer.name).stored_format
    is_object = packed.format == "object"
    expect_restored(source, serialized=is_object)
    pieces = restored_pieces(source.read, serialized=is_object, trust=trust, threads=threads)
    plan = ConversionPlan(format or packed.format, "", fields=fields.paths)
    if is_object:
        if stored == "object":
            raise InputError(
                f"{serializer.name} holds an object of Python", hint="serialpack.load reads it"
            )
        cls = SERIALIZERS.cls(serializer.name)
        tabular = issubclass(cls, RecordSerializer) and cls.tabular
        plan = ConversionPlan(
            stored or "",
            "",
            structure=Structure.ARRAY if tabular else None,  # the object is the list of the rows
            fields=fields.paths,
            alone=True,
            source_serializer=(*serializer,),
            source_settings=settings,
        )
    _check_source(plan.source, b"", trust=trust)
    return _Given(Pieces(pieces).read, plan, packed.format, (stored, settings))


def _copy(read: Read, write: Write, progress: Progress | None) -> Converted:
    """The very bytes: a container's source is in the format that is asked for."""
    done = 0
    while data := read(1 << 20):
        write(data)
        done += len(data)
        if progress is not None:
            progress(done, done)
    return Converted(done, None, [], 0, [], {})


def _check_source(format: str, head: bytes, *, trust: bool) -> None:
    """InputError or RefusedError where a source in ``format`` is not read as values."""
    fmt = FORMATS.get(format)
    if not isinstance(fmt, ValueFormat):
        raise InputError(
            f"there are no records in it that are known ({looks_like(head) or format})",
            hint="--from says what the input is",
        )
    if not fmt.safe and not trust:
        raise untrusted(f"reading {format}", "reads it")


def _with_schema(
    plan: ConversionPlan, options: Mapping[str, Any], stored: tuple[str | None, Style]
) -> ConversionPlan:
    """``plan`` with the user's schema, for the target that takes one, else for the source."""
    if not options:
        return plan._replace(target_settings=stored[1]) if stored[0] == plan.target else plan
    taking = [
        name
        for name in (plan.target, plan.source)
        if name in SERIALIZERS and SERIALIZERS.cls(name).takes_options
    ]
    if not taking:
        raise UsageError(f"neither {plan.source} nor {plan.target} takes a schema")
    settings = SERIALIZERS.cls(taking[0]).settings(options)
    if taking[0] == plan.target:
        plan = plan._replace(target_settings=settings)
    if taking[0] == plan.source:
        plan = plan._replace(source_settings=settings, source_serializer=(plan.source, ()))
    return plan


@contextmanager
def _patched_sink(
    target: Target, force: bool, like: os.stat_result | None
) -> Iterator[tuple[Write, Patch | None]]:
    """As ``sink``; with it what writes over bytes that are written, where the target is a path."""
    with sink(target, force, like) as write:
        owner = getattr(write, "__self__", None)
        yield write, owner.patch if isinstance(owner, Output) else None
