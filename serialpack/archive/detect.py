"""Tells whether a source is an archive. Asked of all that is unpacked, so it imports little."""

from __future__ import annotations

from serialpack.container.reader import (
    SNIFF,
    first_header,
    is_container,
    is_small,
    may_be_damaged_container,
)
from serialpack.errors import DamagedError, InputError
from serialpack.files.source import Source


def is_archive(source: Source, *, salvage: bool = False) -> bool:
    """Whether ``source`` is an archive, by its first header. Where that is damaged, more of a
    seekable source is read.

    ``salvage``: by the first header that is whole, in a seekable source.
    """
    head = source.peek(SNIFF)
    if salvage:
        return _is_as_left(source)
    if is_small(head):
        return False
    if is_container(head):
        try:
            return first_header(source.peek).in_archive
        except DamagedError:
            pass
    elif not may_be_damaged_container(head):
        return False
    try:
        if source.seekable():
            return _is_as_left(source)
        # What it says may be what is damaged: it only tells who looks at it further.
        return first_header(source.peek, damaged=True).in_archive
    except InputError:
        return False


def _is_as_left(source: Source) -> bool:
    """Whether the first whole header, or copy of one, is of an archive."""
    from serialpack.pipeline.salvage import first_left

    header = first_left(source)
    return header is not None and header.in_archive
