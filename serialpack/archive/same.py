"""Whether an archive holds what its sources are now, as far as names, sizes and times tell."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping

from serialpack.archive.gather import look
from serialpack.archive.place import entry_of
from serialpack.container.entries import EntryRow
from serialpack.container.rows import decode_rows
from serialpack.container.seek import find_listed
from serialpack.errors import SerialpackError
from serialpack.files.source import Source
from serialpack.text import number_of, printable


def fault_of_archive(path: str, sources: Mapping[str, str], *, owner: bool) -> str:
    """Why the archive at ``path`` is not what ``sources`` become, in words; nothing where it is.

    ``sources``: the path in the archive -> the file, folder or link. Of a folder its time does not
    count: it may be that of the archive in it. ``owner``: owners are to be kept.
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
    if held:
        return f"has {number_of(len(held), 'other entry', 'other entries')}"
    return ""


def _entries(source: Source) -> Iterator[EntryRow]:
    members = find_listed(source.file)
    for member in members:
        if not member.header.shared:
            yield entry_of(member.header, member.index.size)
            continue
        for row in member.index.rows:
            yield from decode_rows(row.entries) if row.entries else ()


def _fault(held: EntryRow, now: EntryRow) -> str:
    """What of an entry is not so now."""
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
