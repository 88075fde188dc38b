"""Archives of arrays (.npz): a zip whose entries are .npy files, and what zipfile says of one."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, cast

from serialpack.errors import InputError, RefusedError, UsageError, ValueRefusedError
from serialpack.formats.arrays.header import LEAD, header_size, read_header
from serialpack.formats.arrays.layout import layout_of
from serialpack.formats.base import Read
from serialpack.formats.shared.document import EMPTY, Malformed
from serialpack.formats.shared.file_objects import Sink
from serialpack.formats.shared.large import LargeValue
from serialpack.stages.stage import Buffer
from serialpack.text import error_words, in_message, quoted

#: What the name of an entry has behind the name of its array.
ENDING = ".npy"

#: What zipfile raises for archives that are damaged, encrypted, or packed in ways it does not know.
_FAILURES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
    RuntimeError,
)

#: The entries of a file are read as values where they unpack to no more than the first, and so many
#: times the bytes of the file, and to no more than the last: few bytes may claim to unpack to any
#: number.
_LEAST, _TIMES, _MOST = 32 << 20, 64, 64 << 20

#: Smaller entries are not worth blocks of their own.
_LARGE = 64 << 10

#: The most bytes that are read in one go, whatever size a directory claims to have, or the reader
#: of an entry asks for.
_MOST_READ = 8 << 20

#: The most names that a message shows.
_FEW = 10


#: The bit that an entry has which only a password opens (APPNOTE.TXT, 4.4.4).
_ENCRYPTED = 1

#: What zipfile says in front of the name of an entry.
_NAMES_ENTRY = " for file "


class _MalformedEntry(Malformed):
    """An entry of a zip is broken; the message names it."""


@contextmanager
def failures_told(
    what: str, kind: type[Malformed] = Malformed, *, encrypted: bool = False
) -> Iterator[None]:
    """An error of the ``kind`` for what zipfile raises, which names an entry at the end; ``what``
    was read. ``encrypted``: that is an entry which is."""
    try:
        yield
    except Malformed:
        raise
    except _FAILURES as error:
        words = error_words(error).partition(_NAMES_ENTRY)[0]
        if encrypted and isinstance(error, RuntimeError):
            words = "it is encrypted; unzip takes it out with its password"
        raise kind(f"{what}: {in_message(words)}") from None


def _entry_told(info: zipfile.ZipInfo) -> AbstractContextManager[None]:
    """_MalformedEntry for what zipfile raises while the entry ``info`` is read."""
    encrypted = bool(info.flag_bits & _ENCRYPTED)
    return failures_told(f"its entry {info.filename!r}", _MalformedEntry, encrypted=encrypted)


@contextmanager
def array_told(name: str) -> Iterator[None]:
    """Make Malformed and RefusedError name the array, where they do not name its entry."""
    try:
        yield
    except _MalformedEntry:
        raise
    except Malformed as bad:
        raise Malformed(f"its array {name!r}: {bad.message}") from None
    except ValueRefusedError:  # which says its place
        raise
    except RefusedError as refused:
        raise RefusedError(f"its array {name!r}: {refused.message}", hint=refused.hint) from None


def entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The arrays by their names; other entries are left out. Malformed where two have one name."""
    found: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if not info.filename.endswith(ENDING):
            continue
        name = info.filename.removesuffix(ENDING)
        if name in found:
            raise Malformed(f"two of its entries are called {info.filename!r}")
        found[name] = info
    return found


def arrays_in(data: bytes, *, written: bool = False) -> Iterator[tuple[str, bytes]]:
    """Names and .npy files of all entries; Malformed, RefusedError for more than is read.

    ``written``: the file was written here, of values that are in memory.
    """
    with failures_told("it is no whole zip"):
        archive = zipfile.ZipFile(io.BytesIO(data))
    with archive:
        found = entries(archive)
        size = sum(info.file_size for info in found.values())
        if not written and size > min(_MOST, _LEAST + _TIMES * len(data)):
            raise RefusedError(
                f"its {len(found)} arrays unpack to {size:,} bytes, more than are read as values",
                hint="unpack --at NAME -o NAME.npy takes one of them out",
            )
        for name, info in found.items():
            with _entry_told(info):
                yield name, archive.read(info)


def places(file: IO[bytes]) -> list[LargeValue]:
    """Where the large entries are, in the order of the file: the items of arrays that are stored as
    they are, and deflated entries. Empty for a file that is no whole zip."""
    found, behind = [], 0
    with suppress(Malformed), failures_told("it is no whole zip"), _opened(file) as archive:
        for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
            if info.compress_size < _LARGE:
                continue
            # Entries over one another are a lie: a place would be read for each of them.
            if info.header_offset < behind:
                return []
            file.seek(info.header_offset)
            lengths = struct.unpack(
                "<26x2H", file.read(30)
            )  # of its name, and of what else is said
            start = info.header_offset + 30 + sum(lengths)
            stop = behind = start + info.compress_size
            layout, words = None, "deflated"
            if info.compress_type == zipfile.ZIP_STORED:
                # The items are not read: where they are is enough.
                file.seek(start)
                lead = file.read(LEAD)
                header = read_header(lead + file.read(header_size(lead) - LEAD))
                start, layout, words = start + header.size, layout_of(header), header.words
            if start < stop:
                name = info.filename.removesuffix(ENDING)
                found.append(LargeValue(start, stop, layout, name, words))
    return found


def small_arrays(file: IO[bytes], most: int) -> dict[str, str]:
    """Name -> type and shape in words, of up to ``most`` arrays that ``places`` does not give;
    empty for a file that is no whole zip."""
    found: dict[str, str] = {}
    with suppress(Malformed), failures_told("it is no whole zip"), _opened(file) as archive:
        small = (e for e in entries(archive).items() if e[1].compress_size < _LARGE)
        for name, info in islice(small, most):
            with _reading(archive, info) as read:
                lead = read(LEAD)
                found[name] = read_header(lead + read(header_size(lead) - LEAD)).words
    return found


def longest_header(path: str) -> int:
    """How many bytes the longest header of an array has; OSError, ValueError for no such file."""
    with failures_told("it is no whole zip"), _opened(Path(path)) as archive:
        found = [0]
        for info in entries(archive).values():
            with _reading(archive, info) as read:
                found.append(header_size(read(LEAD)))
        return max(found)


@contextmanager
def opened_entry(file: Path | IO[bytes], name: str | None) -> Iterator[Read]:
    """What reads the .npy file of the array ``name``, by default of the only one; Malformed,
    InputError where there is none, UsageError where there are several."""
    with _opened(file) as archive:
        found = entries(archive)
        names = ", ".join(map(quoted, islice(found, _FEW))) + (", ..." if len(found) > _FEW else "")
        if name is None and len(found) != 1:
            said = f"it has {len(found):,} arrays: {names}" if found else "there is no array in it"
            raise UsageError(said, hint="--at NAME takes one of them" if found else None)
        name = next(iter(found)) if name is None else name
        if name not in found:
            raise InputError(f"--at {name}: there is no such array", hint=f"there are: {names}")
        with _reading(archive, found[name]) as read:
            yield read


def is_compressed(file: Path | IO[bytes]) -> bool:
    """Whether any of the arrays is not stored as it is; Malformed."""
    with _opened(file) as archive:
        found = entries(archive).values()
        return any(info.compress_type != zipfile.ZIP_STORED for info in found)


def entry_names(file: Path | IO[bytes]) -> list[str]:
    """What the arrays are called, in the order of the archive; Malformed."""
    with _opened(file) as archive:
        return list(entries(archive))


def other_entries(file: Path | IO[bytes]) -> list[str]:
    """What the entries are called that are no arrays, and no folders; Malformed."""
    with _opened(file) as archive:
        others = (info for info in archive.infolist() if not info.filename.endswith(ENDING))
        # Not by is_dir, which fails at a name of no letters.
        return [info.filename for info in others if not info.filename.endswith("/")]


def opened_entries(
    file: Path | IO[bytes], names: list[str] | None = None
) -> Iterator[tuple[str, Read]]:
    """The name of each array in ``names``, by default of all in the order of the archive, with what
    reads its .npy file until the next one is asked for; Malformed."""
    with _opened(file) as archive:
        found = entries(archive)
        for name in found if names is None else names:
            with _reading(archive, found[name]) as read:
                yield name, read


@contextmanager
def _opened(file: Path | IO[bytes]) -> Iterator[zipfile.ZipFile]:
    with ExitStack() as stack:
        with failures_told("it is no whole zip"):
            opened = stack.enter_context(file.open("rb")) if isinstance(file, Path) else file
            if not opened.seek(0, io.SEEK_END):
                raise Malformed(EMPTY, 0)
            archive = zipfile.ZipFile(cast("IO[bytes]", _DirectoryFile(opened)))
        yield stack.enter_context(archive)


class _DirectoryFile:
    """A file that ValueError keeps from being read in too large a piece, which a directory may ask
    for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._read = file.read
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _MOST_READ:  # before so much memory is taken
            raise ValueError(f"a directory of {size:,} bytes")
        return self._read(size)


@contextmanager
def _reading(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[Read]:
    with _entry_told(info):
        file = archive.open(info)

    def read(size: int) -> bytes:
        with _entry_told(info):
            return file.read(min(size, _MOST_READ))

    with file:
        yield read


def zip_of(arrays: dict[str, bytes]) -> bytes:
    """The archive of .npy files by name, not compressed, as numpy.savez writes it."""
    return b"".join(zip_pieces((name, [data]) for name, data in arrays.items()))


def zip_pieces(
    arrays: Iterable[tuple[str, Iterable[Buffer]]], *, deflated: bool = False
) -> Iterator[bytes]:
    """As ``zip_of``, of .npy files in pieces, as these are made; ``deflated``: as
    numpy.savez_compressed does."""
    out = Sink()
    with zipfile.ZipFile(cast("IO[bytes]", out), "w", zipfile.ZIP_STORED) as archive:
        for name, pieces in arrays:
            info = zipfile.ZipInfo(name + ENDING)
            info.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as entry:
                for piece in pieces:
                    entry.write(piece)
                    yield out.taken()
    yield out.taken()
