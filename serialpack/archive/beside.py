"""Files that share blocks, in an order in which near copies come into the same block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from serialpack.errors import SerialpackError

File = TypeVar("File")

#: Marks of a file: so many at most, each of so many bytes. So many, and so large a part of them,
#: must be in another.
_MARKS, _MARK = 16, 32
_LEAST, _SHARE = 2, 0.5

#: What marks begin with: in compressed bytes they come once in 16 kB, and no format is full of
#: them. To look for them takes some milliseconds a megabyte.
_BEGINS = (b"\x9a\x47", b"\xb3\x6d", b"\x5b\xe9", b"\xd6\x95")

#: A mark with fewer different bytes tells nothing: it is padding, say.
_DIFFERENT = 12


def copies_beside(files: Sequence[File], read: Callable[[File], bytes]) -> list[list[File]]:
    """``files`` in their order, but that each which has much in common with an earlier one,
    wherever in them that stands, comes behind it: in one group.

    What cannot be read is a group by itself: it is told where it is packed.
    """
    groups: list[list[File]] = []
    group_of: dict[bytes, int] = {}
    for each in files:
        try:
            marks = _marks(read(each))
        except SerialpackError:
            marks = []
        hits = Counter(group_of[mark] for mark in marks if mark in group_of)
        number, count = hits.most_common(1)[0] if hits else (0, 0)
        if count < max(_LEAST, _SHARE * len(marks)):
            number = len(groups)
            groups.append([])
        groups[number].append(each)
        for mark in marks:
            group_of.setdefault(mark, number)
    return groups


def _marks(data: bytes) -> list[bytes]:
    """Pieces of ``data`` that another file with the same bytes has too, whatever stands before
    them."""
    found = set()
    for begin in _BEGINS:
        at = data.find(begin)
        while at >= 0:
            mark = data[at : at + _MARK]
            if len(set(mark)) >= _DIFFERENT:
                found.add(mark)
            at = data.find(begin, at + _MARK)
    # The least of them, not the first: what two files have in common may stand anywhere.
    return sorted(found, key=lambda mark: mark[2:])[:_MARKS]
