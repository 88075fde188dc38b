"""The entries of an archive, as the indexes of its members list them: nothing is unpacked."""

import stat
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from serialpack.container.entries import EntryRow, entry_spans
from serialpack.container.header import Header
from serialpack.container.index import IndexRow
from serialpack.container.rows import decode_rows


class ArchivedEntry(NamedTuple):
    """One entry. Fields are None where nothing is known.

    ``type``: ``file``, ``folder`` or ``link``; ``size``: bytes when unpacked; ``packed``: about how
    many bytes of the container are due to it, as its share of a block that it is in with others;
    ``modified``: ISO 8601 in UTC; ``mode``: permissions, four octal digits; ``target``: where a
    link leads; ``owner``: the numbers of user and group.
    """

    path: str
    type: str
    size: int
    packed: int | None
    format: str
    modified: str | None
    mode: str | None = None
    target: str | None = None
    owner: tuple[int, int] | None = None


def entries_in(
    header: Header, format: str, rows: Iterable[IndexRow], size: int, packed: int
) -> tuple[ArchivedEntry, ...] | None:
    """The entries of one member of an archive; None where the member is of no archive.

    ``format``, ``size``, ``packed``: of the member; ``rows``: of its index, with the lists of their
    entries. DamagedError where these lists are malformed.
    """
    if not header.in_archive:
        return None
    if not header.shared:
        mode, *owner = header.access or (0,)
        return (
            ArchivedEntry(
                path=header.entry or "",
                type="file",
                size=size,
                packed=packed,
                format=format,
                modified=iso_time(header.mtime),
                mode=f"{stat.S_IMODE(mode):04o}" if mode else None,
                owner=(owner[0], owner[1]) if owner else None,
            ),
        )
    return tuple(
        _listed(entry, format, row.share(begin, end))
        for row in rows
        for entry, begin, end in entry_spans(decode_rows(row.entries) if row.entries else [])
    )


def _listed(entry: EntryRow, format: str, packed: int) -> ArchivedEntry:
    """What is listed of one entry; ``packed``: the bytes of the archive that are counted as its
    own."""
    return ArchivedEntry(
        path=entry.path,
        type="file" if entry.is_file else "folder" if entry.is_folder else "link",
        size=entry.size,
        packed=packed if entry.is_file else None,
        format=format if entry.is_file else "",
        modified=iso_time(entry.mtime),
        mode=f"{stat.S_IMODE(entry.mode):04o}",
        target=entry.target,
        owner=entry.owner,
    )


_EPOCH = datetime(1970, 1, 1)


def iso_time(nanoseconds: int | None) -> str | None:
    """A time since 1970 in UTC, as ISO 8601 with all nine digits of the second."""
    if nanoseconds is None:
        return None
    seconds, rest = divmod(nanoseconds, 10**9)
    try:
        when = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:  # a time beyond the calendar
        return f"{nanoseconds} ns"
    return f"{when.isoformat()}.{rest:09}Z"
