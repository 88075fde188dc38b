"""json: the standard library's, as compact lines."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from serialpack.kinds import BEYOND_JSON
from serialpack.serializers.base import ValueSerializer
from serialpack.stage import Buffer


class Json(ValueSerializer):
    """The standard library's json. What it wrote, ujson reads, and the other way round."""

    stored_format = "ndjson"
    cannot = BEYOND_JSON
    text = True
    about = "JSON lines, by the standard library"

    def dump(self, records: list[Any]) -> bytes:
        encode = _encoder(ascii_only=False)
        lines = [encode(record) for record in records]
        try:
            return "\n".join([*lines, ""]).encode()
        except UnicodeEncodeError:  # a lone surrogate
            encode = _encoder(ascii_only=True)
            return "\n".join([*map(encode, records), ""]).encode()

    def load(self, data: Buffer) -> list[Any]:
        text = str(data, "utf-8")
        scan = _decoder().scan_once
        records = []
        at = 0
        try:
            while at < len(text):
                record, at = scan(text, at)
                if text[at : at + 1] not in ("\n", ""):
                    raise ValueError(f"no line end at character {at}")
                records.append(record)
                at += 1
        except StopIteration as stop:
            raise ValueError(f"no JSON value at character {stop.value}") from None
        except RecursionError:
            raise ValueError("nested too deeply") from None
        return records


@cache
def _encoder(*, ascii_only: bool) -> Any:
    return json.JSONEncoder(
        ensure_ascii=ascii_only, allow_nan=False, check_circular=False, separators=(",", ":")
    ).encode


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise ValueError(f"{text[:40]} is beyond the range of a double")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@cache
def _decoder() -> Any:
    return json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
