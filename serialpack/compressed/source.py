"""Compressed sources, read as what is in them: gzip, zstd, bzip2, xz, lzma, LZ4 frames, brotli.

Several members (frames, streams) one after another are one file, as their own tools have it. What
is compressed twice is undone once. Memory is bounded by what the data ask of their reader: a
window of 128 MiB at most, as the tools allow without being asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Protocol, cast

from serialpack.compressed._compressions import (
    KINDS,
    CompressedInput,
    Kind,
    behind_skippable,
    is_skippable,
    truncated,
)
from serialpack.compressed.pairs import joined, of_header
from serialpack.compressed.pieces import Pieces
from serialpack.container.reader import SNIFF, is_container
from serialpack.errors import DamagedError, InputError, SerialpackError
from serialpack.files.source import Source
from serialpack.stages.stage import Buffer


def compression_of(source: Source) -> str | None:
    """What ``source`` is compressed by, told by its first bytes; None for a container too."""
    kind = _kind_of(source)
    return None if kind is None else kind.name


def _kind_of(source: Source) -> Kind | None:
    head = source.peek(SNIFF)
    if is_container(head):
        return None
    if len(head) < 4:
        named = _named(source.name)
        return named if head and named is not None and named.by_name else None
    told = behind_skippable(source) if is_skippable(head) else None
    return _begun(head, source.name, told)


def _begun(head: bytes, name: str, told: str | None = None) -> Kind | None:
    """What begins with ``head`` and is called ``name``; ``told``: by what stands further on."""
    named = _named(name)
    return next(
        (
            kind
            for kind in KINDS
            if kind.begins(head)
            and told in (None, kind.name)
            and (kind.is_marked(head) or kind is named)
        ),
        named if named is not None and named.by_name else None,
    )


#: To undo these takes longer than to keep what is in them, and read that.
_SLOW = frozenset({"bzip2", "xz", "lzma"})

#: Whose files are called as the compressed ones, and give what is in these: those of gzip.open.
_UNDOING = frozenset({"gzip", "bz2", "lzma"})


class Keeper(Protocol):
    """Keeps what takes long to read, for who reads it a second time."""

    @property
    def size(self) -> int | None:
        """How many bytes are kept; None where not all of them are."""

    def pieces(self, read: Callable[[], Iterator[Buffer]]) -> Iterator[Buffer]:
        """What ``read`` gives; what is kept, once that was read to its end."""


def decompressed(source: Source, keeper: Keeper | None = None) -> Source:
    """What is in ``source`` where it is compressed; else ``source``, and also for containers. Of
    a volume in two files the one that it would be, as ``pairs.joined``.

    The name loses the extension of the compression; path and stat stay. What is read raises
    DamagedError, TruncatedError or UnsupportedError (a window that is too large, a dictionary),
    with the place in the compressed file. So does this where the name says that it is compressed
    and it is not. MissingLibraryError for LZ4 and
    brotli, which are extras. ``keeper`` keeps what is in one that takes long.
    """
    return joined(_undone(source, keeper), source, _undone)


def paired(source: Source) -> Source:
    """As ``decompressed``, of a source that is not compressed."""
    return joined(source, source, _undone)


def halves(paths: Collection[str]) -> Iterator[tuple[str, str]]:
    """Those of ``paths`` that are the numbers of a volume whose header is among them, too, each
    with that header."""
    for path in paths:
        header = of_header(path, uncompressed_name(Path(path).name), uncompressed_name)
        if header is None or header not in paths:
            continue
        try:
            with Source(header) as source:
                inside = _undone(source)
                is_volume = joined(inside, source, _undone) is not inside
        except (SerialpackError, OSError):  # which is said of each where it is read
            continue
        if is_volume:
            yield path, header


def _undone(source: Source, keeper: Keeper | None = None) -> Source:
    head = source.peek(SNIFF)
    if is_container(head):
        return source
    if (kind := _kind_of(source)) is not None:
        return _Decompressed(source, kind, keeper if kind.name in _SLOW else None)
    named = _named(source.name)
    if named is None or type(source.file).__module__ in _UNDOING:
        return source
    if not head or named.begins(head):
        raise truncated(named, len(head), source.path)
    raise DamagedError(
        f"its name says {named.name}, and it is not",
        start=0,
        path=source.path,
        hint="rename it if it is not compressed",
    )


def packed_inside(source: Source, pieces: Pieces, name: str | None) -> Source | None:
    """The packed file, where it is a compressed one; else None, and all of it is still to be read.

    ``pieces``: what the container ``source`` holds; ``name``: what the packed file was called.
    """
    head, _ = pieces.front(SNIFF)
    if _begun(head, name or "") is None:
        return None
    return PackedFile(source, pieces, name)


def front_of(source: Source, size: int) -> tuple[bytes, DamagedError | None]:
    """The first ``size`` bytes of what is in a compressed source that nothing was read of yet.

    They stay to be read. Fewer at the end, or before damage, which is given too.
    """
    if not isinstance(source, _Decompressed):
        return source.peek(size), None
    data, error = source.front(size)
    if error is not None and not isinstance(error, DamagedError):
        raise error
    return data, error


def compression_named(path: str) -> str | None:
    """What a file of that name is compressed by, told by its extension; None: by nothing."""
    named = _named(path)
    return None if named is None else named.name


def uncompressed_name(path: str) -> str:
    """``path`` without the extension of a compression, where it has one."""
    return path if _named(path) is None else path[: path.rindex(".")]


def _named(path: str) -> Kind | None:
    """The compression whose extension ``path`` has."""
    extension = path[path.rfind(".") :].lower()
    return next((kind for kind in KINDS if extension in kind.extensions), None)


class _Decompressed(Source):
    """What is in a compressed source."""

    def __init__(self, source: Source, kind: Kind, keeper: Keeper | None) -> None:
        self._input = CompressedInput(source)
        self._keeper = keeper
        read = partial(kind.pieces, self._input, kind)
        self._pieces = Pieces(read() if keeper is None else keeper.pieces(read))
        super().__init__(cast(IO[bytes], self._pieces), source.path)
        self.stat = source.stat
        self._source = source

    def front(self, size: int) -> tuple[bytes, InputError | None]:
        """As ``front_of``."""
        return self._pieces.front(size)

    @property
    def size(self) -> None:
        return None

    @property
    def about(self) -> int | None:
        """What is kept; else what was given so far, times what the compressed bytes are of those
        that gave it."""
        if self._keeper is not None and self._keeper.size is not None:
            return self._keeper.size
        whole, taken = self._source.size, self._input.offset
        return self._pieces.given * whole // taken if whole and taken else None

    @property
    def name(self) -> str:
        return uncompressed_name(self._source.name)

    def again(self) -> Source | None:
        again = self._source.again()
        return again and decompressed(again)

    def check_unchanged(self) -> None:
        self._source.check_unchanged()

    def close(self) -> None:
        self._source.close()


class PackedFile(Source):
    """What a container is of, ``pieces``, which was called ``name``."""

    def __init__(self, source: Source, pieces: Pieces, name: str | None) -> None:
        super().__init__(cast(IO[bytes], pieces), source.path)
        self.stat = source.stat
        self._source = source
        self._name = name or ""

    @property
    def size(self) -> None:
        return None

    @property
    def name(self) -> str:
        return self._name

    def again(self) -> None:
        return None

    def check_unchanged(self) -> None:
        self._source.check_unchanged()

    def close(self) -> None:
        return
