"""How the pieces that blocks became are put together as one file of a format.

The structure of a document says what its records are: ``"d"``: the document itself; ``"a"``: the
elements of the array that it is; ``"m"``: maps of one member each of the map that it is; ``"n"``:
a sequence of records, each a document of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any, ClassVar, NamedTuple

from serialpack.container.records import DEFAULT_BLOCK_SIZE
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.stages.stage import MAX_BLOCK, Buffer

Write = Callable[[Buffer], object]
#: Writes bytes over those at an offset of what was written.
Patch = Callable[[int, bytes], object]


class Piece(NamedTuple):
    """What a block became. ``head``: what stands once in a file, and must be the same for all."""

    body: Buffer
    records: int
    head: bytes = b""


class Around(NamedTuple):
    """What stands before and behind the records, and between two pieces of them.

    ``empty`` is written where there are none.
    """

    before: bytes = b""
    between: bytes = b""
    after: bytes = b""
    empty: bytes = b""


_NOTHING = Around()


class Join:
    """Records one after another, with nothing between them, whatever the structure."""

    #: Whether a map too large for a block can be written member by member.
    maps: ClassVar[bool] = False
    #: Bytes of the source that a piece is made of.
    block_size: ClassVar[int] = DEFAULT_BLOCK_SIZE
    #: What is wrong with a piece whose head is not that of the others, and what to do.
    other_head: ClassVar[tuple[str, str]] = ("", "")
    #: What stands around the records of a structure; nothing where it is not named.
    around: ClassVar[dict[str, Around]] = {}

    def lowered(self, records: list[Any], structure: str) -> list[Any]:
        """What is dumped for the records of a block: members of a map as one map."""
        if structure != "m":
            return records
        whole: dict[Any, Any] = {}
        for record in records:
            whole.update(record)
        if len(whole) != len(records):
            raise RefusedError("a map has a key twice")
        return [whole]

    def raised(self, dumped: list[Any], structure: str) -> list[Any]:
        """The records again of what was dumped for them."""
        if structure != "m":
            return dumped
        return [{key: value} for whole in dumped for key, value in whole.items()]

    def piece(self, data: bytes, records: list[Any], structure: str) -> Piece:  # noqa: ARG002
        """The piece of a block whose ``records`` were dumped as ``data``."""
        return Piece(data, len(records))

    def counted(self, structure: str, count: int) -> bytes:  # noqa: ARG002
        """What says, before a document, how many records it has."""
        return b""

    def room(self, structure: str) -> bytes:  # noqa: ARG002
        """As ``counted``, as long as for any number: to be written over."""
        return b""

    def filled(self, structure: str, count: int) -> bytes:
        """What is written over ``room``."""
        raise NotImplementedError


class _Json(Join):
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


class _Lines(Join):
    """A JSON value on each line."""

    maps = True
    around: ClassVar[dict[str, Around]] = {"m": Around(b"{", b",", b"}\n", b"{}\n")}

    def piece(self, data: bytes, records: list[Any], structure: str) -> Piece:
        return Piece(data[1:-2] if structure == "m" else data, len(records))


class _Counted(Join):
    """Arrays and maps say first how many elements they have."""

    maps = True
    #: The first byte of an array and of a map whose length has 32 bits, and of short ones.
    _long: ClassVar[dict[str, int]]

    def piece(self, data: bytes, records: list[Any], structure: str) -> Piece:
        before = self.counted(structure, len(records)) if structure == "m" else b""
        return Piece(data[len(before) :], len(records))

    def room(self, structure: str) -> bytes:
        return self.filled(structure, 0) if structure in self._long else b""

    def filled(self, structure: str, count: int) -> bytes:
        if count >= 1 << 32:
            raise RefusedError("more than 2^32 - 1 records are no one array")
        return bytes([self._long[structure]]) + count.to_bytes(4)


class _Messages(_Counted):
    """MessagePack."""

    _long: ClassVar[dict[str, int]] = {"a": 0xDD, "m": 0xDF}

    def counted(self, structure: str, count: int) -> bytes:
        from serialpack.serializers._messages import head

        kinds = {"a": 0x90, "m": 0x80}
        return head(kinds[structure], count) if structure in kinds else b""


class _Items(_Counted):
    """CBOR."""

    _long: ClassVar[dict[str, int]] = {"a": 0x9A, "m": 0xBA}

    def counted(self, structure: str, count: int) -> bytes:
        major = {"a": 0x80, "m": 0xA0}.get(structure)
        if major is None:
            return b""
        if count < 24:
            return bytes([major | count])
        size = next(n for n in range(4) if count < 1 << (8 << n))
        return bytes([major | 24 + size]) + count.to_bytes(1 << size)


class _Yaml(Join):
    """Documents; the lines of an array or of a map go on in the next piece."""

    maps = True
    around: ClassVar[dict[str, Around]] = {
        "n": Around(between=b"---\n"),
        "a": Around(empty=b"[]\n"),
        "m": Around(empty=b"{}\n"),
    }

    def lowered(self, records: list[Any], structure: str) -> list[Any]:
        return [records] if structure == "a" else super().lowered(records, structure)

    def raised(self, dumped: list[Any], structure: str) -> list[Any]:
        return dumped[0] if structure == "a" else super().raised(dumped, structure)


class _Table(Join):
    """Rows below one line of names."""

    other_head: ClassVar[tuple[str, str]] = (
        "other keys than in the records before",
        "--to ndjson holds records of any shape",
    )

    def __init__(self, serializer: str) -> None:
        self._serializer = serializer

    def piece(self, data: bytes, records: list[Any], structure: str) -> Piece:  # noqa: ARG002
        if not records:
            return Piece(data, 0)
        from serialpack.serializers import SERIALIZERS
        from serialpack.serializers.csv import Csv

        serializer = SERIALIZERS.create(self._serializer)
        assert isinstance(serializer, Csv)
        names = serializer.header(list(records[0]))
        return Piece(data[len(names) :], len(records), names)


class _Avro(Join):
    """Blocks below one header, whose schema was made for the first of them, or is the user's."""

    block_size: ClassVar[int] = 16 << 20
    other_head: ClassVar[tuple[str, str]] = (
        "they need another schema than the records before",
        "--schema names one for all records",
    )

    def piece(self, data: bytes, records: list[Any], structure: str) -> Piece:  # noqa: ARG002
        from serialpack.formats.avro.file import read_header

        end = read_header(data).end
        return Piece(data[end:], len(records), data[:end])


#: The formats in which a file of any length is written block by block.
JOINS: dict[str, Join] = {
    "json": _Json(),
    "ndjson": _Lines(),
    "msgpack": _Messages(),
    "cbor": _Items(),
    "yaml": _Yaml(),
    "bson": Join(),
    "protobuf": Join(),
    "csv": _Table("csv"),
    "tsv": _Table("tsv"),
    "avro": _Avro(),
}


class Joiner:
    """Writes one file of the pieces that blocks became, in their order.

    ``patch`` writes over what was written; without it a file whose length must be said first
    goes through a temporary one.
    """

    def __init__(self, join: Join, write: Write, patch: Patch | None = None) -> None:
        self._join = join
        self._write = write
        self._patch = patch
        self._spool: IO[bytes] | None = None
        self._structure = ""
        self._head = b""
        self._room = False
        #: The records so far.
        self.count = 0

    def add(self, piece: Piece, structure: str, *, first_record: int, last: bool) -> None:
        """Write a piece; ValueRefusedError where it does not go with those before."""
        if not self.count:
            self._head = piece.head
        if not piece.records:
            return
        join, around = self._join, self._join.around.get(structure, _NOTHING)
        if self.count:
            if piece.head != self._head:
                message, hint = join.other_head
                raise ValueRefusedError(message, record=first_record, kind="mixed", hint=hint)
            self._put(around.between)
        else:
            self._structure = structure
            if last:
                self._put(join.counted(structure, piece.records))
            elif room := join.room(structure):
                self._room = True
                if self._patch is None:
                    import tempfile

                    self._spool = tempfile.SpooledTemporaryFile(MAX_BLOCK)  # noqa: SIM115
                self._put(room)
            self._put(around.before)
            self._put(piece.head)
        self._put(piece.body)
        self.count += piece.records

    def __enter__(self) -> Joiner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._spool is not None:
            self._spool.close()

    def finish(self, structure: str) -> None:
        """Write what stands behind the last record; ``structure``: of a file without any."""
        join = self._join
        if not self.count:
            empty = join.around.get(structure, _NOTHING).empty
            self._put(empty or join.counted(structure, 0) or self._head)
            return
        self._put(join.around.get(self._structure, _NOTHING).after)
        if not self._room:
            return
        filled = join.filled(self._structure, self.count)
        if self._spool is None:
            assert self._patch is not None
            self._patch(0, filled)
            return
        self._spool.seek(0)
        self._spool.write(filled)
        self._spool.seek(0)
        while data := self._spool.read(1 << 20):
            self._write(data)

    def _put(self, data: Buffer) -> None:
        if not data:
            return
        if self._spool is not None:
            self._spool.write(data)
        else:
            self._write(data)
