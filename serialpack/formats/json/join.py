"""How the records of many blocks become one file of JSON or of NDJSON."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats.pieces.join import Around, Join, Piece
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

#: What stands around the members or elements of one record, which is on a line.
_RECORD = {Structure.ARRAY: Around(b"[", b",", b"]"), Structure.MAP: Around(b"{", b",", b"}")}


class JsonJoin(Join):
    """One document, a record on each line of an array."""

    maps = True
    record = _RECORD
    record_end = b"\n"
    null = b"null"
    around: ClassVar[dict[str, Around]] = {
        Structure.DOCUMENT: Around(after=b"\n"),
        Structure.ARRAY: Around(b"[\n", b",\n", b"\n]\n", b"[]\n"),
        Structure.SEQUENCE: Around(b"[\n", b",\n", b"\n]\n", b"[]\n"),
        Structure.MAP: Around(b"{\n", b",\n", b"\n}\n", b"{}\n"),
    }

    def piece(self, data: Buffer, records: list[Any], structure: Structure) -> Piece:
        if structure == Structure.MAP:
            return Piece(data[1:-2], len(records))
        # A line end stands behind each record, and in none.
        lines = data[:-1]
        between = bytes(lines).replace(b"\n", b",\n") if len(records) > 1 else lines
        return Piece(between, len(records))


class IndentedJoin(JsonJoin):
    """As ``JsonJoin``, each level of values ``spaces`` further in."""

    def __init__(self, spaces: int) -> None:
        self._spaces = spaces

    def body(self, piece: Piece, structure: Structure) -> Buffer:
        """The text of the piece, indented. ValueError where it is not that which was proved, but
        for white space."""
        import msgspec

        compact = bytes(piece.body)
        if structure != Structure.DOCUMENT:
            compact = b"{%b}" % compact if structure == Structure.MAP else b"[%b]" % compact
        text = msgspec.json.format(compact, indent=self._spaces)
        if msgspec.json.format(text, indent=-1) != compact.replace(b"\n", b""):
            raise ValueError("indented, it is another text")
        return text if structure == Structure.DOCUMENT else text[2:-2]


class NdJsonJoin(Join):
    """A JSON value on each line."""

    maps = True
    record = _RECORD
    record_end = b"\n"
    null = b"null"
    around: ClassVar[dict[str, Around]] = {Structure.MAP: Around(b"{", b",", b"}\n", b"{}\n")}

    def piece(self, data: Buffer, records: list[Any], structure: Structure) -> Piece:
        return Piece(data[1:-2] if structure == Structure.MAP else data, len(records))
