"""Compressed sources, read as what is in them; what compression a source or a name has.

Only one compression is undone: of ``a.json.gz.xz`` the gzip file is read. Decompressing takes as
much memory as the data ask for, 128 MiB at most (``_compressions``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Protocol, cast

from serialpack.compressed._compressions import KINDS, behind_skippable, is_skippable
from serialpack.compressed._input import CompressedInput, Kind, truncated
from serialpack.compressed.pairs import header_of, joined_pair
from serialpack.compressed.pieces import Pieces
from serialpack.container.reader import SNIFF, is_container
from serialpack.errors import DamagedError, InputError, SerialpackError
from serialpack.files.source import Source
from serialpack.stages.stage import Buffer


def compression_of(source: Source) -> str | None:
    """The name of the compression that ``source`` has, by its first bytes; None where it has none,
    or is a container of serialpack (which may be a zstd file, too)."""
    kind = _kind_of(source)
    return None if kind is None else kind.name


def _kind_of(source: Source) -> Kind | None:
    head = source.peek(SNIFF)
    if is_container(head):
        return None
    if len(head) < 4:
        named = _kind_by_name(source.name)
        return named if head and named is not None and named.by_name else None
    behind = behind_skippable(source) if is_skippable(head) else None
    return _kind_by_content(head, source.name, behind)


def _kind_by_content(head: bytes, name: str, behind: str | None = None) -> Kind | None:
    """The compression of a file that begins with ``head`` and is called ``name``; None: it has
    none.

    ``behind``: where the file begins with skippable frames, what ``behind_skippable`` says.
    """
    named = _kind_by_name(name)
    return next(
        (
            kind
            for kind in KINDS
            if kind.begins(head)
            and behind in (None, kind.name)
            and (kind.is_marked(head) or kind is named)
        ),
        named if named is not None and named.by_name else None,
    )


#: Compressions that take longer to undo a second time than to keep what was decompressed and read
#: that again; a ``Keeper`` does so.
_SLOW = frozenset({"bzip2", "xz", "lzma"})

#: Modules whose open files have the name of a compressed file and give its decompressed bytes (as
#: ``gzip.open`` does): such a name does not say that these bytes are compressed.
_DECOMPRESSING_MODULES = frozenset({"gzip", "bz2", "lzma"})


class Keeper(Protocol):
    """Keeps decompressed bytes that take long to make, for a second reading."""

    @property
    def size(self) -> int | None:
        """How many bytes are kept; None where not all of them are."""

    def pieces(self, read: Callable[[], Iterator[Buffer]]) -> Iterator[Buffer]:
        """The pieces that ``read`` gives, which are kept meanwhile; once they were read to their
        end, the kept ones, and ``read`` is not called."""


def decompressed(source: Source, keeper: Keeper | None = None) -> Source:
    """A source of the decompressed bytes of ``source``; ``source`` itself where it is not
    compressed, or is a container. One file of a pair becomes the volume (``pairs.joined_pair``).

    The new source has the same path and status; its name lacks the extension of the compression.
    Reading it raises DamagedError, TruncatedError or UnsupportedError (too large a window, an
    unknown dictionary) with the place in the compressed file. DamagedError is also raised at once,
    where the name says that the file is compressed and it is not. MissingLibraryError for LZ4 and
    brotli where their extra is not installed. ``keeper``: keeps the bytes of the slow compressions
    (``_SLOW``) for a second reading.
    """
    return joined_pair(_decompressed_alone(source, keeper), source, _decompressed_alone)


def paired(source: Source) -> Source:
    """As ``decompressed``, for a source that is known not to be compressed."""
    return joined_pair(source, source, _decompressed_alone)


def images_with_headers(paths: Collection[str]) -> Iterator[tuple[str, str]]:
    """The .img files among ``paths`` that are read with their header, each with the path of that
    header, where this is among ``paths``, too: of such a pair one job is made, not two."""
    for path in paths:
        header = header_of(path, uncompressed_name(Path(path).name), uncompressed_name)
        if header is None or header not in paths:
            continue
        try:
            with Source(header) as source:
                inside = _decompressed_alone(source)
                is_volume = joined_pair(inside, source, _decompressed_alone) is not inside
        except (SerialpackError, OSError):  # the error is told when the file itself is read
            continue
        if is_volume:
            yield path, header


def _decompressed_alone(source: Source, keeper: Keeper | None = None) -> Source:
    """As ``decompressed``, without looking for the other file of a pair."""
    head = source.peek(SNIFF)
    if is_container(head):
        return source
    if (kind := _kind_of(source)) is not None:
        return _Decompressed(source, kind, keeper if kind.name in _SLOW else None)
    named = _kind_by_name(source.name)
    if named is None or type(source.file).__module__ in _DECOMPRESSING_MODULES:
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
    """The file that a container holds, as a source, where that file is compressed; else None, and
    nothing of ``pieces`` was taken.

    ``source``: the container; ``pieces``: the bytes that it restores to; ``name``: the name that
    the file had when it was packed.
    """
    head, _ = pieces.front(SNIFF)
    if _kind_by_content(head, name or "") is None:
        return None
    return PackedFile(source, pieces, name)


def front_of(source: Source, size: int) -> tuple[bytes, DamagedError | None]:
    """The first ``size`` bytes of ``source`` (made by ``decompressed``, and not read yet), which
    stay to be read; and the damage before which they end, or None.
    """
    if not isinstance(source, _Decompressed):
        return source.peek(size), None
    data, error = source.front(size)
    if error is not None and not isinstance(error, DamagedError):
        raise error
    return data, error


def compression_named(path: str) -> str | None:
    """The name of the compression that the extension of ``path`` stands for; None: it is none's."""
    named = _kind_by_name(path)
    return None if named is None else named.name


def uncompressed_name(path: str) -> str:
    """``path`` without the extension of a compression, where it has one."""
    return path if _kind_by_name(path) is None else path[: path.rindex(".")]


def _kind_by_name(path: str) -> Kind | None:
    """The compression whose extension ``path`` has."""
    extension = path[path.rfind(".") :].lower()
    return next((kind for kind in KINDS if extension in kind.extensions), None)


class _Decompressed(Source):
    """The decompressed bytes of a source. ``keeper``: see ``decompressed``."""

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
        """The size of what is kept. Else an estimate, from the second read on: the bytes that were
        decompressed so far, scaled up from the compressed bytes they took to all there are."""
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
    """The file that a container (``source``) holds: its bytes come from ``pieces``, and ``name`` is
    the name that it had when it was packed."""

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
