"""NumPy's .npy files."""

from __future__ import annotations

from serialpack.formats.arrays.header import LEAD, ArrayHeader, header_size, read_header
from serialpack.formats.arrays.rows import ArrayFormat


class NpyFormat(ArrayFormat):
    """An array of NumPy, of any type but Python's objects."""

    about = "a NumPy array"
    title = "npy"
    lead = LEAD

    def header_size(self, lead: bytes) -> int:
        return header_size(lead)

    def read_header(self, data: bytes) -> ArrayHeader:
        return read_header(data)
