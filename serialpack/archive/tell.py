"""Whether a source is an archive: asked of whatever is unpacked, so little stands here."""

from __future__ import annotations

from serialpack.container.reader import SNIFF, begins_so, first_header, is_container, is_small
from serialpack.errors import DamagedError, InputError
from serialpack.files.source import Source


def is_archive(source: Source, *, salvage: bool = False) -> bool:
    """Whether ``source`` is an archive; no more of it is read than its first header, where that is
    whole, or the source is a pipe.

    ``salvage``: than the first one that is whole, of a source that can be sought.
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
    elif not begins_so(head):
        return False
    try:
        if source.seekable():
            return _is_as_left(source)
        # What it says may be what is damaged: it only tells who looks at it further.
        return first_header(source.peek, damaged=True).in_archive
    except InputError:
        return False


def _is_as_left(source: Source) -> bool:
    """Whether the first header, or copy of one, that is whole is of an archive."""
    from serialpack.pipeline.salvage import first_left

    header = first_left(source)
    return header is not None and header.in_archive
