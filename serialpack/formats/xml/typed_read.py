"""Reads typed XML as values. The table of its elements stands in ``xml.typed``."""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID
from xml.parsers.expat import ErrorString, ExpatError
from zoneinfo import ZoneInfo

from serialpack.depth import MAX_DEPTH
from serialpack.errors import RefusedError
from serialpack.formats.base import Difference, Unheld, depth_loss
from serialpack.formats.losses.exact import Inexact, exact_float
from serialpack.formats.shared.document import Malformed
from serialpack.formats.xml.typed_write import CONTAINERS, fraction_text, timedelta_text
from serialpack.stages.stage import Buffer, import_library
from serialpack.text import with_article

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

#: What may stand before the first element: a byte-order mark and a declaration.
DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?xml\s[^>]*\?>[ \t\r\n]*)?")
_ENCODING = re.compile(rb"""encoding\s*=\s*["']([^"']*)""")

_BEFORE, _AFTER = b"<records>", b"</records>"

_CONTAINERS: dict[str, Any] = {"map": dict, **{n: made for made, n in CONTAINERS.items()}}

_INTEGER = re.compile("-?(?:0|[1-9][0-9]*|0x[1-9a-f][0-9a-f]*)", re.ASCII)
_BITS = re.compile("nan:([0-9a-f]{16})", re.ASCII)
_ESCAPED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))|\\")


def read_elements(data: Buffer, marks: Marks | None) -> list[Any]:
    """The records in ``data``. Malformed, Unheld, or RefusedError for a document with a DTD.

    ``marks``: what may be lost, and is noted there.
    """
    data = bytes(data)
    head = DECLARATION.match(data)
    assert head is not None
    _check_encoding(data, head[0])
    defused = import_library("defusedxml.ElementTree", "xml")
    if b"<!DOCTYPE" in data:
        _check_undefined(defused, data)
    reader = _XmlReader(defused.DefusedXMLParser(encoding="utf-8", forbid_dtd=True).parser, marks)
    return reader.read(data, head.end())


def _check_encoding(data: bytes, head: bytes) -> None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0<", b"<\0")):
        raise Malformed("it is UTF-16, not UTF-8", 0)
    found = _ENCODING.search(head)
    if found is not None and found[1].lower() != b"utf-8":
        raise Malformed(f"its encoding is {found[1].decode('latin-1')}, not UTF-8", found.start(1))


def _check_undefined(defused: Any, data: bytes) -> None:
    """RefusedError where ``data`` defines a document type, which entities come with."""
    import defusedxml

    parser = defused.DefusedXMLParser(target=_Ignored(), encoding="utf-8", forbid_dtd=True).parser
    try:
        parser.Parse(data, True)
    except defusedxml.DefusedXmlException:
        raise RefusedError(
            "XML with a document type definition is not read: its entities can be of any size",
            hint="pack -s raw keeps the bytes",
        ) from None
    except Exception:  # not well-formed, which is told when it is read
        return


class _Ignored:
    """Takes elements, and keeps nothing of them."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def data(self, text: str) -> None: ...


class _OpenElement(NamedTuple):
    """An element whose end has not come yet. ``items``: the values in it so far; a dict for a
    map."""

    name: str
    attributes: dict[str, str]
    items: Any


class _XmlReader:
    """Takes what the parser finds. The stack of open elements is its own, so that depth costs
    nothing but memory.
    """

    def __init__(self, parser: Any, marks: Marks | None) -> None:
        self._parser = parser
        self._marks = marks
        parser.ordered_attributes = False
        parser.buffer_text = True
        parser.DefaultHandlerExpand = parser.CommentHandler = None
        parser.ProcessingInstructionHandler = None
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._found
        #: The text since the last tag, in the parser's pieces of a few kilobytes.
        self._texts: list[str] = []
        self._records: list[Any] = []
        self._open: list[_OpenElement] = []
        #: How many containers are open here, within each other.
        self._depth = 0
        #: The byte, as the parser counts, where the records end.
        self._until = 0

    def read(self, data: bytes, start: int) -> list[Any]:
        """The records in ``data``, whose elements begin at ``start``."""
        self._until = len(_BEFORE) + len(data) - start
        try:
            for part in (_BEFORE, memoryview(data)[start:], _AFTER):
                self._parser.Parse(part, part is _AFTER)
        except Malformed as bad:
            raise Malformed(bad.message, self._place(bad.at or 0, data, start)) from None
        except ExpatError as error:
            at = self._place(self._parser.CurrentByteIndex, data, start)
            message = ErrorString(error.code) if 0 <= at < len(data) else "it ends too early"
            raise Malformed(message, at) from None
        return self._records

    @staticmethod
    def _place(at: int, data: bytes, start: int) -> int:
        return min(max(start + at - len(_BEFORE), start), len(data))

    def _bad(self, message: str) -> Malformed:
        """The error for the element that begins, or ends, where the parser is now."""
        return Malformed(message, self._parser.CurrentByteIndex)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open:
            self._open.append(_OpenElement("list", attributes, self._records))
            return
        parent = self._open[-1].name
        if parent in _LEAVES:
            raise self._bad(f"the element <{name}> stands in a value of type <{parent}>")
        self._check_space()
        if name in _CONTAINERS:
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise Unheld(depth_loss(len(self._records)))
        elif name not in _LEAVES and (name != "entry" or parent != "map"):
            if len(self._open) == 1:
                message = f"the root element <{name}> is none that serialpack writes"
                raise self._bad(message + "; pack -s raw keeps the bytes")
            raise self._bad(f"the element <{name}> is none that serialpack writes here")
        self._open.append(_OpenElement(name, attributes, {} if name == "map" else []))

    def _found(self, text: str) -> None:
        self._texts.append(text)

    def _taken(self) -> str:
        """The text since the last tag."""
        text = "".join(self._texts)
        self._texts.clear()
        return text

    def _check_space(self) -> None:
        if self._texts and self._taken().strip(" \t\r\n"):
            raise self._bad("text stands between elements")

    def _end(self, name: str) -> None:
        _, attributes, items = self._open.pop()
        if not self._open:
            if self._parser.CurrentByteIndex < self._until:
                raise self._bad(f"the end of an element <{name}> that did not begin")
            self._check_space()
            return
        parent = self._open[-1]
        key = attributes.pop("key", None) if parent.name == "map" else None
        value: Any
        if name in _LEAVES:
            text = self._taken()
            try:
                value = _LEAVES[name](text, attributes)
            except Inexact as lost:
                value = self._nearest(name, lost)
            except (ValueError, TypeError, ArithmeticError, LookupError, OSError):
                raise self._bad(f"{text[:40]!a} is no value of type <{name}>") from None
        else:
            self._check_space()
            if name == "entry":
                if len(items) != 2 or key is not None:
                    raise self._bad("an <entry> has a key and a value")
                key, value = items
            else:
                value = self._container(name, items)
        if attributes:
            raise self._bad(f"the attribute {next(iter(attributes))!a} is none of <{name}>")
        if parent.name != "map":
            parent.items.append(value)
            return
        if key is None and name != "entry":
            raise self._bad("an element of a map has no key")
        try:
            if key in parent.items:
                raise self._bad(f"the key {key!a} stands twice in a map")
        except TypeError:
            raise self._bad(f"{with_article(type(key).__name__)} is no key") from None
        parent.items[key] = value

    def _nearest(self, name: str, lost: Inexact) -> Any:
        if name == "float" and self._marks is not None and self._marks.allows(lost):
            return self._marks.lost_number(lost)
        difference = Difference(len(self._records), "$", lost.text[:40], "", lost.kind)
        raise Unheld(difference) from None

    def _container(self, name: str, items: Any) -> Any:
        self._depth -= 1
        made = _CONTAINERS[name]
        if type(items) is made:
            return items
        try:
            value = made(items)
        except TypeError:
            raise self._bad(f"a <{name}> has elements that can change") from None
        if len(value) != len(items):
            raise self._bad(f"a <{name}> has an element twice")
        return value


def _nothing(value: Any) -> Callable[[str, dict[str, str]], Any]:
    def read(text: str, _attributes: dict[str, str]) -> Any:
        if text:
            raise ValueError
        return value

    return read


def _plain(
    parse: Callable[[str], Any], write: Callable[[Any], str] | None = None
) -> Callable[[str, dict[str, str]], Any]:
    """What reads text by ``parse``, and refuses text that ``write`` would not give again: ``parse``
    takes more than is written."""

    def read(text: str, _attributes: dict[str, str]) -> Any:
        value = parse(text)
        if write is not None and write(value) != text:
            raise ValueError
        return value

    return read


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError
    return int(text, 16 if "x" in text else 10)


def _float(text: str) -> float:
    bits = _BITS.fullmatch(text)
    if bits:
        value: float = struct.unpack(">d", bytes.fromhex(bits[1]))[0]
        if value == value:
            raise ValueError
        return value
    return float(text) if text in ("nan", "inf", "-inf") else exact_float(text)


def _complex(text: str) -> complex:
    real, imag = text.split(" ")
    return complex(_float(real), _float(imag))


def _string(text: str, attributes: dict[str, str]) -> str:
    escape = attributes.pop("escape", None)
    if escape is None:
        return text
    if escape != "\\":
        raise ValueError
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    if found[0] == "\\":
        raise ValueError
    return "\\"


def _timed(parse: Callable[[str], Any]) -> Callable[[str, dict[str, str]], Any]:
    """What reads a datetime or a time, with what the attributes say of its zone."""

    def read(text: str, attributes: dict[str, str]) -> Any:
        value = parse(text)
        if value.isoformat() != text:
            raise ValueError
        zone, name, fold = (attributes.pop(a, None) for a in ("zone", "name", "fold"))
        if zone is not None:
            if value.tzinfo is not None or name is not None:
                raise ValueError
            value = value.replace(tzinfo=ZoneInfo(zone))
        elif name is not None:
            offset = datetime.combine(date.min, value).utcoffset() if type(value) is time else None
            value = value.replace(tzinfo=timezone(offset or value.utcoffset(), name))
        if fold not in (None, "1"):
            raise ValueError
        return value.replace(fold=1) if fold else value

    return read


def _timedelta(text: str) -> timedelta:
    days, seconds, microseconds = map(_integer, text.split(" "))
    return timedelta(days, seconds, microseconds)


def _fraction(text: str) -> Fraction:
    numerator, denominator = map(_integer, text.split("/"))
    return Fraction(numerator, denominator)


_LEAVES: dict[str, Callable[[str, dict[str, str]], Any]] = {
    "null": _nothing(None),
    "true": _nothing(True),
    "false": _nothing(False),
    "int": _plain(_integer),
    "float": _plain(_float),
    "complex": _plain(_complex),
    "string": _string,
    "bytes": _plain(lambda text: b64decode(text, validate=True)),
    "bytearray": _plain(lambda text: bytearray(b64decode(text, validate=True))),
    "datetime": _timed(datetime.fromisoformat),
    "date": _plain(date.fromisoformat, date.isoformat),
    "time": _timed(time.fromisoformat),
    "timedelta": _plain(_timedelta, timedelta_text),
    "decimal": _plain(Decimal),
    "fraction": _plain(_fraction, fraction_text),
    "uuid": _plain(UUID, str),
}
