"""Typed XML as a source: each record one element, whose name says its type.

In the manner of XStream, so that every value comes back as what it was. A record is written on
one line; a file of one record is a well-formed document.

    <map><string key="name">Ann</string><list key="sizes"><int>1</int></list></map>

==================================  ==============================================================
<null/> <true/> <false/>
<int>                               decimal digits, or from 4300 on hexadecimal ones behind 0x
<float>                             as Python writes it; other NaNs by their bits, behind nan:
<complex>                           two floats
<string>                            text; with escape="\\", what XML 1.0 cannot write is \\u0000 and
                                    the like, and a backslash is doubled
<bytes> <bytearray>                 base64
<datetime> <date> <time>            as isoformat writes it; zone: the name of a time zone; name:
                                    that of an offset; fold="1": the second of two equal times
<timedelta>                         days, seconds and microseconds
<decimal> <fraction> <uuid>         as str writes it
<list> <tuple> <set> <frozenset>    elements
<map>                               elements, with the key in the attribute key; <entry> for a key
                                    that is no text, or has what XML cannot write: it holds the
                                    key and the value
==================================  ==============================================================

Any other XML has no single meaning as values, and is not read.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from serialpack.formats.base import SourceBlock, Style, StyleTypes
from serialpack.formats.shared.comments import comments, in_xml
from serialpack.formats.shared.document import DocumentFormat
from serialpack.formats.xml.typed_read import DECLARATION, read_elements
from serialpack.formats.xml.typed_write import write_elements
from serialpack.values.kinds import DIGITS, UTF8, Loss

#: A declaration that is remembered, to be written again.
_USUAL = re.compile(r"<\?xml [ -~]{1,100}\?>\r?\n")


class TypedXmlFormat(DocumentFormat):
    """Elements that say their types, one after another."""

    style_types: ClassVar[StyleTypes] = {"d": (str,)}
    about = "typed XML, in which each element says the type of its value"
    title = "typed XML"
    heeds = frozenset({DIGITS, UTF8})

    def read(self, data: bytes) -> list[Any]:
        return read_elements(data, self.marks)

    def comments(self, block: SourceBlock) -> Loss | None:
        return comments(block, (b"<!--", b"<?"), in_xml)

    def write(self, records: list[Any]) -> bytes:
        return write_elements(records)

    def detect_style(self, block: SourceBlock) -> Style:
        """What stands before the first element."""
        found = DECLARATION.match(bytes(block.data[:200]))
        text = found[0].decode() if found else ""
        return {"d": text} if _USUAL.fullmatch(text) else {}

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        text = style.get("d", "")
        if not isinstance(text, str) or (text and not _USUAL.fullmatch(text)):
            raise ValueError("no declaration of XML")
        return (text.encode() if first else b"") + self.write(records)
