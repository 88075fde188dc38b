"""Volumes that lie in two files, one beside the other: the header in NAME.hdr, the numbers (the
image) in NAME.img.

NIfTI and its predecessor Analyze have such pairs; either file may be compressed. A pair is read as
the single file in which NIfTI stores the same volume: a header that says so, then the numbers.
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

#: Gives a source of the decompressed bytes of a source; the source itself where it is not
#: compressed.
Decompress = Callable[[Source], Source]


def joined_pair(source: Source, of: Source, decompress: Decompress) -> Source:
    """If ``source`` is one of the two files of a volume, the volume as one file; else ``source``.

    ``of``: the source on the disk that ``source`` is the decompressed form of; ``source`` itself
    where it is not compressed. ``decompress`` is called for the other file of the pair. InputError
    where ``source`` is the header and the file with the numbers does not exist.
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
    opened = decompress(other)
    header, image = (source, opened) if is_header else (opened, source)
    found = joined_header(header.peek(MOST_PAIR))
    return source if found is None else _PairedFiles(of, other, *found, image, decompress)


def other_of(path: str, name: str) -> str | None:
    """The path of the other file of the pair that ``path`` may belong to, by the names alone: the
    .img file of a .hdr file, and the other way round. None where no such file exists.

    ``name``: the base name of ``path`` without the extension of a compression.
    """
    others = {_HEADER: _IMAGE, _IMAGE: _HEADER}
    other = others.get(name[-len(_HEADER) :].lower())
    return None if other is None else _beside(path, name, other)


def header_of(path: str, name: str, uncompressed_name: Callable[[str], str]) -> str | None:
    """The path of the .hdr file that belongs to the .img file at ``path``, by the names alone; None
    where ``path`` is no .img file, or its header belongs to another .img file.

    ``name``: as for ``other_of``; ``uncompressed_name`` makes it of a base name.
    """
    if not name.lower().endswith(_IMAGE) or (found := _beside(path, name, _HEADER)) is None:
        return None
    header = Path(found).name
    back = _beside(found, uncompressed_name(header), _IMAGE)
    folder = path[: len(path) - len(Path(path).name)]
    return folder + header if back and Path(back).name == Path(path).name else None


def _beside(path: str, name: str, extension: str) -> str | None:
    """The path of the file beside ``path`` that has ``extension`` in place of its own, compressed
    or not; None where there is none. A file compressed as ``path`` is goes first.

    ``name``: as for ``other_of``.
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
    """Two files as one: ``header``, then the bytes of ``image`` from byte ``start`` on.

    ``of``, ``other``: the two files on the disk; ``of`` is the one that was named, whose path and
    status this source has.
    """

    def __init__(
        self,
        of: Source,
        other: Source,
        header: bytes,
        start: int,
        image: Source,
        decompress: Decompress,
    ) -> None:
        super().__init__(cast(IO[bytes], Pieces(_pieces(header, start, image))), of.path)
        self.stat = of.stat
        self._of, self._other, self._decompress = of, other, decompress

    @property
    def size(self) -> None:
        return None

    def again(self) -> Source | None:
        again = self._of.again()
        return again and joined_pair(self._decompress(again), again, self._decompress)

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
