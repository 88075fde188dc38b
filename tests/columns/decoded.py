"""All columns of a block read at once, as the commands never need them."""

from __future__ import annotations

from serialpack.columns.stored.read import StoredColumns
from serialpack.columns.texts import Texts


def decode_all(
    data: bytes | memoryview, most_values: int = 1 << 32, most_bytes: int = 1 << 40
) -> list[Texts]:
    """The values of all columns; arguments and errors as of ``StoredColumns``."""
    packed = StoredColumns(data, most_values, most_bytes)
    return [packed.texts(index) for index in range(len(packed))]
