"""Which files of an archive, too large to share blocks otherwise, are nearly copies of others."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from serialpack.archive.gather import SHARED_SIZE, ArchiveSource, extension_of, read_small
from serialpack.errors import SerialpackError
from serialpack.stages.stage import MAX_BLOCK

#: Two of that size fit in one block, the largest that there is.
MOST_COPIED = MAX_BLOCK // 2

#: Files are compared by so many pieces of so many bytes: longer than what lines or rows of one kind
#: have in common, and shorter than what mostly stands between two changes.
_PIECES, _PIECE = 16, 256

#: If none of so many is found, no more are looked for: that takes a third of a nanosecond a byte.
_FIRST = 3

#: So many of all must be found.
_SHARE = 0.75

#: A piece with fewer different bytes tells nothing: it is padding, say.
_DIFFERENT = 12

#: Sizes of copies differ by less.
_NEAR = 0.8

#: Each file is compared with so many of those before it, by size.
_COMPARED = 3


def near_copies(files: Sequence[ArchiveSource]) -> list[list[ArchiveSource]]:
    """Groups of two and more of ``files`` of which each has most of its bytes in common with
    another of its group, such as versions of a database.

    Those of one extension and about one size are compared. What cannot be read is in no group.
    """
    found: list[list[ArchiveSource]] = []
    recent: deque[tuple[ArchiveSource, bytes, list[ArchiveSource]]] = deque(maxlen=_COMPARED)
    sized = [each for each in files if SHARED_SIZE < each.size <= MOST_COPIED]
    sized.sort(key=lambda each: (extension_of(each.entry.path), each.size, each.entry.path))
    for number, each in enumerate(sized):
        near = [other for other in recent if _may_be_copies(other[0], each)]
        follows = number + 1 < len(sized) and _may_be_copies(each, sized[number + 1])
        if not near and not follows:
            continue
        try:
            data = read_small(each)
        except SerialpackError:  # it is told where it is packed
            continue
        group = next((g for _, held, g in reversed(near) if _has_most_of(held, data)), None)
        if group is None:
            found.append(group := [])
        group.append(each)
        recent.append((each, data, group))
    return [group for group in found if len(group) > 1]


def _may_be_copies(first: ArchiveSource, second: ArchiveSource) -> bool:
    """Whether two files, the smaller one first, are of one extension and near in size."""
    alike = extension_of(first.entry.path) == extension_of(second.entry.path)
    return alike and first.size >= _NEAR * second.size


def _has_most_of(held: bytes, data: bytes) -> bool:
    """Whether most pieces of ``data`` stand somewhere in ``held``."""
    step = (len(data) - _PIECE) // (_PIECES - 1)
    pieces = [data[at * step : at * step + _PIECE] for at in range(_PIECES)]
    pieces = [piece for piece in pieces if len(set(piece)) >= _DIFFERENT]
    # From the middle on: the fronts of files of one kind are often alike.
    pieces = pieces[len(pieces) // 2 :] + pieces[: len(pieces) // 2]
    hits = 0
    for number, piece in enumerate(pieces):
        if number == _FIRST and not hits:
            return False
        hits += piece in held
    return bool(pieces) and hits >= _SHARE * len(pieces)
