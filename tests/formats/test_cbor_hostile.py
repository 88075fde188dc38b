"""Hostile CBOR: references that unfold to much, lengths that are not there, deep nesting."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest

import serialpack
from serialpack.errors import RefusedError
from serialpack.formats.cbor.cbor import read_items
from tests.formats.hostile import on_the_command_line, said


def _bomb(levels: int) -> bytes:
    """[[[1, 1], the same], the same] and so on: twice as large with each level."""
    written = b"\xd8\x1c\x82" * levels + b"\x01\x01"
    for level in reversed(range(1, levels)):
        written += b"\xd8\x1d" + bytes([level] if level < 24 else [24, level])
    return written


def test_references_are_followed_as_far_as_they_unfold_to_little() -> None:
    (small,) = read_items(_bomb(5))
    assert small[0] is small[1]
    strings = bytes.fromhex("d9010083 6568656c6c6f d81900 d81900")
    assert read_items(strings) == [["hello"] * 3]
    long = (
        b"\xd9\x01\x00\x9f\x7a\x00\x01\x86\xa0" + b"x" * 100_000 + b"\xd8\x19\x00" * 1000 + b"\xff"
    )
    cycle = bytes.fromhex("d81c81d81d00")
    for data in (_bomb(40), cycle, long):
        with pytest.raises(RefusedError, match="unfold"):
            read_items(data)
        for serializer in ("cbor", "json", "msgpack"):
            assert said(data, "cbor", serializer).exit_code == 4


def test_references_in_keys_are_followed_as_far() -> None:
    """Where a key may come twice, each reference in a key becomes a copy."""
    data = b"\xd9\xd9\xf7\x82" + _bomb(21) + bytes.fromhex("a3 d81d00 01 0102 0103")
    tracemalloc.start()
    try:
        with pytest.raises(RefusedError, match="unfold"):
            serialpack.convert(
                io.BytesIO(data), io.BytesIO(), to="ndjson", format="cbor", lossy=["duplicates"]
            )
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("lossy", [(), ("utf8",), ("duplicates", "utf8")], ids=str)
@pytest.mark.parametrize(
    "data",
    [
        b"\xa1" + _bomb(60) + b"\x01",
        b"\xd9\x01\x02\x81" + _bomb(60),
        bytes.fromhex("a1d81c81d81d0001"),
        b"\xa1\x61\xff\x01\xa1" + _bomb(60) + b"\x01",
    ],
    ids=["a key", "an element of a set", "a key in itself", "behind text that is no UTF-8"],
)
def test_what_refers_to_others_is_hashed_once_it_is_known_how_far_it_unfolds(
    data: bytes, lossy: tuple[str, ...]
) -> None:
    """The time for the hash of a key, or of an element of a set, doubled with each level."""
    with pytest.raises(serialpack.SerialpackError, match=r"unfold|UTF-8|utf-8"):
        serialpack.convert(
            io.BytesIO(data), io.BytesIO(), to="ndjson", format="cbor", lossy=[*lossy]
        )


@pytest.mark.parametrize(
    ("data", "exit_code", "where"),
    [
        (b"\x9a\xff\xff\xff\xff\x01", 3, "byte 6"),
        (b"\xbb" + b"\xff" * 8 + b"\x01\x02", 3, "byte 11"),
        (b"\x5b\x00\x00\x00\xff\xff\xff\xff\xffa", 3, "byte 10"),
        (b"\x7b\x00\x00\x00\xff\xff\xff\xff\xffa", 3, "byte 10"),
        (b"\x81" * 100_000 + b"\x01", 4, "record 0"),
        (b"\x82\x01", 3, "byte 2"),
        (b"\x01\x61\xff", 3, "byte 3"),
        ('{"a": 1}'.encode("utf-16-be"), 3, "byte"),
        (_bomb(60), 4, "unfold"),
    ],
    ids=range(9),
)
def test_hostile_bytes(tmp_path: Path, data: bytes, exit_code: int, where: str) -> None:
    error = said(data, "cbor")
    assert error.exit_code == exit_code
    assert where in str(error)
    code, message = on_the_command_line(tmp_path, data, "cbor")
    assert (code, where in message, "Traceback" in message) == (exit_code, True, False)
