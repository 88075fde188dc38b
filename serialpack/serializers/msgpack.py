"""msgpack: MessagePack messages, one after another, by msgpack-python."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Any

from serialpack.collector import gc_paused
from serialpack.depth import MAX_DEPTH
from serialpack.formats.msgpack.msgpack import message_ends
from serialpack.formats.msgpack.values import messages, pack_checked, pack_one, unpack, unpack_one
from serialpack.serializers._msgpack_shared import Messages
from serialpack.serializers.base import FAILURES, check_finite, in_one
from serialpack.stages.stage import Buffer

#: A double, or a float, that is not finite (or other bytes that look like one).
_NOT_FINITE = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")
_NOT_FINITE_32 = re.compile(rb"\xca[\x7f\xff][\x80-\xff]")


class MsgPackSerializer(Messages):
    """MessagePack by msgpack-python. A msgpack.Timestamp, which may come back as a datetime, is
    left to the proof.
    """

    library = "msgpack"
    distribution = "msgpack"
    compiled = True
    about = "MessagePack messages, by msgpack-python"
    checks_places = False

    def check_values(self, records: list[Any]) -> None:
        """Nothing to do: ``_dump`` counts levels."""

    def _dump(self, records: list[Any]) -> bytes:
        return pack_checked(records)

    def dump_object(self, records: list[Any]) -> list[Buffer]:
        return [pack_one(records[0])]

    def _load(self, data: Buffer) -> list[Any]:
        return unpack(data)

    def load_object(self, pieces: list[Buffer]) -> list[Any]:
        data = pieces[0] if len(pieces) == 1 else in_one(pieces)
        if len(data) > MAX_DEPTH:
            self._check_depth(data)
        return unpack_one(data)

    def reload_object(self, pieces: list[Buffer]) -> list[Any]:
        return unpack_one(in_one(pieces))

    def certainly_restores(self, pieces: list[Buffer]) -> bool:
        """True of constants, numbers, text, lists, and maps with text keys: ``_plain`` takes each
        of one type only, so that equal bytes are equal values."""
        data = in_one(pieces)
        decode, encode = _plain()
        try:
            with gc_paused(len(data)):
                return encode(decode(data)) == data
        except FAILURES:
            return False

    def load_json(self, data: Buffer) -> list[Any]:
        # -2 refuses bytes and extensions, also empty ones; -1 would mean the usual limit.
        records = messages(data, strict_map_key=True, max_bin_len=-2, max_ext_len=-2)
        for pattern in (_NOT_FINITE, _NOT_FINITE_32):
            found = [match.start() for match in pattern.finditer(data)]
            ends = [0, *message_ends(data)] if found else []
            for at in found:
                check_finite(records[bisect_right(ends, at) - 1])
        return records


#: Levels of lists and maps that ``_plain`` reads; each takes twice the types of the one below.
_PLAIN_LEVELS = 6


@cache
def _plain() -> tuple[Callable[[Buffer], Any], Callable[[Any], bytes]]:
    """A reader that refuses bytes and extensions, which several types become; and a writer."""
    import msgspec

    leaf: Any = None | bool | int | float | str
    values = leaf
    for _ in range(_PLAIN_LEVELS):
        values = leaf | list[values] | dict[str, values]  # type: ignore[valid-type]  # at runtime
    return msgspec.msgpack.Decoder(values).decode, msgspec.msgpack.Encoder().encode
