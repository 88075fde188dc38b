"""HDF5 files made here, of arrays that come piece by piece: each is contiguous, not compressed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serialpack.errors import FileError, SerialpackError
from serialpack.formats.arrays.hdf5.attributes import Attribute
from serialpack.formats.arrays.hdf5.names import AttributeName, Names
from serialpack.formats.arrays.hdf5.streams import arrays
from serialpack.formats.arrays.hdf5.types import as_held
from serialpack.formats.arrays.header import ArrayHeader, missing_bytes
from serialpack.formats.arrays.rows import array_in, dtype_in, read_all
from serialpack.formats.base import Read
from serialpack.formats.shared.document import Malformed
from serialpack.stages.stage import import_library
from serialpack.text import error_words

#: Bytes of an array that are written at a time.
_PIECE = 4 << 20

#: The most bytes that an attribute of HDF5 has room for.
_MOST_ATTRIBUTE = 64000

#: What bytes of arrays begin at a multiple of.
_ALIGNED = 64


class _Disk(io.FileIO):
    """A file that the library writes to without hearing that there is no room: it would say so in
    tracebacks of its own, one for each object that it closes. ``check`` raises that instead."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self._error: OSError | None = None

    def write(self, data: Any, /) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            while left and self._error is None:
                left = left[super().write(left) :]
        except OSError as error:
            self._error = error
        return size

    def truncate(self, size: int | None = None, /) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def check(self) -> None:
        """FileError where something could not be written."""
        if self._error is not None:
            why = (self._error.strerror or str(self._error)).lower()
            raise FileError(
                f"the temporary HDF5 file cannot be written: {why}",
                hint="TMPDIR names a folder with more room",
            )


class NewFile:
    """A new file, to which arrays are added. What is written is read at once, and compared.

    ``names``: of all arrays, in the order in which they are added. MissingLibraryError where h5py
    is not there.
    """

    def __init__(self, path: Path, names: Names) -> None:
        self._names = names
        h5py = import_library("h5py", "hdf5")
        self._disk = _Disk(path)
        # Groups keep the order of what is in them; by default that of the alphabet. Items begin
        # where a program that maps the file can take them as they are.
        self._file = h5py.File(
            self._disk,
            "w",
            track_order=True,
            alignment_threshold=_ALIGNED,
            alignment_interval=_ALIGNED,
        )

    def close(self) -> None:
        """FileError where there was no room."""
        self._file.close()
        self._disk.close()
        self._disk.check()

    def add(self, name: str, header: ArrayHeader, read: Read) -> int:
        """Add the array ``name``, whose items ``read`` gives; how many bytes these were.

        ValueError for what HDF5 has no name or no type for, Malformed where there are too few
        bytes; RefusedError for Python's objects, FileError where there is no room.
        """
        dtype, attribute = dtype_in(header), self._names.attribute(name)
        try:
            if attribute is not None:
                size = self._add_attribute(attribute, header, dtype, read)
            else:
                size = self._add_dataset(name, header, dtype, read)
        except (SerialpackError, Malformed):
            raise
        except (TypeError, ValueError, RuntimeError, KeyError, OSError) as error:
            self._disk.check()
            words = error_words(error)
            raise ValueError(f"HDF5 does not hold the array {name!r}: {words}") from None
        self._disk.check()
        return size

    def _add_dataset(self, name: str, header: ArrayHeader, dtype: Any, read: Read) -> int:
        import numpy as np

        if {"", "."} & {*name.split("/")}:
            raise ValueError("it has no such name")
        done, stored = 0, _stored(dtype)
        group, _, own = name.rpartition("/")
        above = _group(self._file, group)
        dataset = above.create_dataset(own, header.shape, stored, track_order=True)
        for region, part in _parts(header, dtype, read):
            wide = _wide_enough(stored, part)
            if wide.itemsize > stored.itemsize:
                stored, dataset = wide, _widened(above, own, wide)
            piece = _as_stored(part, stored)
            dataset[region] = piece
            again = np.asarray(dataset[region], stored.base)  # one text comes without its NULs
            if dataset.dtype != stored.base or again.tobytes() != piece.tobytes():
                raise ValueError("other items came back")
            done += part.nbytes
        return done

    def _add_attribute(
        self, name: AttributeName, header: ArrayHeader, dtype: Any, read: Read
    ) -> int:
        """As ``add``. Text gets no fixed length in attributes: so h5py writes it, and gives it back
        as text."""
        import h5py

        size: int = header.rows * header.items_a_row * dtype.itemsize
        if size > _MOST_ATTRIBUTE:
            raise ValueError(f"{size:,} bytes, and an attribute has at most {_MOST_ATTRIBUTE:,}")
        array: Any = array_in(header, memoryview(_exactly(read, size)), 0)
        wide = _wide_enough(_stored(dtype), array)
        stored = h5py.string_dtype() if dtype.kind == "U" else wide
        made = array.astype(stored) if dtype.kind == "U" else _as_stored(array, stored)
        owner = self._file[name.of] if name.of in self._file else _group(self._file, name.of)
        owner.attrs.create(name.name, made, dtype=stored)
        again = Attribute(owner, name.of, name.name)
        items = b"".join(as_held(part, dtype).tobytes() for part in arrays(again))
        if (again.shape, items) != (header.shape, array.tobytes()):
            raise ValueError("other items came back")
        return size


def _group(file: Any, name: str) -> Any:
    """The group ``name``, made with those around it where they are not there; ValueError."""
    for step in filter(None, name.split("/")):
        file = file[step] if step in file else file.create_group(step, track_order=True)
        if not hasattr(file, "create_group"):
            raise ValueError(f"{step!r} is no group, but an array")
    return file


def _wide_enough(stored: Any, array: Any) -> Any:
    """``stored``, the type for ``array``, with text made as wide as the text in ``array`` takes."""
    import h5py
    import numpy as np

    if stored.subdtype is not None:
        return np.dtype((_wide_enough(stored.base, array), stored.shape))
    if stored.names is not None:
        fields = [(name, _wide_enough(stored[name], array[name])) for name in stored.names]
        return np.dtype(fields)
    if array.dtype.kind != "U":
        return stored
    width = np.char.encode(array, "utf-8").dtype.itemsize
    return h5py.string_dtype("utf-8", width) if width > stored.itemsize else stored


def _widened(group: Any, name: str, stored: Any) -> Any:
    """The dataset ``name`` made anew with the wider type ``stored``, with what was written to it so
    far."""
    narrow = group[name]
    wide = group.create_dataset(None, narrow.shape, stored, track_order=True)
    step = max(_PIECE // max(narrow.nbytes // max(len(narrow), 1), 1), 1) if narrow.shape else 1
    for start in range(0, len(narrow) if narrow.shape else 0, step):
        rows = slice(start, start + step)
        wide[rows] = narrow[rows].astype(stored.base)
    del group[name]
    group[name] = wide
    return wide


def _stored(dtype: Any) -> Any:
    """The type that h5py is given for items of ``dtype``. Text gets a byte for each character that
    it has room for, which is the width that it mostly came with."""
    import h5py
    import numpy as np

    if dtype.names is not None:
        return np.dtype([(name, _stored(dtype[name])) for name in dtype.names])
    if dtype.subdtype is not None:
        return np.dtype((_stored(dtype.base), dtype.shape))
    if dtype.kind == "U":
        return h5py.string_dtype("utf-8", max(dtype.itemsize // 4, 1))
    if dtype.kind == "S":
        return h5py.string_dtype("ascii", max(dtype.itemsize, 1))
    return h5py.opaque_dtype(dtype) if dtype.kind in "mM" else dtype


def _as_stored(array: Any, dtype: Any) -> Any:
    """``array`` with items of ``dtype``, which ``_stored`` gave for its own type."""
    import numpy as np

    dtype = dtype.base
    if array.dtype.names is None:
        encoded = np.char.encode(array, "utf-8") if array.dtype.kind == "U" else array
        return np.asarray(encoded, dtype)
    made = np.empty(array.shape, dtype)
    for name in dtype.names:
        made[name] = _as_stored(array[name], dtype[name])
    return made


def _parts(header: ArrayHeader, dtype: Any, read: Read) -> Iterator[tuple[Any, Any]]:
    """The place in the array, and the items, of one part after another; cut along the index that
    varies slowest."""
    import numpy as np

    lengths = header.shape[::-1] if header.is_fortran else header.shape
    inner = lengths[1:]
    row = int(np.prod(inner, dtype=object)) * dtype.itemsize
    rows, done = (lengths[0] if lengths else 1) if row else 0, 0
    while done < rows:
        count = min(max(_PIECE // row, 1), rows - done)
        data = _exactly(read, count * row)
        part = np.frombuffer(data, dtype).reshape((count, *inner) if lengths else ())
        where = slice(done, done + count)
        if not lengths:
            yield (), part
        elif header.is_fortran:
            yield (..., where), part.T
        else:
            yield where, part
        done += count


def _exactly(read: Read, size: int) -> bytes:
    data = read_all(read, size)
    if len(data) < size:
        raise Malformed(missing_bytes(size - len(data)))
    return data
