"""The library's face: pack, unpack and inspect files and file objects.

Everything the command line does is here; it only translates words and shows progress.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, Any

from serialpack._version import __version__
from serialpack.auto.choice import Choice, choose
from serialpack.checked import checked
from serialpack.container.reader import SNIFF, first_header, is_container, is_small
from serialpack.container.small import MAX_SMALL
from serialpack.detection.detect import HEAD as HEAD
from serialpack.detection.detect import AsFound, looks_like, told
from serialpack.errors import FileError, NotContainerError, SerialpackError, UsageError
from serialpack.far import is_store
from serialpack.files.source import File, Path, Source
from serialpack.files.targets import Target as Target
from serialpack.files.targets import check_target as check_target
from serialpack.files.targets import not_kept_by
from serialpack.files.targets import sink as sink
from serialpack.files.targets import target_name as target_name
from serialpack.formats import FORMATS
from serialpack.pipeline.expected_size import expect_restored
from serialpack.pipeline.settle import settle
from serialpack.pipeline.workers import usable_cores
from serialpack.reports import PackReport, UnpackReport
from serialpack.serializers import SERIALIZERS
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.watch import expect

# Each function imports its own: the time to start decides in a shell loop over small files.
if TYPE_CHECKING:
    from serialpack.formats.base import Read
    from serialpack.inspection.info import Inspection
    from serialpack.pipeline.line import Elsewhere, Progress
    from serialpack.pipeline.unpack import Unpacked


@checked
def pack(
    source: Path | File,
    target: Target,
    *,
    serializer: str = "auto",
    filters: Sequence[str] = (),
    codec: str = "auto",
    effort: int = DEFAULT_EFFORT,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    no_header: bool = False,
    block_size: int | None = None,
    exact: bool = False,
    verify: bool = True,
    trust: bool = False,
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    meta: Mapping[str, str] | None = None,
    shared_dict: Path | None = None,
    identity: tuple[str, int] | None = None,
    entry: str | None = None,
    access: tuple[int, ...] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    elsewhere: Elsewhere | None = None,
) -> PackReport:
    """Pack ``source`` into a container at ``target``.

    ``source`` and ``target`` are paths or binary file objects. A target path appears whole or not
    at all, and is overwritten only with ``force``. Stages are spelled as on the command line
    (``"zstd:19"``, ``"shuffle:4"``); ``effort`` 1 to 9 chooses what is left to ``auto``, and the
    level of a codec that is named without one. ``format`` says what the source is (default: by
    name, then by content), ``delimiter`` what stands between the fields of CSV (default: what fits
    its first rows), ``encoding`` its encoding (default: what its byte-order mark says, else UTF-8),
    ``no_header`` that its first line is a record: then its columns are ``column1``, ``column2``,
    ... ``block_size`` is in bytes, ``threads`` defaults to the usable cores. ``exact`` refuses a
    serializer that would not give back the very bytes; ``verify=False`` skips the proof; ``trust``
    reads sources that can run code while they are read (pickles). ``options`` go to the serializer:
    its ``schema`` and ``message``, for one that asks for them. ``shared_dict`` is a file that
    ``train_dictionary`` made: sources of less than 64 KiB are packed with it where that makes them
    smaller, and only who has it unpacks these. ``identity`` is the name and modification time (ns
    since 1970) to store, by default those of a source that is a file. ``entry``
    (``"folder/a.json"``) makes it an entry of an archive, which is such containers one after
    another; ``access`` (mode; user and group) one of an archive that ``pack_archive`` ends.
    ``progress(read, written)`` gets totals in bytes. ``elsewhere`` has others do the blocks.

    Raises UsageError, FileError, SyntaxInputError (the source is not valid in its format),
    ValueRefusedError (a value that the serializer cannot hold), MissingLibraryError.
    """
    from serialpack.pipeline.pack import pack_smallest, source_format, ways_of
    from serialpack.pipeline.packing import Packing, check_meta

    asked = choose(serializer, tuple(filters), codec, effort=effort, block_size=block_size)
    check_threads(threads)
    check_meta(meta)
    asked = asked._replace(threads=threads or usable_cores())
    format = None if format is None else FORMATS.source(format).name
    with opened_source(source, trust=trust) as opened:
        check_target(target, force, opened.stat)
        head = opened.peek(HEAD)
        if is_container(head[:SNIFF]) and not force:
            raise FileError("is a serialpack file already", hint="-f packs it once more")
        name, mtime = identity or _identity(opened)
        format = format or opened.format
        format = told(format, entry or name, head, AsFound(delimiter, encoding, no_header))
        choice = settle(asked, format, opened.peek, opened)
        packing = Packing(
            chain=choice.chain,
            format=source_format(choice.chain, format, head, trust=trust),
            block_size=choice.block_size,
            name=name if entry is None else None,
            mtime=mtime,
            entry=entry,
            archive=access is not None,
            access=access or (),
            meta=dict(meta or {}),
            writer=__version__,
            verify=verify,
            demand_exact=exact,
            min_saving=choice.min_saving,
            why=choice.reason,
            settings=SERIALIZERS.cls(choice.chain.serializer.name).settings(options or {}),
            threads=choice.threads,
            size=opened.size,
            elsewhere=elsewhere,
            split=choice.split,
        )
        ways = ways_of(packing, asked.shared, shared_dict, len(head))
        if entry is None:
            expect(lambda: packing.size)
        with sink(target, force, opened.stat) as write:
            packing, member = pack_smallest(opened.read, write, ways, progress)
            opened.check_unchanged()
    return PackReport(
        source=opened.path,
        target=target_name(target),
        chain=str(packing.chain),
        why=packing.why or choice.why,
        format=packing.format,
        size=member.size,
        packed=member.length,
        payload=member.payload,
        blocks=len(member.rows),
        stored_blocks=member.stored_blocks,
        records=member.records,
        exact=member.exact,
        proved=verify,
        seconds=member.seconds,
        entry=entry,
        dropped=member.dropped,
        dictionary=packing.dictionary and str(packing.dictionary),
        saved=member.saved,
        not_kept=not_kept_by(write),
        sparse=opened.is_sparse,
    )


@checked
def unpack(
    source: Path | File,
    target: Target | None,
    *,
    record_range: tuple[int, int | None] | None = None,
    byte_range: tuple[int, int | None] | None = None,
    trust: bool = False,
    threads: int | None = None,
    max_size: int | None = None,
    force: bool = False,
    salvage: bool = False,
    compression: str | None = None,
    shared_dict: Path | None = None,
    progress: Progress | None = None,
    elsewhere: Elsewhere | None = None,
) -> UnpackReport:
    """Unpack the container at ``source`` to ``target``; None checks every byte, writing nothing.

    ``record_range`` and ``byte_range`` are half-open ranges (``(10, 20)``, ``(10, None)``) and read
    only the blocks they need where the source can be sought. ``trust`` also undoes serializers that
    can run code which is in the file (pickle, marshal). ``max_size`` (bytes) refuses to write more.
    A target path appears whole or not at all; a file object may have got the blocks before a
    damaged one. An archive is for ``unpack_archive``; here it can only be checked.

    ``salvage`` gives back what is left of a damaged container: all blocks that are whole, but for
    pieces of lost records, as a file of the source's format where its records can be told apart.
    The report says what is damaged (``damage``) and what of the source is missing (``lost``). A
    pipe goes through a temporary file.

    ``compression`` (gzip, zstd, bzip2, xz, lzma, LZ4, brotli) compresses what is written, unless
    it is already.

    ``shared_dict`` is the dictionary that it was packed with, where that is neither beside it, in
    a folder above, nor in the folder of the user's configuration. MissingFileError without.
    ``elsewhere`` has others restore the blocks, where all are wanted.

    Raises NotContainerError, DamagedError, TruncatedError, UnsupportedError, RefusedError,
    UsageError, FileError.
    """
    from serialpack.compressed.write import compressed_once
    from serialpack.pipeline.unpack import unpack_stream

    ranges = [each for each in (record_range, byte_range) if each is not None]
    if len(ranges) + salvage > 1:
        raise UsageError("--records, --bytes and --salvage exclude each other")
    check_threads(threads)
    if shared_dict is not None:
        from serialpack.dictionaries import know

        know(shared_dict)
    for start, stop in ranges:
        if start < 0 or (stop is not None and stop < start):
            raise UsageError(f"the range {start}:{stop} is none: from 0 up, the end not before it")
    with opened_source(source) as opened:
        check_target(target, force, opened.stat)
        head = opened.peek(HEAD if opened.stat is not None else SNIFF)
        if not salvage:
            if not is_container(head[:SNIFF]):
                raise NotContainerError(looks_like(head))
            opened = expanded(opened)
            if not ranges:
                expect_restored(opened)
            if target is not None and not ranges and first_header(opened.peek).in_archive:
                raise UsageError("an archive unpacks into a folder", hint="unpack -o FOLDER")
        how: Any = {"trust": trust, "threads": threads or usable_cores(), "max_size": max_size}
        with (
            sink(target, force, opened.stat) as to_target,
            compressed_once(to_target, compression) as write,
        ):
            damage: dict[str, Any] = {}
            if salvage:
                from serialpack.pipeline.salvage import salvage_source

                how["alone"] = target is not None
                salvaged = salvage_source(opened, write, progress=progress, **how)
                done, damage = salvaged.done, {"damage": salvaged.damage, "lost": salvaged.lost}
            elif ranges:
                from serialpack.pipeline.ranges import Span, unpack_bytes, unpack_records

                of_range = unpack_records if byte_range is None else unpack_bytes
                done = of_range(opened, write, Span(*ranges[0]), max_size, trust=trust)
            else:
                how["elsewhere"] = elsewhere
                done = unpack_stream(opened.read, write, progress=progress, **how)
    report = unpack_report(done, opened.path, target_name(target), part=bool(ranges))
    return report._replace(**damage, not_kept=not_kept_by(to_target))


def unpack_report(
    done: Unpacked, source: str, target: str | None, *, part: bool = False
) -> UnpackReport:
    """The report on ``done``; ``part``: whether only some records or bytes were asked for."""
    return UnpackReport(
        source=source,
        target=target,
        format=done.format,
        size=done.written,
        blocks=done.blocks,
        blocks_read=done.blocks_read,
        records=done.records,
        exact=done.exact,
        part=part,
        proved=not any(header.unproved for header in done.headers),
        read=done.read,
        seconds=done.seconds,
        entry=done.headers[0].entry if len(done.headers) == 1 else None,
        entries=done.entries,
    )


@checked
def inspect(
    source: Path | File | Source,
    *,
    format: str | None = None,
    table: AsFound = AsFound(),  # noqa: B008  (it is never changed)
    columns: bool = False,
    salvage: bool = False,
) -> Inspection:
    """What ``source`` is: a container's members, stages, sizes and blocks, read from its end
    without unpacking; or, for any other file (``format`` and ``table`` say more of it), its format,
    rough shape and what auto would do. ``columns``: also what is in the columns of one that has
    them and can be sought, for which the start of each block is read. ``salvage``: what is left of
    a damaged container, as sums of the blocks that are known of; all of it is read."""
    from serialpack.inspection.inspect import inspect_source

    with opened_source(source) as opened:
        return inspect_source(opened, format, table, columns=columns, salvage=salvage)


def expanded(source: Source) -> Source:
    """The container ``source``, a small one made into the one in full that says the same."""
    if not is_small(source.peek(SNIFF)):
        return source
    from serialpack.pipeline.small import expand

    return Source(io.BytesIO(expand(source.read(MAX_SMALL + 1))), source.path)


def chosen(
    source: Path | File,
    choice: Choice,
    *,
    format: str | None = None,
    table: AsFound = AsFound(),  # noqa: B008  (it is never changed)
) -> Choice:
    """What ``pack`` would make of ``choice`` for ``source``; no more of it is read than needed."""
    with opened_source(source) as opened:
        format = told(format or opened.format, _identity(opened)[0], opened.peek(HEAD), table)
        return settle(choice, format, opened.peek, opened)


def check(source: Path, target: Path | None, *, force: bool = False) -> None:
    """Raise what reading ``source`` or writing ``target`` would raise at once; do nothing."""
    with opened_source(source) as opened:
        check_target(target, force, opened.stat)


def check_threads(threads: int | None) -> None:
    """UsageError where there would be no thread to work."""
    if threads is not None and threads < 1:
        raise UsageError("threads must be 1 or more")


def first_records(
    source: Path | File | Source,
    target: IO[bytes],
    count: int,
    *,
    format: str | None = None,
    table: AsFound = AsFound(),  # noqa: B008  (never changed)
    max_size: int | None = None,
) -> None:
    """Write the first ``count`` records of a container, of what is compressed in one, or of another
    file (``format``, ``table``); of arrays a corner. RefusedError for more than ``max_size`` bytes
    and for formats that can run code, UsageError where records cannot be told apart."""
    from serialpack.compressed.pieces import Pieces
    from serialpack.compressed.source import packed_inside
    from serialpack.detection.by_content import read_as
    from serialpack.detection.encoded import opened_text
    from serialpack.formats.shared.random_access import FileRead
    from serialpack.pipeline.ranges import Span, slice_front, unpack_records
    from serialpack.pipeline.unpack import LimitedWrite, check_shown, member_plan, restored_pieces

    with opened_source(source) as opened, sink(target, False, None) as write:
        opened, format, table = opened_text(opened, format, table)
        head = opened.peek(HEAD)
        name, packed = _identity(opened)[0], None
        if is_container(head[:SNIFF]):
            header = first_header((opened := expanded(opened)).peek)
            name, packed = header.name, member_plan(header, trust=True).format
            read: Read = (pieces := Pieces(restored_pieces(opened.read))).read
            if packed == "bytes" and (inside := packed_inside(opened, pieces, name)):
                first_records(inside, target, count, format=format, table=table, max_size=max_size)
                return
            if packed == "bytes":
                packed, head = None, pieces.front(HEAD)[0]
        else:
            read = FileRead(opened.read, opened.here)
        fmt = FORMATS.get(packed or read_as(format or opened.format, name, head, table))
        check_shown(fmt)
        out = LimitedWrite(fmt.shown_by(write), max_size)
        if (lines := fmt.look_at_head(read, count)) is not None:
            out(lines)
        elif packed:
            unpack_records(opened, fmt.shown_by(write), Span(0, count), max_size)
        else:
            slice_front(read, out, fmt, head, count)


def _identity(source: Source) -> tuple[str | None, int | None]:
    """Base name and modification time (ns) of a source that is a file."""
    if source.stat is None or not (name := source.name) or name.startswith("<"):
        return None, None  # standard input and descriptors have names that are none: "<stdin>", 3
    return name, source.stat.st_mtime_ns


@contextmanager
def opened_source(source: Path | File | Source, *, trust: bool = False) -> Iterator[Source]:
    """The source, whose name is added to errors that do not name a file yet.

    One that is open stays so. A store's URL is its records; ``trust``: also pickled ones."""
    if is_store(source):
        from serialpack.stores.export import records_source

        opening: AbstractContextManager[Source] = records_source(source, trust=trust)
    else:
        opening = nullcontext(source) if isinstance(source, Source) else Source(source)
    with opening as opened:
        try:
            yield opened
        except SerialpackError as error:
            from serialpack.compressed.told import tell_source

            tell_source(error, opened)
            raise
