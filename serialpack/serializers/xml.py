"""xml: typed XML, an element for each record; read by defusedxml."""

from __future__ import annotations

from serialpack.serializers.of_format import FormatSerializer
from serialpack.values.kinds import TEXT_KINDS


class XmlSerializer(FormatSerializer):
    """Typed XML, which has an element for each of Python's own types, and for no class."""

    library = "defusedxml"
    distribution = "defusedxml"
    extra = "xml"
    stored_format = "typed-xml"
    cannot = TEXT_KINDS | {
        *("depth", "number-array", "tag", "object", "function", "cycle", "value"),
    }
    text = True
    about = "typed XML, an element for each record"
