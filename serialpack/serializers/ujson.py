"""ujson: UltraJSON, as compact lines."""

from __future__ import annotations

from functools import cache
from typing import Any

from serialpack.formats.base import Format, Spelling
from serialpack.kinds import BEYOND_JSON
from serialpack.serializers.base import ValueSerializer, check_finite
from serialpack.stage import Buffer


class UJson(ValueSerializer):
    """UltraJSON. What it wrote, json reads, and the other way round."""

    library = "ujson"
    distribution = "ujson"
    stored_format = "ndjson"
    cannot = BEYOND_JSON
    text = True
    about = "JSON lines, by UltraJSON"

    def dump(self, records: list[Any]) -> bytes:
        dumps = _ujson().dumps
        try:
            lines = [
                dumps(
                    record,
                    ensure_ascii=False,
                    escape_forward_slashes=False,
                    allow_nan=False,
                    reject_bytes=True,
                )
                for record in records
            ]
            return "\n".join([*lines, ""]).encode()
        except UnicodeEncodeError:  # a lone surrogate
            lines = [
                dumps(record, escape_forward_slashes=False, allow_nan=False, reject_bytes=True)
                for record in records
            ]
            return "\n".join([*lines, ""]).encode()

    def load(self, data: Buffer) -> list[Any]:
        loads = _ujson().loads
        lines = str(data, "utf-8").split("\n")
        if not lines[-1]:
            lines.pop()
        return [loads(line) for line in lines]

    def decode(self, data: Buffer, fmt: Format, spelling: Spelling, *, first: bool) -> Buffer:
        """As always, but for 1e400 and NaN, which ujson reads as what is written ``null``."""
        text = super().decode(data, fmt, spelling, first=first)
        nulls = bytes(text).count(b"null")
        if nulls and nulls != bytes(data).count(b"null"):
            check_finite(self.load(data))
        return text


@cache
def _ujson() -> Any:
    import ujson

    return ujson
