"""orjson: as compact lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serialpack.depth import says_depth
from serialpack.serializers._jsonlines import JsonLines, check_integers, read_lines
from serialpack.stages.stage import Buffer

#: How many levels are written at a time: orjson itself writes 254.
_LEVELS = 200


class OrJsonSerializer(JsonLines):
    """orjson, told to refuse what it would write in its own way. A NaN, which it writes as
    ``null``, and UUIDs, enums and tuples are left to the proof.
    """

    library = "orjson"
    distribution = "orjson"
    extra = "orjson"
    cannot = JsonLines.cannot | {"surrogates", "bigint"}
    compiled = True
    about = "JSON lines, by orjson"

    def check_values(self, records: list[Any]) -> None:
        """Nothing to do: what has more levels than the library takes, ``_dump`` looks at."""

    def _dump(self, records: list[Any]) -> bytes:
        import orjson

        strictly = (
            orjson.OPT_PASSTHROUGH_DATACLASS
            | orjson.OPT_PASSTHROUGH_DATETIME
            | orjson.OPT_PASSTHROUGH_SUBCLASS
        )
        in_line = strictly | orjson.OPT_APPEND_NEWLINE
        dumps = orjson.dumps

        def fragment(value: Any) -> Any:
            return orjson.Fragment(dumps(value, None, strictly))

        try:
            return b"".join([dumps(record, None, in_line) for record in records])
        except TypeError as error:
            super().check_values(records)
            if not says_depth(error):
                raise
        records = [_in_fragments(record, fragment) for record in records]
        return b"".join([dumps(record, None, in_line) for record in records])

    def _load(self, data: Buffer) -> list[Any]:
        import orjson

        return read_lines(data, orjson.loads)

    def load_json(self, data: Buffer) -> list[Any]:
        """As ``load``, but for integers beyond 64 bits, which orjson reads as floats."""
        check_integers(data)
        return self.load(data)


def _in_fragments(value: Any, fragment: Callable[[Any], Any], level: int = 0) -> Any:
    """``value``, in which what begins at every ``_LEVELS`` levels is a written fragment."""
    # Loops and no comprehensions: those are calls too, in Python 3.11.
    if type(value) is dict:
        value = dict(value)
        for key in value:
            value[key] = _in_fragments(value[key], fragment, level + 1)
    elif type(value) is list:
        value = list(value)
        for i in range(len(value)):
            value[i] = _in_fragments(value[i], fragment, level + 1)
    else:
        return value
    return fragment(value) if level and level % _LEVELS == 0 else value
