"""Chunks that PyTables compressed with LZO, for which h5py has no filter.

A chunk is one LZO1X stream. From the second version of tables on, its checksum (Adler-32) and its
length before compression stand behind it, four bytes each (PyTables, src/H5Zlzo.c).
"""

from __future__ import annotations

import math
import zlib
from typing import Any

from serialpack.errors import InputError
from serialpack.formats.arrays.hdf5.chunked import ChunkedDataset

#: The numbers of these filters in HDF5.
SHUFFLE, LZO = 2, 305


def can_undo(codes: list[int], dtype: Any) -> bool:
    """Whether chunks of ``dtype`` that went through these filters are read here."""
    if codes not in ([LZO], [SHUFFLE, LZO]) or dtype.hasobject:
        return False
    try:
        import lzallright  # noqa: F401  (while files may be opened)
    except ImportError:
        return False
    return True


class LzoDataset(ChunkedDataset):
    """A dataset whose chunks ``can_undo`` knows."""

    def __init__(self, dataset: Any, *, shuffled: bool) -> None:
        super().__init__(dataset)
        self._shuffled = shuffled

    def _chunk(self, origin: tuple[int, ...]) -> Any:
        import numpy as np

        skipped, data = self.id.read_direct_chunk(origin)
        size = math.prod(self.chunks) * self.dtype.itemsize
        # ``skipped`` has a bit for each filter, in order, that the chunk did not go through.
        if not skipped >> self._shuffled & 1:
            data = _undone(data, size)
        if len(data) != size:
            raise InputError(f"no sound HDF5 file: a chunk has {len(data)} bytes, and not {size}")
        if self._shuffled and not skipped & 1:
            data = np.frombuffer(data, "u1").reshape(self.dtype.itemsize, -1).T.tobytes()
        return np.frombuffer(data, self.dtype).reshape(self.chunks)


def _undone(data: bytes, size: int) -> bytes:
    """The ``size`` bytes that the chunk ``data`` was compressed from; InputError where it was
    not."""
    import lzallright

    summed = data[-4:] in (size.to_bytes(4, "little"), size.to_bytes(4, "big"))
    try:
        found = lzallright.LZOCompressor.decompress(data[:-8] if summed else data, size)
    except lzallright.LZOError as error:
        raise InputError(f"no sound HDF5 file: a chunk is damaged: {error}") from None
    if summed:
        check = zlib.adler32(found)
        if data[-8:-4] not in (check.to_bytes(4, "little"), check.to_bytes(4, "big")):
            raise InputError("no sound HDF5 file: a chunk does not have its checksum")
    return found
