"""xml: typed XML, an element for each record; read by defusedxml."""

from __future__ import annotations

from typing import Any

from serialpack.serializers._stored import StoredSerializer
from serialpack.values.kinds import TEXT_KINDS


class Xml(StoredSerializer):
    """Typed XML, which has an element for each of Python's own types, and for no class."""

    library = "defusedxml"
    distribution = "defusedxml"
    extra = "xml"
    stored_format = "xml"
    cannot = TEXT_KINDS | {
        *("depth", "number-array", "tag", "object", "function", "cycle", "value"),
    }
    text = True
    about = "typed XML, an element for each record"

    def _dump(self, records: list[Any]) -> bytes:
        from serialpack.formats.xml.write import write_elements

        return write_elements(records)

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.xml.read import read_elements

        return read_elements(data)
