"""Reads an XML document as values. Which element becomes which value: see ``xml.xml``.

Nothing outside the document is read, and entities other than XML's own five are refused.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from serialpack.depth import MAX_DEPTH
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats.base import Unheld, depth_loss
from serialpack.formats.shared.document import Malformed
from serialpack.formats.xml.content import CONTENT_KEY, SPACES, TEXT, grouped, is_space
from serialpack.values.kinds import (
    COMMENTS,
    CONTENT,
    ORDER,
    SPACE,
    Loss,
    Spelled,
    shown,
    value_step,
)

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

#: A reference to an entity that a document type would have to define.
_ENTITY = re.compile(rb"&(?!#|(?:amp|lt|gt|quot|apos);)[^;\s]{1,64};")

#: The encoding that the declaration names; and those that the parser lacks, in which a character
#: has one byte or two.
_ENCODING = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.-]+)""")
_WIDE = frozenset(
    {
        *("big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jp", "euc_kr"),
        *("gb18030", "gb2312", "gbk", "shift_jis"),
    }
)

#: Expat's number of the error for an entity that nothing defines, as feeds have those of HTML.
_UNDEFINED = 11
_OF_HTML = (
    "python3 -c 'import html, re, sys; sys.stdout.buffer.write(re.sub("
    r'rb"&(?!(?:amp|lt|gt|quot|apos);)\w+;", lambda m: "".join("&#%d;" % ord(c) for c in'
    " html.unescape(m[0].decode())).encode(), sys.stdin.buffer.read()))' <FILE >NEW.xml writes"
    " those of HTML by their numbers"
)


def read_document(data: bytes, marks: Marks | None) -> Any:
    """The document as a map. Malformed, Unheld, or RefusedError for entities and definitions.

    ``marks``: which losses are allowed, and where what is dropped is noted.
    """
    encoding = _wide_encoding(data)
    if encoding is None:
        return _read(data, marks)
    try:
        text = data.decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise Malformed(f"not valid {encoding}", error.start) from None
    try:
        return _read(text, marks, "utf-8")
    except Malformed as bad:
        before = text[: bad.at or 0].decode("utf-8", "ignore")
        raise Malformed(bad.message, len(before.encode(encoding))) from None


def _wide_encoding(data: bytes) -> str | None:
    """The encoding that a document names, where it is one of ``_WIDE``; else None."""
    said = _ENCODING.match(data)
    try:
        name = codecs.lookup(said[1].decode("latin-1")).name if said else ""
    except LookupError:  # the parser will say so
        return None
    return name if name in _WIDE else None


def _read(data: bytes, marks: Marks | None, encoding: str | None = None) -> Any:
    """As ``read_document``. ``encoding``: that of ``data``, whatever its declaration says."""
    try:
        return _DocumentReader(data, marks, encoding).read()
    except _Alternates:
        return _OrderedReader(data, marks, encoding).read()


class _Alternates(Exception):
    """A map cannot keep the order of what is in an element."""


class _Element:
    """An element whose end has not come yet."""

    __slots__ = ("content", "keeps_space", "last", "name", "several", "texts", "value")

    def __init__(self, name: str, keeps_space: bool) -> None:
        self.name = name
        self.keeps_space = keeps_space
        self.value: dict[str, Any] = {}
        #: The text since the last tag, in the parser's pieces.
        self.texts: list[str] = []
        #: The names that came more than once; and the last name.
        self.several: set[str] = set()
        self.last = ""
        #: Name and value of all that is in the element, one after another, where that order is
        #: kept.
        self.content: list[tuple[str, Any]] = []


class _DocumentReader:
    """Takes what the parser finds, with a stack of its own of open elements."""

    def __init__(self, data: bytes, marks: Marks | None, encoding: str | None) -> None:
        self._data = data
        self._marks = marks
        self._open = [_Element("", keeps_space=False)]
        self._told: dict[str, Loss] = {}
        self._parser = parser = ParserCreate(encoding)
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._found
        parser.CommentHandler = lambda text: self._drop(COMMENTS, f"<!--{text}-->")
        parser.ProcessingInstructionHandler = lambda target, text: self._drop(
            COMMENTS, f"<?{target} {text}".rstrip() + "?>"
        )
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = parser.ExternalEntityRefHandler = self._entity
        parser.SkippedEntityHandler = self._entity

    def read(self) -> Any:
        try:
            self._parser.Parse(self._data, True)
        except ExpatError as error:
            at = self._parser.CurrentByteIndex
            message = ErrorString(error.code) if 0 <= at < len(self._data) else "it ends too early"
            hint = _OF_HTML if error.code == _UNDEFINED else None
            raise Malformed(message, min(max(at, 0), len(self._data)), hint) from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not know
            raise Malformed(str(error), 0) from None
        if self._marks is not None:
            self._marks.placed += self._told.values()
        return self._open[0].value

    def _drop(self, rule: str, text: str) -> None:
        was = line = ""
        if rule not in self._told:
            was = shown(Spelled(" ".join(text.split()))) if rule == COMMENTS else shown(text)
            line = f"line {self._parser.CurrentLineNumber}"
        self._tell(rule, line, was, "")

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            raise _defines("a document type that defines things")
        # In attributes the parser silently drops references to what may be defined elsewhere.
        plain = self._data.replace(b"\0", b"")
        if (system or public) and (found := _ENTITY.search(plain)) is not None:
            raise _defines(f"the entity {found[0].decode('ascii', 'replace')}")
        self._drop(COMMENTS, f"<!DOCTYPE {name}>")

    def _entity(self, *facts: Any) -> int:
        raise _defines(f"the entity {shown(facts[0])}")

    def _start(self, name: str, attributes: list[str]) -> None:
        if len(self._open) > MAX_DEPTH:
            raise Unheld(depth_loss())
        parent = self._open[-1]
        if parent.texts:
            self._run(parent, between=True)
        element = _Element(name, parent.keeps_space)
        if attributes:
            pairs = iter(attributes)
            for key, value in zip(pairs, pairs, strict=True):
                element.value["@" + key] = value
                if key == "xml:space":
                    element.keeps_space = value == "preserve"
        self._open.append(element)

    def _found(self, text: str) -> None:
        self._open[-1].texts.append(text)

    def _run(self, element: _Element, *, between: bool) -> None:
        """Take the text since the last tag. ``between``: it stands between two elements, where
        white space means nothing."""
        text = "".join(element.texts)
        element.texts.clear()
        if between and not element.keeps_space and not text.strip(SPACES):
            self._drop(SPACE, text)
            return
        if TEXT in element.value:
            self._lose_order("text on both sides of an element")
            element.value[TEXT] += text
        else:
            element.value[TEXT] = text
        element.last = TEXT

    def _end(self, name: str) -> None:
        element = self._open[-1]
        if element.texts:
            self._run(element, between=bool(element.last))
        self._open.pop()
        value: Any = element.value
        if not value:
            value = None
        elif len(value) == 1 and TEXT in value:
            value = value[TEXT]
        parent = self._open[-1]
        found = parent.value
        if name not in found:
            found[name] = value
        else:
            if parent.last != name:
                self._lose_order(f"<{name}> on both sides of another")
            if name in parent.several:
                found[name].append(value)
            else:
                parent.several.add(name)
                found[name] = [found[name], value]
        parent.last = name

    def _lose_order(self, what: str) -> None:
        path = self._path()
        allowed = None if self._marks is None else self._marks.allowed
        if allowed is None or (ORDER not in allowed and CONTENT in allowed):
            raise _Alternates
        if ORDER not in allowed:
            raise ValueRefusedError(
                f"the order of mixed content would be lost: {what},"
                f" line {self._parser.CurrentLineNumber}",
                record=0,
                value_path=path,
                kind="order",
                hint=f"without --strict it is kept in a list; --lossy {ORDER} lets it go",
            )
        self._tell(ORDER, path, what, "one after another")

    def _path(self) -> str:
        return "$" + "".join(value_step(each.name) for each in self._open[1:])

    def _tell(self, rule: str, path: str, was: str, became: str) -> None:
        told = self._told.get(rule) or Loss(rule, 0, 0, path, was, became)
        self._told[rule] = told._replace(count=told.count + 1)


class _OrderedReader(_DocumentReader):
    """As ``_DocumentReader``; what is in an element whose content alternates becomes a list, in its
    order."""

    def _run(self, element: _Element, *, between: bool) -> None:  # noqa: ARG002
        element.content.append((TEXT, "".join(element.texts)))
        element.texts.clear()

    def _end(self, name: str) -> None:
        element = self._open[-1]
        if element.texts:
            self._run(element, between=False)
        value = self._value(element)
        self._open.pop()
        parent = self._open[-1]
        if len(self._open) == 1:
            parent.value[name] = value
        parent.content.append((name, value))

    def _value(self, element: _Element) -> Any:
        """The value of ``element``, which ends here."""
        content, value = element.content, element.value
        if len(content) == 1 and content[0][0] == TEXT:
            return {**value, TEXT: content[0][1]} if value else content[0][1]
        kept = [item for item in content if element.keeps_space or not is_space(*item)]
        found = grouped(kept)
        if found is None:
            if any(name == TEXT for name, _ in kept):
                kept = content  # beside words white space means something
            self._tell(CONTENT, self._path(), f"what is in <{element.name}>", CONTENT_KEY)
            value[CONTENT_KEY] = [p if name == TEXT else {name: p} for name, p in kept]
        else:
            value |= found
        for _ in range(len(content) - len(kept)):
            self._drop(SPACE, " ")
        return value or None


def _defines(what: str) -> RefusedError:
    return RefusedError(
        f"XML with {what} is not read: it can be of any size, or stand elsewhere",
        hint="xmllint --noent --dropdtd writes it out; pack -s raw keeps the bytes",
    )
