"""Whether XML is typed XML, told by its root element."""

from __future__ import annotations

import re

_CONTAINERS = "list|tuple|set|frozenset"
_LEAVES = (
    "int|float|complex|string|bytes|bytearray|datetime|date|time|timedelta|decimal|fraction|uuid"
)
_EMPTY = "null|true|false"
_ANY = f"{_CONTAINERS}|{_LEAVES}|{_EMPTY}|map"

_TYPED = re.compile(
    rf"""
    (?:\xef\xbb\xbf)?(?:<\?xml\s[^>]*\?>)?(?:\s|<!--(?>.*?-->))*+
    (?:<(?:{_EMPTY})/>
    |<(?P<leaf>{_LEAVES})(?:\s(?:escape|zone|name|fold)="[^"<]*")*>[^<]*(?:</(?P=leaf)>|\Z)
    |<(?P<list>{_CONTAINERS})(?:/>|>\s*(?:</(?P=list)>|<(?:{_ANY})[\s/>]))
    |<map(?:/>|>\s*(?:</map>|<entry>|<(?:{_ANY})\skey=")))
    """.encode(),
    re.VERBOSE | re.DOTALL,
)


def kind_told(head: bytes, named: str) -> str:
    """The format of XML that begins with ``head``: typed or not."""
    return "typed-xml" if is_typed(head) else named


def is_typed(head: bytes) -> bool:
    """Whether XML that begins with ``head`` is typed XML: its root, and what is in that, are
    elements of it.

    A document that happens to have the very same elements is taken for it.
    """
    return _TYPED.match(head) is not None
