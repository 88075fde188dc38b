"""What begins an array or a map of MessagePack."""

from __future__ import annotations


def head(kind: int, count: int) -> bytes:
    """What begins an array (``kind`` 0x90) or a map (0x80) of ``count``."""
    if count < 16:
        return bytes([kind | count])
    first = {0x90: 0xDC, 0x80: 0xDE}[kind]
    if count < 1 << 16:
        return bytes([first]) + count.to_bytes(2)
    return bytes([first + 1]) + count.to_bytes(4)


def without_head(array: bytes, count: int) -> bytes:
    """The elements of an array of ``count``, as messages one after another."""
    return array[len(head(0x90, count)) :]
