"""toml: TOML documents, each behind a line ``#---``, by tomllib and tomli-w."""

from __future__ import annotations

import re
from typing import Any

from serialpack.serializers._stored import StoredSerializer
from serialpack.values.kinds import NEVER

#: Stands before each document. tomli-w writes no comments, and newlines in text only as escapes.
_BEGIN = "#---\n"


class Toml(StoredSerializer):
    """TOML documents: a record is a map, and nothing in it is null.

    A single one is a TOML file like any other.
    """

    library = "tomli_w"
    distribution = "tomli-w"
    extra = "toml"
    stored_format = "toml"
    cannot = NEVER | {
        *("null", "bare", "uint64", "bigint", "nan-bits", "surrogates", "integer-key", "key"),
        *("bytes", "bytearray", "zoned-datetime", "timedelta", "decimal", "fraction", "uuid"),
        *("tuple", "set", "frozenset", "complex", "number-array", "tag", "object", "function"),
        *("cycle", "value"),
    }
    #: An offset has no name and no seconds.
    partly = frozenset({"offset-datetime"})
    text = True
    about = "TOML documents, by tomli-w"

    def _dump(self, records: list[Any]) -> bytes:
        from serialpack.formats.toml.write import write

        return "".join(_BEGIN + write(record) for record in records).encode()

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.toml.read import read

        before, *documents = re.split(rb"^#---\n", data, flags=re.MULTILINE)
        if before:
            raise ValueError("does not begin with #---")
        return [read(document) for document in documents]
