"""Compares an archive with its sources as they are now: by names, sizes and times, or byte for
byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from serialpack.archive.extract import Done, Placer, entry_of
from serialpack.archive.gather import look
from serialpack.archive.read import ArchiveUnpacker
from serialpack.container.entries import EntryRow
from serialpack.container.rows import decode_rows
from serialpack.container.seek import find_listed
from serialpack.errors import ExistingFileError, SerialpackError
from serialpack.files.source import Source, exists
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.reports import UnpackReport
from serialpack.text import number_of, printable


def fault_of_archive(path: str, sources: Mapping[str, str], *, owner: bool, more: bool) -> str:
    """Why the archive at ``path`` is not what ``sources`` become, in words; nothing where it is.

    ``sources``: the path in the archive -> the file, folder or link. The time of a folder does not
    count: to write the archive into it changes it. ``owner``: owners must be kept. ``more``: the
    archive may hold other entries too.
    """
    try:
        with Source(path) as source:
            held = {entry.path: entry for entry in _entries(source)}
    except (OSError, SerialpackError):
        return "is no whole archive"
    for entry, source_path in sources.items():
        if entry not in held:
            return f"has no entry {printable(entry)}"
        try:
            found = look(source_path, entry, owner=owner)
        except SerialpackError as error:
            return f"{printable(source_path)} {error.message}"
        row = held.pop(entry)
        size = found.size if found.entry.is_file else 0
        if wrong := _fault(row, found.entry._replace(size=size)):
            return f"its entry {printable(entry)} {wrong}"
    if held and not more:
        return f"has {number_of(len(held), 'other entry', 'other entries')}"
    return ""


def fault_of_bytes(path: str, sources: Mapping[str, str], *, trust: bool, threads: int) -> str:
    """As ``fault_of_archive``, but by the bytes of files: those of both sides are read."""
    with Source(path) as source, _Compared(source, sources) as compared:
        ArchiveUnpacker(compared, trust, threads, None).some(source)
        compared.commit()
        for entry, error in compared.failures:
            if isinstance(error, ExistingFileError):
                return f"its entry {printable(entry)} has other bytes"
            return f"{printable(entry)} in it cannot be compared: {error.message}"
        missing = next(iter(sources.keys() - {each.entry for each in compared.reports}), None)
    return "" if missing is None else f"has no entry {printable(missing)}"


class _Compared(Placer):
    """Compares entries and writes none: each is compared with the one of ``files`` at its path."""

    def __init__(self, source: Source, files: Mapping[str, str]) -> None:
        how: Any = {"max_size": None, "force": False, "skip_existing": True, "each": None}
        super().__init__(source, os.curdir, wanted=files.__contains__, **how)
        self._files = files

    def write(
        self, entry: EntryRow, restore: Callable[[LimitedWrite], Done], *, mtime: int | None
    ) -> tuple[str, Done]:
        """Compare ``entry``, which ``restore`` writes, with its file: the path of that, and the
        result of ``restore``."""
        del mtime  # fault_of_archive compares it
        path = self._files[entry.path]
        return path, self._left(path, restore)

    def make(self, entry: EntryRow, report: UnpackReport) -> None:
        """Refuse a folder or a link: at its path there is a file."""
        self.fail(entry.path, exists(report.source))


def _entries(source: Source) -> Iterator[EntryRow]:
    members = find_listed(source.file)
    for member in members:
        if not member.header.shared:
            yield entry_of(member.header, member.index.size)
            continue
        for row in member.index.rows:
            yield from decode_rows(row.entries) if row.entries else ()


def _fault(held: EntryRow, now: EntryRow) -> str:
    """What differs between an entry as it is held and as it is ``now``, in words; else nothing."""
    if stat.S_IFMT(held.mode) != stat.S_IFMT(now.mode):
        return "is of another type"
    if held.target != now.target:
        return "leads elsewhere"
    if held.size != now.size:
        return "is of another size"
    if now.is_file and held.mtime != now.mtime:
        return f"is {'older' if held.mtime < now.mtime else 'newer'} than its source"
    if stat.S_IMODE(held.mode) != stat.S_IMODE(now.mode):
        return "has another mode"
    if now.owner is not None and held.owner != now.owner:
        return "has another owner"
    return ""
