"""One file out of an archive, or a part of it: its own blocks are read, and no others."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import IO, NamedTuple

from serialpack.api import Target, check_target, sink, target_name, unpack_report
from serialpack.archive.detect import is_archive
from serialpack.archive.extract import entry_of, none_fits
from serialpack.container.entries import EntryRow, entry_spans
from serialpack.container.frames import FrameSource
from serialpack.container.reader import members_of
from serialpack.container.rows import decode_rows
from serialpack.container.seek import StoredMember, find_members, read_block, rows_in
from serialpack.errors import DamagedError, SerialpackError, UsageError
from serialpack.far import is_far
from serialpack.files.globs import chosen_by, glob_of
from serialpack.files.output import Output
from serialpack.files.source import UNNAMED, Source
from serialpack.files.targets import is_device, not_kept_by
from serialpack.formats.shared.random_access import put
from serialpack.pipeline.ranges import Span, slice_source, unpack_bytes, unpack_records
from serialpack.pipeline.seekable import sought
from serialpack.pipeline.shared import SharedUnpacker
from serialpack.pipeline.unpack import LimitedWrite, Unpacked, member_plan, unpack_member
from serialpack.reports import UnpackReport
from serialpack.stages.stage import Buffer, Write
from serialpack.text import command_line

#: The most entries that are named where globs mean several, and one was to be.
_MOST_NAMED = 3


class OneEntry(NamedTuple):
    """A file of an archive, found and not restored yet.

    ``source``: the archive, which is seekable. ``row``: mode 0 where that is not known.
    ``number``, ``begin``: where it shares a block, the number of that in ``member`` and where in it
    the file begins; None where it is a member by itself.
    """

    source: Source
    row: EntryRow
    member: StoredMember
    number: int | None = None
    begin: int = 0

    @property
    def format(self) -> str:
        """What the file was packed as."""
        return member_plan(self.member.header).format

    @property
    def shown(self) -> str:
        """The name for it in messages."""
        return f"{self.source.path}: {self.row.path}"


@contextmanager
def one_entry(
    source: Source,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    words: Sequence[str] = (),
) -> Iterator[OneEntry]:
    """The one file of the archive ``source`` that the globs mean.

    A pipe goes through a temporary file. UsageError where they mean none, or several: then its hint
    is a command for one of them, in which ``words`` say what to do with it.
    """
    with sought(source) as found:
        if not is_archive(found):
            raise UsageError(
                "--include and --exclude choose in archives, and with -r in folders; it is none"
            )
        wanted = chosen_by(include, exclude)
        lost: list[DamagedError] = []
        meant = [e for e in _entries(found, lost) if wanted is None or wanted(e.row.path)]
        files = [entry for entry in meant if entry.row.is_file or not entry.row.mode]
        if lost and not files:
            raise lost[0]
        if not meant:
            raise none_fits()
        if not files:
            raise UsageError(f"{meant[0].row.path} is no file, and has no bytes")
        if len(files) > 1:
            raise _several(found, [entry.row.path for entry in files], words)
        yield files[0]


def _several(source: Source, paths: list[str], words: Sequence[str]) -> UsageError:
    named = ", ".join(paths[:_MOST_NAMED]) + ", ..." * (len(paths) > _MOST_NAMED)
    file = [source.path] if source.owned else []
    again = ["serialpack", "unpack", "--include", glob_of(paths[0]), *words, *file]
    return UsageError(
        "--records, --bytes, --fields, --to and -o - need one entry named,"
        f" {len(paths):,} are meant:"
        f" {named}",
        hint=command_line(again) if len(set(paths)) > 1 else None,  # joined archives
    )


def _entries(source: Source, lost: list[DamagedError]) -> Iterator[OneEntry]:
    for member in find_members(source.file, lost):
        if not member.header.shared:
            yield OneEntry(source, entry_of(member.header, member.index.size), member)
            continue
        for number, start in enumerate(member.offsets[:-1]):
            try:
                rows = decode_rows(rows_in(source.file, member, number, start), start)
            except DamagedError as damage:
                lost.append(damage)
                continue
            yield from (
                OneEntry(source, e, member, number, begin) for e, begin, _ in entry_spans(rows)
            )


def unpack_part(
    entry: OneEntry,
    target: Target,
    *,
    record_range: tuple[int, int | None] | None,
    byte_range: tuple[int, int | None] | None,
    trust: bool,
    max_size: int | None,
    force: bool,
) -> UnpackReport:
    """Write a range of ``entry`` to ``target``, with the file's mode; all else as ``unpack``."""
    part = unpack_bytes if record_range is None else unpack_records
    span = Span(*(record_range or byte_range or (0, None)))
    with _named(entry), _sink(target, entry, force) as write:
        if entry.number is None:
            done = part(entry.source, write, span, max_size, trust=trust, alone=entry.member)
        else:
            data, read = _shared(entry, trust=trust)
            out = LimitedWrite(write, max_size)
            records = None
            if record_range is None:
                out(data[span.start : span.stop])
            else:
                hint = "a range of bytes can be had (unpack --bytes A:B)"
                file = Source(BytesIO(data), entry.shown)
                records = slice_source(file.read, out, entry.format, span, hint)
            done = Unpacked(
                headers=(entry.member.header,),
                format=entry.format,
                read=read,
                written=out.written,
                blocks=1,
                blocks_read=1,
                records=records,
                exact=records is None,
                seconds={},
            )
    report = unpack_report(done, entry.source.path, target_name(target), part=True)
    return report._replace(entry=entry.row.path, not_kept=not_kept_by(write))


@contextmanager
def restored(
    entry: OneEntry, *, trust: bool, threads: int, max_size: int | None
) -> Iterator[IO[bytes]]:
    """All of ``entry``, in a temporary file that has its mode and its time."""
    with tempfile.TemporaryFile() as file, _named(entry):
        out = LimitedWrite(partial(put, file), max_size)
        if entry.number is None:
            file_of = entry.source.file
            file_of.seek(entry.member.start)
            member = next(members_of(FrameSource(file_of.read, entry.member.start)))
            unpack_member(member, out, trust=trust, threads=threads)
        else:
            out(_shared(entry, trust=trust)[0])
        file.seek(0)
        if entry.row.mode and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), entry.row.mode & 0o777)
        if entry.row.mtime and os.utime in os.supports_fd:
            os.utime(file.fileno(), ns=(entry.row.mtime, entry.row.mtime))
        yield file


def _shared(entry: OneEntry, *, trust: bool) -> tuple[Buffer, int]:
    """The bytes of an entry that shares its block, and how many were read for them."""
    member, number = entry.member, entry.number or 0
    place, end = member.offsets[number : number + 2]
    stored = read_block(entry.source.file, member, number, place, end)
    found = SharedUnpacker(member_plan(member.header, trust=trust))(stored)
    if found.damage is not None:
        raise found.damage
    return memoryview(found.data)[entry.begin : entry.begin + entry.row.size], end - place


@contextmanager
def _named(entry: OneEntry) -> Iterator[None]:
    """Name the entry in errors that name no file."""
    try:
        yield
    except SerialpackError as error:
        if error.path in (None, UNNAMED):
            error.path = entry.shown
        raise


@contextmanager
def _sink(target: Target, entry: OneEntry, force: bool) -> Iterator[Write]:
    """As ``sink``, but a file gets the mode and the time of ``entry``, not those of the archive."""
    if not isinstance(target, str | os.PathLike) or is_device(target) or is_far(target):
        with sink(target, force, None) as write:
            yield write
        return
    check_target(target, force, entry.source.stat)
    mode, mtime = entry.row.mode or None, entry.row.mtime or None
    with Output(target, force=force, mode=mode, mtime=mtime) as output:
        yield output.write
