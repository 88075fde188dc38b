"""Volumes in two files, one beside the other: the header in NAME.hdr, the numbers in NAME.img.

NIfTI has them so, and Analyze, from which it comes; either may be compressed. They are read as the
one file that NIfTI has for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from serialpack.compressed.pieces import Pieces
from serialpack.errors import InputError
from serialpack.files.source import Source
from serialpack.text import printable

_PIECE = 1 << 20
_HEADER, _IMAGE = ".hdr", ".img"

#: Gives what is in a source, undone where it is compressed.
Inside = Callable[[Source], Source]


def joined(source: Source, of: Source, inside: Inside) -> Source:
    """The volume in two files of which ``source`` is one, as one file; else ``source``.

    ``of``: the file that ``source`` was made of (the compressed one, say), or ``source`` itself.
    InputError where the file with the numbers is not there.
    """
    name = source.name.lower()
    if of.here is None or not name.endswith((_HEADER, _IMAGE)):
        return source
    from serialpack.formats.arrays.volumes import MOST_PAIR, joined_header

    is_header = name.endswith(_HEADER)
    if is_header and joined_header(source.peek(MOST_PAIR)) is None:
        return source
    path = _beside(of.here, source.name, _IMAGE if is_header else _HEADER)
    if path is None:
        if is_header:
            missing = printable(source.name[: -len(_HEADER)] + _IMAGE)
            raise InputError(f"a volume's header, whose numbers should be beside it: {missing}")
        return source
    other = Source(path)
    of.close_with(other.close)
    opened = inside(other)
    header, image = (source, opened) if is_header else (opened, source)
    found = joined_header(header.peek(MOST_PAIR))
    return source if found is None else _PairedFiles(of, other, *found, image, inside)


def other_of(path: str, name: str) -> str | None:
    """The other one of two files that a volume may be in, told by their names; None where it is not
    there.

    ``name``: that of ``path`` without the ending of a compression.
    """
    others = {_HEADER: _IMAGE, _IMAGE: _HEADER}
    other = others.get(name[-len(_HEADER) :].lower())
    return None if other is None else _beside(path, name, other)


def of_header(path: str, name: str, inside_name: Callable[[str], str]) -> str | None:
    """The path of the header whose numbers are in the file at ``path``, told by their names; else
    None.

    ``name``: as for ``other_of``; ``inside_name`` gives that for another file.
    """
    if not name.lower().endswith(_IMAGE) or (found := _beside(path, name, _HEADER)) is None:
        return None
    header = Path(found).name
    back = _beside(found, inside_name(header), _IMAGE)
    folder = path[: len(path) - len(Path(path).name)]
    return folder + header if back and Path(back).name == Path(path).name else None


def _beside(path: str, name: str, extension: str) -> str | None:
    """The file beside ``path`` with another ``extension``, compressed or not; None where there is
    none.

    ``name``: that of ``path`` without the ending of a compression.
    """
    stem = name[: -len(extension)]
    spelled = extension if name[len(stem) :].islower() else extension.upper()
    packed = Path(path).name[len(name) :]
    for ending in dict.fromkeys((packed, "", ".gz")):
        found = Path(path).with_name(stem + spelled + ending)
        if found.is_file():
            return str(found)
    return None


class _PairedFiles(Source):
    """Two files as the one that ``of``, one of them, stands for. ``start``: where in ``image`` the
    numbers begin."""

    def __init__(
        self, of: Source, other: Source, header: bytes, start: int, image: Source, inside: Inside
    ) -> None:
        super().__init__(cast(IO[bytes], Pieces(_pieces(header, start, image))), of.path)
        self.stat = of.stat
        self._of, self._other, self._inside = of, other, inside

    @property
    def size(self) -> None:
        return None

    def again(self) -> Source | None:
        again = self._of.again()
        return again and joined(self._inside(again), again, self._inside)

    def check_unchanged(self) -> None:
        self._of.check_unchanged()
        self._other.check_unchanged()

    def close(self) -> None:
        self._of.close()


def _pieces(header: bytes, start: int, image: Source) -> Iterator[bytes]:
    yield header
    while start and (passed := image.read(min(start, _PIECE))):
        start -= len(passed)
    while piece := image.read(_PIECE):
        yield piece
