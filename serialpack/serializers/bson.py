"""bson: BSON documents, one after another, by the bson that PyMongo brings."""

from __future__ import annotations

from typing import Any

from serialpack.serializers._stored import StoredSerializer
from serialpack.values.kinds import TEXT_KINDS


class Bson(StoredSerializer):
    """BSON, whose records are maps with keys of text; other types than those that come back are
    refused before the library is asked.
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

    def _dump(self, records: list[Any]) -> bytes:
        from serialpack.formats.bson.bson import write_documents

        return write_documents(records)

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.bson.bson import read_documents

        return read_documents(data)
