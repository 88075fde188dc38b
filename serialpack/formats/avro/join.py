"""Joins what blocks of records became into one Avro file: the header once, then the blocks."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats.pieces.join import Join, Piece
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure


class AvroJoin(Join):
    """Blocks below one header, whose schema was made for the first of them, or is the user's."""

    block_size: ClassVar[int] = 16 << 20
    other_head: ClassVar[tuple[str, str]] = (
        "they need another schema than the records before",
        "--schema names one for all records",
    )

    @classmethod
    def most_values(cls, block_size: int) -> int:  # noqa: ARG003
        # A schema that is made for fewer records may not be one for those behind.
        return 0

    def piece(self, data: Buffer, records: list[Any], structure: Structure) -> Piece:  # noqa: ARG002
        from serialpack.formats.avro.file import read_header

        end = read_header(bytes(data)).end
        return Piece(data[end:], len(records), bytes(data[:end]))
