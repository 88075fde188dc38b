"""json: the standard library's, as compact lines."""

from __future__ import annotations

import json
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


class JsonSerializer(JsonLines):
    """The standard library's json."""

    written_in_c = True
    about = "JSON lines, by the standard library"

    def _dump(self, records: list[Any]) -> bytes:
        return write_lines(records, _writer)

    def _load(self, data: Buffer) -> list[Any]:
        return scan_lines(data, _scanner())


@cache
def _writer(ascii_only: bool) -> Callable[[Any], str]:
    return json.JSONEncoder(
        ensure_ascii=ascii_only, allow_nan=False, check_circular=False, separators=(",", ":")
    ).encode


@cache
def _scanner() -> Any:
    decoder: Any = json.JSONDecoder(parse_float=finite, parse_constant=refuse_constant)
    return decoder.scan_once
