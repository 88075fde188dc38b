"""Text in another encoding than UTF-8, read as if it were in UTF-8. Tables have their own way."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from serialpack.compressed.pieces import Pieces
from serialpack.compressed.source import PackedFile, decompressed
from serialpack.detection.detect import AsFound, encoding_of, told
from serialpack.errors import SyntaxInputError
from serialpack.files.source import Source
from serialpack.formats import FORMATS, Declaration
from serialpack.formats.base import Read
from serialpack.formats.csv.found import front_in_utf8, marked_encoding
from serialpack.formats.json.found import json_kind

_PIECE = 1 << 20

#: Bytes of a text in which its encoding is looked for.
_HEAD = 64 << 10


def opened_text(
    source: Source, format: str | None, table: AsFound
) -> tuple[Source, str | None, AsFound]:
    """What is in ``source``, compressed or not, with the ``format`` and ``table`` that it is to be
    read by.

    Text in another encoding than UTF-8 (``other_encoding``) comes in UTF-8, and nothing is left to
    be said of it but its format.
    """
    source = decompressed(source)
    name = source.name if source.stat is not None else None
    other = other_encoding(source.peek(_HEAD), format or source.format, name, table)
    if other is None:
        return source, format, table
    format, encoding = other
    pieces = Pieces(in_utf8(source.read, encoding))
    return PackedFile(source, pieces, name), format, AsFound()


def other_encoding(
    head: bytes, format: str | None, name: str | None, table: AsFound
) -> tuple[str, str] | None:
    """The format of a text in another encoding than UTF-8, and that encoding.

    None where it is in UTF-8, no text, or a table, and where ``table`` says more than an encoding.
    The encoding is told by a byte-order mark, for JSON also by the zeros in its first bytes, or
    else by the user; the format by the user, by the content where that is JSON, or by the file's
    name. XML says its encoding itself. UsageError where the user names another encoding than the
    mark does.
    """
    user_said = table.encoding
    if table._replace(encoding=None) != AsFound():
        return None
    encoding = marked_encoding(head)
    if encoding is None:  # the first two characters of JSON are ASCII (RFC 4627, section 3)
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
    """Whether texts in a format do not say their encoding themselves, and tables are not meant."""
    return said.is_text and not (said.delimiter or said.says_encoding)


#: Encoding -> which of the first four bytes are zeros (1) in a text that begins in ASCII.
_ZEROS = {
    "utf-16-le": b"\0\1\0\1",
    "utf-16-be": b"\1\0\1\0",
    "utf-32-le": b"\0\1\1\1",
    "utf-32-be": b"\1\1\1\0",
}


def in_utf8(read: Read, encoding: str) -> Iterator[bytes]:
    """What ``read`` gives, decoded by ``encoding``, in UTF-8 and without a byte-order mark;
    SyntaxInputError where it is not in that encoding."""
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
