"""Files, folders and links become one archive."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain, islice, pairwise
from typing import IO, TYPE_CHECKING, Any, TypedDict, Unpack, cast

from serialpack._version import __version__
from serialpack.api import Target, check_target, check_threads, pack
from serialpack.archive.copies import near_copies
from serialpack.archive.gather import (
    ArchiveSource,
    SharedKind,
    SmallFiles,
    look,
    most_shared,
    other_blocks,
    total,
)
from serialpack.archive.names import check_together
from serialpack.auto.choice import NEITHER, choose, settle
from serialpack.checked import checked
from serialpack.container.entries import EntryRow
from serialpack.detection.detect import AsFound
from serialpack.errors import ArchiveError, FileError, SerialpackError
from serialpack.far import is_far
from serialpack.files.output import Output
from serialpack.files.source import File, Path, shown
from serialpack.files.targets import is_device, opened_device, output_at
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.pack import pack_blocks
from serialpack.pipeline.packing import PackedMember, Packing
from serialpack.pipeline.workers import usable_cores
from serialpack.reports import ArchiveReport, PackReport
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import ByteSerializer
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.stages.stage import Buffer
from serialpack.watch import expect

if TYPE_CHECKING:
    from serialpack.pipeline.line import Progress

#: Called with each entry and what became of it.
EachPacked = Callable[[str, PackReport | SerialpackError], object]

#: The path in the archive of what has a member of its own, its source, and what was found there.
_Alone = tuple[str, "Path | File", ArchiveSource | None]


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
    shared_dict: Path | None


@checked
def pack_archive(
    sources: Mapping[str, Path | File],
    target: Target,
    *,
    force: bool = False,
    owner: bool = False,
    progress: Progress | None = None,
    each: EachPacked | None = None,
    **how: Unpack[PackOptions],
) -> ArchiveReport[PackReport]:
    """Pack ``sources`` into one archive at ``target``.

    ``sources``: the path in the archive (``"folder/a.json"``: relative, with ``/``, without
    ``..``) and the source of each entry: a file, a folder (without what is in it), a symbolic
    link, which is kept as one, or a file object. Small files of one format share blocks, larger
    ones have a choice and a proof of their own. Modes and times are kept, with ``owner`` also the
    numbers of user and group.

    A source that cannot be packed does not stop the rest: ``each(entry, report or error)`` is
    called for every one, and the report lists the ``failures``. A target path appears whole, or
    not at all if nothing could be packed. ``progress(read, written)`` gets the totals.

    Raises ArchiveError where nothing could be packed, UsageError for paths that cannot be in one
    archive, and what writing the target raises.
    """
    check_together(sources)
    check_threads(how.get("threads"))
    check_target(target, force, None)
    expect(lambda: total(list(sources.values())))
    with _joined(target, force) as file:
        writer = _ArchiveWriter(file, target, how, owner=owner, progress=progress, each=each)
        writer.add(sources)
        if not writer.entries:
            raise ArchiveError(writer.failures, len(writer.failures), done="packed")
    failures = tuple(writer.failures)
    return ArchiveReport(tuple(writer.entries), failures=failures, all_packed=writer.written)


class _ArchiveWriter:
    """Writes one archive to ``file``, and keeps what became of each entry."""

    def __init__(
        self,
        file: File | Output,
        target: Target,
        how: PackOptions,
        *,
        owner: bool,
        progress: Progress | None,
        each: EachPacked | None,
    ) -> None:
        self._file = file
        #: What reports call the target; which file is overwritten, and must not be a source.
        self._name = shown(target) if isinstance(target, str | os.PathLike) else None
        self._target = _file_of(target)
        self._how = how
        self._owner = owner
        self._progress = progress
        self._each = each
        self._members = 0
        self._read = 0
        self.written = 0
        self.entries: list[PackReport] = []
        self.failures: list[tuple[str, SerialpackError]] = []
        effort = EFFORTS[how.get("effort", DEFAULT_EFFORT)]
        self._block_size = how.get("block_size") or effort.block_size
        #: Of what shares blocks.
        self._choice = choose(
            how.get("serializer", "auto"),
            tuple(how.get("filters", ())),
            how.get("codec", "auto"),
            effort=effort.shared,
            block_size=how.get("block_size"),
        )

    def add(self, sources: Mapping[str, Path | File]) -> None:
        """Write all of ``sources``: what shares blocks, what is large, the closing member."""
        serializer = SERIALIZERS.cls(self._choice.chain.serializer.name)
        shares = issubclass(serializer, ByteSerializer)
        table = AsFound(*(self._how.get(key) for key in ("delimiter", "encoding")))  # type: ignore[arg-type]
        table = table._replace(no_header=self._how.get("no_header", False))
        format = self._how.get("format")
        format = None if format is None else FORMATS.source(format).name
        shared = SmallFiles(format, table, self._block_size)
        alone: list[_Alone] = []
        others: list[ArchiveSource] = []
        for path, source in sources.items():
            try:
                if not isinstance(source, str | os.PathLike) or is_far(source):
                    alone.append((path, source, None))
                    continue
                found = look(source, path, owner=self._owner)
            except SerialpackError as error:
                self._fail(path, error)
                continue
            if found.file == self._target:
                raise FileError(
                    "is the input itself", path=found.path, hint="name another file with -o"
                )
            if not found.entry.is_file:
                others.append(found)
            elif shares and found.size <= most_shared(self._block_size):
                shared.add(found)
            else:
                alone.append((path, source, found))
        for kind in shared.kinds():
            self._share(shared, kind)
        alone += [(found.entry.path, found.path, found) for found in shared.alone]
        if shares and not self._choice.sized:
            alone = self._share_copies(shared, alone)
        for path, source, entry in alone:
            self._alone(path, source if entry is None else entry.path, entry)
        if self.entries or others:
            self._close(others)

    def _share_copies(self, shared: SmallFiles, alone: Sequence[_Alone]) -> list[_Alone]:
        """Write members of what is nearly the same among ``alone``, and give the rest."""
        groups = near_copies([found for *_, found in alone if found is not None])
        shared.add_copies(groups)
        for kind in shared.kinds():
            self._share(shared, kind)
        done = {found.entry.path for group in groups for found in group}
        return [each for each in alone if each[0] not in done]

    def _share(self, shared: SmallFiles, kind: SharedKind) -> None:
        """Write the member of all small files of ``kind``."""
        blocks = shared.of(kind, self._choice.block_size)
        first = next(blocks, None)
        if first is not None:
            self._share_blocks(shared, kind, first, blocks)
        for found, error in shared.failed:
            error.path = error.path or found.path
            self._fail(found.entry.path, error)

    def _share_blocks(
        self,
        shared: SmallFiles,
        kind: SharedKind,
        first: SourceBlock,
        blocks: Iterator[SourceBlock],
    ) -> None:
        format, choice = kind.format, self._choice
        if kind.large and not choice.settled:  # each of them was looked at
            choice = choice._replace(settled=True, looked_at=True, why=NEITHER)
        shown = [first, *islice(blocks, 1)]
        choice = settle(choice, format, lambda size: first.data[:size], many=len(shown) > 1)
        packing = self._packing(choice.chain, format, choice.block_size)
        packing = packing._replace(
            min_saving=choice.min_saving,
            why=choice.reason,
            settings=SERIALIZERS.cls(choice.chain.serializer.name).settings({}),
        )
        member = self._member(chain(shown, blocks), packing, shared.entries)
        chosen, seconds = str(choice.chain), member.seconds
        for row, files in zip(member.rows, shared.blocks, strict=True):
            ends = accumulate((found.entry.size for found in files), initial=0)
            for found, (begin, end) in zip(files, pairwise(ends), strict=True):
                packed = row.share(begin, end)
                self._done(
                    PackReport(
                        source=found.path,
                        target=self._name,
                        chain=chosen,
                        why=choice.why,
                        format=format,
                        size=found.entry.size,
                        packed=packed,
                        payload=packed,
                        blocks=1,
                        stored_blocks=int(row.stored),
                        records=None,
                        exact=True,
                        proved=packing.verify,
                        seconds=seconds,
                        entry=found.entry.path,
                    )
                )
                seconds = {}

    def _alone(self, path: str, source: Path | File, found: ArchiveSource | None) -> None:
        """Write a member of one entry."""
        file = self._file
        mark = file.mark() if isinstance(file, Output) else None
        counted = _Counted(file)
        access: tuple[int, ...] = ()
        if found is not None:
            access = (found.entry.mode, *(found.entry.owner or ()))
        try:
            report = pack(
                source,
                cast("IO[bytes]", counted),
                entry=path,
                access=access,
                force=True,
                progress=self._behind(),
                **self._how,
            )
        except SerialpackError as error:
            if counted.failed or (counted.written and mark is None):
                raise
            if counted.written:
                cast("Output", file).rewind(mark)  # type: ignore[arg-type]
            self._fail(path, error)
            return
        self._members += 1
        self._read, self.written = self._read + report.size, self.written + report.packed
        self._done(report._replace(target=self._name or report.target))

    def _close(self, others: Sequence[ArchiveSource]) -> None:
        """Write the last member: folders and links, which have no bytes."""
        blocks = list(other_blocks([found.entry for found in others]))
        given = iter(blocks)
        packing = self._packing(choose("raw", (), "zstd").chain, "bytes", self._choice.block_size)
        packing = packing._replace(before=self._members)
        empty = (SourceBlock(b"", number, 0) for number in range(len(blocks)))
        member = self._member(empty, packing, lambda: next(given))
        for found in others:
            self._done(
                PackReport(
                    source=found.path,
                    target=self._name,
                    chain=str(packing.chain),
                    why="",
                    format="folder" if found.entry.is_folder else "link",
                    size=0,
                    packed=0,
                    payload=0,
                    blocks=0,
                    stored_blocks=0,
                    records=None,
                    exact=True,
                    proved=packing.verify,
                    seconds={} if self.entries else member.seconds,
                    entry=found.entry.path,
                )
            )

    def _packing(self, chain: Any, format: str, block_size: int) -> Packing:
        return Packing(
            chain=chain,
            format=format,
            block_size=block_size,
            archive=True,
            meta=dict(self._how.get("meta") or {}),
            writer=__version__,
            verify=self._how.get("verify", True),
            threads=self._how.get("threads") or usable_cores(),
        )

    def _member(
        self,
        blocks: Iterator[SourceBlock],
        packing: Packing,
        entries: Callable[[], Sequence[EntryRow]],
    ) -> PackedMember:
        member = pack_blocks(blocks, self._file.write, packing, self._behind(), entries)
        self._members += 1
        self._read, self.written = self._read + member.size, self.written + member.length
        return member

    def _behind(self) -> Progress | None:
        """``progress`` for what comes after all that was done so far."""
        told, before = self._progress, (self._read, self.written)
        return told and (lambda read, written: told(before[0] + read, before[1] + written))

    def _done(self, report: PackReport) -> None:
        self.entries.append(report)
        if self._each is not None:
            self._each(report.entry or "", report)

    def _fail(self, entry: str, error: SerialpackError) -> None:
        self.failures.append((entry, error))
        if self._each is not None:
            self._each(entry, error)


class _Counted:
    """A file to write to that knows whether anything was, and whether that could not be."""

    def __init__(self, file: File | Output) -> None:
        self._file = file
        self.written = 0
        self.failed = False

    def write(self, data: Buffer) -> int:
        """As of the file; what was taken counts."""
        try:
            taken = self._file.write(data)
        except BaseException:
            self.failed = True
            raise
        self.written += taken or 0
        return taken


def _file_of(target: Target) -> tuple[int, int] | None:
    """Which file is at ``target``, on which device; None where none is."""
    try:
        found = os.stat(target) if isinstance(target, str | os.PathLike) else None
    except (OSError, ValueError):
        return None
    return found and (found.st_dev, found.st_ino)


@contextmanager
def _joined(target: Target, force: bool) -> Iterator[File | Output]:
    """What all members are written to: a new file that appears whole, or the caller's."""
    if is_device(target):
        with opened_device(target) as device:
            yield device
    elif isinstance(target, str | os.PathLike):
        with output_at(target, force=force) as output:
            yield output
    else:
        yield target
