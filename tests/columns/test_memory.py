"""What is needed on the way is a multiple of the text, whatever its values are."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from serialpack import msgpack_starts
from serialpack.columns.parse import msgpack_tokens
from serialpack.columns.parse.shape import join, split
from serialpack.columns.stored import structure
from serialpack.columns.stored.write import encode_all
from tests.columns.decoded import decode_all

SIZE = 4 << 20

#: Times the size of the text, the text itself not counted.
MOST = 12.5

R = random.Random(4)
WORDS = ["".join(R.choices("abcdefghijklmnop", k=R.randint(2, 10))) for _ in range(2000)]


def _numbers() -> bytes:
    return b"[" + b",".join([b"%d" % R.randrange(1000) for _ in range(SIZE // 4)]) + b"]"


def _floats() -> bytes:
    return b"[" + b",".join([b"%r" % R.random() for _ in range(SIZE // 20)]) + b"]"


def _prose() -> bytes:
    return b"".join(
        b'{"text":"%b"}\n' % " ".join(R.choices(WORDS, k=99_999)).encode() for _ in "abcde"
    )


def _records() -> bytes:
    return b"".join(b'{"a":%d}\n' % R.randrange(100) for _ in range(SIZE // 9))


@pytest.mark.parametrize("make", [_numbers, _floats, _prose, _records])
def test_memory(make: Callable[[], bytes]) -> None:
    data = make()
    # Modules that are imported when they are first used stay.
    found = split(data[: 1 << 16], "json")
    assert found is not None
    decode_all(encode_all(found.columns))
    gc.collect()
    tracemalloc.start()
    try:
        found = split(data, "json")
        assert found is not None
        stored = structure.write(found.shape, 3), encode_all(found.columns)
        assert _peak() <= MOST * len(data)
        del found
        gc.collect()
        _peak()
        back: Any = structure.read(stored[0], len(data)), decode_all(stored[1])
        assert join(*back) == data
        assert _peak() <= MOST * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("record", [b"\xc0", b"\x91\x01", b"\xa1a", b"\x92\x01\xa2bc"])
def test_dense_messages_are_told_before_they_are_copied(
    monkeypatch: pytest.MonkeyPatch, record: bytes
) -> None:
    """Five times their bytes, only to find that there are too many values to gain by columns."""
    data = record * (SIZE // len(record))
    whole = msgpack_tokens.tokens(data) is None
    assert msgpack_starts.are_dense(data) == whole
    monkeypatch.setattr(msgpack_tokens, "_LARGE", 1 << 20)
    tracemalloc.start()
    try:
        assert (msgpack_tokens.tokens(data) is None) == whole
        assert not whole or _peak() <= 3 * SIZE
    finally:
        tracemalloc.stop()


def _peak() -> int:
    """The most memory since it was last asked for."""
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    return peak
