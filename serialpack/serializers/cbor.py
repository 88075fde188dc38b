"""cbor: CBOR items, one after another, by cbor2."""

from __future__ import annotations

from typing import Any

from serialpack.serializers.of_format import FormatSerializer
from serialpack.stages.stage import Param
from serialpack.values.kinds import TEXT_KINDS


class CborSerializer(FormatSerializer):
    """CBOR, with its tags. Types that it lacks are refused before the library is asked.

    Canonical CBOR sorts the keys of maps: one whose keys are in another order is refused.
    """

    library = "cbor2"
    distribution = "cbor2"
    extra = "cbor"
    stored_format = "cbor"
    params = (Param("canonical", 0, 1, 0),)
    cannot = TEXT_KINDS | {
        *("nan-bits", "surrogates", "depth", "bytearray", "tuple", "frozenset", "number-array"),
        *("zoned-datetime", "local-datetime", "time", "timedelta"),
        *("object", "function", "cycle", "value"),
    }
    #: An offset has no name; a decimal no signed zero and no NaN; a tag whose content Python has
    #: a value for becomes that.
    partly = frozenset({"offset-datetime", "decimal", "tag"})
    compiled = True
    about = "CBOR items with their tags, by cbor2"

    def _dump(self, records: list[Any]) -> bytes:
        from serialpack.formats.cbor.cbor import write_items

        return write_items(records, canonical=bool(self.values[0]))
