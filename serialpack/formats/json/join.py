"""How the records of many blocks become one file of JSON or of NDJSON."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats.shared.join import Around, Join, Piece


class JsonJoin(Join):
    """One document, a record on each line of an array."""

    maps = True
    around: ClassVar[dict[str, Around]] = {
        "d": Around(after=b"\n"),
        "a": Around(b"[\n", b",\n", b"\n]\n", b"[]\n"),
        "n": Around(b"[\n", b",\n", b"\n]\n", b"[]\n"),
        "m": Around(b"{\n", b",\n", b"\n}\n", b"{}\n"),
    }

    def piece(self, data: bytes, records: list[Any], structure: str) -> Piece:
        if structure == "m":
            return Piece(data[1:-2], len(records))
        # A line end stands behind each record, and in none.
        return Piece(data[:-1].replace(b"\n", b",\n"), len(records))


class NdJsonJoin(Join):
    """A JSON value on each line."""

    maps = True
    around: ClassVar[dict[str, Around]] = {"m": Around(b"{", b",", b"}\n", b"{}\n")}

    def piece(self, data: bytes, records: list[Any], structure: str) -> Piece:
        return Piece(data[1:-2] if structure == "m" else data, len(records))
