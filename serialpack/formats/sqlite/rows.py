"""The rows of a table as bytes, so that they can be split into blocks as other sources are.

Each row is an array of MessagePack, which has all the types that SQLite has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

#: The extension type of MessagePack for text that is no UTF-8, which SQLite keeps as it was given.
BAD_TEXT = 1

#: The first byte of an array of any number of rows; four bytes with the number follow.
_ARRAY = b"\xdd"

#: The bytes before the rows of an array: that, and how many rows they are.
COUNTED = len(_ARRAY) + 4

#: The context of a block begins so where the block is rows: no database does, and no text.
MARK = b"\xc1rows\x00"


class RowHead(NamedTuple):
    """What must be known to read the rows of a block.

    ``json``, ``boolean``: the numbers of columns that are declared so. ``odd``: whether there may
    be text that is no UTF-8. ``kept``: what is kept beside the columns. ``declared``: the columns'
    types.
    """

    names: list[str]
    json: list[int]
    boolean: list[int]
    odd: bool = False
    kept: bytes = b""
    declared: Sequence[str] = ()

    def sample(self) -> dict[str, Any]:
        """A row such as the columns are declared to have, with null where no type is."""
        return dict(zip(self.names, map(_sample, self.declared), strict=True))

    def packed(self) -> bytes:
        """The head as bytes."""
        import msgspec

        return MARK + msgspec.msgpack.encode(tuple(self))

    @staticmethod
    def unpacked(data: bytes) -> RowHead:
        """The head that ``packed`` made ``data`` of; ValueError."""
        import msgspec

        if not data.startswith(MARK):
            raise ValueError("no rows")
        return RowHead(*msgspec.msgpack.decode(data[len(MARK) :]))


def _sample(declared: str) -> Any:
    """A value of the type that SQLite takes the ``declared`` one for, by the words in it."""
    words = declared.upper()
    if words.startswith(("JSON", "BOOL")):
        return None if words.startswith("JSON") else False
    return next((value for word, value in _AFFINITIES.items() if word in words), None)


_AFFINITIES: dict[str, Any] = {
    "INT": 0,
    "CHAR": "",
    "CLOB": "",
    "TEXT": "",
    "BLOB": b"",
    "REAL": 0.0,
    "FLOA": 0.0,
    "DOUB": 0.0,
}


@cache
def row_encoder() -> Callable[[Any], bytes]:
    """What makes bytes of a row, which raises OverflowError, TypeError or ValueError for what it
    cannot hold."""
    import msgspec

    return msgspec.msgpack.Encoder().encode


def joined(rows: Sequence[bytes]) -> bytes:
    """One array of ``rows``, which are bytes."""
    return b"".join((_ARRAY, len(rows).to_bytes(4), *rows))


def encoded(rows: Iterable[Sequence[Any]]) -> bytes:
    """The array of rows; errors as of ``row_encoder``."""
    return joined(list(map(row_encoder(), rows)))


def together(arrays: Sequence[bytes]) -> bytes:
    """One array of the rows of several."""
    if len(arrays) == 1:
        return arrays[0]
    rows = sum(int.from_bytes(each[len(_ARRAY) : COUNTED]) for each in arrays)
    bodies = (memoryview(each)[COUNTED:] for each in arrays)
    return b"".join((_ARRAY, rows.to_bytes(4), *bodies))


def decoded(data: bytes) -> list[list[Any]]:
    """The rows of an array of them, or of one alone; ValueError."""
    import msgspec

    # A row begins otherwise than the array: it has not so many columns.
    whole = data if data[:1] == _ARRAY else joined([data])
    rows: list[list[Any]] = msgspec.msgpack.decode(whole)
    return rows


def spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each row of an array begins and ends; ValueError."""
    # A row that is encoded again takes as many bytes as it did.
    encode, at = row_encoder(), COUNTED
    for row in decoded(data):
        yield at, (at := at + len(encode(row)))


def bad_text() -> Callable[[bytes], Any]:
    """What makes text of SQLite's bytes, for ``text_factory``; of what is no UTF-8 it makes
    something that ``encoded`` takes."""
    from msgspec.msgpack import Ext

    def text(data: bytes) -> Any:
        try:
            return data.decode()
        except UnicodeDecodeError:
            return Ext(BAD_TEXT, data)

    return text
