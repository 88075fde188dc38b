"""CSV as it is found, made CSV as it is read: in UTF-8, and with a line of names."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from serialpack.api import HEAD
from serialpack.compressed.pieces import Pieces
from serialpack.detect import told
from serialpack.errors import SyntaxInputError, UsageError
from serialpack.formats import FORMATS
from serialpack.formats.base import Read
from serialpack.formats.csv.dialects import is_sound
from serialpack.formats.csv.rows import first_width
from serialpack.recognise import recognised

_PIECE = 1 << 20

_QUOTE_OR_ESCAPE = re.compile(rb'"|\\.', re.DOTALL)
_ESCAPES = {b'\\"': b'""', b"\\\\": b"\\"}

#: Byte-order marks, longer ones first; all but that of UTF-8, which is read as it is.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8_MARK = codecs.BOM_UTF8

#: From so many characters beyond ASCII on, what is valid UTF-8 is no other text.
_TELLING = 8


class AsFound(NamedTuple):
    """What the user says of a table: see ``conversion.files.convert``."""

    delimiter: str | None = None
    encoding: str | None = None
    no_header: bool = False

    def opened(
        self, read: Read, head: bytes, format: str | None, name: str | None
    ) -> tuple[str, Read]:
        """The format of a source that begins with ``head``, and what reads it in UTF-8 and with
        names; UsageError where what is said is not of it, SyntaxInputError where it lies."""
        whole = len(head) < HEAD
        encoding = encoding_of(head, self.encoding) if self._may_be_table(format, name) else None
        if encoding is not None:
            text = Pieces(in_utf8(read, encoding))
            head, failed = text.front(len(head))
            if failed is not None:
                raise failed
            read = text.read
        if self._may_be_table(format, name) and are_escaped(head):
            text = Pieces(with_doubled_quotes(read))
            head, _ = text.front(len(head))
            read = text.read
        found = told(format, name, head, self.delimiter)
        if found == "bytes" and format is None:
            found = self._by_content(head, whole)
        if not FORMATS.declaration(found).delimiter:
            if self.encoding or self.no_header:
                raise UsageError(f"--encoding and --no-header are for CSV, not for {found}")
            return found, read
        return found, with_names(read, found, head) if self.no_header else read

    def _by_content(self, head: bytes, whole: bool) -> str:
        if self.encoding or self.no_header:  # which only tables have
            return told("csv", None, head)
        return recognised(head, whole=whole).format or "bytes"

    def _may_be_table(self, format: str | None, name: str | None) -> bool:
        declared = FORMATS.by_extension(name or "")
        known = format or (declared.name if declared else "csv" if self.delimiter else None)
        if known is None:
            return self.encoding is not None
        return bool(FORMATS.declaration(known).delimiter)


class TableRead:
    """Reads what pieces of text are, with a line of names before them that is not in the file.

    ``invented``: how many bytes that line takes.
    """

    def __init__(self, pieces: Iterator[bytes], names: bytes = b"") -> None:
        self._pieces = Pieces(pieces)
        self.invented = len(names)

    def __call__(self, size: int) -> bytes:
        return self._pieces.read(size)


def encoding_of(head: bytes, said: str | None) -> str | None:
    """The encoding of a text that begins with ``head``: its byte-order mark's, else ``said``, what
    the user says; None: UTF-8. UsageError where that is none, or clearly another."""
    mark = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if said is None:
        return mark
    try:
        "".encode(said)
    except LookupError:
        message = f"the encoding {said!r} is not known"
        raise UsageError(message, hint="cp1252, utf-16, ...") from None
    name = codecs.lookup(said).name
    if head.startswith(_UTF8_MARK) or (mark is None and _is_utf8(head)):
        mark = "utf-8"
    if mark is not None and not name.startswith(mark):
        raise UsageError(f"it is {mark.upper()}, and not {said}", hint="leave out --encoding")
    return None if name.startswith("utf-8") else name


def _is_utf8(head: bytes) -> bool:
    """Whether bytes are surely UTF-8: they have characters beyond ASCII, and all of them fit."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(head)
    except UnicodeDecodeError:
        return False
    return len(text) - len(text.encode("ascii", "ignore")) >= _TELLING


def in_utf8(read: Read, encoding: str) -> Iterator[bytes]:
    """What ``read`` gives in another encoding; SyntaxInputError where it is not in that."""
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
        at += len(data)
        yield text.encode()
        if not data:
            return


def are_escaped(head: bytes) -> bool:
    """Whether quotes within fields of a text that begins so are escaped, and not doubled: then
    its first rows fit each other, which else they do not."""
    if b'\\"' not in head:
        return False
    lines = head[: head.rfind(b"\n") + 1] or head
    doubled = b"".join(with_doubled_quotes(BytesIO(lines).read))
    mark = FORMATS.declaration(told("csv", None, doubled)).delimiter.decode()
    return not is_sound(lines, mark) and is_sound(doubled, mark)


def with_doubled_quotes(read: Read) -> Iterator[bytes]:
    """What ``read`` gives, in which a backslash makes a quote in quotes, or a backslash, a
    character as any other: in the words of RFC 4180."""
    inside = False

    def said(match: re.Match[bytes]) -> bytes:
        nonlocal inside
        inside ^= match[0] == b'"'
        return _ESCAPES.get(match[0], match[0]) if inside else match[0]

    rest = b""
    while data := read(_PIECE):
        data = rest + data
        odd = (len(data) - len(data.rstrip(b"\\"))) % 2
        data, rest = data[: len(data) - odd], data[len(data) - odd :]
        yield _QUOTE_OR_ESCAPE.sub(said, data)
    yield rest


def with_names(read: Read, format: str, head: bytes) -> TableRead:
    """A table without a header with names for its columns: column1, column2, ...

    ``head``: how it begins, in UTF-8.
    """
    delimiter = FORMATS.declaration(format).delimiter.decode()
    mark = _UTF8_MARK if head.startswith(_UTF8_MARK) else b""
    width = first_width(head.removeprefix(mark).decode("utf-8", "replace"), delimiter)
    names = delimiter.join(f"column{number}" for number in range(1, width + 1)).encode()
    names += b"\n" if names else b""

    def pieces() -> Iterator[bytes]:
        begin = read(max(len(mark), 1)).removeprefix(mark)
        yield mark + names + begin
        while data := read(_PIECE):
            yield data

    return TableRead(pieces(), names)
