"""How the pieces that blocks became are put together as one file of a format.

The structure of a document says what its records are: ``"d"``: the document itself; ``"a"``: the
elements of the array that it is; ``"m"``: maps of one member each of the map that it is; ``"n"``:
a sequence of records, each a document of its own.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from serialpack.errors import RefusedError
from serialpack.stages.stage import Buffer, most_values
from serialpack.values.structure import Structure


class Piece(NamedTuple):
    """What a block became. ``body``, and how many records; ``head``: what stands once in a file,
    and must be the same for all its pieces."""

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


class Join:
    """What a format has around its records. This one: nothing, whatever the structure."""

    #: Whether a map too large for a block can be written member by member.
    maps: ClassVar[bool] = False
    #: Bytes of the source that a piece is made of.
    block_size: ClassVar[int] = 4 << 20
    #: Of a piece whose head is not that of the others: what is wrong, and what to do.
    other_head: ClassVar[tuple[str, str]] = ("", "")
    #: Structure -> what stands around the records; nothing where it is not there.
    around: ClassVar[dict[str, Around]] = {}
    #: For a record that is written part by part: what stands around its members or elements, beside
    #: their count (None: no record is written so), what stands behind it, and a null in it.
    record: ClassVar[dict[Structure, Around] | None] = None
    record_end: ClassVar[bytes] = b""
    null: ClassVar[bytes] = b""

    @classmethod
    def most_values(cls, block_size: int) -> int:
        """The most values that a piece may be made of; 0: any number."""
        return most_values(block_size)

    def lowered(self, records: list[Any], structure: Structure) -> list[Any]:
        """What a serializer is given for the records of a block: the members of a map as one
        map."""
        if structure != Structure.MAP:
            return records
        whole: dict[Any, Any] = {}
        for record in records:
            whole.update(record)
        if len(whole) != len(records):
            raise RefusedError("a map has a key twice")
        return [whole]

    def raised(self, dumped: list[Any], structure: Structure) -> list[Any]:
        """The records that ``lowered`` made ``dumped`` of."""
        if structure != Structure.MAP:
            return dumped
        return [{key: value} for whole in dumped for key, value in whole.items()]

    def piece(self, data: Buffer, records: list[Any], structure: Structure) -> Piece:  # noqa: ARG002
        """The piece of a block whose ``records`` were dumped as ``data``."""
        return Piece(data, len(records))

    def body(self, piece: Piece, structure: Structure) -> Buffer:  # noqa: ARG002
        """What is written for a piece, one after another."""
        return piece.body

    def end(self) -> Iterator[bytes]:
        """What is written at the end of the file."""
        return iter(())

    def close(self) -> None:
        """Give up what it holds; called once, also after an error."""

    def counted(self, structure: Structure, count: int) -> bytes:  # noqa: ARG002
        """What says how many records a document has, before them."""
        return b""

    def room(self, structure: Structure) -> bytes:  # noqa: ARG002
        """As ``counted``, as long as it is for any number: ``filled`` is written over it."""
        return b""

    def filled(self, structure: Structure, count: int) -> bytes:
        """What is written over ``room`` once all records are counted."""
        raise NotImplementedError


class CountedJoin(Join):
    """For formats whose arrays and maps say first how many elements they have."""

    maps = True
    record: ClassVar[dict[Structure, Around]] = dict.fromkeys(
        (Structure.ARRAY, Structure.MAP), Around()
    )
    #: The first byte of an array and of a map whose length has 32 bits, and of short ones.
    _long: ClassVar[dict[str, int]]

    def piece(self, data: Buffer, records: list[Any], structure: Structure) -> Piece:
        before = self.counted(structure, len(records)) if structure == Structure.MAP else b""
        return Piece(data[len(before) :], len(records))

    def room(self, structure: Structure) -> bytes:
        return self.filled(structure, 0) if structure in self._long else b""

    def filled(self, structure: Structure, count: int) -> bytes:
        if count >= 1 << 32:
            raise RefusedError("more than 2^32 - 1 records are no one array")
        return bytes([self._long[structure]]) + count.to_bytes(4)
