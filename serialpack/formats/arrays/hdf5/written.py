"""HDF5 files made here, of arrays as they come: each is contiguous, and not compressed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serialpack.errors import FileError
from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.arrays.rows import dtype_in, read_all
from serialpack.formats.base import Read
from serialpack.formats.shared.document import Malformed
from serialpack.stages.stage import import_library

#: Bytes of an array that are written at a time.
_PIECE = 4 << 20


class NewFile:
    """A new file, to which arrays are added; what is written is read again at once, and compared.

    MissingLibraryError where h5py is not there.
    """

    def __init__(self, path: Path) -> None:
        # With the order of what is in a group; without, names are in that of the alphabet.
        self._file = import_library("h5py", "hdf5").File(path, "w", track_order=True)

    def close(self) -> None:
        self._file.close()

    def add(self, name: str, header: ArrayHeader, read: Read) -> int:
        """The array whose items ``read`` gives; how many bytes it took of them.

        ValueError for what HDF5 has no name or no type for, Malformed where there are fewer;
        RefusedError for Python's objects, FileError where there is no room.
        """
        import numpy as np

        dtype = dtype_in(header)
        done = 0
        try:
            if {"", "."} & {*name.split("/")}:
                raise ValueError("it has no such name")
            stored = _stored(dtype)
            group, _, own = name.rpartition("/")
            above = _group(self._file, group.split("/")) if group else self._file
            dataset = above.create_dataset(own, header.shape, stored)
            for region, part in _parts(header, dtype, read):
                piece = _as_stored(part, stored)
                dataset[region] = piece
                again = np.asarray(dataset[region], stored.base)  # one text comes without its end
                if dataset.dtype != stored.base or again.tobytes() != piece.tobytes():
                    raise ValueError("other items came back")
                done += part.nbytes
        except OSError as error:
            raise FileError(
                f"the temporary HDF5 file cannot be written: {' '.join(str(error).split())}",
                hint="TMPDIR names a folder with more room",
            ) from None
        except Malformed:
            raise
        except (TypeError, ValueError, RuntimeError, KeyError) as error:
            words = " ".join(str(error).split())
            raise ValueError(f"HDF5 does not hold the array {name!r}: {words}") from None
        return done


def _group(file: Any, names: list[str]) -> Any:
    """The group of these names, each in the one before, made where it is not there; ValueError."""
    for name in names:
        file = file[name] if name in file else file.create_group(name, track_order=True)
        if not hasattr(file, "create_group"):
            raise ValueError(f"{name!r} is no group, but an array")
    return file


def _stored(dtype: Any) -> Any:
    """The type that h5py makes one of HDF5 of, for items of ``dtype``."""
    import h5py
    import numpy as np

    if dtype.names is not None:
        return np.dtype([(name, _stored(dtype[name])) for name in dtype.names])
    if dtype.subdtype is not None:
        return np.dtype((_stored(dtype.base), dtype.shape))
    if dtype.kind == "U":
        return h5py.string_dtype("utf-8", max(dtype.itemsize, 1))
    if dtype.kind == "S":
        return h5py.string_dtype("ascii", max(dtype.itemsize, 1))
    return h5py.opaque_dtype(dtype) if dtype.kind in "mM" else dtype


def _as_stored(array: Any, dtype: Any) -> Any:
    """``array`` with items of ``dtype``, which ``_stored`` made for it."""
    import numpy as np

    if array.dtype.names is None:
        encoded = np.char.encode(array, "utf-8") if array.dtype.kind == "U" else array
        return np.asarray(encoded, dtype.base)
    made = np.empty(array.shape, dtype)
    for name in dtype.names:
        made[name] = _as_stored(array[name], dtype[name])
    return made


def _parts(header: ArrayHeader, dtype: Any, read: Read) -> Iterator[tuple[Any, Any]]:
    """Where the next items are in the array, and they; along the index that changes last."""
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
        raise Malformed(f"{size - len(data)} bytes of the array are missing")
    return data
