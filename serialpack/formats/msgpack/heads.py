"""The heads of MessagePack values: how an array or a map begins, and what first bytes say."""

from __future__ import annotations

from serialpack.formats.messages.long_bytes import Heads
from serialpack.msgpack_bytes import (
    BINARY_8,
    FIX_LIST,
    FIX_MAP,
    FIX_STRING,
    LENGTHS,
    LIST_16,
    MAP_16,
    SIZES,
)
from serialpack.stages.stage import Buffer

HEADS = Heads(SIZES, LENGTHS, frozenset(range(BINARY_8, BINARY_8 + 3)), FIX_STRING)


def head(kind: int, count: int) -> bytes:
    """The first bytes of an array (``kind`` FIX_LIST) or a map (FIX_MAP) with ``count``
    elements."""
    if count < 16:
        return bytes([kind | count])
    first = {FIX_LIST: LIST_16, FIX_MAP: MAP_16}[kind]
    if count < 1 << 16:
        return bytes([first]) + count.to_bytes(2)
    return bytes([first + 1]) + count.to_bytes(4)


def with_head(messages: Buffer, count: int) -> bytes:
    """``count`` messages, one after another, as an array of them."""
    return b"".join((head(FIX_LIST, count), messages))


def without_head(array: bytes, count: int) -> bytes:
    """The elements of ``array``, which has ``count`` of them, as messages one after another."""
    return array[len(head(FIX_LIST, count)) :]
