"""ujson: UltraJSON, as compact lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from serialpack.serializers._jsonlines import LooseJsonLines, read_lines, write_lines
from serialpack.serializers.base import check_finite
from serialpack.stage import Buffer


class UJson(LooseJsonLines):
    """UltraJSON."""

    library = "ujson"
    distribution = "ujson"
    compiled = True
    about = "JSON lines, by UltraJSON"

    def dump(self, records: list[Any]) -> bytes:
        return write_lines(records, _writer)

    def load(self, data: Buffer) -> list[Any]:
        text = bytes(data)
        if b"\xed" in text:  # perhaps of a surrogate, which ujson takes for UTF-8
            str(text, "utf-8")
        records = read_lines(text, _ujson().loads)
        # Of a word that begins with a rare letter, that is found five times as fast.
        if any(word[:1] in text and word in text for word in (b"NaN", b"Infinity")):
            check_finite(records)
        return records


def _writer(ascii_only: bool) -> Callable[[Any], str]:
    dumps = _ujson().dumps
    # Given by their places, these cost half of what they do by name: ensure_ascii,
    # encode_html_chars, escape_forward_slashes, sort_keys, indent, allow_nan.
    return lambda record: dumps(record, ascii_only, False, False, False, 0, False)


@cache
def _ujson() -> Any:
    import ujson

    return ujson
