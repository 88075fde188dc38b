"""HDF5 as a format: its datasets are arrays by name, as those of an .npz file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

from serialpack.errors import RefusedError
from serialpack.formats.arrays.hdf5.names import Names
from serialpack.formats.arrays.hdf5.reader import asked
from serialpack.formats.arrays.header import read_header
from serialpack.formats.arrays.npz import NpzFormat
from serialpack.formats.base import Read
from serialpack.formats.shared.document import Unwritable
from serialpack.formats.shared.random_access import as_file
from serialpack.hidden import temporary_folder
from serialpack.stages.stage import import_library
from serialpack.values.kinds import Difference, value_step


class Hdf5Format(NpzFormat):
    """A map of datasets and attributes, called as ``names`` says."""

    about = "HDF5 datasets by name"
    title = "HDF5"
    unpacked = ("has datasets by name", "unpack --at NAME -o NAME.npy takes one")
    #: Bytes would come back as text: to HDF5 both are characters in UTF-8. Names end at a NUL.
    cannot = NpzFormat.cannot | {"bytes", "surrogates", "nul"}
    partly: ClassVar[frozenset[str]] = NpzFormat.partly - {"bytes"}

    def read(self, data: bytes) -> list[Any]:
        return super().read(b"".join(_as_npz(BytesIO(data).read)))

    def read_written(self, data: bytes) -> list[Any]:
        from serialpack.formats.arrays.hdf5.attributes import with_attributes
        from serialpack.formats.arrays.hdf5.streams import npy_of, npz_pieces
        from serialpack.formats.arrays.hdf5.tree import is_dataset, nodes

        with import_library("h5py", "hdf5").File(BytesIO(data)) as file:
            found = list(nodes(file))
            datasets = {node.name: npy_of(node.what) for node in found if is_dataset(node)}
            arrays, _ = with_attributes(file, found, datasets)
            return super().read_written(b"".join(npz_pieces(arrays)))

    def look_at_head(self, read: Read, count: int) -> bytes:
        return b"".join(asked(as_file(read), "heads", count=count))

    def of_arrays(self, arrays: dict[str, bytes]) -> bytes:
        from serialpack.formats.arrays.hdf5.written import NewFile

        with temporary_folder() as folder:
            path = Path(folder) / "new.h5"
            names = Names(arrays)
            with closing(NewFile(path, names)) as made:
                for name in names.grouped():
                    npy = arrays[name]
                    header = read_header(npy)
                    try:
                        made.add(name, header, BytesIO(npy[header.size :]).read)
                    except ValueError as error:
                        place = f"${value_step(name)}"
                        raise Unwritable(Difference(0, place, str(error), "", "value")) from None
            return path.read_bytes()


def _as_npz(read: Read) -> Iterator[bytes]:
    """An .npz file of the datasets in the file whose bytes ``read`` gives; RefusedError where one
    is no array."""
    answers = asked(as_file(read), "all")
    for name, why in next(answers)["left"].items():
        raise RefusedError(f"its dataset {name} holds {why}, which no array does")
    yield from answers
