"""Makes text that others write the usual one, while it is read.

CSV in any dialect and encoding becomes CSV in UTF-8 with doubled quotes. JSON becomes UTF-8, and
what people write in it (comments, a comma too many) JSON. ``normalized`` takes the first bytes of
a source, finds how it is written, and gives what reads it as the usual format.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from serialpack.api import HEAD
from serialpack.compressed.pieces import Pieces
from serialpack.detection.by_content import read_as
from serialpack.detection.detect import AsFound
from serialpack.detection.encoded import in_utf8, other_encoding
from serialpack.formats import FORMATS
from serialpack.formats.base import Read
from serialpack.formats.csv.above import TableBelow, by_table
from serialpack.formats.csv.found import (
    dialect_of,
    doubled_pieces,
)
from serialpack.formats.csv.returns import ReturnLines
from serialpack.formats.csv.spaces import SpacedCells
from serialpack.formats.json.loose import Loose, LooseJson, loose_in
from serialpack.formats.shared.tidier import Tidier

_PIECE = 1 << 20


class Normalized(NamedTuple):
    """The format of a source, that in which it can be read, and what reads it so.

    ``loose``: how it is made JSON, by ``maker``, or its lines such as others have. ``maker``: what
    reads it first.
    """

    found: str
    usual: str
    read: Read
    loose: Loose | TableBelow | ReturnLines | SpacedCells | None = None
    maker: Tidier | None = None


def normalized(
    read: Read, head: bytes, format: str | None, name: str | None, table: AsFound
) -> Normalized:
    """What there is to read in a source that begins with ``head``; UsageError where what is said
    is not of it, SyntaxInputError where it lies.
    """
    if (wide := other_encoding(head, format, name, table)) is not None:
        format, encoding = wide
        return Normalized(format, format, Pieces(in_utf8(read, encoding)).read)
    whole = len(head) < HEAD
    found = read_as(format, name, head, table)
    declared = FORMATS.declaration(found)
    if declared.is_json and (loose := loose_in(head, lines=declared.has_lines, whole=whole)):
        maker = LooseJson(several=loose.several)
        return Normalized("json", "json", Pieces(maker.pieces(read)).read, loose, maker)
    if (tidier := FORMATS.tidier(declared, head, whole=whole)) is not None:
        return Normalized(found, found, Pieces(tidier.pieces(read)).read, None, tidier)
    if not declared.delimiter:
        return Normalized(found, found, read)
    dialect = dialect_of(declared)
    lines: TableBelow | ReturnLines | SpacedCells | None = None
    pieces = iter(partial(read, _PIECE), b"")
    if dialect.encoding:
        pieces = in_utf8(read, dialect.encoding)
    text = Pieces(doubled_pieces(pieces) if dialect.escaped else pieces)
    if not dialect.escaped:
        usual = text.read if dialect.encoding else read
        front = text.front(len(head))[0] if dialect.encoding else head
        by_row, lines = by_table(usual, front, dialect.delimiter, headless=dialect.headless)
        if lines is not None:
            text = Pieces(iter(partial(by_row, _PIECE), b""))
    if dialect != dialect.usual() or lines is not None:
        _, failed = text.front(len(head))
        if failed is not None:
            raise failed
        read = text.read
    return Normalized(found, dialect.usual().name, read, lines)
