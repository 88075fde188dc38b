"""Avro container files that are made by hand."""

from __future__ import annotations

import bz2
import json
import lzma
import zlib
from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest
import zstandard

from serialpack.formats import FORMATS
from serialpack.formats.avro.avro import AvroFormat

pytest.importorskip("fastavro")

FMT = cast(AvroFormat, FORMATS.get("avro"))
SYNC = b"sixteen bytes of"


def z(number: int) -> bytes:
    """A long, as Avro writes it."""
    number = number << 1 if number >= 0 else (-number << 1) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def container(
    schema: Any, blocks: Iterable[tuple[int, bytes]], codec: bytes | None = b"null"
) -> bytes:
    """A file by hand. ``blocks``: the values announced, and the bytes."""
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    meta = [(b"avro.schema", text)] + ([(b"avro.codec", codec)] if codec else [])
    out = b"Obj\x01" + z(len(meta))
    for pair in meta:
        out += b"".join(z(len(part)) + part for part in pair)
    out += z(0) + SYNC
    for count, data in blocks:
        out += z(count) + z(len(data)) + data + SYNC
    return out


def record(*fields: Any) -> Any:
    names = "abcdefgh"
    return {
        "type": "record",
        "name": "R",
        "fields": [{"name": names[i], "type": kind} for i, kind in enumerate(fields)],
    }


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _snappy(data: bytes) -> bytes:
    cramjam = pytest.importorskip("cramjam")
    return bytes(cramjam.snappy.compress_raw(data)) + zlib.crc32(data).to_bytes(4, "big")


CODECS: dict[bytes, Callable[[bytes], bytes]] = {
    b"null": bytes,
    b"deflate": deflate,
    b"bzip2": bz2.compress,
    b"xz": lzma.compress,
    b"zstandard": zstandard.compress,
    b"snappy": _snappy,
}


RECURSIVE = {
    "type": "record",
    "name": "A",
    "fields": [{"name": "n", "type": ["null", "A"]}],
}


def doubling(levels: int) -> Any:
    """Records of two records each, of nothing in the end."""
    kind: Any = "null"
    for i in range(levels):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"R{i - 1}" if i else "null"}]
        kind = {"type": "record", "name": f"R{i}", "fields": fields}
    return kind
