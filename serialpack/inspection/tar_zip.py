"""Lists the entries of a tar or a zip by their headers; of arrays in a zip (.npz) also the range.

The file may be made to harm its reader, so the bytes that are read and the entries that are kept
are bounded. Names are given as they stand in the file: whoever shows them must escape them.
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
from serialpack.text import error_words, in_message

if TYPE_CHECKING:
    from serialpack.formats.arrays.header import ArrayHeader

#: Of how many entries at most the header of an array is read; how many bytes of numbers are read
#: for the ranges of all of them together; and how many bytes at a time.
_MOST_ARRAYS = 1000
_MOST_NUMBERS = 64 << 20
_PIECE = 1 << 20

#: The most bytes that may be asked for in one read. The largest of sound files are the directory of
#: a zip and a long name in a tar.
_MOST_READ = 8 << 20

#: The most reads for each entry that may be listed: without it, a tar that leads back to itself
#: would be read for ever.
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
    """The entries of ``source``, which begins with ``head``; None where it is neither a tar nor a
    zip, and has no datasets or tables."""
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
        why = error_words(error)
        if _NO_DIRECTORY in why:
            why = "its directory is missing, which stands at the end of one"
        damage = DamagedError(f"a damaged {kind}: {in_message(why)}", path=source.path)
        return Listing(kind, tuple(found), None, False, str(damage), damage)
    return Listing(kind, tuple(found), count, True)


#: What zipfile says of a file without the end of a zip.
_NO_DIRECTORY = "not a zip file"


class _Bound(Exception):
    """The listing ends here, for the reason that is said: more would have to be read than is
    allowed."""


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
    """The array in an entry of a zip that is called .npy, and the range of its numbers, where these
    take ``left`` bytes at most; nothing where the entry is no array, or is damaged."""
    if not info.filename.endswith(".npy"):
        return _NONE
    from serialpack.formats.arrays.header import read_head
    from serialpack.formats.arrays.kinds import header_in
    from serialpack.formats.arrays.types import spelled

    array = None
    try:
        with opened.open(info) as file:
            head = read_head(file.read)
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
    """The range of the numbers in ``pieces``, or the reason why it was not looked for: ``size``
    bytes are there, and ``left`` bytes may still be read."""
    from serialpack.formats.arrays.extremes import NumberRange, RangeFinder, Unordered
    from serialpack.formats.arrays.header import missing_bytes

    found, why = NumberRange(), ""
    try:
        if header.bytes_of_items > size:
            raise Unordered(missing_bytes(header.bytes_of_items - size))
        finder = RangeFinder(header)
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
    """The headers of a tar one by one; unlike in ``tarfile`` itself, none is kept."""
    while (info := opened.next()) is not None:
        opened.members = []  # type: ignore[attr-defined]
        yield info


def _tar_entry(info: tarfile.TarInfo) -> ListedEntry:
    """What is listed of an entry of a tar."""
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
    """The header of an entry of a tar. A damaged one raises DamagedError, where ``tarfile`` itself
    would take it for the end of the tar."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Info":
        try:
            return super().frombuf(buf, encoding, errors)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise DamagedError(f"a damaged tar: {error}") from None


class _Bounded(io.RawIOBase):
    """A file from which only a bounded number of reads, of bounded size, is allowed."""

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
    """A pipe from which at most ``MOST_BYTES`` are read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._read = 0

    def read(self, size: int) -> bytes:
        if self._read >= MOST_BYTES:
            raise _Bound(f"looked at the first {MOST_BYTES >> 20} MiB")
        self._read += size
        return self._source.read(size)
