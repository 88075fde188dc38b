"""yaml: YAML documents, one after another, by PyYAML with libyaml where it is there."""

from __future__ import annotations

from serialpack.serializers.of_format import FormatSerializer
from serialpack.values.kinds import NEVER


class YamlSerializer(FormatSerializer):
    """YAML, safely: no tag makes an object of a class. It reads what it wrote by YAML 1.1, as it
    was always written; what it writes now is the same to YAML 1.2.

    What is one object in two places, or inside itself, is an anchor and aliases. Keys are scalars.
    """

    library = "yaml"
    distribution = "PyYAML"
    extra = "yaml"
    stored_format = "yaml"
    cannot = NEVER | {
        *("nan-bits", "surrogates", "bytearray", "zoned-datetime", "time", "timedelta"),
        *("decimal", "fraction", "uuid", "tuple", "frozenset", "complex", "number-array"),
        *("object", "function", "value"),
    }
    #: A key must be a scalar; an offset has no name and no seconds; a tag is one of YAML's.
    partly = frozenset({"key", "offset-datetime", "tag"})
    identity = True
    text = True
    about = "YAML documents, by PyYAML"
