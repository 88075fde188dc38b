"""Entries of archives: what is said of one in a container, and which paths it may have.

Layouts: man/spk.5, HEADER and ENTRIES.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from serialpack.container.fields import count_of, typed_value
from serialpack.container.names import decode_name, encode_name
from serialpack.errors import DamagedError
from serialpack.text import number_of

#: Features in the ``needs`` of a header. ENTRY: the member is one entry of an archive.
ENTRY = "entry"

#: ARCHIVE: the member is part of an archive, which a closing member must end. With ARCHIVE and
#: without ENTRY, the member has blocks that say which entries they hold.
ARCHIVE = "archive"

#: ROWS: its blocks list their entries in rows of the second form, which no index repeats.
ROWS = "rows"

#: CONTROL: the path of its entry has control characters.
CONTROL = "control"

_CONTROL = re.compile(r"[\x01-\x1f\x7f]")

#: The first byte of rows of the second form. Those of the first form are a zstd frame.
SECOND_FORM = b"\x02"

#: How many bytes an entry counts for in the limit on the rows of a block (``rows.MOST_ROOM``),
#: beside those of its path and its target.
ROW_ROOM = 32

#: The times that rows hold, in ns since 1970: from 1677 to 2262.
_TIMES = -(1 << 63), (1 << 63) - 1


class EntryRow(NamedTuple):
    """One entry of an archive: a file, a folder or a symbolic link.

    ``mode``: type and permissions, as ``st_mode``; ``mtime``: in ns since 1970; ``size``: bytes of
    a file, else 0; ``target``: where a link leads; ``owner``: the numbers of user and group, where
    they are kept; ``check``: XXH3-64 of the bytes of a file, which only rows of the first form
    have.
    """

    path: str
    mode: int
    mtime: int
    size: int = 0
    target: str | None = None
    owner: tuple[int, int] | None = None
    check: int | None = None

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def room(self) -> int:
        """How many bytes it counts for in the limit on the rows of a block (``rows.MOST_ROOM``)."""
        target = 0 if self.target is None else len(path_bytes(self.target))
        return ROW_ROOM + len(path_bytes(self.path)) + target

    @property
    def fault(self) -> str | None:
        """Why no archive can hold this entry, as the end of a sentence about its path; None where
        an archive can."""
        if fault := fault_of(self.path):
            return fault
        if not (self.is_file or self.is_folder or self.is_link):
            return "is of nothing that an archive holds"
        if not self.is_file and self.size:
            return "is no file, and has bytes"
        if self.is_link and not (self.target and "\0" not in self.target):
            return "is of a link that leads nowhere"
        return None


def nearest_time(mtime: int) -> int:
    """``mtime`` (ns since 1970), or where it is out of the range of ``_TIMES`` the nearest time in
    it: some file systems have times that rows cannot hold."""
    first, last = _TIMES
    return min(max(mtime, first), last)


class Covered(NamedTuple):
    """How many entries a block holds, and the paths of the first and the last one.

    An index that does not repeat the rows of its blocks has this instead: where a block is lost
    with its rows, a message can still say which entries are lost.
    """

    number: int
    first: str
    last: str

    @classmethod
    def of(cls, entries: Sequence[EntryRow]) -> "Covered | None":
        """Those of ``entries``; None where there are none."""
        return cls(len(entries), entries[0].path, entries[-1].path) if entries else None

    @classmethod
    def read(cls, value: Any) -> "Covered":
        """The inverse of ``values``; TypeError, ValueError, DamagedError for anything else."""
        number, first, last = value[:3]
        if not (isinstance(first, str | bytes) and isinstance(last, str | bytes)):
            raise TypeError("no paths")
        return cls(count_of(number), decode_name(first, 0) or "", decode_name(last, 0) or "")

    def values(self) -> list[Any]:
        """The list that an index has for it."""
        return [self.number, encode_name(self.first), encode_name(self.last)]

    def __str__(self) -> str:
        entries = number_of(self.number, "entry", "entries")
        named = self.first if self.number == 1 else f"from {self.first} to {self.last}"
        return f"its {entries}, {named}"


def is_second_form(rows: bytes) -> bool:
    """Whether the encoded ``rows`` are of the second form, which stand only in the header of their
    block. Those of the first form are repeated in the index."""
    return rows.startswith(SECOND_FORM)


def entry_spans(entries: Sequence[EntryRow]) -> Iterator[tuple[EntryRow, int, int]]:
    """Each of ``entries``, all that a block holds, with the place where its bytes begin in the
    block and the place where they end."""
    ends = accumulate((entry.size for entry in entries), initial=0)
    for entry, (begin, end) in zip(entries, pairwise(ends), strict=True):
        yield entry, begin, end


def share_of(taken: int, begin: int, end: int, size: int) -> int:
    """About how many stored bytes are due to the bytes ``begin`` to ``end`` of a block that
    restores to ``size`` bytes and takes ``taken`` bytes in the file. The shares of all entries of a
    block add up to ``taken``."""
    size = max(size, 1)
    return taken * end // size - taken * begin // size


def fault_of(path: str) -> str | None:
    """Why no entry can have this ``path``, as the end of a sentence about it ("leads upwards");
    None where one can."""
    whole = f"/{path}/"
    if "//" not in whole and "/./" not in whole and "/../" not in whole and "\0" not in path:
        return None
    if not path:
        return "is empty"
    parts = path.split("/")
    if "\0" in path:
        return "holds control characters that no path has"
    if not parts[0]:
        return "is absolute"
    if ".." in parts:
        return "leads upwards"
    return "holds an empty part or '.'"


def has_control(path: str) -> bool:
    """Whether there are control characters in ``path``."""
    return not path.isprintable() and _CONTROL.search(path) is not None


def path_bytes(text: str) -> bytes:
    """The bytes as which a path or a target is stored; UsageError where no file can be called
    so."""
    name = encode_name(text)
    return name if isinstance(name, bytes) else name.encode()


def path_text(data: bytes) -> str:
    """The inverse of ``path_bytes``: ``data`` read as UTF-8, or where it is not in the system's
    encoding."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return os.fsdecode(data)


def entry_needs(entry: str | None, *, archive: bool, rows: bool) -> list[str]:
    """The features that the header of a member must name in ``needs`` because it is of an archive.

    ``entry``: its path, where the member is one entry; ``archive``, ``rows``: as in ``Header``.
    """
    named = (
        (ENTRY, entry is not None),
        (ARCHIVE, archive),
        (ROWS, rows),
        (CONTROL, entry is not None and has_control(entry)),
    )
    return [need for need, needed in named if needed]


def entry_in(values: dict[str, Any], needs: tuple[str, ...], start: int) -> str | None:
    """The path of the entry that a member is, from the map ``values`` of its header; None where the
    member is not one entry.

    ``start``: the place of the header in the file, for errors. DamagedError where no entry can have
    that path.
    """
    if ("e" in values) != (ENTRY in needs):
        raise DamagedError("the header's 'e' and 'needs' disagree", start=start)
    if "e" not in values:
        return None
    entry = decode_name(values["e"], start) or ""
    fault = fault_of(entry)
    if fault is None and has_control(entry) and CONTROL not in needs:
        fault = "holds control characters"
    if fault is not None:
        raise DamagedError(f"the path of an entry {fault}: {entry[:100]!r}", start=start)
    return entry


def before_in(values: dict[str, Any], needs: tuple[str, ...], start: int) -> int | None:
    """Of a closing member, how many members it says are before it, from the map ``values`` of its
    header; None for any other member. DamagedError where that is malformed."""
    before: int | None = typed_value(values, "a", int, None, start)
    if before is not None and (before < 0 or ARCHIVE not in needs or ENTRY in needs):
        raise DamagedError("the header's 'a' is malformed", start=start)
    return before


def access_in(values: dict[str, Any], start: int) -> tuple[int, ...]:
    """From the map ``values`` of the header of an entry: nothing, its mode, or its mode and the
    numbers of user and group. DamagedError where these are malformed."""
    access = typed_value(values, "p", list, [], start)
    if len(access) not in (0, 1, 3) or any(type(n) is not int or n < 0 for n in access):
        raise DamagedError("the header's 'p' is malformed", start=start)
    return tuple(access)
