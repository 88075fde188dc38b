"""Tells a progress bar how many bytes will come out of a container."""

from __future__ import annotations

from functools import cache

from serialpack.errors import SerialpackError
from serialpack.files.source import Source
from serialpack.watch import expect, watching


def expect_restored(source: Source, *, serialized: bool = False) -> None:
    """Tell the progress bar, if there is one (``watch``), how many bytes come out of the container
    ``source``. ``serialized``: count the serialized bytes, not the source's.
    """
    if watching() is None:
        return
    from serialpack.container.seek import find_members

    def total(opened: Source) -> int | None:
        try:
            found = [member.index for member in find_members(opened.file)]
        except (SerialpackError, OSError, ValueError):  # unpacking will say what is wrong
            return None
        return sum(index.serialized if serialized else index.size for index in found)

    @cache
    def total_again() -> int | None:
        again = source.again()
        if again is None:
            return None
        with again:
            return total(again)

    if source.stat is None or not source.owned:
        size, place = None, 0
        if source.seekable():
            place = source.file.tell()
            size = total(source)
            source.file.seek(place)
        expect(lambda: size)
    else:
        # Counted when somebody asks, in the file opened once more: members may be many.
        expect(total_again)
