"""What begins an array or a map of MessagePack."""

from __future__ import annotations

from serialpack.first_bytes import FIX_LIST, FIX_MAP, LIST_16, MAP_16
from serialpack.stages.stage import Buffer


def head(kind: int, count: int) -> bytes:
    """What begins an array (``kind`` FIX_LIST) or a map (FIX_MAP) of ``count``."""
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
    """The elements of an array of ``count``, as messages one after another."""
    return array[len(head(FIX_LIST, count)) :]
