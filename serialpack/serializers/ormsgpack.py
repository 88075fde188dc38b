"""ormsgpack: MessagePack messages, one after another, by ormsgpack."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from serialpack.depth import says_depth
from serialpack.formats.msgpack.heads import head, without_head
from serialpack.formats.msgpack.values import extension, pack
from serialpack.msgpack_bytes import FIX_LIST, FIX_MAP
from serialpack.serializers._msgpack_shared import Messages, read_messages
from serialpack.stages.stage import Buffer


class OrMsgPackSerializer(Messages):
    """ormsgpack, told to refuse what it would write in its own way; keys are left to the proof."""

    library = "ormsgpack"
    distribution = "ormsgpack"
    extra = "ormsgpack"
    compiled = True
    about = "MessagePack messages, by ormsgpack"

    def _dump(self, records: list[Any]) -> bytes:
        import ormsgpack

        strictly = (
            ormsgpack.OPT_NON_STR_KEYS
            | ormsgpack.OPT_PASSTHROUGH_DATACLASS
            | ormsgpack.OPT_PASSTHROUGH_DATETIME
            | ormsgpack.OPT_PASSTHROUGH_ENUM
            | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
            | ormsgpack.OPT_PASSTHROUGH_TUPLE
            | ormsgpack.OPT_PASSTHROUGH_UUID
        )

        def packed(value: Any) -> bytes:
            data: bytes = ormsgpack.packb(value, default=_lowered, option=strictly)
            return data

        try:
            if len(records) == 1:
                return packed(records[0])
            return without_head(packed(records), len(records))
        except TypeError as error:
            if not says_depth(error):
                raise
        pieces: list[bytes] = []
        for record in records:
            _write_deep(record, packed, pieces)
        return b"".join(pieces)

    def _load(self, data: Buffer) -> list[Any]:
        import ormsgpack

        def read(array: bytes) -> Any:
            try:
                return ormsgpack.unpackb(array, ext_hook=extension)
            except ValueError:  # of keys that are no text, perhaps
                keys = ormsgpack.OPT_NON_STR_KEYS
                return ormsgpack.unpackb(array, ext_hook=extension, option=keys)

        # The library does not say where a message ends. A mark put behind the first one tells
        # whether that is all, which is quicker than to find the end of every message.
        mark = os.urandom(16)
        try:
            record, found = read(b"".join((b"\x92", data, b"\xc4\x10", mark)))
            if found == mark:
                return [record]
        except ValueError:
            pass
        return read_messages(data, read)


def _write_deep(value: Any, packed: Callable[[Any], bytes], pieces: list[bytes]) -> None:
    """Write a value of more levels than the library's 255: it only writes what is no container."""
    if type(value) is dict:
        pieces.append(head(FIX_MAP, len(value)))
        for key, part in value.items():
            pieces.append(without_head(packed({key: None}), 1)[:-1])
            _write_deep(part, packed, pieces)
    elif type(value) is list:
        pieces.append(head(FIX_LIST, len(value)))
        for part in value:
            _write_deep(part, packed, pieces)
    else:
        pieces.append(packed(value))


def _lowered(value: Any) -> Any:
    import ormsgpack

    # The library's extension types have no codes below 0, which timestamps have, and show nobody
    # what is in them: msgpack's stand for them.
    return ormsgpack.Fragment(pack([value]))
