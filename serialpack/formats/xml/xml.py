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

from serialpack.depth.values import check_values, holds_itself
from serialpack.errors import ValueRefusedError
from serialpack.formats.shared.document import DocumentFormat
from serialpack.formats.xml.read import read_document
from serialpack.formats.xml.write import write_document
from serialpack.values.kinds import BEYOND_JSON, CONTENT, ORDER, shown


class XmlFormat(DocumentFormat):
    """A document, whose root is the one key of a map."""

    about = "XML, an element for each key"
    title = "XML"
    one_record = True
    tells = True
    heeds = frozenset({CONTENT, ORDER})
    cannot = BEYOND_JSON | {
        *("boolean", "integer", "inexact-integer", "uint64", "bigint", "float", "integral-float"),
        *("bare", "surrogates"),
    }
    #: Of these, text that is not empty and that XML can write, maps with keys that are names, and
    #: lists of several that are in no list.
    partly: ClassVar[frozenset[str]] = frozenset({"text", "control", "nul", "array", "nested"})

    def read(self, data: bytes) -> list[Any]:
        return [read_document(data, self.marks)]

    def write(self, records: list[Any]) -> bytes:
        if len(records) != 1:
            raise ValueError("an XML file is one document")
        check_values(records)  # what holds itself would have no end
        return write_document(records[0])

    def check_document(self, document: Any) -> None:
        if holds_itself(document):  # which nobody writes, and is told of the value
            return
        if type(document) is dict and len(document) == 1:
            (root,) = document.values()
            if type(root) is not list:
                return
            what = f"a list under {shown(next(iter(document)))}"
        elif type(document) is dict:
            keys = ", ".join(map(shown, list(document)[:3])) + (
                ", ..." if len(document) > 3 else ""
            )
            what = f"a map with the keys {keys}" if document else "a map without keys"
        else:
            what = "a list" if type(document) is list else shown(document)
        raise ValueRefusedError(
            f"XML has one root element, and this is {what}",
            kind="bare",
            hint='wrap it: {"root": ...}, in which a list is {"root": {"item": [...]}};'
            " or --to typed-xml",
        )
