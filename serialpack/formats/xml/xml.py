"""XML documents as values, by the convention of xmltodict.

A document is a map with one key, the name of its root. An element is a map: ``@name`` for each
attribute, then the name of each element in it, a list where one repeats, and ``#text`` for text
beside these; where there is nothing but text, that text, and null where there is nothing at all.
Names are as they are spelled, with their prefixes; ``xmlns`` is an attribute like others.

All text is kept, but for white space between elements, which is dropped and told (not so below
``xml:space="preserve"``). So are comments, processing instructions, and a document type that
defines nothing. Text in several runs, and elements of one name between which others stand, have an
order that a map has not: then ``#content`` has all that is in the element, one after another, a
list of texts (white space too, where there is other text) and of maps with one element each. By
``order`` they are put together in the map instead.
"""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.depth.values import check_values
from serialpack.formats.shared.document import DocumentFormat
from serialpack.formats.xml.read import read_document
from serialpack.formats.xml.write import write_document
from serialpack.literal import is_number
from serialpack.values.kinds import BEYOND_JSON, CONTENT, ORDER


class XmlFormat(DocumentFormat):
    """A document, whose root is the one key of a map."""

    about = "XML, an element for each key"
    title = "XML"
    one_record = True
    tells = True
    takes_literals = True
    heeds = frozenset({CONTENT, ORDER})
    cannot = BEYOND_JSON | {
        *("boolean", "integer", "inexact-integer", "uint64", "bigint", "float", "integral-float"),
        *("bare", "surrogates"),
    }
    #: It holds text that is not empty and that XML can write, maps with keys that are names, and
    #: lists of several values that are in no list.
    partly: ClassVar[frozenset[str]] = frozenset({"text", "control", "nul", "array", "nested"})

    def literal_of(self, text: str) -> str | None:
        return text if is_number(text) else None

    def read(self, data: bytes) -> list[Any]:
        return [read_document(data, self.marks)]

    def write(self, records: list[Any]) -> bytes:
        if len(records) != 1:
            raise ValueError("an XML file is one document")
        check_values(records)  # what holds itself would have no end
        return write_document(records[0])
