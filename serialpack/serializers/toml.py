"""toml: TOML documents, each behind a line ``#---``, by tomllib and tomli-w."""

from __future__ import annotations

from serialpack.serializers.of_format import FormatSerializer
from serialpack.values.kinds import NEVER


class TomlSerializer(FormatSerializer):
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
