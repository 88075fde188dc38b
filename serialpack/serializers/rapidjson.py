"""rapidjson: RapidJSON by python-rapidjson, as compact lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from serialpack.serializers._jsonlines import LooseJsonLines, read_lines, write_lines
from serialpack.serializers._rapidjson import missing
from serialpack.stages.stage import Buffer


class RapidJsonSerializer(LooseJsonLines):
    """RapidJSON, told to take for JSON only what is JSON."""

    library = "rapidjson"
    distribution = "python-rapidjson"
    extra = "rapidjson"
    cannot = LooseJsonLines.cannot | {"surrogates"}
    compiled = True
    about = "JSON lines, by python-rapidjson"

    @classmethod
    def missing(cls, name: str) -> str | None:  # noqa: ARG003
        return missing("python-rapidjson", "rapidjson")

    def _dump(self, records: list[Any]) -> bytes:
        return write_lines(records, _writer)

    def _load(self, data: Buffer) -> list[Any]:
        text = bytes(data)
        if b"\0" in text:  # where RapidJSON stops reading
            raise ValueError("a NUL is not JSON")
        return read_lines(text, _reader())


@cache
def _writer(ascii_only: bool) -> Callable[[Any], str]:
    import rapidjson

    write: Any = rapidjson.Encoder(
        ensure_ascii=ascii_only,
        number_mode=rapidjson.NM_NONE,
        bytes_mode=rapidjson.BM_NONE,
        iterable_mode=rapidjson.IM_ONLY_LISTS,
        mapping_mode=rapidjson.MM_ONLY_DICTS,
    )
    return write  # type: ignore[no-any-return]


@cache
def _reader() -> Callable[[bytes], Any]:
    import rapidjson

    read: Callable[[bytes], Any] = rapidjson.Decoder(number_mode=rapidjson.NM_NONE)
    return read
