"""msgspec-json: JSON by msgspec, as compact lines."""

from __future__ import annotations

from functools import cache
from typing import Any

from serialpack.serializers._jsonlines import JsonLines, is_one_line
from serialpack.stages.stage import Buffer


class MsgSpecJsonSerializer(JsonLines):
    """msgspec's JSON. What it has an own idea of (a NaN becomes ``null``, bytes, dates and
    objects become text and maps) is left to the proof.
    """

    library = "msgspec"
    distribution = "msgspec"
    cannot = JsonLines.cannot | {"surrogates"}
    compiled = True
    holds_structs = True
    about = "JSON lines, by msgspec"

    def _dump(self, records: list[Any]) -> bytes:
        if len(records) == 1:  # a large one takes half the time so
            line: bytes = _encoder().encode(records[0]) + b"\n"
            return line
        lines: bytes = _encoder().encode_lines(records)
        return lines

    def _load(self, data: Buffer) -> list[Any]:
        lines = bytes(data)
        if is_one_line(lines):
            return [_decoder().decode(lines)]
        records: list[Any] = _decoder().decode_lines(lines)
        if len(records) != lines.count(b"\n") + (not lines.endswith(b"\n") and lines != b""):
            raise ValueError("not one JSON value on each line")
        return records


@cache
def _encoder() -> Any:
    from serialpack.formats.json.write import encoder

    return encoder()


@cache
def _decoder() -> Any:
    import msgspec

    return msgspec.json.Decoder()
