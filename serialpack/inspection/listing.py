"""What is in a tar or a zip: its entries from their headers, never what they hold; and what is in a
file of datasets.

Anybody may have made the file: what is read and kept of it is bounded, and names are as they are
in it, to be escaped by whoever shows them.
"""

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from serialpack.errors import DamagedError, FileError, InputError, MissingLibraryError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.shared.filed import FileRead
from serialpack.text import number_of

if TYPE_CHECKING:
    from serialpack.formats.arrays.extremes import Extreme
    from serialpack.formats.arrays.header import ArrayHeader

#: Entries that are listed at most, and bytes of a stream of tar that they are looked for in.
MOST_ENTRIES = 10_000
MOST_BYTES = 64 << 20

#: Of so many entries that are arrays the headers are read, and of all their numbers so many bytes,
#: some at a time.
_MOST_ARRAYS = 1000
_MOST_NUMBERS = 64 << 20
_PIECE = 1 << 20

#: What is read in one go: of a zip all of its directory, of a tar a long name.
_MOST_READ = 8 << 20

#: Reads of a tar for each entry, and at least: one that leads back to itself ends there.
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


class ListedArray(NamedTuple):
    """Of an array the type of an item as NumPy spells it, the lengths, and the order: C or F."""

    dtype: object
    shape: tuple[int, ...]
    order: str

    @property
    def words(self) -> str:
        """For people: ``<f8, 100 x 3, C order``."""
        from serialpack.formats.arrays.header import words_of

        return words_of(self.dtype, self.shape, fortran=self.order == "F")


class ListedDataset(NamedTuple):
    """Of a dataset the lengths of its chunks, None where it has none; the filters that they went
    through, in order; how many attributes it has: none of that has an array in a zip. All else as
    of ``look.ArrayLook``."""

    chunks: tuple[int, ...] | None
    filters: tuple[str, ...]
    attributes: int
    minimum: "Extreme | None"
    maximum: "Extreme | None"
    nan: int
    why: str = ""


_ArrayFacts = tuple[ListedArray | None, ListedDataset | None]
_NONE: _ArrayFacts = (None, None)


class ListedEntry(NamedTuple):
    """One entry. ``packed``: what it takes in the file, where that is told. ``modified``: ISO
    8601, in UTC with a Z, else in the local time of whoever wrote it. ``type``: file, folder,
    link, dataset, attribute, group, or other. ``array``: of one that is an array (.npy), what its
    header says, and its range in ``dataset``. ``about``: where a link leads to, the value of an
    attribute, and the like."""

    name: str
    size: int
    packed: int | None
    modified: str | None
    type: str
    array: ListedArray | None = None
    dataset: ListedDataset | None = None
    about: str = ""


class Listing(NamedTuple):
    """The entries of a tar or zip, or the datasets of a file (``kind``). ``whole``: these are
    all; ``count``: how many there are, where that is known; ``why``: why there are no more of them;
    ``damage``: what ends them where they are not what they should be."""

    kind: str
    entries: tuple[ListedEntry, ...]
    count: int | None  # type: ignore[assignment]  # tuple's method, which nobody needs here
    whole: bool
    why: str = ""
    damage: DamagedError | None = None

    @property
    def size(self) -> int:
        """Bytes of the entries that are listed."""
        return sum(entry.size for entry in self.entries)

    @property
    def packed(self) -> int | None:
        """Bytes that these take in the file, where that is told."""
        sizes = [entry.packed for entry in self.entries if entry.packed is not None]
        return sum(sizes) if len(sizes) == len(self.entries) and sizes else None


#: The library reads files; a stream, one far away, or one in another is no such.
_ONLY_FILES = "only a file here is listed: save it as NAME.{0}, then serialpack inspect NAME.{0}"


def listing_of(source: Source, head: bytes) -> Listing | None:
    """The entries of ``source``, which begins with ``head``; None where it is no tar or zip, and no
    file of datasets or tables."""
    declared = FORMATS.by_magic(head)
    if declared is not None and declared.has_datasets:
        return _datasets(source, declared.name)
    if declared is not None and declared.is_database:
        return _tables(source, declared.name)
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


def _datasets(source: Source, kind: str) -> Listing:
    from serialpack.formats.arrays.hdf5.reader import asked

    if source.here is None:
        return Listing(kind, (), None, False, _ONLY_FILES.format("h5"))
    found: list[ListedEntry] = []
    read = FileRead(source.read, source.here)
    try:
        for told in asked(read, "list", most=MOST_ENTRIES):
            if told.get("more"):
                return Listing(kind, tuple(found), None, False, _no_more())
            found.append(_dataset_entry(told))
    except MissingLibraryError as error:
        return Listing(kind, (), None, False, error.said)
    except InputError as error:
        damage = DamagedError(error.said, path=source.path)
        return Listing(kind, tuple(found), None, False, error.said, damage)
    return Listing(kind, tuple(found), len(found), True)


def _tables(source: Source, kind: str) -> Listing:
    from serialpack.formats.sqlite.database import tables_in

    if source.here is None:
        return Listing(kind, (), None, False, _ONLY_FILES.format("db"))
    found: list[ListedEntry] = []
    size = source.size
    counted = size is not None and size <= MOST_BYTES
    try:
        for table in tables_in(Path(source.here), counted=counted):
            if len(found) == MOST_ENTRIES:
                return Listing(kind, tuple(found), None, False, _no_more())
            columns = ", ".join(f"{name} {said}".strip() for name, said in table.columns.items())
            rows = "" if table.rows is None else f"{number_of(table.rows, 'row')}: "
            about = f"cannot be read: {table.wrong}" if table.wrong else rows + columns
            found.append(ListedEntry(table.name, 0, None, None, table.kind, about=about))
    except (FileError, InputError) as error:
        return Listing(kind, tuple(found), None, False, error.said)
    return Listing(kind, tuple(found), len(found), True)


def _dataset_entry(told: dict[str, Any]) -> ListedEntry:
    array, dataset = told.get("array"), told.get("dataset")
    if array is not None:
        array = ListedArray(array["dtype"], tuple(array["shape"]), array["order"])
    if dataset is not None:
        chunks = dataset["chunks"]
        dataset |= {"chunks": chunks and tuple(chunks), "filters": tuple(dataset["filters"])}
        dataset = ListedDataset(**dataset)
    size, packed, about = told["size"], told["packed"], told["about"]
    return ListedEntry(told["name"], size, packed, None, told["type"], array, dataset, about)


class _Bound(Exception):
    """More would have to be read than is."""


def _zip(source: Source, found: list[ListedEntry]) -> int:
    """Add the entries of a zip to ``found``; how many there are."""
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
    """What the header of an entry says that is called an array, and of up to ``left`` bytes of its
    numbers the range; nothing where it is none."""
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
    except (*_FAILURES, RuntimeError, zlib.error):  # what is damaged is no array, but an entry
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


def _no_more() -> str:
    return f"no more than {MOST_ENTRIES:,} are listed"


def _add(found: list[ListedEntry], entry: ListedEntry) -> None:
    if len(found) == MOST_ENTRIES:
        raise _Bound(_no_more())
    found.append(entry)


def _dos_time(fields: tuple[int, ...]) -> str | None:
    """The time of a zip's entry; None for one that no calendar has."""
    try:
        return datetime(*fields).isoformat()  # type: ignore[arg-type]
    except ValueError:
        return None


def _tar(source: Source, found: list[ListedEntry]) -> int:
    """Add the entries of a tar to ``found``; how many there are."""
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
    """A header that says that it is damaged; tarfile takes one behind others for the end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Info":
        try:
            return super().frombuf(buf, encoding, errors)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise DamagedError(f"a damaged tar: {error}") from None


class _Bounded(io.RawIOBase):
    """A file that is not read without bound."""

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
    """A source from its front to a bound."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._read = 0

    def read(self, size: int) -> bytes:
        if self._read >= MOST_BYTES:
            raise _Bound(f"looked at the first {MOST_BYTES >> 20} MiB")
        self._read += size
        return self._source.read(size)
