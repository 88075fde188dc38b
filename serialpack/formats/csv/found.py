"""CSV as it is found: its delimiter, its encoding, escaped quotes, no header.

A format's name says all of it: ``csv:semicolon+cp1252+no-header``. What is usual is left out, and
what has a number of its own (``csv``, ``tsv``, ``csv:semicolon``, ``csv:pipe``) is called so.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from serialpack.formats.base import Style
from serialpack.formats.csv.tokens import QUOTED_FIELD
from serialpack.formats.declaration import Declaration

_WORDS = {",": "", ";": "semicolon", "\t": "tab", "|": "pipe"}
_USUAL = {",": "csv", ";": "csv:semicolon", "\t": "tsv", "|": "csv:pipe"}
_ESCAPED, _NO_HEADER = "escaped", "no-header"

#: Python's codecs of text that are no encodings of files; some take time that is quadratic.
_NONE = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"})

#: Byte-order marks, longer ones first; all but that of UTF-8, which is read as it is.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

#: From so many characters beyond ASCII on, what is valid UTF-8 is no other text.
_TELLING = 8

_QUOTE_OR_ESCAPE = re.compile(rb'"|\\.', re.DOTALL)
_ESCAPES = {b'\\"': b'""', b"\\\\": b"\\"}
#: The same without a change of length, for who looks only for quotes and line ends.
_MASKED = {b'\\"': b'""'}


class Dialect(NamedTuple):
    """How a table is written. ``encoding``: as Python's codecs call it; empty: UTF-8.

    ``escaped``: a backslash within quotes makes a quote, or a backslash, a character as any other.
    """

    delimiter: str = ","
    encoding: str = ""
    escaped: bool = False
    headless: bool = False

    @property
    def name(self) -> str:
        """The name of the format."""
        if self == Dialect(self.delimiter):
            return _USUAL[self.delimiter]
        told = (
            _WORDS[self.delimiter],
            self.encoding,
            _ESCAPED * self.escaped,
            _NO_HEADER * self.headless,
        )
        return "csv:" + "+".join(filter(None, told))

    @property
    def in_words(self) -> list[str]:
        """What is special about it, for people; without the delimiter."""
        words = [self.encoding.upper()] if self.encoding else []
        words += ["quotes escaped"] if self.escaped else []
        return words + (["no header"] if self.headless else [])

    def stored(self) -> Style:
        """As a container keeps it."""
        found: Style = {} if self.delimiter == "," else {"d": self.delimiter}
        if self.encoding:
            found["c"] = self.encoding
        found |= {"x": 1} if self.escaped else {}
        return found | ({"n": 1} if self.headless else {})

    def usual(self) -> "Dialect":
        """The same in UTF-8, with doubled quotes."""
        return self._replace(encoding="", escaped=False)


def dialect_of(declared: Declaration) -> Dialect:
    """How a table in a format is written."""
    plain = Dialect(declared.delimiter.decode())
    if not declared.variants:
        return plain
    return _named(declared.name) or plain


def _named(name: str) -> Dialect | None:
    found = Dialect()
    for word in name.partition(":")[2].split("+"):
        if word == _ESCAPED:
            found = found._replace(escaped=True)
        elif word == _NO_HEADER:
            found = found._replace(headless=True)
        elif mark := next((m for m, each in _WORDS.items() if word == each != ""), None):
            found = found._replace(delimiter=mark)
        else:
            found = found._replace(encoding=encoding_named(word) or "?")
    return found if found.name == name and "?" not in found.encoding else None


class CsvVariants:
    """The dialects that have no number of their own."""

    def named(self, name: str, base: Declaration) -> Declaration | None:
        dialect = _named(name)
        return None if dialect is None else _declared(dialect, base)

    def stored(self, style: Style, base: Declaration) -> Declaration | None:
        types: dict[str, Any] = {"d": str, "c": str, "x": int, "n": int}
        for key, type_ in types.items():
            if key in style and type(style[key]) is not type_:
                raise ValueError(f"{key!r} is {type(style[key]).__name__}")
        mark, escaped, headless = style.get("d", ","), style.get("x", 0), style.get("n", 0)
        encoding = encoding_named(style["c"]) if "c" in style else ""
        if mark not in _WORDS or encoding is None or {escaped, headless} - {0, 1}:
            return None
        return _declared(Dialect(mark, encoding, bool(escaped), bool(headless)), base)


def _declared(dialect: Dialect, base: Declaration) -> Declaration:
    ascii_like = not dialect.encoding or _keeps_ascii(dialect.encoding)
    translated = bool(dialect.encoding or dialect.escaped)
    plain = _USUAL[dialect.delimiter]
    return base._replace(
        name=dialect.name,
        where="serialpack.formats.csv.translated:TranslatedCsv" if translated else base.where,
        is_source=True,
        is_text=not dialect.encoding,
        has_lines=ascii_like,
        delimiter=dialect.delimiter.encode(),
        headless=dialect.headless,
        columns=plain if ascii_like else "",
        dialect_of="csv",
        writers=("csv",),
    )


@cache
def _keeps_ascii(encoding: str) -> bool:
    """Whether each byte of ASCII is that character, wherever it stands in a text."""
    try:
        return all(
            bytes([n]).decode(encoding, "replace") == chr(n)
            and (b"\xe1" + bytes([n])).decode(encoding, "replace")[-1] == chr(n)
            for n in range(128)
        )
    except (UnicodeError, IndexError):
        return False


@cache
def encoding_named(name: str) -> str | None:
    """The one name of an encoding, ``""`` for UTF-8; None where it is none of text in files."""
    try:
        "".encode(name)
        found = codecs.lookup(name).name.replace("_", "-")
        if found in _NONE or codecs.lookup(found).name.replace("_", "-") != found:
            return None
    except (LookupError, UnicodeError, ValueError):
        return None
    if found.startswith("utf-8"):
        return ""
    return {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(found, found)


def marked_encoding(head: bytes) -> str | None:
    """The encoding that the byte-order mark of a text says; None where it has none."""
    if head.startswith(codecs.BOM_UTF8):
        return ""
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def is_utf8(head: bytes) -> bool:
    """Whether bytes are surely UTF-8: they have characters beyond ASCII, and all of them fit."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return len(text) - len(text.encode("ascii", "ignore")) >= _TELLING


def front_in_utf8(head: bytes, encoding: str) -> bytes:
    """How a text begins, as far as its first bytes tell."""
    if not encoding:
        return head
    return codecs.getincrementaldecoder(encoding)("replace").decode(head).encode()


def doubling(*, masked: bool = False) -> Callable[[bytes, bool], bytes]:
    """What makes pieces of a text with escaped quotes one with doubled quotes (RFC 4180).

    It takes a piece, and whether that is the last one. ``masked``: backslashes stay, so that all
    of it stands where it stood.
    """
    escapes = _MASKED if masked else _ESCAPES
    inside, rest = False, b""

    def said(match: re.Match[bytes]) -> bytes:
        nonlocal inside
        inside ^= match[0] == b'"'
        return escapes.get(match[0], match[0]) if inside else match[0]

    def doubled(data: bytes, last: bool) -> bytes:
        nonlocal rest
        data = rest + data
        odd = 0 if last else (len(data) - len(data.rstrip(b"\\"))) % 2
        data, rest = data[: len(data) - odd], data[len(data) - odd :]
        return _QUOTE_OR_ESCAPE.sub(said, data)

    return doubled


def doubled_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A text with escaped quotes, with doubled ones."""
    double = doubling()
    for piece in pieces:
        yield double(piece, False)
    yield double(b"", True)


def escaped_quotes(text: bytes) -> bytes:
    """A sound text with doubled quotes, with escaped ones."""

    def said(match: re.Match[bytes]) -> bytes:
        inner = match[0][1:-1].replace(b"\\", b"\\\\").replace(b'""', b'\\"')
        return b'"%b"' % inner

    return QUOTED_FIELD.sub(said, text)
