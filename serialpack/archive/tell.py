"""Whether a source is an archive: asked of whatever is unpacked, so little stands here."""

from __future__ import annotations

from serialpack.container.reader import SNIFF, first_header, is_container, is_small
from serialpack.files.source import Source


def is_archive(source: Source, *, salvage: bool = False) -> bool:
    """Whether ``source`` is an archive; no more of it is read than its first header.

    ``salvage``: than the first one that is whole, of a source that can be sought.
    """
    head = source.peek(SNIFF)
    if salvage:
        from serialpack.pipeline.salvage import first_left

        header = first_left(source)
        return header is not None and header.in_archive
    if is_small(head) or not is_container(head):
        return False
    return first_header(source.peek).in_archive
