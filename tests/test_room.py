"""Memory for large results is as any other."""

from __future__ import annotations

import tracemalloc

from serialpack.room import joined, room


def test_bytes_are_joined_as_ever() -> None:
    large = memoryview(bytes(range(256)) * (5 << 12))
    mixed: list[bytes | bytearray | memoryview] = [b"x", bytearray(b"bc"), large, b"", large[:3]]
    for pieces in (mixed[:0], mixed[:2], mixed):
        assert joined(pieces) == b"".join(pieces)
    assert hash(joined([large])) == hash(bytes(large))


def test_they_take_what_they_hold_and_give_it_back() -> None:
    tracemalloc.start()
    try:
        data, other = joined([bytes(5 << 20)]), room(5 << 20)
        assert tracemalloc.get_traced_memory()[0] < 11 << 20
        assert len(data) == len(other)
        assert not other.readonly
        del data, other
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()
