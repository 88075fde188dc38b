"""What the MessagePack serializers share: messages one after another, as msgpack.py reads them.

Any of them reads what any other wrote, as far as its library holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serialpack.depth import MAX_DEPTH, check_messages
from serialpack.formats.msgpack.heads import with_head
from serialpack.formats.msgpack.msgpack import MsgPackFormat
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import NEVER


class Messages(RecordSerializer):
    """A serializer to MessagePack, each record a message.

    Keys are text, numbers, bytes, constants, datetimes, or tuples of these; of the extension
    types, its library's own are held.
    """

    stored_format = "msgpack"
    cannot = NEVER | {
        *("bigint", "surrogates", "bytearray", "decimal", "fraction", "uuid", "tuple", "set"),
        *("frozenset", "complex", "offset-datetime", "zoned-datetime", "local-datetime", "date"),
        *("time", "timedelta", "number-array", "object", "function", "cycle", "value"),
    }
    partly = frozenset({"key", "tag"})

    def _check_depth(self, data: Buffer) -> None:
        if len(data) > MAX_DEPTH:
            check_messages(bytes(data))


def read_messages(data: Buffer, read: Callable[[bytes], Any]) -> list[Any]:
    """The messages, by a library that reads one: as the elements of one array."""
    found = MsgPackFormat.scan(memoryview(data), -1, 1)
    if found.end != len(data):
        raise ValueError("the last message is not whole")
    records: list[Any] = read(with_head(data, found.records))
    return records
