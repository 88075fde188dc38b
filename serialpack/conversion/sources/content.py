"""What of a source is converted: a file in a format, compressed or not, or what a container is of.

``content_of`` takes an open source and what the user says of it (``Asked``), and gives the
``Content``: what reads its bytes, the format that these are in, and where they come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.api import HEAD, expanded
from serialpack.compressed.pieces import Pieces
from serialpack.compressed.source import PackedFile, decompressed
from serialpack.container.reader import SNIFF, first_header, is_container
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.sources.fields import Fields
from serialpack.conversion.sources.normalizing import normalized
from serialpack.conversion.sources.restored import RestoredOnce
from serialpack.detection.by_content import is_one_column, recognised, told_again
from serialpack.detection.detect import (
    AsFound,
    is_binary,
    looks_like,
    may_be_utf8,
    not_converted,
    told,
)
from serialpack.errors import InputError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Read, Style, ValueFormat
from serialpack.formats.csv.above import TableBelow, by_table
from serialpack.formats.csv.returns import ReturnLines
from serialpack.formats.csv.spaces import SpacedCells
from serialpack.formats.json.loose import Loose
from serialpack.formats.shared.random_access import FileRead
from serialpack.pipeline.expected_size import expect_restored
from serialpack.pipeline.plan import SETTINGS, Plan
from serialpack.pipeline.stored import opened_bytes
from serialpack.pipeline.unpack import member_plan, restored_pieces, untrusted
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import Loss
from serialpack.values.structure import Structure
from serialpack.watch import expect

if TYPE_CHECKING:
    from serialpack.formats.shared.tidier import Tidier
    from serialpack.pipeline.fields import Projected


class Content(NamedTuple):
    """What there is to read, and how.

    ``found``: the format of the source, where it is read as another one. ``packed``: what a
    container is of. ``stored``: what it is serialized in, and the settings.
    ``projected``: what gives only the fields that were asked for, where that is done in reading.
    ``by_content``: what it is was neither said nor told by a name or first bytes.
    ``as_it_is``: what is read are the very bytes of the source, or of what was packed.
    ``made``: what is read is made here, ``of`` a file of datasets or an object; and ``dropped``:
    what of it is not, or otherwise. ``head``: the first bytes of a file that the user trusts.
    ``loose``: how the source is made JSON, by ``maker``, which may read others first, too.
    """

    read: Read
    plan: ConversionPlan
    found: str
    packed: str | None = None
    stored: tuple[str | None, Style] = (None, {})
    projected: Projected | None = None
    by_content: bool = False
    as_it_is: bool = True
    made: bool = False
    of: FileRead | None = None
    dropped: tuple[Loss, ...] = ()
    head: bytes = b""
    loose: Loose | TableBelow | ReturnLines | SpacedCells | None = None
    maker: Tidier | None = None

    @property
    def all_dropped(self) -> list[Loss]:
        """What is dropped, of what was read so far."""
        above = self.loose.dropped if isinstance(self.loose, TableBelow) else ()
        return [*self.dropped, *above, *(self.maker.losses if self.maker is not None else ())]

    @property
    def above(self) -> tuple[int, int]:
        """How many lines and bytes of the source stand before what is read of it."""
        found = self.loose
        return (found.lines, found.size) if isinstance(found, TableBelow) else (0, 0)

    @property
    def kept(self) -> bool:
        """Whether the source had to be kept in a temporary file, beside what ``files`` keeps."""
        file = self.of or self.read
        return isinstance(file, FileRead) and file.kept


class Asked(NamedTuple):
    """What the user says of a source.

    ``format``: what it is in; None where it tells itself. ``fields``: those that are wanted.
    ``table``: how it is written, where it is a table of text; ``database_table``: the one that is
    wanted of a database. ``trust``: it may be code. ``threads`` restore a container, and ``verify``
    has what they restore proved.
    """

    format: str | None
    fields: Fields
    table: AsFound
    database_table: str | None
    trust: bool
    threads: int
    verify: bool


def content_of(source: Source, asked: Asked, once: RestoredOnce | None = None) -> Content:
    """What is in ``source``, told by ``asked.format`` or by itself: a file of a format, or what a
    container is of.

    ``once`` keeps what a container is restored to, or a compressed source has in it, where that is
    read again.

    Errors as of ``files.convert``.
    """
    asked = asked._replace(format=asked.format or source.format)
    if not is_container(source.peek(SNIFF)):
        return _of_file(decompressed(source, once), asked, once)
    source = expanded(source)
    header = first_header(source.peek)
    if header.in_archive:
        raise UsageError(
            "an archive is unpacked first, or one entry named",
            hint="unpack -o FOLDER gives its files, --include PATH takes one",
        )
    packed = member_plan(header, trust=asked.trust)
    takes_fields = asked.fields.names and asked.format is None and asked.table == AsFound()
    found = _of_columns(source, packed, asked, once) if takes_fields else None
    if found is not None:
        return found
    if asked.format is not None and asked.format == FORMATS.declaration(packed.format).dialect_of:
        asked = asked._replace(format=None)  # it is known which of them
    restored = Pieces(_restored(source, packed, asked, once))
    plan = ConversionPlan(asked.format or packed.format, fields=asked.fields.paths)
    if FORMATS.get(packed.format).serialized:
        serializer = packed.chain.serializer.name
        if SERIALIZERS.cls(serializer).stored_format == "object":
            stored = serializer, packed.style.get(SETTINGS, {})
            return Content(restored.read, plan, "object", packed.format, stored, as_it_is=False)
        plan = _plan_of_object(packed, asked)
    elif _is_told_again(packed.format, restored, said=asked.format is not None):
        inside = PackedFile(source, restored, header.name)
        return content_of(inside, asked)._replace(packed="bytes", as_it_is=False)
    return _of_restored(source, restored, packed, plan, header.name, asked)


def _of_file(source: Source, asked: Asked, once: RestoredOnce | None) -> Content:
    """What is in a file that is no container."""
    expect(lambda: source.about)
    head = source.peek(HEAD)
    name = source.name if source.stat is not None else None
    found, usual, read, loose, maker = normalized(
        source.read, head, asked.format, name, asked.table
    )
    _check_source(usual, head, name, trust=asked.trust)
    as_it_is = read == source.read  # and no encoding, no names were put in its place
    if _in_file(usual):
        if once is not None:
            once.keep_nothing()  # whoever reads a table in a file keeps that
        read = FileRead(read, source.here, asked.database_table)
    by_content = asked.format is None and not _is_as_named(found, name, head)
    plan = ConversionPlan(usual, fields=asked.fields.paths)
    head = head if asked.trust else b""
    content = Content(read, plan, found, by_content=by_content, as_it_is=as_it_is, head=head)
    return content._replace(loose=loose, maker=maker)


def _of_columns(
    source: Source, packed: Plan, asked: Asked, once: RestoredOnce | None
) -> Content | None:
    """Only the fields that are asked for, of a container of columns; None where it is none."""
    # Projecting needs NumPy, whose import takes as long as all of a small conversion.
    from serialpack.pipeline.fields import Projected, projectable

    member = projectable(source, packed)
    if member is None:
        return None
    paths, verify = asked.fields.paths, asked.verify
    projected = Projected(source.file, member, packed, paths, asked.threads, verify=verify)
    if projected.may_be_otherwise:
        return None
    pieces: Iterator[Buffer] = iter(projected)
    if once is not None:
        projected, pieces = once.projected(projected)
    # Nobody knows how much of each record that is.
    expect(lambda: None)
    found = projected.format
    plan = ConversionPlan(found)
    return Content(Pieces(pieces).read, plan, found, found, projected=projected)


def _restored(
    source: Source, packed: Plan, asked: Asked, once: RestoredOnce | None
) -> Iterator[Buffer]:
    """The bytes that a container is of, in pieces."""
    is_object = FORMATS.get(packed.format).serialized
    expect_restored(source, serialized=is_object)
    how: dict[str, Any] = {"trust": asked.trust, "threads": asked.threads}
    restore = partial(restored_pieces, source.read, serialized=is_object, **how)
    # A table in a file is kept by whoever reads it.
    if once is None or is_object or _in_file(packed.format):
        return restore()
    return once.pieces(restore)


def _plan_of_object(packed: Plan, asked: Asked) -> ConversionPlan:
    """How an object is read that ``dump`` held in a format that is known here."""
    serializer = packed.chain.serializer
    cls = SERIALIZERS.cls(serializer.name)
    tabular = issubclass(cls, RecordSerializer) and cls.tabular
    return ConversionPlan(
        cls.stored_format or "",
        structure=Structure.ARRAY if tabular else None,  # the object is the list of the rows
        fields=asked.fields.paths,
        alone=True,
        source_serializer=(*serializer,),
        source_settings=packed.style.get(SETTINGS, {}),
    )


def _of_restored(
    source: Source,
    restored: Pieces,
    packed: Plan,
    plan: ConversionPlan,
    name: str | None,
    asked: Asked,
) -> Content:
    """What a container called ``name`` is of, whose bytes ``restored`` gives."""
    known = isinstance(FORMATS.get(plan.source), ValueFormat)
    head = b"" if known else restored.front(HEAD)[0]
    _check_source(plan.source, head, name, trust=asked.trust)
    read: Read = restored.read
    found = plan.source
    declared = FORMATS.declaration(found)
    loose, maker = None, None
    is_text = plan.source_serializer is None and (declared.is_json or bool(declared.tidied_by))
    if asked.table != AsFound() or declared.variants or is_text:
        head, _ = restored.front(HEAD)
        found, usual, read, loose, maker = normalized(read, head, found, None, asked.table)
        plan = plan._replace(source=usual)
    elif plan.source_serializer is None and declared.delimiter:
        mark = declared.delimiter.decode()
        read, loose = by_table(
            restored.read, restored.front(HEAD)[0], mark, headless=declared.headless
        )
    as_it_is = read == restored.read
    head = restored.front(HEAD)[0] if asked.trust else b""
    if plan.source_serializer is None and _in_file(plan.source):
        sought = source.seekable() and as_it_is and packed.dictionary is None
        again = partial(opened_bytes, source) if sought else None
        read = FileRead(read, None, asked.database_table, again)
    serializer, settings = packed.chain.serializer.name, packed.style.get(SETTINGS, {})
    stored = SERIALIZERS.cls(serializer).stored_format, settings
    content = Content(read, plan, found, packed.format, stored, as_it_is=as_it_is)
    return content._replace(head=head, loose=loose, maker=maker)


def _is_told_again(packed: str, restored: Pieces, *, said: bool) -> bool:
    """Whether what a container is of, which called it ``packed``, is to be told as a file is:
    ``pack`` goes by names and first bytes alone."""
    if not (packed == "bytes" or FORMATS.declaration(packed).is_text):  # their magic has told
        return False
    head, _ = restored.front(HEAD)
    if is_container(head):
        return False
    is_other = not said and told_again(packed, head, whole=len(head) < HEAD) != packed
    return packed == "bytes" or is_other


def _is_as_named(found: str, name: str | None, head: bytes) -> bool:
    """Whether a source is in a dialect, or other lines, of the format that its name or its first
    bytes say."""
    one = FORMATS.declaration(found)
    for named in (FORMATS.by_extension(name or ""), FORMATS.declaration(told(None, name, head))):
        if named is not None and (
            found in ("bytes", named.name)
            or (one.is_json and named.is_json)
            or (one.delimiter and named.delimiter)
        ):
            return True
    return False


def _in_file(format: str) -> bool:
    fmt = FORMATS.get(format)
    return isinstance(fmt, ValueFormat) and fmt.in_file


def _check_source(format: str, head: bytes, name: str | None, *, trust: bool) -> None:
    """InputError or RefusedError where a source in ``format`` is not read as values."""
    fmt = FORMATS.get(format)
    if not isinstance(fmt, ValueFormat):
        if (known := not_converted(head)) is not None:
            raise InputError(f"{known.words}: {known.cannot}", hint=known.instead)
        raise InputError(
            f"there are no records in it that are known ({looks_like(head) or format})",
            hint=_what_to_say(head, name),
        )
    if not fmt.safe and not trust:
        raise untrusted(f"reading {format}", "--trust reads it")


def _what_to_say(head: bytes, name: str | None) -> str:
    """The hint for a file that is of no known format: what the user may say of it."""
    whole = len(head) < HEAD
    named = FORMATS.by_extension(name or "")
    if named is not None and named.delimiter and b"\0" in head and may_be_utf8(head):
        return f"--from {named.name} reads it, where it is that: there are NULs in it"
    may_be = recognised(head, whole=whole).possible
    if not may_be and not is_binary(head) and not may_be_utf8(head):
        return "--encoding cp1252 reads a table in it, or another encoding; pack keeps its bytes"
    if not may_be and looks_like(head) == "text" and is_one_column(head, whole=whole):
        return "--from csv reads its lines as one column; pack keeps its bytes"
    if not may_be:
        return "pack keeps its bytes; --from FORMAT says what it is, where it is known here"
    if looks_like(head) == "UTF-16 text":
        iconv = "iconv --from-code=UTF-16 --to-code=UTF-8 FILE makes it UTF-8"
        return f"--from csv reads a table in it; {iconv}"
    names = dict.fromkeys(FORMATS.declaration(name).dialect_of or name for name in may_be)
    return " or ".join(f"--from {name}" for name in names) + " reads it, where it is that"


def with_schema(
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
        names = dict.fromkeys((plan.source, plan.target))
        raise UsageError(
            f"{' and '.join(names)} {'take' if len(names) > 1 else 'takes'} no"
            f" {' and '.join(options)}",
            hint="they are for protobuf and avro",
        )
    settings = SERIALIZERS.cls(taking[0]).settings(options)
    if taking[0] == plan.target:
        plan = plan._replace(target_settings=settings)
    if taking[0] == plan.source:
        plan = plan._replace(source_settings=settings, source_serializer=(plan.source, ()))
    return plan
