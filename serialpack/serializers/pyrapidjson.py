"""pyrapidjson: RapidJSON by pyrapidjson, as compact lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from serialpack.formats.json.values import check_json
from serialpack.serializers._jsonlines import JsonLines, write_lines
from serialpack.serializers._rapidjson import missing
from serialpack.serializers.json import JsonSerializer
from serialpack.stages.stage import Buffer

#: Strings; the first group is a key with a NUL, behind which the library writes no more of it.
_NUL_KEY = re.compile(
    rb'("(?:[^"\\]|\\(?!u0000).)*+\\u0000(?:[^"\\]|\\.)*+":)|"(?:[^"\\]|\\.)*+"', re.DOTALL
)


class PyRapidJsonSerializer(JsonLines):
    """RapidJSON by a library that checks nothing: what would crash it is refused before.

    It only writes. It reads one double in five as its neighbour, integers from 2^63 up as negative
    ones and keys up to their first NUL (tried with 0.5.1), so the standard library reads.
    """

    library = "rapidjson"
    distribution = "pyrapidjson"
    extra = "pyrapidjson"
    cannot = JsonLines.cannot | {"surrogates", "uint64", "bigint", "nul"}
    compiled = True
    about = "JSON lines, written by pyrapidjson"

    @classmethod
    def missing(cls, name: str) -> str | None:  # noqa: ARG003
        return missing("pyrapidjson", "pyrapidjson")

    def _dump(self, records: list[Any]) -> bytes:
        import msgspec

        check_json(records)
        text = msgspec.json.encode(records)  # which refuses lone surrogates in keys
        if b"\\u0000" in text and any(match[1] for match in _NUL_KEY.finditer(text)):
            raise ValueError("a NUL in a key")
        return write_lines(records, _writer)

    def _load(self, data: Buffer) -> list[Any]:
        return JsonSerializer("json").load(data)


def _writer(ascii_only: bool) -> Callable[[Any], str]:  # noqa: ARG001 (it always is)
    import rapidjson

    def write(record: Any) -> str:
        try:
            text: str = rapidjson.dumps(record)
        except (RuntimeError, SystemError) as error:
            raise ValueError(str(error)) from None
        return text

    return write
