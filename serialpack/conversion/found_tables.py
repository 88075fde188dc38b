"""CSV as it is found, made CSV in UTF-8 with doubled quotes; and JSON, made UTF-8, of which what
people write is made JSON."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from serialpack.api import HEAD
from serialpack.by_content import told_again
from serialpack.compressed.pieces import Pieces
from serialpack.detect import AsFound, encoding_of, told
from serialpack.errors import SyntaxInputError
from serialpack.formats import FORMATS, Declaration
from serialpack.formats.base import Read
from serialpack.formats.csv.found import (
    dialect_of,
    doubled_pieces,
    front_in_utf8,
    marked_encoding,
)
from serialpack.formats.csv.returns import ReturnLines, by_lines
from serialpack.formats.json.found import json_kind
from serialpack.formats.json.loose import Loose, LooseJson, loose_in

_PIECE = 1 << 20


class Opened(NamedTuple):
    """The format of a source, that in which it can be read, and what reads it so.

    ``loose``: how it is made JSON, by ``maker``, or its lines such as others have.
    """

    found: str
    usual: str
    read: Read
    loose: Loose | ReturnLines | None = None
    maker: LooseJson | None = None


def opened(read: Read, head: bytes, format: str | None, name: str | None, table: AsFound) -> Opened:
    """What there is to read in a source that begins with ``head``; UsageError where what is said
    is not of it, SyntaxInputError where it lies.
    """
    if table._replace(encoding=None) == AsFound() and (
        wide := _other_encoding(head, format, name, table.encoding)
    ):
        format, encoding = wide
        return Opened(format, format, Pieces(in_utf8(read, encoding)).read)
    whole = len(head) < HEAD
    if format is None:
        by_name = told(None, name, head)
        if by_name == "bytes" and (table.encoding is not None or table.no_header):
            format = "csv"
        elif table == AsFound() and (by_content := told_again(by_name, head, whole=whole)):
            format = by_content if by_content != by_name else None
    found = told(format, name, head, table)
    declared = FORMATS.declaration(found)
    if declared.is_json and (loose := loose_in(head, lines=declared.has_lines, whole=whole)):
        maker = LooseJson(several=loose.several)
        return Opened("json", "json", Pieces(maker.pieces(read)).read, loose, maker)
    if not declared.delimiter:
        return Opened(found, found, read)
    dialect = dialect_of(declared)
    lines: ReturnLines | None = None
    pieces = iter(partial(read, _PIECE), b"")
    if dialect.encoding:
        pieces = in_utf8(read, dialect.encoding)
    text = Pieces(doubled_pieces(pieces) if dialect.escaped else pieces)
    if not dialect.escaped:
        usual = text.read if dialect.encoding else read
        by_line, lines = by_lines(usual, front_in_utf8(head, dialect.encoding))
        if lines is not None:
            text = Pieces(iter(partial(by_line, _PIECE), b""))
    if dialect != dialect.usual() or lines is not None:
        _, failed = text.front(len(head))
        if failed is not None:
            raise failed
        read = text.read
    return Opened(found, dialect.usual().name, read, lines)


def _other_encoding(
    head: bytes, format: str | None, name: str | None, user_said: str | None
) -> tuple[str, str] | None:
    """Which text that is no table one in another encoding than UTF-8 is, and its encoding; None
    where it is none.

    That is said by its mark, for JSON also by the zeros in it, or by the user; and the text what it
    is, for other formats than JSON its name. XML says its encoding itself. UsageError where the
    user said another encoding than its mark does.
    """
    encoding = marked_encoding(head)
    if encoding is None:  # what JSON begins with is ASCII (RFC 4627, section 3)
        zeros = bytes(byte == 0 for byte in head[:4])
        encoding = next((each for each, where in _ZEROS.items() if zeros == where), None)
    said = FORMATS.declaration(format) if format else FORMATS.by_extension(name or "")
    if not encoding:
        if user_said is None or said is None or not _takes_encodings(said):
            return None
        encoding = encoding_of(head, user_said)
        return (said.name, encoding) if encoding else None
    if not (format or told(None, name, head) == "bytes"):
        return None
    named = said.name if said is not None and said.is_json else None
    if format and not (said is not None and _takes_encodings(said)):
        return None
    if user_said is not None and not encoding.startswith(encoding_of(head, user_said)):
        return None
    if said is not None and not said.is_json and marked_encoding(head):
        return (said.name, encoding) if _takes_encodings(said) else None
    text = front_in_utf8(head, encoding)
    found = json_kind(text, None if format else named)
    return None if found is None else (format or found, encoding)


def _takes_encodings(said: Declaration) -> bool:
    return said.is_text and not (said.delimiter or said.says_encoding)


_ZEROS = {
    "utf-16-le": b"\0\1\0\1",
    "utf-16-be": b"\1\0\1\0",
    "utf-32-le": b"\0\1\1\1",
    "utf-32-be": b"\1\1\1\0",
}


def in_utf8(read: Read, encoding: str) -> Iterator[bytes]:
    """What ``read`` gives in another encoding, without a byte-order mark; SyntaxInputError where
    it is not in that."""
    decoder = codecs.getincrementaldecoder(encoding)()
    at = 0
    while True:
        data = read(_PIECE)
        kept = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeError as error:
            place = at - kept + getattr(error, "start", 0)
            raise SyntaxInputError(
                f"not valid {encoding.upper()}", offset=place, hint="--encoding says what it is"
            ) from None
        yield (text.removeprefix("\ufeff") if not at else text).encode()
        at += len(data)
        if not data:
            return
