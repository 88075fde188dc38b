"""Lists the datasets of HDF5 files and the tables of databases, which only their libraries read.

These libraries open a file by its path. So the bytes of a pipe, or those that a container restores
to, are copied to a temporary file first, up to ``MOST_BYTES``; more are not listed.
"""

from typing import Any

from serialpack.errors import DamagedError, FileError, InputError, MissingLibraryError
from serialpack.files.source import Source
from serialpack.formats import Declaration
from serialpack.formats.shared.random_access import FileRead
from serialpack.inspection.listed import (
    MOST_BYTES,
    MOST_ENTRIES,
    ListedArray,
    ListedDataset,
    ListedEntry,
    Listing,
    no_more,
)
from serialpack.text import number_of


def is_library_read(declared: Declaration) -> bool:
    """Whether ``library_listing`` lists files of a format."""
    return declared.has_datasets or declared.is_database


def library_listing(source: Source, declared: Declaration) -> Listing:
    """The listing of ``source``, a file in the format ``declared``, for which ``is_library_read``.

    Nothing is raised for a damaged file or an absent library: the listing says why it ends.
    """
    kind, found = declared.name, list[ListedEntry]()
    add = _add_datasets if declared.has_datasets else _add_tables
    try:
        add(_read(source), found)
    except _More as why:
        return Listing(kind, tuple(found), None, False, str(why))
    except _OnlyFiles as why:
        hint = f"save it as NAME{declared.extensions[0]}, then serialpack inspect that"
        return Listing(kind, (), None, False, f"{why}: {hint}")
    except (FileError, MissingLibraryError) as error:
        return Listing(kind, tuple(found), None, False, error.said)
    except InputError as error:
        damage = DamagedError(error.said, path=source.path)
        return Listing(kind, tuple(found), None, False, error.said, damage)
    return Listing(kind, tuple(found), len(found), True)


class _More(Exception):
    """There are more entries than are listed."""


class _OnlyFiles(Exception):
    """The source is too large, or too far away, to be copied to a file."""


def _read(source: Source) -> FileRead:
    """Reads ``source`` for a library that wants a file; ``_OnlyFiles`` where too much would have to
    be copied for that."""
    left = MOST_BYTES

    def read(size: int) -> bytes:
        nonlocal left
        if source.is_far:
            raise _OnlyFiles("only a file here is listed")
        data = source.read(size)
        left -= len(data)
        if left < 0:
            raise _OnlyFiles(f"of more than {MOST_BYTES >> 20} MiB only a file here is listed")
        return data

    return FileRead(read, source.here)


def _add_datasets(read: FileRead, found: list[ListedEntry]) -> None:
    from serialpack.formats.arrays.hdf5.reader import asked

    for told in asked(read, "list", most=MOST_ENTRIES):
        if told.get("more"):
            raise _More(no_more(MOST_ENTRIES))
        found.append(_dataset_entry(told))


def _dataset_entry(told: dict[str, Any]) -> ListedEntry:
    """The entry of a dataset, or of a group, of which the reader of HDF5 has ``told``."""
    array, dataset = told.get("array"), told.get("dataset")
    if array is not None:
        array = ListedArray(array["dtype"], tuple(array["shape"]), array["order"])
    if dataset is not None:
        chunks = dataset["chunks"]
        dataset |= {"chunks": chunks and tuple(chunks), "filters": tuple(dataset["filters"])}
        dataset = ListedDataset(**dataset)
    size, packed, about = told["size"], told["packed"], told["about"]
    return ListedEntry(told["name"], size, packed, None, told["type"], array, dataset, about)


def _add_tables(read: FileRead, found: list[ListedEntry]) -> None:
    """Add an entry for each table and view of a database; ``_More`` where there are too many."""
    from serialpack.formats.sqlite.database import tables_in

    with read.file() as path:
        counted = path.stat().st_size <= MOST_BYTES
        for table in tables_in(path, counted=counted):
            if len(found) == MOST_ENTRIES:
                raise _More(no_more(MOST_ENTRIES))
            columns = ", ".join(f"{name} {said}".strip() for name, said in table.columns.items())
            rows = "" if table.rows is None else f"{number_of(table.rows, 'row')}: "
            about = table.wrong or rows + columns
            found.append(ListedEntry(table.name, 0, None, None, table.kind, about=about))
