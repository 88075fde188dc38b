"""How the records of many blocks become one file of JSON or of NDJSON."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats.shared.join import Around, Join, Piece
from serialpack.values.structure import Structure


class JsonJoin(Join):
    """One document, a record on each line of an array."""

    maps = True
    around: ClassVar[dict[str, Around]] = {
        Structure.DOCUMENT: Around(after=b"\n"),
        Structure.ARRAY: Around(b"[\n", b",\n", b"\n]\n", b"[]\n"),
        Structure.SEQUENCE: Around(b"[\n", b",\n", b"\n]\n", b"[]\n"),
        Structure.MAP: Around(b"{\n", b",\n", b"\n}\n", b"{}\n"),
    }

    def piece(self, data: bytes, records: list[Any], structure: Structure) -> Piece:
        if structure == Structure.MAP:
            return Piece(data[1:-2], len(records))
        # A line end stands behind each record, and in none.
        return Piece(data[:-1].replace(b"\n", b",\n"), len(records))


class NdJsonJoin(Join):
    """A JSON value on each line."""

    maps = True
    around: ClassVar[dict[str, Around]] = {Structure.MAP: Around(b"{", b",", b"}\n", b"{}\n")}

    def piece(self, data: bytes, records: list[Any], structure: Structure) -> Piece:
        return Piece(data[1:-2] if structure == Structure.MAP else data, len(records))
