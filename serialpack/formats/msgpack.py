"""MessagePack as a source: only its name and number so far, cut as plain bytes."""

from __future__ import annotations

from serialpack.formats.bytes import Bytes


class MsgPack(Bytes):
    """A sequence of MessagePack messages."""

    name = "msgpack"
    number = 5
    about = "MessagePack messages, one after another"
