"""NumPy's .npy files."""

from __future__ import annotations

from typing import Any

from serialpack.formats.arrays.header import LEAD, ArrayHeader, header_size, read_header
from serialpack.formats.arrays.rows import ArrayFormat
from serialpack.values.kinds import BEYOND_JSON

#: The kinds of values beyond JSON that arrays hold, and kinds of which they hold some: all values
#: of a place must have one type, and all lists one length.
_HELD = frozenset({"non-finite", "nan-bits", "complex", "date", "local-datetime"})
_HELD_IN_PART = frozenset(
    {"bytes", "timedelta", "boolean", "integral-float", "array", "nested", "number-array"}
)


class NpyFormat(ArrayFormat):
    """An array of NumPy, of any type but Python's objects."""

    about = "a NumPy array"
    title = "npy"
    lead = LEAD

    cannot = (BEYOND_JSON - _HELD - _HELD_IN_PART) | {"null", "bigint", "mixed"}
    partly = _HELD_IN_PART

    def write(self, records: list[Any]) -> bytes:
        from serialpack.formats.arrays.made import npy_of

        return npy_of(records)

    def header_size(self, lead: bytes) -> int:
        return header_size(lead)

    def read_header(self, data: bytes) -> ArrayHeader:
        return read_header(data)
