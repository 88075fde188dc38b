"""Lists the entries of a tar or a zip by their headers, without their contents.

Anybody may have made the file: so what is read and kept of it is bounded. Names are as they are in
it, and whoever shows them must escape them.
"""

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import IO, TYPE_CHECKING, cast

from serialpack.errors import DamagedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.inspection.datasets import is_library_read, library_listing
from serialpack.inspection.listed import (
    MOST_BYTES,
    MOST_ENTRIES,
    ListedArray,
    ListedDataset,
    ListedEntry,
    Listing,
    no_more,
)

if TYPE_CHECKING:
    from serialpack.formats.arrays.header import ArrayHeader

#: The most entries that are arrays whose headers are read, the most bytes of numbers of all of
#: them, and how many are read at a time.
_MOST_ARRAYS = 1000
_MOST_NUMBERS = 64 << 20
_PIECE = 1 << 20

#: The most bytes of one read: of a zip all of its directory, of a tar a long name.
_MOST_READ = 8 << 20

#: The most reads for each entry that may be listed: a tar that leads back to itself ends there.
_MOST_READS = 64

_FAILURES = (
    tarfile.TarError,
    zipfile.BadZipFile,
    ValueError,
    OverflowError,
    RecursionError,
    NotImplementedError,
    LookupError,
    EOFError,
    struct.error,
    OSError,
)

_ArrayFacts = tuple[ListedArray | None, ListedDataset | None]
_NONE: _ArrayFacts = (None, None)


def listing_of(source: Source, head: bytes) -> Listing | None:
    """The entries of ``source``, which begins with ``head``; None where it is no tar or zip, and no
    file of datasets or tables."""
    declared = FORMATS.by_magic(head)
    if declared is not None and is_library_read(declared):
        return library_listing(source, declared)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        kind, read = "zip", _zip
    elif head[257:262] == b"ustar":
        kind, read = "tar", _tar
    else:
        return None
    found: list[ListedEntry] = []
    try:
        count = read(source, found)
    except _Bound as bound:
        return Listing(kind, tuple(found), None, False, str(bound))
    except DamagedError as error:
        return Listing(kind, tuple(found), None, False, error.said, error)
    except _FAILURES as error:
        why = " ".join(str(error).split()) or type(error).__name__
        if "not a zip file" in why:
            why = "its directory is missing, which stands at the end of one"
        damage = DamagedError(f"a damaged {kind}: {why}", path=source.path)
        return Listing(kind, tuple(found), None, False, str(damage), damage)
    return Listing(kind, tuple(found), count, True)


class _Bound(Exception):
    """More would have to be read than is allowed."""


def _zip(source: Source, found: list[ListedEntry]) -> int:
    """Add the entries of a zip to ``found``, and return how many there are."""
    if not source.seekable():
        raise _Bound("a zip is read from its end, which a pipe does not let one do")
    left = _MOST_NUMBERS
    with zipfile.ZipFile(cast("IO[bytes]", _Bounded(source.file))) as opened:
        for info in opened.infolist():
            array, dataset = _array_of(opened, info, left) if len(found) < _MOST_ARRAYS else _NONE
            left -= info.file_size if dataset is not None and not dataset.why else 0
            _add(
                found,
                ListedEntry(
                    info.filename,
                    info.file_size,
                    info.compress_size,
                    _dos_time(info.date_time),
                    "folder" if info.filename.endswith("/") else "file",
                    array,
                    dataset,
                ),
            )
    return len(found)


def _array_of(opened: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> _ArrayFacts:
    """What the header of an entry says that is named as an array, and the range of up to ``left``
    bytes of its numbers; nothing where it is no array."""
    if not info.filename.endswith(".npy"):
        return _NONE
    from serialpack.formats.arrays.kinds import MOST_HEADER, header_in
    from serialpack.formats.arrays.types import spelled

    array = None
    try:
        with opened.open(info) as file:
            head = file.read(MOST_HEADER)
            header = header_in(head)
            if header is None:
                return _NONE
            order = "F" if header.is_fortran else "C"
            array = ListedArray(spelled(header.descr), header.shape, order)
            pieces = chain([head[header.size :]], iter(lambda: file.read(_PIECE), b""))
            return array, _range_of(header, pieces, info.file_size - header.size, left)
    except (*_FAILURES, RuntimeError, zlib.error):  # a damaged array is still an entry
        return array, None


def _range_of(
    header: "ArrayHeader", pieces: Iterator[bytes], size: int, left: int
) -> ListedDataset:
    """The range of the numbers behind ``header``, which take ``size`` bytes."""
    from serialpack.formats.arrays.extremes import NumberRange, RangeFinder, Unordered

    found, why = NumberRange(), ""
    try:
        finder = RangeFinder(header)
        if finder.size > size:
            raise Unordered(f"{finder.size - size:,} bytes of the numbers are missing")
        if finder.size > left:
            raise Unordered(f"only {_MOST_NUMBERS >> 20} MiB of all numbers are looked at")
        for piece in pieces:
            finder.add(piece)
        found = finder.range()
    except Unordered as error:
        why = str(error)
    return ListedDataset(None, (), 0, *found, why)


def _add(found: list[ListedEntry], entry: ListedEntry) -> None:
    if len(found) == MOST_ENTRIES:
        raise _Bound(no_more(MOST_ENTRIES))
    found.append(entry)


def _dos_time(fields: tuple[int, ...]) -> str | None:
    """The time of a zip's entry; None for a date that does not exist."""
    try:
        return datetime(*fields).isoformat()  # type: ignore[arg-type]
    except ValueError:
        return None


def _tar(source: Source, found: list[ListedEntry]) -> int:
    """Add the entries of a tar to ``found``, and return how many there are."""
    seeks = source.seekable()
    file = cast("IO[bytes]", _Bounded(source.file) if seeks else _TarStream(source))
    if seeks:
        file.seek(0)
    with tarfile.open(fileobj=file, mode="r:" if seeks else "r|", tarinfo=_Info) as opened:
        for info in _each(opened):
            _add(found, _tar_entry(info))
    return len(found)


def _each(opened: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (info := opened.next()) is not None:
        opened.members = []  # type: ignore[attr-defined]  # or all of them are kept
        yield info


def _tar_entry(info: tarfile.TarInfo) -> ListedEntry:
    if info.isdir():
        kind = "folder"
    elif info.issym() or info.islnk():
        kind = "link"
    else:
        kind = "file" if info.isfile() else "other"
    try:
        modified = datetime.fromtimestamp(info.mtime, UTC).replace(tzinfo=None).isoformat() + "Z"
    except (ValueError, OverflowError, OSError, TypeError):
        modified = None
    return ListedEntry(info.name, max(info.size, 0), None, modified, kind)


class _Info(tarfile.TarInfo):
    """A tar's header that raises where it is damaged: tarfile itself would take it for the end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Info":
        try:
            return super().frombuf(buf, encoding, errors)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise DamagedError(f"a damaged tar: {error}") from None


class _Bounded(io.RawIOBase):
    """A file of which only a bounded number of bytes and reads is allowed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._reads = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self._reads += 1
        if size > _MOST_READ or self._reads > _MOST_READS * MOST_ENTRIES:
            raise _Bound("its directory is too large to be listed")
        return self._file.read(min(size, _MOST_READ) if size >= 0 else _MOST_READ)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


class _TarStream:
    """A source as a stream, from its front up to a bound."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._read = 0

    def read(self, size: int) -> bytes:
        if self._read >= MOST_BYTES:
            raise _Bound(f"looked at the first {MOST_BYTES >> 20} MiB")
        self._read += size
        return self._source.read(size)
