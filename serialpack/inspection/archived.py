"""The entries of an archive, as the indexes of its members list them: nothing is unpacked."""

import stat
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import accumulate, islice
from typing import NamedTuple, overload

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


class EntryLists:
    """Decodes the lists of entries in the members of one container, and keeps the last two: they
    are gone through several times, and mostly there are only these."""

    def __init__(self) -> None:
        #: As ``decode_rows``.
        self.decoded = lru_cache(2)(decode_rows)


def entries_in(
    header: Header, format: str, rows: Iterable[IndexRow], size: int, packed: int, lists: EntryLists
) -> Sequence[ArchivedEntry] | None:
    """The entries of one member of an archive; None where the member is of no archive.

    ``format``, ``size``, ``packed``: of the member; ``rows``: of its index, with the lists of their
    entries, which ``lists`` decodes. DamagedError where these lists are malformed.
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
    return SharedEntries(format, rows, lists)


class SharedEntries(Sequence[ArchivedEntry]):
    """The entries of a member that shares blocks. Those of a block are made when they are come to,
    and not kept: a few bytes of rows may list a million.

    ``rows``, ``lists``: as of ``entries_in``; DamagedError is raised at once. ``takes``: of which
    paths entries are in it.
    """

    def __init__(
        self,
        format: str,
        rows: Iterable[IndexRow],
        lists: EntryLists,
        takes: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._format, self._lists, self._takes = format, lists, takes
        self._rows = [row for row in rows if row.entries]
        self._ends = [*accumulate(sum(1 for _ in self._of(row)) for row in self._rows)]

    def chosen(self, takes: Callable[[str], bool]) -> "SharedEntries":
        """Those of whose paths ``takes`` is true."""
        return SharedEntries(self._format, self._rows, self._lists, takes)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[ArchivedEntry]:
        for row in self._rows:
            for entry, begin, end in self._of(row):
                yield _listed(entry, self._format, row.share(begin, end))

    @overload
    def __getitem__(self, at: int) -> ArchivedEntry: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ArchivedEntry]: ...
    def __getitem__(self, at: int | slice) -> ArchivedEntry | Sequence[ArchivedEntry]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = range(len(self))[at]
        block = bisect_right(self._ends, number)
        row, before = self._rows[block], self._ends[block - 1] if block else 0
        entry, begin, end = next(islice(self._of(row), number - before, None))
        return _listed(entry, self._format, row.share(begin, end))

    def _of(self, row: IndexRow) -> Iterator[tuple[EntryRow, int, int]]:
        spans = entry_spans(self._lists.decoded(row.entries or b""))
        return (span for span in spans if self._takes(span[0].path))


def chosen_of(
    entries: Sequence[ArchivedEntry], takes: Callable[[str], bool]
) -> Sequence[ArchivedEntry]:
    """Those of ``entries``, as ``entries_in`` gives them, of whose paths ``takes`` is true."""
    if isinstance(entries, SharedEntries):
        return entries.chosen(takes)
    return tuple(entry for entry in entries if takes(entry.path))


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
