"""Archives: several files in one container, each a complete member with its path.

That is what ``cat`` makes of containers, so entries can be appended, cut out and joined by it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, cast

from serialpack.api import (
    Target,
    check_target,
    check_threads,
    opened_source,
    pack,
    unpack_report,
)
from serialpack.container.entries import fault_of
from serialpack.container.reader import (
    SNIFF,
    Member,
    first_header,
    is_container,
    is_small,
    read_members,
)
from serialpack.container.seek import member_starts
from serialpack.detect import looks_like
from serialpack.errors import (
    ArchiveError,
    DamagedError,
    FileError,
    NotContainerError,
    SerialpackError,
    UsageError,
)
from serialpack.files import Path, Source, check_output, shown, status
from serialpack.output import Output
from serialpack.paths import make_folder, place_below
from serialpack.pipeline.expect import expect_restored
from serialpack.pipeline.workers import usable_cores
from serialpack.reports import ArchiveReport, PackReport, UnpackReport
from serialpack.targets import is_device, opened_device, output_at
from serialpack.watch import expect

if TYPE_CHECKING:
    from serialpack.container.remains import FoundMember
    from serialpack.pipeline.line import Progress
    from serialpack.pipeline.salvage import Salvaged
    from serialpack.pipeline.unpack import LimitedWrite, Unpacked

Done = TypeVar("Done")

#: Called with each entry and what became of it.
Each = Callable[[str, UnpackReport | SerialpackError], object]


class PackOptions(TypedDict, total=False):
    """What ``pack`` and ``pack_archive`` take by name; meant as ``pack`` says."""

    serializer: str
    filters: Sequence[str]
    codec: str
    effort: int
    format: str | None
    delimiter: str | None
    encoding: str | None
    no_header: bool
    block_size: int | None
    exact: bool
    verify: bool
    trust: bool
    options: Mapping[str, Any] | None
    threads: int | None
    meta: Mapping[str, str] | None


def pack_archive(
    sources: Mapping[str, Path | IO[bytes]],
    target: Target,
    *,
    force: bool = False,
    progress: Progress | None = None,
    **how: Unpack[PackOptions],
) -> ArchiveReport[PackReport]:
    """Pack ``sources`` into one archive at ``target``, in their order.

    ``sources``: the path in the archive (``"folder/a.json"``: relative, with ``/``, without
    ``..``) and the source of each entry. Each is packed as ``pack`` packs a file, with a choice
    and a proof of its own. A target path appears whole, or not at all if one of them fails.
    ``progress(read, written)`` gets the totals of the archive.

    Raises what ``pack`` raises; UsageError for paths that cannot be in one archive.
    """
    _check_entries(sources)
    for source in sources.values():
        named = isinstance(source, str | os.PathLike)
        check_target(target, force, status(cast(Path, source)) if named else None)
    expect(lambda: _total(sources.values()))
    reports: list[PackReport] = []
    read = written = 0
    with _joined(target, force) as file:
        for entry, source in sources.items():
            behind = progress and _behind(progress, read, written)
            report = pack(source, file, entry=entry, force=force, progress=behind, **how)
            reports.append(report)
            read, written = read + report.size, written + report.packed
    if isinstance(target, str | os.PathLike):
        reports = [report._replace(target=shown(target)) for report in reports]
    return ArchiveReport(tuple(reports))


def is_archive(source: Source, *, salvage: bool = False) -> bool:
    """Whether ``source`` is an archive; no more of it is read than its first header.

    ``salvage``: than the first one that is whole, of a source that can be sought.
    """
    head = source.peek(SNIFF)
    if salvage:
        from serialpack.pipeline.salvage import first_left

        header = first_left(source)
        return header is not None and header.entry is not None
    if is_small(head) or not is_container(head):
        return False
    return first_header(source.peek).entry is not None


def unpack_archive(
    source: Path | IO[bytes],
    folder: Path,
    *,
    trust: bool = False,
    threads: int | None = None,
    max_size: int | None = None,
    force: bool = False,
    salvage: bool = False,
    progress: Progress | None = None,
    each: Each | None = None,
) -> ArchiveReport[UnpackReport]:
    """Unpack the entries of the archive at ``source`` below ``folder``, which is made.

    Each file appears whole or not at all, with its modification time, and never outside of
    ``folder``; one that is there is overwritten only with ``force``. An entry that fails does
    not stop the rest: ``each(entry, report or error)`` is called for every one, and in the end
    ArchiveError raised. ``max_size`` (bytes) is that of all together, ``trust`` as in ``unpack``.
    ``salvage``: what is left of a damaged archive, as in ``unpack``. An entry of which some is
    left is written, and its report says what is lost.

    Raises ArchiveError, and what ``unpack`` raises for a file that is no sound archive.
    """
    check_threads(threads)
    with opened_source(source) as opened:
        if salvage:
            how: Any = {"trust": trust, "threads": threads, "progress": progress, "each": each}
            from serialpack.pipeline.sought import sought

            with sought(opened) as found:
                return _salvaged(found, folder, max_size, force, **how)
        if not is_archive(opened):
            if not is_container(head := opened.peek(SNIFF)):
                raise NotContainerError(looks_like(head))
            raise UsageError("is no archive", hint="unpack it as a file")
        make_folder(folder)
        expect_restored(opened)
        unpacker = _Unpacker(opened, folder, max_size, force)
        reports: list[UnpackReport] = []
        failures: list[tuple[str, SerialpackError]] = []
        reached = True
        members = read_members(opened.read, damaged=True)
        while reached and (member := next(members, None)) is not None:
            # Of a damaged one the path may be lost.
            entry = member.header.entry or f"entry {member.number}"
            result: UnpackReport | SerialpackError
            try:
                if member.damage is not None:
                    raise member.damage
                result = unpacker.unpack(member, entry, trust, threads, progress)
                reports.append(result)
            except SerialpackError as error:
                result = error
                failures.append((entry, error))
            if each is not None:
                each(entry, result)
            if member.index is None:
                reached, members = _passed(opened, member, members)
        if failures:
            raise ArchiveError(
                failures,
                len(reports) + len(failures),
                hint=None if reached else "what is behind can be had from a file, not from a pipe",
            )
    return ArchiveReport(tuple(reports))


def _salvaged(
    source: Source,
    folder: Path,
    max_size: int | None,
    force: bool,
    *,
    trust: bool,
    threads: int | None,
    progress: Progress | None,
    each: Each | None,
) -> ArchiveReport[UnpackReport]:
    """As ``unpack_archive`` with ``salvage``, of a source that can be sought."""
    from serialpack.container.salvage import find_remains
    from serialpack.pipeline.salvage import header_of, nothing_left, salvage_member

    if not is_archive(source, salvage=True):
        raise UsageError("is no archive, as far as it is left", hint="unpack it as a file")
    make_folder(folder)
    unpacker = _Unpacker(source, folder, max_size, force)
    remains = find_remains(source.file)
    reports: list[UnpackReport] = []
    failures: list[tuple[str, SerialpackError]] = []
    for number, member in enumerate(remains.members):
        entry = f"entry {number}"
        here = tuple(place for place in remains.damage if place.member == number)

        def restore(
            out: LimitedWrite, member: FoundMember = member, number: int = number
        ) -> Salvaged:
            salvaged = salvage_member(
                source.file,
                member,
                number,
                out,
                trust=trust,
                threads=threads or usable_cores(),
                progress=progress,
            )
            if salvaged.lost and not salvaged.done.blocks_read:
                raise nothing_left()
            return salvaged

        result: UnpackReport | SerialpackError
        try:
            header = header_of(member)
            if header is None or header.entry is None:
                raise DamagedError("its path is lost with its header and index")
            entry = header.entry
            path, salvaged = unpacker.write(entry, header.mtime, restore)
            result = unpack_report(salvaged.done, source.path, path)
            result = result._replace(damage=here + salvaged.damage, lost=salvaged.lost)
            reports.append(result)
        except SerialpackError as error:
            result = error
            failures.append((entry, error))
        if each is not None:
            each(entry, result)
    if failures:
        raise ArchiveError(failures, len(reports) + len(failures))
    return ArchiveReport(tuple(reports), tuple(remains.damage))


class _Unpacker:
    """Writes entries below a folder, each into a file of its own."""

    def __init__(self, source: Source, folder: Path, max_size: int | None, force: bool) -> None:
        from serialpack.pipeline.unpack import LimitedWrite

        self._source = source
        self._folder = folder
        self._force = force
        self._out = LimitedWrite(len, max_size)
        #: The files written so far: two paths can be one file, where case does not count.
        self._written: set[tuple[int, int]] = set()

    def unpack(
        self,
        member: Member,
        entry: str,
        trust: bool,
        threads: int | None,
        progress: Progress | None,
    ) -> UnpackReport:
        from serialpack.pipeline.unpack import unpack_member

        def restore(out: LimitedWrite) -> Unpacked:
            return unpack_member(
                member, out, trust=trust, threads=threads or usable_cores(), progress=progress
            )

        path, done = self.write(entry, member.header.mtime, restore)
        return unpack_report(done, self._source.path, path)

    def write(
        self, entry: str, mtime: int | None, restore: Callable[[LimitedWrite], Done]
    ) -> tuple[str, Done]:
        """The path of an entry, and what came of ``restore``, which is given where to write."""
        path = place_below(self._folder, entry)
        if self._is_ours(path):
            raise FileError("another entry has the same path", path=path)
        check_output(path, force=self._force, source=self._source.stat)
        with Output(path, force=self._force, mtime=mtime) as output:
            self._out.write = output.write
            done = restore(self._out)
        found = status(path)
        self._written.add((found.st_dev, found.st_ino))
        return path, done

    def _is_ours(self, path: str) -> bool:
        try:
            found = status(path)
        except FileError:
            return False
        return (found.st_dev, found.st_ino) in self._written


def _passed(
    source: Source, member: Member, members: Iterator[Member]
) -> tuple[bool, Iterator[Member]]:
    """Whether the members behind ``member`` can be reached, and these.

    It was left before its end, either untouched or in its middle. There, a thread may still be
    reading ahead, and damage may hide where the next one begins: it is found from the file's end.
    """
    if not member.begun:
        with suppress(DamagedError):
            for _ in member.blocks():
                pass
            return True, members
    again = source.again()
    return again is not None, members if again is None else _from_end(again, member)


def _from_end(source: Source, member: Member) -> Iterator[Member]:
    """The members behind ``member``."""
    with source:
        if following := [start for start in member_starts(source.file) if start > member.start]:
            source.file.seek(following[0])
            yield from read_members(source.read, member, following[0], damaged=True)


def _check_entries(paths: Iterable[str]) -> None:
    """UsageError where ``paths`` cannot be those of one archive."""
    found = set(paths)
    if not found:
        raise UsageError("an archive has at least one entry")
    for path in found:
        if fault := fault_of(path):
            raise UsageError(f"the path of an entry {fault}: {path!r}")
        parts = path.split("/")
        if folder := {"/".join(parts[:n]) for n in range(1, len(parts))} & found:
            raise UsageError(f"{folder.pop()!r} cannot be both an entry and the folder of one")


@contextmanager
def _joined(target: Target, force: bool) -> Iterator[IO[bytes]]:
    """A file object for all entries: a new file that appears whole, or the caller's."""
    if is_device(target):
        with opened_device(target) as device:
            yield device
    elif isinstance(target, str | os.PathLike):
        with output_at(target, force=force) as output:
            yield cast("IO[bytes]", output)
    else:
        yield target


def _total(sources: Iterable[Path | IO[bytes]]) -> int | None:
    """Bytes of all ``sources``; None where one of them is no file."""
    total = 0
    for source in sources:
        if not isinstance(source, str | os.PathLike):
            return None
        try:
            found = status(source)
        except FileError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        total += found.st_size
    return total


def _behind(progress: Progress, before_read: int, before_written: int) -> Progress:
    """``progress`` for an entry that comes after so many bytes."""
    return lambda read, written: progress(before_read + read, before_written + written)
