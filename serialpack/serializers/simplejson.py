"""simplejson: as compact lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from serialpack.serializers._jsonlines import (
    JsonLines,
    finite,
    refuse_constant,
    scan_lines,
    write_lines,
)
from serialpack.stages.stage import Buffer


class SimpleJsonSerializer(JsonLines):
    """simplejson, told to take for JSON only what is JSON: no tuples, decimals or bytes."""

    library = "simplejson"
    distribution = "simplejson"
    extra = "simplejson"
    about = "JSON lines, by simplejson"

    def _dump(self, records: list[Any]) -> bytes:
        return write_lines(records, _writer)

    def _load(self, data: Buffer) -> list[Any]:
        return scan_lines(data, _scanner())


@cache
def _writer(ascii_only: bool) -> Callable[[Any], str]:
    import simplejson

    write: Callable[[Any], str] = simplejson.JSONEncoder(
        ensure_ascii=ascii_only,
        allow_nan=False,
        check_circular=False,
        separators=(",", ":"),
        encoding=None,  # type: ignore[arg-type]  # or bytes are text
        use_decimal=False,
        namedtuple_as_object=False,
        tuple_as_array=False,
    ).encode
    return write


@cache
def _scanner() -> Any:
    import simplejson

    # Not its decode(), which takes a byte-order mark too.
    return simplejson.JSONDecoder(parse_float=finite, parse_constant=refuse_constant).scan_once
