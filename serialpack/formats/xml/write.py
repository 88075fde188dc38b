"""Writes values as an XML document. Which value becomes which element: see ``xml.xml``."""

from __future__ import annotations

import re
from typing import Any

from serialpack.formats.xml.content import CONTENT_KEY
from serialpack.formats.xml.typed_write import UNWRITABLE

_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'

_START = (
    ":A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_LATER = rf"-.0-9\xb7\u0300-\u036f\u203f\u2040{_START}"
#: https://www.w3.org/TR/xml/#NT-Name
_NAME = re.compile(f"[{_START}][{_LATER}]*")
#: Characters that a name cannot have at their place, and an underscore that would be read as an
#: escape.
_NO_NAME = re.compile(rf"\A[^{_START}]|(?!\A)[^{_LATER}]|_(?=x[0-9A-F]{{4,8}}_)")

_IN_TEXT = {ord(c): r for c, r in zip("&<>\r", ("&amp;", "&lt;", "&gt;", "&#13;"), strict=True)}
_IN_ATTRIBUTE = _IN_TEXT | {ord('"'): "&quot;", ord("\t"): "&#9;", ord("\n"): "&#10;"}


#: Text that needs no reference in an element or an attribute, which most text is.
_AS_IT_IS = re.compile("[ !#-%'-;=?-~\xa0-\u1fff]*")


def is_xml_name(name: Any) -> bool:
    """Whether an element, or an attribute, can be called so."""
    return type(name) is str and _NAME.fullmatch(name) is not None


def xml_name(text: str) -> str:
    """The name of an element, or an attribute, for ``text``: ``a_x0020_b`` for ``a b`` (SQL/XML,
    ISO/IEC 9075-14, the mapping of identifiers to XML names), and ``_`` for nothing."""
    return _NO_NAME.sub(lambda found: f"_x{ord(found[0]):04X}_", text) or "_"


def is_xml_text(text: str) -> bool:
    """Whether XML can write a text: no control characters but tabs and line ends."""
    return not UNWRITABLE.search(text)


def write_document(document: Any) -> bytes:
    """The document; ValueError or TypeError for what has no element."""
    if type(document) is not dict or len(document) != 1:
        raise TypeError("an XML document is a map with one key")
    parts = [_DECLARATION]
    names = set[Any]()  # of those met: they come again and again
    #: What is still to be written, the next at the end: text, or a name and its value.
    stack: list[str | tuple[str, Any]] = ["\n", *document.items()]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        name, value = item
        if name not in names:
            if not is_xml_name(name):
                raise ValueError(f"{name!a} is no name of an element")
            names.add(name)
        if value is None:
            parts.append(f"<{name}/>")
        elif type(value) is str:
            parts.append(f"<{name}>{_text(value, _IN_TEXT)}</{name}>")
        elif type(value) is dict and value:
            attributes, inner = _parts(value)
            parts.append(f"<{name}{attributes}>" if inner else f"<{name}{attributes}/>")
            if inner:
                stack.append(f"</{name}>")
                stack += reversed(inner)
        else:
            raise TypeError(f"{type(value).__name__} is no content of an element")
    return "".join(parts).encode()


def _parts(value: dict[Any, Any]) -> tuple[str, list[str | tuple[str, Any]]]:
    """The attributes of an element, and what is in it."""
    attributes = ""
    inner: list[str | tuple[str, Any]] = []
    for key, part in value.items():
        if type(key) is not str:
            raise TypeError("a key that is no text")
        if key[:1] == "@":
            if not is_xml_name(key[1:]):
                raise ValueError(f"{key!a} is no name of an attribute")
            attributes += f' {key[1:]}="{_text(part, _IN_ATTRIBUTE)}"'
        elif key == "#text":
            inner.append(_text(part, _IN_TEXT))
        elif key == CONTENT_KEY:
            inner += _content(part)
        elif type(part) is list:
            inner += [(key, item) for item in part]
        else:
            inner.append((key, part))
    return attributes, inner


def _content(items: Any) -> list[str | tuple[str, Any]]:
    """What is in an element, in its order: ``items`` are texts, and maps of one element each."""
    if type(items) is not list:
        raise TypeError(f"{CONTENT_KEY} is no list")
    inner: list[str | tuple[str, Any]] = []
    for item in items:
        if type(item) is dict and len(item) == 1:
            inner += item.items()
        else:
            inner.append(_text(item, _IN_TEXT))
    return inner


def _text(value: Any, references: dict[int, str]) -> str:
    if type(value) is str and _AS_IT_IS.fullmatch(value):
        return value
    if type(value) is not str or not is_xml_text(value):
        raise ValueError("what is no text that XML can write")
    return value.translate(references)
