"""Entries of archives: what headers say of them, and which paths they may have (``man/spk.5``)."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from serialpack.container.names import count_of, decode_name, encode_name, typed_value
from serialpack.errors import DamagedError
from serialpack.text import number_of

#: The feature that a member names in ``needs`` where it is an entry.
ENTRY = "entry"

#: The feature of the members of an archive that a closing member must end. Where one is without
#: ``ENTRY``, its blocks say which entries they hold.
ARCHIVE = "archive"

#: The feature of members whose blocks list their entries in rows of the second form, which no index
#: repeats.
ROWS = "rows"

#: The feature of a member whose entry has control characters in its path.
CONTROL = "control"

_CONTROL = re.compile(r"[\x01-\x1f\x7f]")

#: The first byte of rows of the second form. Those of the first form are a zstd frame.
SECOND_FORM = b"\x02"

#: Bytes that an entry counts for in the limit on the rows of a block, beside path and target.
ROW_ROOM = 32

#: The times that rows hold, in ns since 1970: from 1677 to 2262.
_TIMES = -(1 << 63), (1 << 63) - 1


class EntryRow(NamedTuple):
    """A file, a folder or a symbolic link of an archive.

    ``mode``: type and permissions, as ``st_mode``; ``mtime`` in ns since 1970; ``target``: where
    a link leads; ``owner``: numbers of user and group; ``check``: XXH3-64 of its ``size`` bytes,
    where the rows have one, which those of the first form do.
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
        """Bytes that it counts for in the limit on the rows of a block (``MOST_ROOM``)."""
        target = 0 if self.target is None else len(path_bytes(self.target))
        return ROW_ROOM + len(path_bytes(self.path)) + target

    @property
    def fault(self) -> str | None:
        """Why no archive can hold the entry, in words; None where one can."""
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
    """``mtime``, or the nearest time that an entry can have: some file systems know others."""
    first, last = _TIMES
    return min(max(mtime, first), last)


class Covered(NamedTuple):
    """Which entries are in a block, for messages, in an index that does not repeat their rows."""

    number: int
    first: str
    last: str

    @classmethod
    def of(cls, entries: Sequence[EntryRow]) -> "Covered | None":
        """Those of ``entries``; None where there are none."""
        return cls(len(entries), entries[0].path, entries[-1].path) if entries else None

    @classmethod
    def read(cls, value: Any) -> "Covered":
        """What stands for it in an index, read; TypeError, ValueError."""
        number, first, last = value[:3]
        if not (isinstance(first, str | bytes) and isinstance(last, str | bytes)):
            raise TypeError("no paths")
        return cls(count_of(number), decode_name(first, 0) or "", decode_name(last, 0) or "")

    def values(self) -> list[Any]:
        """What stands for it in an index."""
        return [self.number, encode_name(self.first), encode_name(self.last)]

    def __str__(self) -> str:
        entries = number_of(self.number, "entry", "entries")
        return f"its {entries}, from {self.first} to {self.last}"


def stand_once(rows: bytes) -> bool:
    """Whether ``rows`` are of the second form: they stand with their block only, and no index
    repeats them."""
    return rows.startswith(SECOND_FORM)


def cut(entries: Sequence[EntryRow]) -> Iterator[tuple[EntryRow, int, int]]:
    """Each entry, and where its bytes begin and end in the block that holds all of ``entries``."""
    ends = accumulate((entry.size for entry in entries), initial=0)
    for entry, (begin, end) in zip(entries, pairwise(ends), strict=True):
        yield entry, begin, end


def share_of(taken: int, begin: int, end: int, size: int) -> int:
    """About how many of the bytes ``taken`` by a block of ``size`` bytes are due to its bytes
    ``begin`` to ``end``. The shares of all entries of a block add up to ``taken``."""
    size = max(size, 1)
    return taken * end // size - taken * begin // size


def fault_of(path: str) -> str | None:
    """Why no entry can have ``path``, in words; None where one can."""
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
    """Whether ``path`` holds control characters."""
    return not path.isprintable() and _CONTROL.search(path) is not None


def path_bytes(text: str) -> bytes:
    """The bytes that a path or a target is stored as; UsageError for one that is no name."""
    name = encode_name(text)
    return name if isinstance(name, bytes) else name.encode()


def path_text(data: bytes) -> str:
    """The path or target that was stored as ``data``: UTF-8, or else in the system's encoding."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return os.fsdecode(data)


def entry_needs(entry: str | None, *, archive: bool, rows: bool) -> list[str]:
    """The features that a reader needs for what a member has of an archive; none for others."""
    named = (
        (ENTRY, entry is not None),
        (ARCHIVE, archive),
        (ROWS, rows),
        (CONTROL, entry is not None and has_control(entry)),
    )
    return [need for need, needed in named if needed]


def entry_in(values: dict[str, Any], needs: tuple[str, ...], start: int) -> str | None:
    """The path of the entry whose header says ``values``; None where it is of no single entry.

    DamagedError where no entry can have that path.
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
    """How many members a closing member says there are before it; None for any other member.
    DamagedError."""
    before: int | None = typed_value(values, "a", int, None, start)
    if before is not None and (before < 0 or ARCHIVE not in needs or ENTRY in needs):
        raise DamagedError("the header's 'a' is malformed", start=start)
    return before


def access_in(values: dict[str, Any], start: int) -> tuple[int, ...]:
    """Mode and owners of the entry that the header is of, as far as they are kept; DamagedError."""
    access = typed_value(values, "p", list, [], start)
    if len(access) not in (0, 1, 3) or any(type(n) is not int or n < 0 for n in access):
        raise DamagedError("the header's 'p' is malformed", start=start)
    return tuple(access)
