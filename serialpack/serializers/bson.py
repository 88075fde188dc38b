"""bson: BSON documents, one after another, by the bson that PyMongo brings."""

from __future__ import annotations

from serialpack.serializers.of_format import FormatSerializer
from serialpack.values.kinds import TEXT_KINDS


class BsonSerializer(FormatSerializer):
    """BSON, whose records are maps with text keys. Types that do not come back are refused before
    the library is asked.
    """

    library = "bson"
    distribution = "pymongo"
    extra = "bson"
    stored_format = "bson"
    cannot = TEXT_KINDS | {
        *("bare", "nul", "integer-key", "key", "surrogates", "depth", "cycle", "value"),
        *("uint64", "bigint", "huge-integer", "number-array", "object", "function"),
        *("bytearray", "tuple", "set", "frozenset", "decimal", "fraction", "complex"),
        *("offset-datetime", "zoned-datetime", "local-datetime", "date", "time", "timedelta"),
    }
    #: Dates have milliseconds; an Int64 becomes an integer like any other.
    partly = frozenset({"utc-datetime", "tag"})
    compiled = True
    about = "BSON documents, by PyMongo's bson"
